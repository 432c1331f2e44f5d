import { setTimeout as sleep } from 'node:timers/promises';
import { writes } from '../control-plane/audit.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { startFaultProxy } from '../support/faults/proxy.ts';
import { OPERATOR_USER } from '../support/operator-process.ts';
import { createRandom } from '../support/random.ts';
import { policyObject } from '../support/resources.ts';
import { changeUsage, type Usages, withLoad } from './disturb.ts';
import { type Evidence, evidenceOf } from './evidence.ts';
import { followLeaders, type Leaders, untilSettled } from './leaders.ts';
import { leaseFlag, type Operators, startOperators } from './operators.ts';
import { followPlans, untilConverged } from './plan-log.ts';
import { type Policies, poolPolicies, setPools } from './pools.ts';
import { measureRequests, type RequestTimes } from './request-times.ts';
import { DEMO, MAX_CONCURRENT, setStage } from './stage.ts';
import { judgeVacancies } from './vacancies.ts';

/** A change of the number of replicas, and what came of it. */
export interface Step {
  /** Replicas before and after it. */
  readonly from: number;
  readonly to: number;
  /** Policies that another replica leads than before. */
  readonly moved: readonly string[];
  /** Share of the policies that change hands on average, with rendezvous hashing. */
  readonly expected: number;
  /** Policies that changed hands more than once. */
  readonly twice: readonly string[];
  /** Policies that changed hands though the replica that led them stayed and no new one took them. */
  readonly needless: readonly string[];
  /** Live replicas that lead no policy. */
  readonly idle: readonly number[];
  /** Seconds of the longest time in which a policy, or the rest, had no leader. */
  readonly longestVacancy: number;
  readonly vacantTooLong: readonly string[];
  /** Replicas that lost their Lease: then more has changed than the number of replicas. */
  readonly leasesLost: number;
}

