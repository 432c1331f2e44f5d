import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Evidence, evidenceOf } from '../campaigns/evidence.ts';
import { followLeaders, type Leaders, untilSettled } from '../campaigns/leaders.ts';
import { createLimitWatch, overConcurrentByAudit } from '../campaigns/limits.ts';
import { leaseFlag, type Operators, startOperators } from '../campaigns/operators.ts';
import { followPlans, type PlanLog, phasesInFlight } from '../campaigns/plan-log.ts';
import { poolPolicies, setPools } from '../campaigns/pools.ts';
import { measureRequests, type RequestTimes } from '../campaigns/request-times.ts';
import { MAX_CONCURRENT } from '../campaigns/stage.ts';
import { judgeVacancies } from '../campaigns/vacancies.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { getPolicy } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const PATIENCE = { timeoutMilliseconds: 60_000, log };
const REPLICAS = 3;
/** Twice the shortest: other control planes run beside this one. */
const LEASE_SECONDS = 4;
/** So many say something about pods that are evicted twice. */
const LEAST_EVICTIONS = 4;
const POLICIES = poolPolicies(6);
const limits = createLimitWatch(POLICIES.limits);

let cp: ControlPlane;
let operators: Operators;
let plans: PlanLog;
let leaders: Leaders;
let requests: RequestTimes;

beforeAll(async () => {
  cp = await setPools(POLICIES, true, log);
  plans = await followPlans(cp, limits.take);
  await POLICIES.apply(cp);
  operators = await startOperators(cp, REPLICAS, {
    args: [...leaseFlag(LEASE_SECONDS), ...POLICIES.args, '--shard-policies'],
  });
  leaders = await followLeaders(cp, operators, { shared: true, policies: POLICIES.names, lease: LEASE_SECONDS });
  requests = await measureRequests(cp);
});

afterAll(async () => {
  await operators?.stop();
  await requests?.stop();
  await leaders?.stop();
  await plans?.stop();
  await cp?.stop();
});

/** The replica that leads most policies of which a move is in flight. */
async function busiest(): Promise<number> {
  const open = () =>
    plans.all().flatMap((plan) => (phasesInFlight(plan).length > 0 ? (leaders.of(plan.spec.policy.name) ?? []) : []));
  await waitUntil('moves', async () => (open().length > 0 ? undefined : 'none is in flight'), PATIENCE);
  const [first] = [...Map.groupBy(open(), (replica) => replica)].sort(
    ([, left], [, right]) => right.length - left.length,
  );
  return first?.[0] ?? 0;
}

/** The replica that leads most policies, whether or not moves are left by then. */
function leadsMost(): number {
  const led = (replica: number): number => leaders.policiesOf(replica).length;
  return leaders.leading().toSorted((left, right) => led(right) - led(left))[0] ?? 0;
}

describe('six policies that three replicas share', () => {
  it('are all led, by more than one of them, and say by which', async () => {
    await untilSettled(leaders, REPLICAS, log);
    expect(new Set(POLICIES.names.map(leaders.of)).size).toBeGreaterThan(1);
    const told = async () => {
      const unsaid = [];
      for (const name of POLICIES.names) {
        const { status } = await getPolicy(cp, name);
        unsaid.push(...(status?.leader === undefined ? [name] : []));
      }
      return unsaid.length === 0 ? undefined : `status.leader is missing in ${unsaid.join(', ')}`;
    };
    await waitUntil('status.leader', told, PATIENCE);
  });

  it('have another leader in time after kill -9 of one in the middle of moves', async () => {
    const killed = await busiest();
    const orphans = leaders.policiesOf(killed);
    expect(orphans).not.toEqual([]);
    await operators.kill(killed, 0);
    await untilSettled(leaders, REPLICAS, log);
    expect(judgeVacancies(leaders.gaps(), requests, leaders).vacantTooLong).toEqual([]);
  });

  it('are handed over by a replica that ends cleanly, before it has ended', async () => {
    const ending = leadsMost();
    const began = performance.now();
    await operators.end(ending);
    const ended = performance.now();
    await untilSettled(leaders, REPLICAS - 1, log);
    const gaps = leaders.gaps().filter(({ from }) => from >= began);
    log(
      `ended within ${((ended - began) / 1000).toFixed(1)} s; ${gaps.map(({ name, from, to }) => `${name} ${(to - from).toFixed(0)} ms`).join(', ')}`,
    );
    expect(judgeVacancies(gaps, requests, leaders).vacantTooLong).toEqual([]);
    expect(gaps.filter(({ to }) => to > ended + 1000 + 3 * requests.longest(began, to))).toEqual([]);
    expect(operators.ends).toEqual([]);
  });

  it('evict no pod twice, and keep the limits of each and of all', async () => {
    const evicted = async () => {
      const { evictions } = evidenceOf(await cp.audit(), plans, MAX_CONCURRENT);
      return evictions > LEAST_EVICTIONS ? undefined : `${evictions} pods`;
    };
    await waitUntil('evictions', evicted, PATIENCE);
    await operators.stop();
    await plans.look();
    const audit = await cp.audit();
    const evidence: Evidence = evidenceOf(audit, plans, MAX_CONCURRENT);
    expect(evidence).toMatchObject({ evictedTwice: [], unexplained: [], disowned: [], overBudget: [] });
    expect(limits.report()).toMatchObject({ overConcurrent: [], overOverhead: [] });
    expect(overConcurrentByAudit(audit, plans.all(), POLICIES.limits)).toEqual([]);
  });
});
