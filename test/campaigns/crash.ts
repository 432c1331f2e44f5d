import { setTimeout as sleep } from 'node:timers/promises';
import type { MovePhase } from '../../src/api/v1alpha1/rebalance-plan.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { WEBHOOK_KINDS } from '../support/faults/eviction-webhook.ts';
import type { FaultKind } from '../support/faults/kinds.ts';
import { createRandom, type Random } from '../support/random.ts';
import { createReplicaPods } from '../support/replica-pods.ts';
import { getPlans } from '../support/resources.ts';
import { changeUsage, type Usages, withLoad } from './disturb.ts';
import { type Evidence, evidenceOf, strayMoves } from './evidence.ts';
import { type HostileApi, type HostileKind, startHostileApi } from './hostile-api.ts';
import { followLeaders, type Leaders } from './leaders.ts';
import { createLimitWatch, type LimitReport, overConcurrentByAudit } from './limits.ts';
import { LEASE_SECONDS, leaseFlag, type Operators, startOperators } from './operators.ts';
import { followPlans, type PlanLog, phasesInFlight, untilConverged } from './plan-log.ts';
import { onePolicy, type Policies, poolPolicies, setPools } from './pools.ts';
import { measureRequests } from './request-times.ts';
import { MAX_CONCURRENT, setStage } from './stage.ts';
import { judgeVacancies, type Vacancies } from './vacancies.ts';

/** What a campaign is to do. */
export interface CrashOptions {
  readonly kills: number;
  /** Ends after so long even with fewer kills; default never. */
  readonly minutes?: number;
  readonly seed: number;
  /** Replicas; default 2: the second one takes over when the first one is away for longer than the lease. */
  readonly replicas?: number;
  /** Policies; default 1. Several have disjoint scopes, and limits over all of them. */
  readonly policies?: number;
  /** Whether replicas share the policies; default false: one leads everything. */
  readonly shardPolicies?: boolean;
  /** Seconds of a lease; default the shortest, which a machine without room for it loses while replicas start. */
  readonly lease?: number;
  readonly log: (line: string) => void;
}

/** What came of it: each list is to be empty. */
export interface CrashReport extends Evidence, LimitReport, Vacancies {
  readonly kills: number;
  /** Kills of a replica that led something. */
  readonly killsOfLeaders: number;
  /** Kills of a replica that led while at least one move of what it led was in flight: its intent stored, its end not. */
  readonly killsWithOpenMoves: number;
  /** Of those, kills with at least one move in this phase. */
  readonly killsByPhase: Readonly<Record<string, number>>;
  /** Says so when fewer than half of the kills met open moves. */
  readonly shortfalls: readonly string[];
  /** How often each kind of fault was injected. */
  readonly injected: Partial<Readonly<Record<HostileKind, number>>>;
  readonly neverInjected: readonly HostileKind[];
  /** Evictions that the API server accepted after the operator had given them up, or was dead. */
  readonly lateEvictions: number;
  /** From the first kill to the end of the last one. */
  readonly secondsPerKill: number;
  /** Policies, and all of them, with more moves in flight than they may have, by the audit log, as `name: moves`. */
  readonly overConcurrentByAudit: readonly string[];
  /** Policies without balance a quarter of an hour after the last kill. */
  readonly unbalanced: readonly string[];
  /** Pods that are said to have landed but run elsewhere. */
  readonly strays: readonly string[];
  readonly hintsLeft: readonly string[];
  /** Logs of replicas that ended by themselves. */
  readonly crashes: readonly string[];
  readonly leasesLost: number;
}

const POLICY = 'crashing';
/** Milliseconds between the beginning of a term and a kill at any time, at most. */
const LONGEST_TERM = 3000;
/** Milliseconds between the sight of a move in the phase that a kill is aimed at and the kill, at most. */
const LONGEST_AIM = 1000;
/**
 * Phases that kills are aimed at. A move comes to the later two only when no kill has come before its eviction, so these are
 * aimed at more often.
 */
