import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { type AuditEvent, acceptedEvictions, writes } from '../control-plane/audit.ts';
import { listPods } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import {
  firstTakeOver,
  lastHeld,
  leaseWrites,
  sentEvictions,
  tiltedPolicy,
  untilEvicted,
} from '../support/audited-replicas.ts';
import {
  accountLikeTheOperators,
  install,
  jump,
  type OperatorProcess,
  startOperator,
  userOf,
} from '../support/operator-process.ts';
import { createRandom } from '../support/random.ts';
import { getPlans } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

const HOUR = 3600;
const LEASE_SECONDS = 4;
/** Of a lease of four seconds. */
const RETRY_PERIOD = (LEASE_SECONDS * 2) / 15;
/** Leaders that are paused in turn: every other one with an intent stored and its eviction not sent, the others at any time. */
const PAUSES = 4;

/** An operator under an account of its own. */
interface Replica {
  readonly account: string;
  readonly clockFile: string;
  readonly process: OperatorProcess;
}

let cp: ControlPlane;
const replicas: Replica[] = [];
const figures: string[] = [];

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await cp.apply(Array.from({ length: PAUSES + 3 }, (_, index) => accountLikeTheOperators(`forced-${index}`)).flat());
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'tilted.yaml')), { log });
});

afterAll(async () => {
  log(['forced leaders:', ...figures].join('\n  '));
  await Promise.all(replicas.map((replica) => replica.process.end('SIGKILL')));
  await cp?.stop();
});

async function start(): Promise<Replica> {
  const account = `forced-${replicas.length}`;
  const clockFile = join(cp.dir, `clock-${account}`);
  const args = ['--lease-duration', `${LEASE_SECONDS}s`, '--metrics-insecure'];
  const replica = { account, clockFile, process: await startOperator(cp, { account, args, clockFile }) };
  replicas.push(replica);
  return replica;
}

const at = ({ at: instant }: AuditEvent): number => Date.parse(instant);

async function writesOf(replica: Replica): Promise<readonly AuditEvent[]> {
  return writes(await cp.audit(), userOf(replica.account));
}

/** Waits until a leader has renewed its lease so many times more; resolves to all of its renewals. */
async function untilRenewed(leader: Replica, times: number): Promise<readonly AuditEvent[]> {
  let renewals = leaseWrites(await writesOf(leader));
  const wanted = renewals.length + times;
  await waitUntil(
    `${leader.account} renews its lease`,
    async () => {
      renewals = leaseWrites(await writesOf(leader));
      return renewals.length >= wanted ? undefined : `${renewals.length} of ${wanted}`;
    },
    { timeoutMilliseconds: 60_000 },
  );
  return renewals;
}

/** Seconds from the answer to each event until the arrival of the next one. */
function gaps(events: readonly AuditEvent[]): readonly number[] {
  return events
    .slice(1)
    .map(({ at: next }, index) => (Date.parse(next) - Date.parse(events[index]?.answeredAt ?? '')) / 1000);
}

async function leaseField(name: 'leaseTransitions' | 'renewTime'): Promise<string> {
  return cp.kubectl(['get', 'lease', '-n', 'evenkeel-system', 'evenkeel', '-o', `jsonpath={.spec.${name}}`]);
}

/** Hours by which the leader's wall clock is ahead, as its last renewal says. */
async function hoursAhead(): Promise<number> {
  return Math.round((Date.parse(await leaseField('renewTime')) - Date.now()) / (HOUR * 1000));
}

function instantsOf(plan: RebalancePlan): readonly number[] {
  const moves = plan.status?.moves ?? [];
  const texts = moves.flatMap(({ startedAt, finishedAt }) => [startedAt ?? [], finishedAt ?? []].flat());
  return [plan.spec.takenAt, ...texts].map((text) => Date.parse(text));
}

describe('a wall clock that jumps by hours', () => {
  const begun = Date.now();

  it('makes no second leader, and the leader neither stops nor hurries', async () => {
    const leader = await start();
    await leader.process.logged('leading');
    const waiting = await start();
    await waiting.process.logged('another replica leads');
    await cp.apply([tiltedPolicy(1)]);
    await untilEvicted(cp, leader.account, leader.process, 1);
    const seen: number[] = [];
    for (const [replica, offset] of [
      [leader, 3 * HOUR],
      [waiting, -3 * HOUR],
      [leader, -5 * HOUR],
      [waiting, 26 * HOUR],
    ] as const) {
      const { length } = await sentEvictions(cp, replica.account);
      jump(replica.process, replica.clockFile, offset);
      await untilRenewed(leader, 4);
      seen.push(await hoursAhead());
      const done = (await sentEvictions(cp, replica.account)).length - length;
      figures.push(
        `clock of ${replica === leader ? 'the leader' : 'who waits'} by ${offset / HOUR} h: ${done} evictions`,
      );
    }
    expect(seen).toEqual([3, 3, -5, -5]);
    // It goes on renewing after every jump, and waits a retry period before each time; a timer may be a millisecond early.
    expect(Math.min(...gaps(await untilRenewed(leader, 1)))).toBeGreaterThan(RETRY_PERIOD - 0.01);
    expect(await writesOf(waiting)).toEqual([]);
    expect(await leaseField('leaseTransitions')).toBe('0');
    await untilEvicted(cp, leader.account, leader.process, 2);
    expect(leader.process.log()).toContain('"msg":"leading"');
    expect(leader.process.log()).not.toContain('leadership lost');
  });

  it('puts off no fail-over, and leaves no trace in the journal', async () => {
    const [leader, waiting] = replicas as [Replica, Replica];
    await leader.process.end('SIGKILL');
    // Its clock is 31 h ahead of the one that it follows: by wall clocks the lease would have ended long ago, or not today.
    await untilEvicted(cp, waiting.account, waiting.process, 1);
    const audit = await cp.audit();
    const vacant = at(firstTakeOver(audit, waiting.account).lease) - at(lastHeld(audit, leader.account));
    expect(vacant / 1000).toBeGreaterThanOrEqual(LEASE_SECONDS);
    const instants = (await getPlans(cp)).flatMap(instantsOf);
    expect(Math.min(...instants)).toBeGreaterThan(begun - 60_000);
    expect(Math.max(...instants)).toBeLessThan(Date.now() + 5_000);
  });
});

