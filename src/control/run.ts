import type { MoveStatus, PlanPhase, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { runRequestOf } from '../api/v1alpha1/run-request.ts';
import { withoutRemoved, withPromises } from '../execute/commitments.ts';
import { movesUnderWay, openMoves } from '../execute/committed.ts';
import { giveWay } from '../execute/executor.ts';
import type { ExecutorPorts } from '../execute/executor-ports.ts';
import { firstRestEnds, type Rests, restsOf, withoutFailedTargets } from '../execute/failed-admissions.ts';
import { openJournal, summarize } from '../execute/journal.ts';
import { planFields } from '../execute/move-log.ts';
import { healthStop } from '../execute/stop-rules.ts';
import { isForLoad } from '../model/move.ts';
import type { Mutex } from '../model/mutex.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { type EpochSeconds, seconds } from '../model/units.ts';
import { budgetsLeft } from '../plan/budgets/left.ts';
import { type PolicyOptions, repairsAlone } from '../plan/options.ts';
import type { Plan } from '../plan/plan.ts';
import { plan as computePlan } from '../plan/planner.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import { type ServiceReport, serviceReport } from '../plan/service-report.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import type { UsageHistory } from '../plan/usage-history.ts';
import type { PolicyStore, StoredPolicy } from '../ports.ts';
import type { Verdicts } from '../report/conditions.ts';
import { byResource, inPhase, outcomeMessage, planName, toRebalancePlan } from '../report/plan-resource.ts';
import { newestPlan, type RunFacts } from '../report/policy-status.ts';
import type { RunCause } from './due.ts';
import { foreignPods } from './foreign-pods.ts';
import { type GraphStatusPorts, reportGraphs } from './graph-status.ts';
import type { Pace } from './pace.ts';
import { moveHistory } from './past-overhead.ts';
import { decide } from './plan-decision.ts';
import { supersede } from './plan-end.ts';
import { isOpen } from './retention.ts';
import { awaitsSamples } from './sample-freshness.ts';
import { startFields } from './steering.ts';

/** What a run works through. */
export interface RunPorts extends ExecutorPorts, GraphStatusPorts {
  readonly policies: Pick<PolicyStore, 'list'>;
  /** Held while a run plans by the plans of all policies, until its own is stored. */
  readonly deciding: Mutex;
}

/** What a run came to. */
export type RunResult =
  /** There is a plan, with or without moves. A run without news is not reported. */
  | {
      readonly kind: 'Planned';
      readonly facts: RunFacts;
      readonly overlap: string | undefined;
      /** Whether pods wait that would be let in, or get room, once their ledgers are kept. */
      readonly awaitsLedgers: boolean;
      /** When a node may be tried again that a pod which waits is kept from; `undefined` where there is none. */
      readonly restEnds: EpochSeconds | undefined;
      readonly isNews: boolean;
    }
  /** Not now; the verdicts say why. The run is tried again soon. */
  | { readonly kind: 'Postponed'; readonly why: string; readonly verdicts: Verdicts };

/** One policy among all, with the plans it has. */
export interface RunContext {
  readonly stored: StoredPolicy;
  readonly policies: readonly StoredPolicy[];
  /** Plans of this policy. */
  readonly plans: readonly RebalancePlan[];
  readonly excludedNamespaces: ReadonlySet<string>;
  readonly pace: Pace;
}

/** A run of it. */
export interface Run extends RunContext {
  readonly cause: RunCause;
}

/**
 * Observes the cluster, plans, and stores the plan as the policy's mode asks (observe -> plan -> store). Replacements on their
 * way count where they are to land, whatever policy they belong to.
 * `history` stands in for the newest samples where the policy smooths them. Nothing is evicted here. Rejects with ApiError when
 * the cluster cannot be read or the plan not be stored.
 */
export async function runPolicy(
  context: Run,
  ports: RunPorts,
  signal: AbortSignal,
  history?: UsageHistory,
): Promise<RunResult> {
  const startedAt = ports.clock.now();
  const measured = await ports.reader.snapshot(signal);
  const waiting = usesMetrics(context) ? awaitsSamples(measured, context.plans) : undefined;
  if (waiting !== undefined && !actsWithoutMetrics(context)) {
    return postponed(waiting);
  }
  if (waiting === undefined) {
    history?.add(measured);
  }
  const seen = { snapshot: history?.smooth(measured) ?? measured, takenAt: measured.takenAt, waiting };
  const decided = await ports.deciding.runExclusive(() => planAndStore(context, seen, ports, signal), signal);
  if (decided.kind === 'Waiting') {
    return postponed(decided.why);
  }
  const { snapshot, found, plan, stored, isNews, services, aboveTrigger, overlap, restEnds } = decided;
  await reportGraphs(context.stored.policy.metadata.name, snapshot, found, ports, signal);
  await recordActual(context.plans, plan, ports, signal);
  await reportExhausted(context.stored, plan, ports, signal);
  const { consecutive } = context.stored.policy.spec.thresholds;
  const request = runRequestOf(context.stored.policy);
  return {
    kind: 'Planned',
    facts: { startedAt, request, plan, services, stored, aboveTrigger, consecutive },
    overlap,
    awaitsLedgers: awaitsLedgers(plan, snapshot),
    restEnds,
    isNews:
      isNews ||
      context.cause === 'Schedule' ||
      context.cause === 'Request' ||
      isOtherwise(context.stored, plan, stored),
  };
}

/** What a run has seen of the cluster. */
interface Seen {
  readonly snapshot: ClusterSnapshot;
  /** When the newest of it was seen. */
  readonly takenAt: EpochSeconds;
  /** Why strategies that go by metrics have to wait; `undefined` when they need not. */
  readonly waiting: string | undefined;
}

/** What a run has decided by that, and by the plans of all policies. */
type Decided = DecidedPlan | { readonly kind: 'Waiting'; readonly why: string };

interface DecidedPlan extends Stored {
  readonly kind: 'Decided';
  /** As it was planned on. */
  readonly snapshot: ClusterSnapshot;
  /** What was planned, and what of it may be done now. */
  readonly found: Plan;
  readonly plan: Plan;
  readonly services: ServiceReport;
  readonly aboveTrigger: number;
  readonly overlap: string | undefined;
  readonly restEnds: EpochSeconds | undefined;
}

async function planAndStore(context: Run, seen: Seen, ports: RunPorts, signal: AbortSignal): Promise<Decided> {
  const { stored, excludedNamespaces } = context;
  // The caches of the snapshot may lag behind the journal, and behind what policies remember: this pass may have written both.
  // Policies after plans: a plan that is deleted has been counted by its policy before.
  const plans = await ports.plans.list(signal);
  const policies = await ports.policies.list(signal);
  const rests = restsOf(plans, seen.takenAt);
  const snapshot = withJournals(stored, seen, policies, plans, rests);
  const foreign = foreignPods(stored, context.policies, snapshot, excludedNamespaces);
  const options = resolveOptions(stored.policy.spec, excludedNamespaces, foreign.uids);
  const services = serviceReport(snapshot, options.scope);
  const asked = seen.waiting === undefined ? options : repairsAlone(options);
  const found = timedPlan(stored.policy.metadata.name, snapshot, asked, services, ports);
  if (seen.waiting !== undefined && found.moves.length === 0) {
    return { kind: 'Waiting', why: seen.waiting };
  }
  const aboveTrigger =
    seen.waiting === undefined ? countAbove(stored, found, options) : (stored.policy.status?.aboveTrigger ?? 0);
  const plan = isDue(stored, found, aboveTrigger) ? found : withoutStrategy(found, snapshot, options);
  const names = new Set(plans.map(({ metadata }) => metadata.name));
  const kept = await store(context, plan, aboveTrigger, snapshot, names, ports, signal);
  const restEnds = firstRestEnds(snapshot.pods, rests);
  return {
    kind: 'Decided',
    ...kept,
    snapshot,
    found,
    plan,
    services,
    aboveTrigger,
    overlap: foreign.message,
    restEnds,
  };
}

/** The cluster as it stands when what the journals promise is kept. */
function withJournals(
  { policy: { metadata } }: StoredPolicy,
  { snapshot, takenAt }: Seen,
  policies: readonly StoredPolicy[],
  plans: readonly RebalancePlan[],
  rests: Rests,
): ClusterSnapshot {
  const pods = withoutFailedTargets(withPromises(snapshot.pods, plans, takenAt), rests);
  const own = plans.filter(({ spec }) => spec.policy.uid === metadata.uid);
  const failedPods = withoutRemoved(snapshot.failedPods ?? [], plans, takenAt);
  return { ...snapshot, pods, failedPods, ...moveHistory(policies, plans), underWay: movesUnderWay(own) };
}

function postponed(waiting: string): RunResult {
  const reason = 'AwaitingSamples';
  return {
    kind: 'Postponed',
    why: waiting,
    verdicts: {
      MetricsFresh: { status: 'False', reason, message: waiting },
      PlanReady: { status: 'False', reason, message: waiting },
      Converged: { status: 'Unknown', reason, message: waiting },
    },
  };
}

function usesMetrics({ stored }: RunContext): boolean {
  const { load, strategy } = stored.policy.spec;
  return load.source !== 'Requests' && STRATEGY_TRAITS[strategy.type].needsMetrics;
}

/** Whether the policy has the operator move pods for other reasons than their load. */
function actsWithoutMetrics({ stored }: RunContext): boolean {
  const { repair, makeRoom } = stored.policy.spec;
  return repair !== undefined || makeRoom !== 'None';
}

/** Whether the whole plan may be carried out, or looked at: repairs do not wait for the trigger, the strategy may have to. */
function isDue({ policy: { spec } }: StoredPolicy, { strategy }: Plan, aboveTrigger: number): boolean {
  const awaits = STRATEGY_TRAITS[strategy].awaitsTrigger && aboveTrigger < spec.thresholds.consecutive;
  return !awaits || spec.mode === 'DryRun';
}

/** The moves of the plan that repair and make room alone; the plan itself when it has none. */
function withoutStrategy(plan: Plan, snapshot: ClusterSnapshot, options: PolicyOptions): Plan {
  return plan.moves.every(isForLoad) ? plan : computePlan(snapshot, repairsAlone(options));
}

/** A ledger is made a moment after the first pod, which may be seen before. */
function awaitsLedgers({ rejections }: Plan, { pods }: ClusterSnapshot): boolean {
  const gated = new Set(pods.flatMap(({ uid, waiting }) => (waiting?.gated === true ? [uid] : [])));
  return rejections.reasons.some(
    ({ code }, place) => code === 'NoLedger' && gated.has(rejections.pods[place]?.uid ?? ''),
  );
}

function timedPlan(
  policy: string,
  snapshot: ClusterSnapshot,
  options: PolicyOptions,
  services: ServiceReport,
  { clock, telemetry }: RunPorts,
): Plan {
  const began = clock.monotonic();
  const plan = computePlan(snapshot, options);
  const duration = seconds(clock.monotonic() - began);
  telemetry.planned({ policy, plan, duration, budgetsLeft: budgetsLeft(options, plan, snapshot), services });
  return plan;
}

/** Runs in a row above the trigger, this one included; an edit of the policy resets the count. */
function countAbove({ policy }: StoredPolicy, plan: Plan, options: PolicyOptions): number {
  if (plan.coverage.ratio < options.load.minCoverage || plan.spread.before < options.thresholds.trigger) {
    return 0;
  }
  const sameGeneration = policy.status?.observedGeneration === policy.metadata.generation;
  return (sameGeneration ? (policy.status?.aboveTrigger ?? 0) : 0) + 1;
}

/** Whether the policy says something else than this run, which has changed no plan. */
function isOtherwise(
  { policy: { status } }: StoredPolicy,
  { outcome }: Plan,
  stored: RebalancePlan | undefined,
): boolean {
  const known = (type: string) => status?.conditions?.find((condition) => condition.type === type);
  const isKnown = outcome.kind === 'Moves' || known('PlanReady')?.reason === outcome.kind;
  return !isKnown || (known('Degraded')?.status === 'True' && stored?.status?.stopped === undefined);
}

/** The plan that stands for the run, and whether any plan was changed. */
interface Stored {
  readonly stored: RebalancePlan | undefined;
  readonly isNews: boolean;
}

async function store(
  context: Run,
  plan: Plan,
  aboveTrigger: number,
  snapshot: ClusterSnapshot,
  names: ReadonlySet<string>,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Stored> {
  const { policy } = context.stored;
  const open = context.plans.filter(isOpen);
  const isUrgent = !STRATEGY_TRAITS[plan.strategy].awaitsTrigger || aboveTrigger >= policy.spec.thresholds.consecutive;
  const proposal = decide(policy, plan, open, isUrgent, snapshot, stoppedAndStill(context.plans, snapshot));
  if (proposal.kind === 'Wait') {
    return { stored: undefined, isNews: true };
  }
  if (proposal.kind === 'Keep') {
    return { stored: proposal.plan, isNews: policy.spec.mode !== 'Automatic' };
  }
  const replaced = open.filter(isReplaceable);
  for (const old of replaced) {
    await replace(old, 'a later run made another plan', ports, signal);
  }
  return proposal.kind === 'Drop'
    ? { stored: undefined, isNews: replaced.length > 0 }
    : { stored: await create(context, plan, snapshot, proposal.phase, names, ports, signal), isNews: true };
}

/** The plan that was made last, if failing nodes have stopped it, and would stop another. */
function stoppedAndStill(plans: readonly RebalancePlan[], { nodes }: ClusterSnapshot): RebalancePlan | undefined {
  const last = newestPlan(plans);
  return last?.status?.phase === 'Aborted' && last.status.stopped === healthStop(nodes)?.reason ? last : undefined;
}

/** Whether a plan would still do something that it has not begun. */
function isReplaceable(plan: RebalancePlan): boolean {
  return plan.status?.phase !== 'Executing' || openMoves(plan).pending.length > 0;
}

async function replace(plan: RebalancePlan, why: string, ports: RunPorts, signal: AbortSignal): Promise<void> {
  await (plan.status?.phase === 'Executing' ? giveWay : supersede)(plan, why, ports, signal);
}

/** Sends one event when budgets begin to keep the cluster unbalanced. */
async function reportExhausted(
  { policy }: StoredPolicy,
  { outcome }: Plan,
  { events }: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  const known = policy.status?.conditions?.find(({ type }) => type === 'PlanReady')?.reason;
  if (outcome.kind === 'BudgetExhausted' && known !== outcome.kind) {
    const { name, uid = '' } = policy.metadata;
    const regarding = { kind: 'RebalancePolicy', name, uid } as const;
    await events.send({ type: 'Normal', reason: 'BudgetExhausted', note: outcome.message, regarding }, signal);
  }
}

async function create(
  { stored: { policy }, plans }: Run,
  plan: Plan,
  snapshot: ClusterSnapshot,
  phase: PlanPhase,
  names: ReadonlySet<string>,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<RebalancePlan> {
  const tried = triedBefore(plans);
  let attempt = 1;
  while (names.has(planName(policy.metadata.name, plan.hash, attempt))) {
    attempt += 1;
  }
  const resource = toRebalancePlan(plan, policy, attempt, snapshot);
  const moves = openJournal(resource).map((run) => tried.get(run.podUID) ?? run);
  const result = outcomeMessage(plan);
  const progress = { moves: [...moves], summary: summarize(moves), message: result };
  const started = phase === 'Executing' ? await startFields(policy.spec.steering.mode, ports, signal) : undefined;
  const created = await ports.plans.create(inPhase(resource, phase, { ...progress, ...started }), signal);
  const steering = started?.steering;
  ports.log('plan computed', { ...planFields(created), phase, moves: moves.length, steering, result });
  const regarding = { kind: 'RebalancePolicy', name: policy.metadata.name, uid: policy.metadata.uid ?? '' } as const;
  const note = `plan ${created.metadata.name}: ${result}`;
  await ports.events.send({ type: 'Normal', reason: 'PlanComputed', note, regarding }, signal);
  return created;
}

/** Moves that give way after evictions were refused, by uid of the pod: a later plan that has them, too, tries no sooner. */
function triedBefore(plans: readonly RebalancePlan[]): ReadonlyMap<string, MoveStatus> {
  const runs = plans.flatMap((plan) => openMoves(plan).pending).map(({ run }) => run);
  return new Map(runs.filter(({ attempt }) => attempt > 0).map((run) => [run.podUID, run]));
}

/** The first trustworthy measurement after a plan is its result. */
async function recordActual(
  plans: readonly RebalancePlan[],
  measured: Plan,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  for (const plan of plans) {
    const executed = plan.status?.phase === 'Completed' || plan.status?.phase === 'Aborted';
    if (executed && plan.status?.imbalance?.actual === undefined && Object.keys(measured.imbalance.before).length > 0) {
      const imbalance = { ...plan.status?.imbalance, actual: byResource(measured.imbalance.before) };
      await ports.plans.writeStatus(plan, { ...plan.status, imbalance }, signal);
    }
  }
}