const AIMS: readonly MovePhase[] = [
  'Intent',
  'Evicting',
  'AwaitingReplacement',
  'AwaitingReplacement',
  'Verifying',
  'Verifying',
];
/** Milliseconds after which a kill that is aimed at a phase takes any other. */
const LONGEST_WAIT = 6000;
const PATIENCE = { timeoutMilliseconds: 60_000 };
/** Share of the kills that wait for an open move, and hit the replica that leads its policy. */
const AIMED_SHARE = 0.7;
/** Share of the other kills that are aimed at a replica that leads. */
const LEADERS_SHARE = 0.7;
/** Share of all kills that have to meet open moves. */
const LEAST_OPEN = 0.5;
/** Share of the kills whose end a kubelet reports; after the others the Lease has to run out. */
const REPORTED_SHARE = 0.5;
/** Kills between two changes of the load, each of so many workloads, or of one for each policy where there are more. */
const KILLS_PER_CHANGE = 4;
const WORKLOADS_PER_CHANGE = 2;
/** Share of the requests that fail beside the kills. */
export const FAULT_RATE = 0.03;
/**
 * Faults that leave something open for whoever leads next: effects that come late or are not known, and views of the cluster
 * that are old. Those that only cost time would leave less of it for kills.
 */
export const CRASH_FAULTS: readonly FaultKind[] = [
  'TooManyRequests',
  'InternalError',
  'ResetBefore',
  'ResetAfter',
  'LateWrite',
  'LateEviction',
  'SkewedClock',
  'SkewedCreation',
  'OldList',
  'LaggingEvents',
  'GoneInStream',
];
/** Milliseconds without an open move after which there has to be new work. */
const IDLE = 10_000;

/**
 * Kills replicas of the operator at random instants, most of them in the middle of moves, while they balance a cluster whose load
 * changes; then lets them finish, and collects the evidence from the audit log, the plans and the Leases.
 */
export async function runCrashCampaign(options: CrashOptions): Promise<CrashReport> {
  const { seed, policies: count = 1, shardPolicies: shared = false, log } = options;
  const policies = count === 1 ? onePolicy(POLICY) : poolPolicies(count);
  const cp = await (count === 1
    ? setStage(log, { scenario: 'slow-pods.yaml', metricResolution: '10s', measured: true, shared })
    : setPools(policies, shared, log));
  try {
    return await play(cp, policies, await startHostileApi(cp, seed), options);
  } finally {
    await cp.stop();
  }
}

async function play(
  cp: ControlPlane,
  policies: Policies,
  api: HostileApi,
  {
    kills,
    minutes = Number.POSITIVE_INFINITY,
    seed,
    replicas = 2,
    shardPolicies = false,
    lease = LEASE_SECONDS,
    log,
  }: CrashOptions,
): Promise<CrashReport> {
  const random = createRandom(seed);
  const limitWatch = createLimitWatch(policies.limits);
  const usages: Usages = new Map();
  const plans = withLoad(await followPlans(cp, limitWatch.take), cp, usages);
  const args = [...leaseFlag(lease), ...policies.args, ...(shardPolicies ? ['--shard-policies'] : [])];
  const pods = await createReplicaPods(cp);
  const operators = await startOperators(cp, replicas, { args, kubeconfig: api.kubeconfig, pods });
  const requests = await measureRequests(cp);
  let leaders: Leaders | undefined;
  try {
    await policies.apply(cp);
    leaders = await followLeaders(cp, operators, { shared: shardPolicies, policies: policies.names, lease });
    const scene = { cp, operators, plans, leaders, random, usages, policies, replicas };
    api.spoil(FAULT_RATE, CRASH_FAULTS);
    const began = performance.now();
    const hits: Hit[] = [];
    while (hits.length < kills && performance.now() - began < 60_000 * minutes) {
      if (hits.length % KILLS_PER_CHANGE === 0) {
        await changeLoad(scene);
        await plans.look();
        log(`${hits.length} of ${kills} kills, ${openOf(hits).length} amid moves, ${plans.all().length} plans`);
      }
      hits.push(await killOne(scene));
    }
    const secondsPerKill = (performance.now() - began) / 1000 / hits.length;
    api.spoil(0);
    const unbalanced = await untilConverged(cp, policies.names, plans, log);
    await sleep(5000);
    const hints = await cp.kubectl(['get', 'placementhints', '-A', '-o', 'name']);
    const vacancies = judgeVacancies(leaders.gaps(), requests, leaders, api.leaseFaults);
    await leaders.stop();
    await operators.stop();
    await plans.look();
    await plans.stop();
    const audit = await cp.audit();
    return {
      kills: hits.length,
      ...summaryOf(hits),
      ...faultsOf(api),
      secondsPerKill: Math.round(secondsPerKill * 10) / 10,
      ...vacancies,
      unbalanced,
      ...evidenceOf(audit, plans, MAX_CONCURRENT),
      ...limitWatch.report(api.lateWrites()),
      overConcurrentByAudit: overConcurrentByAudit(audit, plans.all(), policies.limits),
      strays: plans
        .all()
        .flatMap(strayMoves)
        .map(({ podUID }) => podUID),
      hintsLeft: hints.split('\n').filter((line) => line !== ''),
      crashes: operators.ends.map((end) => `exit code ${end.code}:\n${end.log}`),
      leasesLost: operators.leasesLost(),
    };
  } finally {
    await operators.stop();
    await requests.stop();
    await api.stop();
    await leaders?.stop();
    await plans.stop();
  }
}