/** How often replicas come and go, on what. */
export interface StepOptions {
  readonly policies: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** What came of the steps; each list of the evidence is to be empty. */
export interface StepReport {
  readonly steps: readonly Step[];
  readonly evidence: Evidence;
  /** Logs of replicas that ended by themselves. */
  readonly crashes: readonly string[];
  /** Policies without balance a quarter of an hour after the last step. */
  readonly unbalanced: readonly string[];
}

/** Long enough that no replica loses its Lease because the machine is busy: that would be another change than the one that is looked at. */
const LEASE_SECONDS = 6;
/** How many replicas there are after each step. */
const STEPS = [3, 2, 1] as const;
const PATIENCE = { timeoutMilliseconds: 120_000 };
/** Milliseconds between two changes of the load. */
const CHANGE_EVERY = 3000;
/** Milliseconds of work before the first step, and after each. */
const WORK = 10_000;

/**
 * Replicas that share policies come and go, cleanly, while all policies have work: one, then three, two, and one again. After each step, all
 * policies have to have leaders among the replicas that are left, and nothing may change any more.
 */
export async function runSteps({ policies: count, seed, log }: StepOptions): Promise<StepReport> {
  const policies = poolPolicies(count);
  const cp = await setPools(policies, true, log);
  try {
    return await playSteps(cp, policies, seed, log);
  } finally {
    await cp.stop();
  }
}

async function playSteps(
  cp: ControlPlane,
  policies: Policies,
  seed: number,
  log: (line: string) => void,
): Promise<StepReport> {
  const usages: Usages = new Map();
  const plans = withLoad(await followPlans(cp), cp, usages);
  const operators = await startOperators(cp, 1, {
    args: [...leaseFlag(LEASE_SECONDS), ...policies.args, '--shard-policies'],
  });
  const requests = await measureRequests(cp);
  const over = new AbortController();
  let load: Promise<void> | undefined;
  let leaders: Leaders | undefined;
  try {
    await policies.apply(cp);
    leaders = await followLeaders(cp, operators, { shared: true, policies: policies.names, lease: LEASE_SECONDS });
    const scene = { operators, leaders, requests, policies: policies.names, log };
    await untilSettled(leaders, 1, log);
    load = disturb(cp, usages, seed, over.signal);
    await sleep(WORK);
    const steps: Step[] = [];
    for (const replicas of STEPS) {
      const done = await step(scene, replicas);
      steps.push(done);
      await plans.look();
      log(`${JSON.stringify(done)}, ${plans.all().length} plans`);
      await sleep(WORK);
    }
    over.abort();
    await load;
    const unbalanced = await untilConverged(cp, policies.names, plans, log);
    await leaders.stop();
    await operators.stop();
    await plans.look();
    await plans.stop();
    return {
      steps,
      evidence: evidenceOf(await cp.audit(), plans, MAX_CONCURRENT),
      crashes: operators.ends.map(({ code, log: end }) => `exit code ${code}:\n${end}`),
      unbalanced,
    };
  } finally {
    over.abort();
    await load;
    await operators.stop();
    await requests.stop();
    await leaders?.stop();
    await plans.stop();
  }
}

/** Changes what workloads use, so that all policies have work, until aborted. */
async function disturb(cp: ControlPlane, usages: Usages, seed: number, signal: AbortSignal): Promise<void> {
  const random = createRandom(seed);
  while (!signal.aborted) {
    await changeUsage(cp, random, usages);
    await sleep(CHANGE_EVERY);
  }
}

interface Scene {
  readonly operators: Operators;
  readonly leaders: Leaders;
  readonly requests: RequestTimes;
  readonly policies: readonly string[];
  readonly log: (line: string) => void;
}

/** Adds replicas, or ends the youngest ones with SIGTERM, until there are so many. */
async function step({ operators, leaders, requests, policies, log }: Scene, to: number): Promise<Step> {
  const before = aliveIn(operators);
  const ledBefore = new Map(policies.map((policy) => [policy, leaders.of(policy)]));
  const lostBefore = operators.leasesLost();
  const began = performance.now();
  for (let count = before.length; count < to; count += 1) {
    await operators.add();
  }
  for (const replica of before.slice(to)) {
    await operators.end(replica);
  }
  const alive = aliveIn(operators);
  await untilSettled(leaders, alive.length, log);
  const moved = policies.filter((policy) => leaders.of(policy) !== ledBefore.get(policy));
  const isNeedless = (policy: string): boolean =>
    alive.includes(ledBefore.get(policy) ?? -1) && before.includes(leaders.of(policy) ?? -1);
  const gaps = leaders.gaps().filter((gap) => gap.to > began);
  const { longestVacancy, vacantTooLong } = judgeVacancies(gaps, requests, leaders);
  return {
    from: before.length,
    to: alive.length,
    moved,
    expected: expectedShare(before.length, alive.length),
    twice: policies.filter((policy) => leaders.takenSince(policy, began) > 1),
    needless: moved.filter(isNeedless),
    idle: alive.filter((replica) => leaders.policiesOf(replica).length === 0),
    longestVacancy,
    vacantTooLong,
    leasesLost: operators.leasesLost() - lostBefore,
  };
}

function aliveIn(operators: Operators): readonly number[] {
  return operators.lives.flatMap(({ replica, ended }) => (ended === undefined ? [replica] : []));
}

/** The replicas that come take an equal share of all, and those that go leave theirs. */
function expectedShare(before: number, after: number): number {
  return Math.abs(after - before) / Math.max(before, after);
}

/** Requests of all replicas at rest, in one mode. */
export interface RestReport {
  readonly shared: boolean;
  readonly seconds: number;
  /** By method and resource, as `GET leases`; a watch counts once, when it begins. */
  readonly requests: Readonly<Record<string, number>>;
  readonly perMinute: number;
  /** Changes that the audit log has, for a minute. */
  readonly writesPerMinute: number;
  /** Moves that were under way: more than none, and it was no rest. */
  readonly evictions: number;
}

/** How requests at rest are counted. */
export interface RestOptions {
  readonly seconds: number;
  readonly log: (line: string) => void;
}

const RESTING_POLICIES = 10;
const RESTING_REPLICAS = 3;
/** Milliseconds after which caches are filled, and every policy has run. */
const SETTLE = 45_000;

/** Counts the requests of three replicas with ten policies that have nothing to do, first with one leader, then with shared policies. */
export async function runRest(options: RestOptions): Promise<readonly RestReport[]> {
  const cp = await setStage(options.log, { ...DEMO, shared: true });
  try {
    await cp.apply(
      Array.from({ length: RESTING_POLICIES }, (_, place) =>
        policyObject(`rest-${place}`, {
          mode: 'Automatic',
          interval: '1m',
          thresholds: { trigger: '1' },
          scope: { podSelector: { matchLabels: { app: `app-${String(place + 1).padStart(2, '0')}` } } },
        }),
      ),
    );
    return [await restIn(cp, false, options), await restIn(cp, true, options)];
  } finally {
    await cp.stop();
  }
}

/** With the default lease, as replicas in production have it. */
async function restIn(cp: ControlPlane, shared: boolean, { seconds: span, log }: RestOptions): Promise<RestReport> {
  const counts = new Map<string, number>();
  const upstream = await cp.kubeconfigFor({ namespace: 'evenkeel-system', name: 'evenkeel' });
  const proxy = await startFaultProxy({
    upstream,
    seed: shared ? 2 : 1,
    answered: ({ method, url }) => {
      const what = `${method} ${resourceOf(url)}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
    },
  });
  const operators = await startOperators(cp, RESTING_REPLICAS, {
    kubeconfig: proxy.kubeconfig,
    args: shared ? ['--shard-policies'] : [],
  });
  const policies = Array.from({ length: RESTING_POLICIES }, (_, place) => `rest-${place}`);
  let leaders: Leaders | undefined;
  try {
    leaders = await followLeaders(cp, operators, { shared, policies });
    const { unled } = leaders;
    const missing = async () => (unled().length === 0 ? undefined : `not led: ${unled().join(', ')}`);
    await waitUntil('leaders', missing, { ...PATIENCE, log });
    await sleep(SETTLE);
    counts.clear();
    const [began, from] = [proxy.requests(), new Date().toISOString()];
    log(`${shared ? 'shared policies' : 'one leader'}: ${span} s at rest`);
    await sleep(1000 * span);
    const perMinute = ((proxy.requests() - began) * 60) / span;
    const requests = Object.fromEntries([...counts].sort(([, left], [, right]) => right - left));
    const until = new Date().toISOString();
    const audit = writes(await cp.audit(), OPERATOR_USER).filter(({ at }) => at >= from && at < until);
    const evictions = audit.filter(({ subresource }) => subresource === 'eviction').length;
    return { shared, seconds: span, requests, perMinute, writesPerMinute: (audit.length * 60) / span, evictions };
  } finally {
    await operators.stop();
    await leaders?.stop();
    await proxy.stop();
  }
}

/** `leases` for /apis/coordination.k8s.io/v1/namespaces/evenkeel-system/leases/evenkeel; with its subresource, if any. */
function resourceOf(url: string): string {
  const { pathname, searchParams } = new URL(url, 'https://127.0.0.1');
  const parts = pathname.split('/').slice(1);
  const inGroup = parts.slice(parts[0] === 'api' ? 2 : 3);
  const [resource = pathname, , subresource] =
    inGroup[0] === 'namespaces' && inGroup.length > 2 ? inGroup.slice(2) : inGroup;
  const suffix = searchParams.has('watch') ? ' (watch)' : '';
  return subresource === undefined ? `${resource}${suffix}` : `${resource}/${subresource}${suffix}`;
}
