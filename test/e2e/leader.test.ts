import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditEvent, acceptedEvictions, writes } from '../control-plane/audit.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { sentEvictions, tiltedPolicy, untilEvicted } from '../support/audited-replicas.ts';
import {
  accountLikeTheOperators,
  install,
  type OperatorProcess,
  startOperator,
  userOf,
} from '../support/operator-process.ts';
import { getPlans } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** One account for each replica, so that the audit log tells them apart. */
const ACCOUNTS = ['replica-a', 'replica-b', 'replica-c', 'replica-d', 'replica-e'] as const;
type Account = (typeof ACCOUNTS)[number];

const SHORT = ['--lease-duration', '4s', '--metrics-insecure'];

let cp: ControlPlane;
const replicas = new Map<Account, OperatorProcess>();
const figures: string[] = [];

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await cp.apply(ACCOUNTS.flatMap(accountLikeTheOperators));
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'tilted.yaml')), { log });
});

afterAll(async () => {
  log(['fail-over, by the audit log:', ...figures].join('\n  '));
  await Promise.all([...replicas.values()].map((replica) => replica.end('SIGKILL')));
  await cp?.stop();
});

async function start(account: Account, args: readonly string[] = []): Promise<OperatorProcess> {
  const replica = await startOperator(cp, { account, args });
  replicas.set(account, replica);
  return replica;
}

/** Milliseconds since the epoch at which an event came in. */
function at(event: AuditEvent | undefined): number {
  return event === undefined ? Number.POSITIVE_INFINITY : Date.parse(event.at);
}

/** Seconds from `instant` until this replica took the lease, and until it wrote its first intent. */
async function failOver(account: Account, instant: number): Promise<{ lease: number; intent: number }> {
  await untilEvicted(cp, account, replicas.get(account), 1);
  const changes = writes(await cp.audit(), userOf(account));
  const first = at((await sentEvictions(cp, account))[0]);
  const lease = changes.find(({ resource, code }) => resource === 'leases' && code === 200);
  const intent = changes.findLast(
    (event) => event.resource === 'rebalanceplans' && event.subresource === 'status' && at(event) < first,
  );
  return { lease: (at(lease) - instant) / 1000, intent: (at(intent) - instant) / 1000 };
}

function record(what: string, { lease, intent }: { lease: number; intent: number }): void {
  figures.push(`${what}: lease taken after ${lease.toFixed(2)} s, first intent after ${intent.toFixed(2)} s`);
}

async function get(replica: OperatorProcess, path: string): Promise<{ status: number; body: string }> {
  const { healthPort, metricsPort } = await replica.logged('operator started');
  const response = await fetch(`http://127.0.0.1:${path === '/metrics' ? metricsPort : healthPort}${path}`);
  return { status: response.status, body: await response.text() };
}

describe('one plan under five leaders', () => {
  it('is begun by the first of two replicas; the other one is ready and changes nothing', async () => {
    const a = await start('replica-a', SHORT);
    expect((await a.logged('leading'))['epoch']).toBe(0);
    const b = await start('replica-b', SHORT);
    await b.logged('another replica leads');
    await cp.apply([tiltedPolicy(3)]);
    await untilEvicted(cp, 'replica-a', replicas.get('replica-a'), 3);
    expect((await getPlans(cp))[0]?.spec.moves.length).toBeGreaterThanOrEqual(16);
    expect(writes(await cp.audit(), userOf('replica-b'))).toEqual([]);
    expect(await get(b, '/readyz')).toEqual({ status: 200, body: 'ok\n' });
    expect((await get(b, '/healthz')).status).toBe(200);
    expect((await get(b, '/metrics')).body).toContain('evenkeel_leader 0');
    expect((await get(a, '/metrics')).body).toContain('evenkeel_leader 1');
  });

  it('goes on after kill -9 of a leader with a lease of 4 s, once that has expired', async () => {
    const killed = Date.now();
    await replicas.get('replica-a')?.end('SIGKILL');
    const times = await failOver('replica-b', killed);
    record('kill -9, --lease-duration 4s', times);
    expect(times.lease).toBeGreaterThan(3);
    expect(times.intent).toBeLessThanOrEqual(6);
  });

  it('is left alone by a leader that was paused for longer than its lease, and ends with an error', async () => {
    const c = await start('replica-c', SHORT);
    await c.logged('another replica leads');
    const b = replicas.get('replica-b');
    const paused = Date.now();
    b?.signal('SIGSTOP');
    record('SIGSTOP, --lease-duration 4s', await failOver('replica-c', paused));
    b?.signal('SIGCONT');
    expect(await b?.exited).toBe(1);
    expect(b?.log()).toContain('could not be renewed within 2.67 s: this replica ends');
    await sleep(1000);
    const late = writes(await cp.audit(), userOf('replica-b')).filter((event) => at(event) > paused + 500);
    expect(late).toEqual([]);
  });

  it('goes on after a clean stop without waiting for the end of the lease', async () => {
    const d = await start('replica-d');
    await d.logged('another replica leads');
    const stopped = Date.now();
    expect(await replicas.get('replica-c')?.end('SIGTERM')).toBe(0);
    const times = await failOver('replica-d', stopped);
    record('SIGTERM, default lease', times);
    expect(times.lease).toBeLessThan(10);
  });

  it('goes on after kill -9 of a leader with the default lease, once that has expired', async () => {
    const e = await start('replica-e');
    await e.logged('another replica leads');
    const killed = Date.now();
    await replicas.get('replica-d')?.end('SIGKILL');
    const times = await failOver('replica-e', killed);
    record('kill -9, default lease', times);
    expect(times.lease).toBeGreaterThan(12);
    expect(times.intent).toBeLessThanOrEqual(20);
  });

  it('is finished, has every leader in its journal, and evicted no pod twice', { timeout: 300_000 }, async () => {
    await waitUntil(
      'the plan ends',
      async () => {
        const phase = (await getPlans(cp))[0]?.status?.phase;
        return phase === 'Completed' ? undefined : `${phase}`;
      },
      { timeoutMilliseconds: 240_000, log },
    );
    const [plan] = await getPlans(cp);
    const epochs = new Set(plan?.status?.moves?.map(({ leaderEpoch }) => leaderEpoch));
    expect([...epochs].sort()).toEqual([0, 1, 2, 3, 4]);
    const accepted = acceptedEvictions(await cp.audit()).map(({ uidPrecondition }) => uidPrecondition);
    expect(new Set(accepted).size).toBe(accepted.length);
    expect(plan?.status?.moves?.filter(({ phase }) => !/Landed|Missed|Skipped/.test(phase))).toEqual([]);
    await waitUntil(
      'what the dead have left behind is swept',
      async () => {
        const hints = await cp.kubectl(['get', 'placementhints', '-A', '-o', 'name']);
        return hints.trim() === '' ? undefined : hints;
      },
      { timeoutMilliseconds: 40_000, log },
    );
  });
});

describe('an operator without a namespace for its lease', () => {
  it('says what to do', async () => {
    const operator = await startOperator(
      { ...cp, kubeconfigFor: async () => cp.kubeconfig },
      {
        args: ['--own-namespace', 'nowhere'],
      },
    );
    expect(await operator.exited).toBe(1);
    expect(operator.log()).toContain('there is no namespace nowhere to keep the lease in: create it (kubectl create');
  });
});