/**
 * What several campaigns came to together: a kind of fault that came in one of them came; of times, and of what was most at an instant,
 * the longest and the most count.
 */
export function mergedReport(reports: readonly CrashReport[]): CrashReport {
  const fields = reports.flatMap((report) => Object.entries(report));
  const merged = [...Map.groupBy(fields, ([name]) => name)].map(([name, values]) => [
    name,
    mergedValue(values.map(([, value]) => value as unknown)),
  ]);
  return {
    ...(Object.fromEntries(merged) as CrashReport),
    neverInjected: reports
      .map(({ neverInjected }) => neverInjected)
      .reduce((left, right) => left.filter((kind) => right.includes(kind))),
    ...Object.fromEntries(MAXIMA.map((name) => [name, Math.max(...reports.map((report) => report[name]))])),
  };
}

const MAXIMA = ['secondsPerKill', 'mostInFlight', 'longestVacancy', 'longestAdoption', 'slowestRequest'] as const;

/** Numbers are added up, lists joined, and records of either merged by their keys. */
function mergedValue(values: readonly unknown[]): unknown {
  if (values.every((value) => typeof value === 'number')) {
    return values.reduce((total, value) => total + value, 0);
  }
  if (values.every((value) => Array.isArray(value))) {
    return values.flat();
  }
  const entries = values.flatMap((value) => Object.entries(value as object));
  return Object.fromEntries(
    [...Map.groupBy(entries, ([key]) => key)].map(([key, all]) => [
      key,
      mergedValue(all.map(([, value]) => value as unknown)),
    ]),
  );
}

/** What a kill met. */
interface Hit {
  readonly isLeader: boolean;
  /** Of the moves that were in flight for what the replica led, as stored once its process was gone: nobody leads that for the rest of the lease. */
  readonly phases: readonly MovePhase[];
}

/** What is killed, and what it works on. */
interface Scene {
  readonly cp: ControlPlane;
  readonly operators: Operators;
  readonly plans: PlanLog;
  readonly leaders: Leaders;
  readonly random: Random;
  readonly usages: Usages;
  readonly policies: Policies;
  readonly replicas: number;
}

async function killOne(scene: Scene): Promise<Hit> {
  const { cp, operators, leaders, random, replicas } = scene;
  await waitUntil('a leader', async () => (leaders.leading().length === 0 ? 'none' : undefined), PATIENCE);
  const aim = random.next() < AIMED_SHARE ? await untilOpen(scene) : undefined;
  await sleep(random.next() * (aim === undefined ? LONGEST_TERM : LONGEST_AIM));
  const replica = victimOf(scene, aim) ?? random.below(replicas);
  const led = leaders.policiesOf(replica);
  const isLeader = leaders.leading().includes(replica);
  await operators.kill(replica, random.below(2) * 1000, random.next() < REPORTED_SHARE);
  const open = (await getPlans(cp)).filter(({ spec }) => led.includes(spec.policy.name));
  return { isLeader, phases: open.flatMap(phasesInFlight) };
}

