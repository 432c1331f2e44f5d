import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { LONGEST_REST } from '../../src/execute/move.ts';
import { isFinal } from '../../src/execute/transitions.ts';
import { acceptedEvictions } from '../control-plane/audit.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { createRandom } from '../support/random.ts';
import { getPolicy } from '../support/resources.ts';
import { changeScale, changeUsage, type Usages, withLoad } from './disturb.ts';
import { type Evidence, evidenceOf } from './evidence.ts';
import { HOSTILE_KINDS, type HostileApi, type HostileKind, startHostileApi } from './hostile-api.ts';
import { startOperators } from './operators.ts';
import { followPlans, type PlanLog, phasesInFlight, untilConverged } from './plan-log.ts';
import { applyEagerPolicy, MAX_CONCURRENT, setStage } from './stage.ts';

/** What a campaign is to do. */
export interface FaultOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Share of requests that are spoiled. */
  readonly rate: number;
  /**
   * Whether the operator leads by the Lease. With three renewals of ten lost it loses that every few minutes, as it should,
   * and is replaced; without it one process has to live through it all.
   */
  readonly elected: boolean;
  readonly log: (line: string) => void;
}

/** What came of it: each list is to be empty. */
export interface FaultReport extends Evidence {
  readonly minutes: number;
  readonly seed: number;
  readonly requests: number;
  readonly injected: Readonly<Record<HostileKind, number>>;
  readonly neverInjected: readonly HostileKind[];
  /** Evictions that the API server accepted after the operator had given them up. */
  readonly lateEvictions: number;
  /** Evictions that the API server accepted while requests were spoiled. */
  readonly evictionsAmidFaults: number;
  /** How many moves ended in which phase; those that were skipped with the reason. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Logs of operators that ended though they had not lost the lease. */
  readonly crashes: readonly string[];
  readonly leasesLost: number;
  /** Plans that were carried out after the faults had stopped, until the policy was Converged. */
  readonly roundsToConverge: number;
  /** Says so when there was no balance a quarter of an hour after the last fault. */
  readonly unbalanced: readonly string[];
  readonly secondsToConverge: number;
  /** Resident memory in MiB: at the first and the last look, and the medians of the second and the last third of all looks. */
  readonly memory: { readonly begin: number; readonly end: number; readonly second: number; readonly last: number };
}

/** Memory counts as flat when the median of the last third of the time is at most this many times that of the second. */
export const MAX_GROWTH = 1.05;

const POLICY = 'faulty';
/** Overlaps with the other one, which is older and owns all pods: it plans in every interval, and may move nothing. */
const YOUNGER = 'younger';
/** Seconds between two disturbances of the load. */
const CHANGE_EVERY = 20;
/** Seconds without a move in flight after which the policy is edited: a plan whose moves were refused rests for minutes. */
const IDLE = 15;
/** Seconds without a disturbance before the faults stop, so that what is planned afterwards is planned from what is so. */
const STILL = 45;
/** For what is bound to come, if late: requests may fail one after the other. */
const PATIENCE = { timeoutMilliseconds: 300_000 };

/** Runs the campaign on a control plane of its own. */
export async function runFaultCampaign(options: FaultOptions): Promise<FaultReport> {
  const cp = await setStage(options.log);
  try {
    return await spoilRequests(cp, options);
  } finally {
    await cp.stop();
  }
}

/**
 * Runs the operator behind a proxy that spoils its requests, and a webhook that refuses its evictions, while the load changes, then stops the faults and the changes and
 * waits for balance. `cp` is a stage without other operators and plans; operator and policies are gone from it afterwards.
 * The evidence is in the audit log, the plans and the process.
 */
export async function spoilRequests(cp: ControlPlane, options: FaultOptions): Promise<FaultReport> {
  const { minutes, seed, rate, elected, log } = options;
  const since = new Date().toISOString();
  const api = await startHostileApi(cp, seed);
  const args = elected ? [] : ['--no-leader-elect'];
  const operators = await startOperators(cp, 1, { kubeconfig: api.kubeconfig, args });
  const usages: Usages = new Map();
  const plans = withLoad(await followPlans(cp), cp, usages);
  const memory: number[] = [];
  try {
    await applyEagerPolicy(cp, POLICY);
    await applyEagerPolicy(cp, YOUNGER);
    await untilMoving(cp, plans, usages, options);
    api.spoil(rate);
    const spoiledSince = new Date().toISOString();
    const edit = editWhenIdle(cp, plans, seed);
    await disturb(cp, usages, options, async () => {
      await plans.look();
      await edit();
      memory.push(residentMemory(operators.process(0)?.pid));
      return `${plans.all().length} plans, ${memory.at(-1)} MiB, ${counts(api)}`;
    });
    const evictionsAmidFaults = await untilEvicted(cp, spoiledSince);
    api.spoil(0);
    const convergence = await converge(cp, plans, log);
    await operators.stop();
    await cp.kubectl(['delete', 'rbp', POLICY, YOUNGER]);
    await plans.stop();
    return {
      minutes,
      seed,
      requests: api.requests(),
      injected: api.injected(),
      neverInjected: HOSTILE_KINDS.filter((kind) => api.injected()[kind] === 0),
      lateEvictions: api.lateEvictions(),
      ...evidenceOf(
        (await cp.audit()).filter(({ at }) => at >= since),
        plans,
        MAX_CONCURRENT,
      ),
      outcomes: outcomesOf(plans.all()),
      evictionsAmidFaults,
      crashes: operators.ends.map((each) => `exit code ${each.code}:\n${each.log}`),
      leasesLost: operators.leasesLost(),
      ...convergence,
      memory: summary(memory),
    };
  } finally {
    await operators.stop();
    await api.stop();
    await plans.stop();
  }
}