describe('a leader that is paused and comes back', () => {
  it('evicts nothing after the next one has taken over, wherever it was paused', async () => {
    await replicas.at(-1)?.process.end('SIGTERM');
    let leader = await start();
    await leader.process.logged('leading');
    const random = createRandom(20_261_121);
    const hits: string[] = [];
    for (let round = 0; round < PAUSES; round += 1) {
      const next = await start();
      await next.process.logged('another replica leads');
      const caught = round % 2 === 0 ? await untilIntent(leader) : await sleep(random.below(2_000), 'at any time');
      leader.process.signal('SIGSTOP');
      await next.process.logged('leading');
      await sleep(random.below(1_500));
      leader.process.signal('SIGCONT');
      expect(await leader.process.exited).toBe(1);
      const [taken] = leaseWrites(await writesOf(next));
      const takenAt = taken?.answeredAt ?? '';
      const late = (await writesOf(leader)).filter((event) => event.at > takenAt && !isRefusedRenewal(event));
      expect({ by: leader.account, late }).toEqual({ by: leader.account, late: [] });
      hits.push(caught);
      leader = next;
    }
    figures.push(`${PAUSES} leaders paused: ${hits.join(', ')}`);
    expect(hits.filter((hit) => hit === 'before its eviction').length).toBeGreaterThanOrEqual(PAUSES / 2);
    await untilEvicted(cp, leader.account, leader.process, 1);
    const accepted = acceptedEvictions(await cp.audit()).map(({ uidPrecondition }) => uidPrecondition);
    expect(new Set(accepted).size).toBe(accepted.length);
  });
});

/**
 * Whether this is a renewal that the API server refused because another replica has the Lease. A pause can catch a renewal that
 * was in time between the look at the clock and the socket; its resourceVersion is what stops it then.
 */
function isRefusedRenewal({ resource, verb, code }: AuditEvent): boolean {
  return resource === 'leases' && verb === 'update' && code === 409;
}

/**
 * Waits until a leader has stored an intent whose eviction it has not sent: it makes the hint in between, and gives it a second
 * to spread.
 */
async function untilIntent(leader: Replica): Promise<string> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const changes = (await writesOf(leader)).filter(({ resource, code }) => code === 201 && resource !== 'events');
    if (changes.at(-1)?.resource === 'placementhints') {
      return 'before its eviction';
    }
    await sleep(20);
  }
  throw new Error(`${leader.account} places no hint: ${leader.process.log().slice(-1500)}`);
}

describe('a policy that is deleted in the middle of its plan', () => {
  it('stops it, lets what is in flight be verified, and the plan go after that', async () => {
    const [leader] = replicas.slice(-1) as [Replica];
    const running = async () => (await getPlans(cp)).find(({ status }) => status?.phase === 'Executing');
    const patience = { timeoutMilliseconds: 60_000, log };
    const inFlight = async () => {
      const moves = (await running())?.status?.moves ?? [];
      return moves.some(({ phase }) => /Evicting|Awaiting|Verifying/.test(phase)) ? undefined : 'none';
    };
    await waitUntil('a move is in flight', inFlight, patience);
    const name = (await running())?.metadata.name ?? '';
    await cp.kubectl(['delete', 'rbp', 'tilted']);
    const deleted = Date.now();
    const left = async () => ((await getPlans(cp)).length === 0 ? undefined : 'not yet');
    await waitUntil('its plans are gone', left, patience);
    const audit = await cp.audit();
    const ends = audit.filter(
      (event) => event.resource === 'rebalanceplans' && event.name === name && at(event) > deleted,
    );
    expect(
      ends.filter(({ code }) => code === 200).map(({ user, verb }) => `${user === userOf(leader.account)} ${verb}`),
    ).toEqual(expect.arrayContaining(['true patch', 'true delete']));
    expect(ends.filter(({ verb, user }) => verb === 'delete' && user !== userOf(leader.account))).toEqual([]);
    // One move at a time: that which had been decided on at the moment of the deletion may still go out, and no other.
    const late = (await sentEvictions(cp, leader.account)).filter((event) => at(event) > deleted);
    expect(new Set(late.map((event) => event.name)).size).toBeLessThanOrEqual(1);
    const pods = (await listPods(cp)).filter(({ metadata }) => metadata.namespace === 'shop');
    expect(pods).toHaveLength(48);
    expect((await cp.kubectl(['get', 'placementhints', '-A', '-o', 'name'])).trim()).toBe('');
  });
});