/** The replica that leads the policy that the kill is aimed at, or else mostly one that leads anything; undefined for any. */
function victimOf({ leaders, random }: Scene, aim: string | undefined): number | undefined {
  const leading = leaders.leading();
  const isAtLeader = aim !== undefined || random.next() < LEADERS_SHARE;
  return (
    (aim === undefined ? undefined : leaders.of(aim)) ??
    (isAtLeader ? leading[random.below(leading.length)] : undefined)
  );
}

/**
 * Waits until some move has got further and one is in a random phase, so that kills meet ever new states of plans that go on; or,
 * after a while, until one is in any phase. Where nothing is in flight for long, makes work. Resolves to the policy of that move.
 */
async function untilOpen(scene: Scene): Promise<string> {
  const { plans, random } = scene;
  const aim = AIMS[random.below(AIMS.length)] ?? 'Intent';
  const openIn = (is: (phase: MovePhase) => boolean): readonly string[] =>
    plans.all().flatMap((plan) => (phasesInFlight(plan).some(is) ? [plan.spec.policy.name] : []));
  const known = new Set(statesOf(plans));
  const gotFurther = (): boolean => statesOf(plans).some((state) => !known.has(state));
  const began = performance.now();
  let busyAt = began;
  for (;;) {
    const open = openIn(() => true);
    const aimed = openIn((phase) => phase === aim);
    const isLate = performance.now() - began > LONGEST_WAIT;
    const found = aimed.length > 0 && gotFurther() ? aimed : isLate ? open : [];
    const policy = found[random.below(found.length)];
    if (policy !== undefined) {
      return policy;
    }
    if (open.length > 0) {
      busyAt = performance.now();
    } else if (performance.now() - busyAt > IDLE) {
      await startOver(scene);
      busyAt = performance.now();
    }
    if (performance.now() - began > PATIENCE.timeoutMilliseconds * 5) {
      throw new Error('no move began within five minutes');
    }
    await sleep(20);
  }
}

/** What is stored of each move: its phase, and which try it is. */
function statesOf(plans: PlanLog): readonly string[] {
  return plans
    .all()
    .flatMap(({ metadata, status }) =>
      (status?.moves ?? []).map(({ podUID, phase, attempt }) => `${metadata.name} ${podUID} ${phase} ${attempt}`),
    );
}

async function changeLoad({ cp, random, usages, policies }: Scene): Promise<void> {
  const changes = Math.max(WORKLOADS_PER_CHANGE, policies.names.length);
  for (let workload = 0; workload < changes; workload += 1) {
    await changeUsage(cp, random, usages);
  }
}

/** Changes the load and the policies: a plan whose moves were all refused, and rest for minutes, ends with that. */
async function startOver(scene: Scene): Promise<void> {
  const { cp, random, policies } = scene;
  await changeLoad(scene);
  await policies.apply(cp, 20 + random.below(20));
}

function openOf(hits: readonly Hit[]): readonly Hit[] {
  return hits.filter(({ isLeader, phases }) => isLeader && phases.length > 0);
}

type Summary = Pick<CrashReport, 'killsOfLeaders' | 'killsWithOpenMoves' | 'killsByPhase' | 'shortfalls'>;

function summaryOf(hits: readonly Hit[]): Summary {
  const open = openOf(hits);
  const phases = open.flatMap((hit) => [...new Set(hit.phases)]);
  const counts = [...Map.groupBy(phases, (phase) => phase)].map(([phase, all]) => [phase, all.length] as const);
  return {
    killsOfLeaders: hits.filter(({ isLeader }) => isLeader).length,
    killsWithOpenMoves: open.length,
    killsByPhase: Object.fromEntries(counts),
    shortfalls: open.length < LEAST_OPEN * hits.length ? [`${open.length} of ${hits.length} kills met open moves`] : [],
  };
}

function faultsOf(api: HostileApi): Pick<CrashReport, 'injected' | 'neverInjected' | 'lateEvictions'> {
  const injected = api.injected();
  const kinds: readonly HostileKind[] = [...CRASH_FAULTS, ...WEBHOOK_KINDS];
  return {
    injected: Object.fromEntries(kinds.map((kind) => [kind, injected[kind]])),
    neverInjected: kinds.filter((kind) => injected[kind] === 0),
    lateEvictions: api.lateEvictions(),
  };
}
