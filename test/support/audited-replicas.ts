import { type AuditEvent, evictions } from '../control-plane/audit.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { type OperatorProcess, userOf } from './operator-process.ts';
import { policyObject } from './resources.ts';

/** Evictions that an operator under this account has sent, dry runs left out, by the audit log. */
export async function sentEvictions(cp: ControlPlane, account: string): Promise<readonly AuditEvent[]> {
  return evictions(await cp.audit()).filter(({ user, dryRun }) => user === userOf(account) && !dryRun);
}

/** Waits until the operator has evicted so many pods. Rejects after a minute with the end of its log. */
export async function untilEvicted(
  cp: ControlPlane,
  account: string,
  replica: OperatorProcess | undefined,
  count: number,
): Promise<void> {
  await waitUntil(
    `${account} evicts ${count} pods`,
    async () => {
      const { length } = await sentEvictions(cp, account);
      return length >= count ? undefined : `${length}; ${replica?.log().slice(-1500)}`;
    },
    { timeoutMilliseconds: 60_000 },
  );
}

/** A policy that levels the requests of scenario `tilted` in one long plan, `maxConcurrent` moves at a time. */
export function tiltedPolicy(maxConcurrent: number): object {
  return policyObject('tilted', {
    mode: 'Automatic',
    interval: '10s',
    load: { source: 'Requests' },
    thresholds: { trigger: '0.05', consecutive: 1 },
    budgets: [{ maxMoves: 100, maxConcurrent, perOwner: '100%' }],
    protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
  });
}
