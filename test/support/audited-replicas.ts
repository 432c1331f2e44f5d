import { type AuditEvent, evictions, writes } from '../control-plane/audit.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { OPERATOR_USER, type OperatorProcess, userOf } from './operator-process.ts';
import { policyObject } from './resources.ts';

/** Evictions that an operator under this account has sent, dry runs left out, by the audit log. */
export async function sentEvictions(cp: ControlPlane, account: string): Promise<readonly AuditEvent[]> {
  return evictions(await cp.audit()).filter(({ user, dryRun }) => user === userOf(account) && !dryRun);
}

/** How a replica came to lead. */
export interface TakeOver {
  /** The first write of the Lease that was accepted. */
  readonly lease: AuditEvent;
  /** The last write of a journal before the first eviction. */
  readonly intent: AuditEvent;
  readonly eviction: AuditEvent;
}

/** Where intents are stored: in the plan, or beside a large one. */
const JOURNALS: ReadonlySet<string> = new Set(['rebalanceplans/status', 'movejournals/']);

/** How an operator under this account came to lead. Throws when it has not led, or evicted nothing. */
export function firstTakeOver(audit: readonly AuditEvent[], account: string): TakeOver {
  const changes = writes(audit, userOf(account));
  const [lease] = leaseWrites(changes);
  const [eviction] = evictions(changes);
  const intent = changes.findLast(
    ({ resource, subresource, at }) => JOURNALS.has(`${resource}/${subresource}`) && at < (eviction?.at ?? ''),
  );
  if (lease === undefined || intent === undefined || eviction === undefined) {
    throw new Error(`${account} has not led, or evicted nothing`);
  }
  return { lease, intent, eviction };
}

/** The last write by which an operator under this account took or kept the lease. Throws when it never had it. */
export function lastHeld(audit: readonly AuditEvent[], account: string): AuditEvent {
  const found = leaseWrites(writes(audit, userOf(account))).findLast(({ holder }) => holder !== '');
  if (found === undefined) {
    throw new Error(`${account} has never had the lease`);
  }
  return found;
}

/** Accepted patches of pods by the operator of deploy/: each is to open one gate. */
export function acceptedPodPatches(audit: readonly AuditEvent[]): readonly AuditEvent[] {
  return writes(audit, OPERATOR_USER).filter(
    ({ resource, verb, code }) => resource === 'pods' && verb === 'patch' && code === 200,
  );
}

/** Accepted writes of the operators' Lease. */
export function leaseWrites(events: readonly AuditEvent[]): readonly AuditEvent[] {
  return events.filter(
    ({ resource, namespace, code }) =>
      resource === 'leases' && namespace === 'evenkeel-system' && code >= 200 && code < 300,
  );
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