/** Disturbs the balance and waits for the plan that comes of it, so that the faults meet moves at once. */
async function untilMoving(cp: ControlPlane, plans: PlanLog, usages: Usages, { seed }: FaultOptions): Promise<void> {
  const random = createRandom(seed);
  await changeUsage(cp, random, usages);
  await changeUsage(cp, random, usages);
  await waitUntil(
    'the first plan',
    async () => {
      await plans.look();
      return plans.all().some(({ status }) => status?.phase === 'Executing') ? undefined : 'none is carried out';
    },
    PATIENCE,
  );
}

/** Called every second, it edits the policy whenever no move has been in flight for a while: its plan is aborted, and it runs anew. */
function editWhenIdle(cp: ControlPlane, plans: PlanLog, seed: number): () => Promise<void> {
  const random = createRandom(seed);
  let idle = 0;
  return async () => {
    idle = plans.all().some((plan) => phasesInFlight(plan).length > 0) ? 0 : idle + 1;
    if (idle >= IDLE) {
      idle = 0;
      await applyEagerPolicy(cp, POLICY, 20 + random.below(20));
    }
  };
}

/** Waits until the API server has accepted an eviction since `instant`, and counts them. */
async function untilEvicted(cp: ControlPlane, instant: string): Promise<number> {
  let count = 0;
  const missing = async (): Promise<string | undefined> => {
    count = acceptedEvictions(await cp.audit()).filter(({ at }) => at >= instant).length;
    return count === 0 ? 'none was accepted' : undefined;
  };
  await waitUntil('an eviction amid the faults', missing, PATIENCE);
  return count;
}

/** Waits for balance after the faults have stopped, and says what that took. */
async function converge(
  cp: ControlPlane,
  plans: PlanLog,
  log: FaultOptions['log'],
): Promise<Pick<FaultReport, 'roundsToConverge' | 'secondsToConverge' | 'unbalanced'>> {
  await plans.look();
  const before = plans.all().length;
  const began = performance.now();
  await untilRun(cp, plans, new Date());
  const unbalanced = await untilConverged(cp, [POLICY], plans, log);
  return {
    unbalanced,
    roundsToConverge: plans.all().length - before,
    secondsToConverge: Math.round((performance.now() - began) / 1000),
  };
}

/**
 * What a policy said before counts for nothing: waits for a run that began after `instant`. A plan whose evictions were refused
 * rests before it tries them again, and its policy runs when it has ended.
 */
async function untilRun(cp: ControlPlane, plans: PlanLog, instant: Date): Promise<void> {
  await waitUntil(
    'a run without faults',
    async () => {
      await plans.look();
      const { lastRun = 'none' } = (await getPolicy(cp, POLICY)).status ?? {};
      return Date.parse(lastRun) > instant.getTime() ? undefined : `the last one was ${lastRun}; ${resting(plans)}`;
    },
    { timeoutMilliseconds: PATIENCE.timeoutMilliseconds + LONGEST_REST * 1000 },
  );
}

/** The moves that keep plans from ending: phase, tries, and until when they rest. */
function resting(plans: PlanLog): string {
  const open = plans
    .all()
    .filter(({ status }) => status?.phase === 'Executing')
    .flatMap(({ metadata, status }) =>
      (status?.moves ?? [])
        .filter(({ phase }) => !isFinal(phase))
        .map(({ phase, attempt, notBefore }) => `${metadata.name} ${phase}, try ${attempt}, not before ${notBefore}`),
    );
  return open.length === 0 ? 'no plan is carried out' : open.join('; ');
}

/** Changes the load every now and then, and looks every second at what comes of it. */
async function disturb(
  cp: ControlPlane,
  usages: Usages,
  { minutes, seed, log }: FaultOptions,
  look: () => Promise<string>,
): Promise<void> {
  const random = createRandom(seed);
  const end = performance.now() + minutes * 60_000;
  for (let second = 0; performance.now() < end; second += 1) {
    const isRound = second % CHANGE_EVERY === 0;
    if (isRound && end - performance.now() > STILL * 1000) {
      await changeScale(cp, random);
      await changeUsage(cp, random, usages);
      await changeUsage(cp, random, usages);
    }
    const state = await look();
    if (isRound) {
      log(state);
    }
    await sleep(1000);
  }
}

function outcomesOf(plans: readonly RebalancePlan[]): FaultReport['outcomes'] {
  const outcomes = new Map<string, number>();
  for (const { phase, outcome } of plans.flatMap(({ status }) => status?.moves ?? [])) {
    const name = phase === 'Skipped' ? `Skipped: ${outcome}` : phase;
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  }
  return Object.fromEntries([...outcomes].sort());
}

function counts(api: HostileApi): string {
  const each = Object.entries(api.injected()).map(([kind, count]) => `${kind} ${count}`);
  return `${api.requests()} requests, faults: ${each.join(', ')}`;
}

/** Resident memory of a process in MiB (VmRSS of proc(5)); NaN while there is none. */
function residentMemory(pid: number | undefined): number {
  const file = `/proc/${pid}/status`;
  if (pid === undefined || !existsSync(file)) {
    return Number.NaN;
  }
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8')) ?? [];
  return Math.round(Number(kibibytes) / 1024);
}

function summary(samples: readonly number[]): FaultReport['memory'] {
  const known = samples.filter((sample) => !Number.isNaN(sample));
  const third = Math.floor(known.length / 3);
  return {
    begin: known[0] ?? Number.NaN,
    end: known.at(-1) ?? Number.NaN,
    second: median(known.slice(third, 2 * third)),
    last: median(known.slice(2 * third)),
  };
}

function median(samples: readonly number[]): number {
  return samples.toSorted((left, right) => left - right)[samples.length >> 1] ?? Number.NaN;
}
