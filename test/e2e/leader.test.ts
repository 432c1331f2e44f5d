import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedEvictions, writes } from '../control-plane/audit.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { firstTakeOver, lastHeld, leaseWrites, tiltedPolicy, untilEvicted } from '../support/audited-replicas.ts';
import {
  accountLikeTheOperators,
  install,
  type OperatorProcess,
  startOperator,
  userOf,
} from '../support/operator-process.ts';
import { createReplicaPods, type ReplicaPods } from '../support/replica-pods.ts';
import { getPlans } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** One account for each replica, so that the audit log tells them apart. */
const ACCOUNTS = ['replica-a', 'replica-b', 'replica-c', 'replica-d', 'replica-e', 'replica-f'] as const;
type Account = (typeof ACCOUNTS)[number];

const SHORT_SECONDS = 4;
const SHORT = ['--lease-duration', `${SHORT_SECONDS}s`, '--metrics-insecure'];
/** The pod that the fifth replica is said to run in. */
const POD = 'evenkeel-e';
/** Seconds of the default lease, and milliseconds between two looks at it. */
const DEFAULT_SECONDS = 15;
const RETRY_MILLISECONDS = 2000;

let cp: ControlPlane;
let pods: ReplicaPods;
const replicas = new Map<Account, OperatorProcess>();

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await cp.apply(ACCOUNTS.flatMap(accountLikeTheOperators));
  const scenario = loadScenario(join(import.meta.dirname, '..', 'scenarios', 'tilted.yaml'));
  await applyScenario(cp, scenario, { log });
  pods = await createReplicaPods(cp, () => 0);
});

afterAll(async () => {
  await Promise.all([...replicas.values()].map((replica) => replica.end('SIGKILL')));
  await cp?.stop();
});

async function start(account: Account, args: readonly string[] = [], pod?: string): Promise<OperatorProcess> {
  const replica = await startOperator(cp, { account, args, ...(pod === undefined ? {} : { pod }) });
  replicas.set(account, replica);
  return replica;
}

interface Succession {
  /** Seconds from the last time that the leader before stored its lease until the next one took it, by the API server. */
  readonly vacant: number;
  /** Whether lease, journal and eviction came in this order. */
  readonly inOrder: boolean;
  /** What the leader before changed after that. */
  readonly late: readonly unknown[];
}

/** Waits until the next leader evicts, and reads from the audit log how it came to lead. */
async function succession(before: Account, next: Account): Promise<Succession> {
  await untilEvicted(cp, next, replicas.get(next), 1);
  const audit = await cp.audit();
  const { lease, intent, eviction } = firstTakeOver(audit, next);
  return {
    vacant: (Date.parse(lease.at) - Date.parse(lastHeld(audit, before).at)) / 1000,
    inOrder: lease.at < intent.at && intent.at < eviction.at,
    late: writes(audit, userOf(before)).filter(({ at }) => at > lease.answeredAt),
  };
}

async function get(replica: OperatorProcess, path: string): Promise<{ status: number; body: string }> {
  const { healthPort, metricsPort } = await replica.logged('operator started');
  const response = await fetch(`http://127.0.0.1:${path === '/metrics' ? metricsPort : healthPort}${path}`);
  return { status: response.status, body: await response.text() };
}

describe('one plan under six leaders', () => {
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
    await replicas.get('replica-a')?.end('SIGKILL');
    const { vacant, ...rest } = await succession('replica-a', 'replica-b');
    expect(vacant).toBeGreaterThanOrEqual(SHORT_SECONDS);
    expect(rest).toEqual({ inOrder: true, late: [] });
  });

  it('is left alone by a leader that was paused for longer than its lease, and ends with an error', async () => {
    const c = await start('replica-c', SHORT);
    await c.logged('another replica leads');
    const b = replicas.get('replica-b');
    b?.signal('SIGSTOP');
    await untilEvicted(cp, 'replica-c', c, 1);
    b?.signal('SIGCONT');
    expect(await b?.exited).toBe(1);
    expect(b?.log()).toContain('could not be renewed within 2.67 s: this replica ends');
    const { vacant, ...rest } = await succession('replica-b', 'replica-c');
    expect(vacant).toBeGreaterThanOrEqual(SHORT_SECONDS);
    expect(rest).toEqual({ inOrder: true, late: [] });
  });

  it('goes on after a clean stop, which gives the lease up', async () => {
    const d = await start('replica-d');
    await d.logged('another replica leads');
    expect(await replicas.get('replica-c')?.end('SIGTERM')).toBe(0);
    const { inOrder, late } = await succession('replica-c', 'replica-d');
    expect({ inOrder, late }).toEqual({ inOrder: true, late: [] });
    const holders = leaseWrites(await cp.audit()).map(({ holder, user }) => [holder === '', user]);
    const givenUp = holders.findIndex(([isFree]) => isFree === true);
    expect(holders.slice(givenUp, givenUp + 2)).toEqual([
      [true, userOf('replica-c')],
      [false, userOf('replica-d')],
    ]);
  });

  it('goes on after kill -9 of a leader with the default lease, once that has expired', async () => {
    await pods.begun(POD);
    const e = await start('replica-e', [], POD);
    await e.logged('another replica leads');
    await replicas.get('replica-d')?.end('SIGKILL');
    const { vacant, ...rest } = await succession('replica-d', 'replica-e');
    expect(vacant).toBeGreaterThanOrEqual(DEFAULT_SECONDS);
    expect(rest).toEqual({ inOrder: true, late: [] });
  });

  it('goes on before the lease has expired when a kubelet says that the container of the leader has ended', async () => {
    const f = await start('replica-f');
    await f.logged('another replica leads');
    // It trusts a kubelet that says so only if it has seen the container run: at its next look.
    await sleep(2 * RETRY_MILLISECONDS);
    await replicas.get('replica-e')?.end('SIGKILL');
    await pods.ended(POD);
    const { vacant, ...rest } = await succession('replica-e', 'replica-f');
    expect(vacant).toBeLessThan(DEFAULT_SECONDS);
    expect(rest).toEqual({ inOrder: true, late: [] });
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
    expect([...epochs].sort()).toEqual([0, 1, 2, 3, 4, 5]);
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
