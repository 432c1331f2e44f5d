import type { PlanPhase, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { withCommitments } from '../execute/commitments.ts';
import { movesInFlight, openJournal, summarize } from '../execute/journal.ts';
import { formatInstant } from '../model/instant.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { seconds } from '../model/units.ts';
import { budgetsLeft } from '../plan/budgets/left.ts';
import { type PolicyOptions, resolveOptions } from '../plan/options.ts';
import type { Plan } from '../plan/plan.ts';
import { plan as computePlan } from '../plan/planner.ts';
import { type ServiceReport, serviceReport } from '../plan/service-report.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import type { UsageHistory } from '../plan/usage-history.ts';
import type {
  Clock,
  ClusterReader,
  EventSink,
  Gates,
  PlanStore,
  PolicyStore,
  Steering,
  StoredPolicy,
  Telemetry,
} from '../ports.ts';
import type { Verdicts } from '../report/conditions.ts';
import { byResource, inPhase, outcomeMessage, planName, toRebalancePlan } from '../report/plan-resource.ts';
import type { RunFacts } from '../report/policy-status.ts';
import { foreignPods } from './foreign-pods.ts';
import type { Pace } from './pace.ts';
import { moveHistory } from './past-overhead.ts';
import { decide } from './plan-decision.ts';
import { isOpen } from './retention.ts';
import { awaitsSamples } from './sample-freshness.ts';
import { startFields } from './steering.ts';

/** What a run works through. */
export interface RunPorts {
  readonly reader: ClusterReader;
  readonly plans: PlanStore;
  readonly policies: Pick<PolicyStore, 'list'>;
  readonly steering: Steering;
  readonly gates: Gates;
  readonly events: EventSink;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
}

/** What a run came to. */
export type RunResult =
  /** There is a plan, with or without moves. */
  | { readonly kind: 'Planned'; readonly facts: RunFacts; readonly overlap: string | undefined }
  /** Not now; the verdicts say why. The run is tried again soon. */
  | { readonly kind: 'Postponed'; readonly verdicts: Verdicts };

/** One policy among all, with the plans it has. */
export interface RunContext {
  readonly stored: StoredPolicy;
  readonly policies: readonly StoredPolicy[];
  /** Plans of this policy. */
  readonly plans: readonly RebalancePlan[];
  /** Plans of all policies, for what was moved before. */
  readonly allPlans: readonly RebalancePlan[];
  readonly excludedNamespaces: ReadonlySet<string>;
  readonly pace: Pace;
}

/**
 * Observes the cluster, plans, and stores the plan as the policy's mode asks (observe -> plan -> store). Replacements on their
 * way count where they are to land, whatever policy they belong to.
 * `history` stands in for the newest samples where the policy smooths them. Nothing is evicted here. Rejects with ApiError when
 * the cluster cannot be read or the plan not be stored.
 */
export async function runPolicy(
  context: RunContext,
  ports: RunPorts,
  signal: AbortSignal,
  history?: UsageHistory,
): Promise<RunResult> {
  const startedAt = ports.clock.now();
  const measured = await ports.reader.snapshot(signal);
  const waiting = usesMetrics(context) ? awaitsSamples(measured, context.plans) : undefined;
  if (waiting !== undefined) {
    return {
      kind: 'Postponed',
      verdicts: { MetricsFresh: { status: 'False', reason: 'AwaitingSamples', message: waiting } },
    };
  }
  history?.add(measured);
  const smoothed = history?.smooth(measured) ?? measured;
  // The caches of the snapshot may lag behind the journal, and behind what policies remember: this pass may have written both.
  const policies = await ports.policies.list(signal);
  const plans = await ports.plans.list(signal);
  const pods = withCommitments(smoothed.pods, plans.flatMap(movesInFlight));
  const snapshot = { ...smoothed, pods, ...moveHistory(policies, plans) };
  const foreign = foreignPods(context.stored, context.policies, snapshot, context.excludedNamespaces);
  const options = resolveOptions(context.stored.policy.spec, context.excludedNamespaces, foreign.uids);
  const services = serviceReport(snapshot, options.scope);
  const plan = timedPlan(context.stored.policy.metadata.name, snapshot, options, services, ports);
  const aboveTrigger = countAbove(context.stored, plan, options);
  const stored = await store(context, plan, aboveTrigger, snapshot, ports, signal);
  await recordActual(context.plans, plan, ports, signal);
  await reportExhausted(context.stored, plan, ports, signal);
  const { consecutive } = context.stored.policy.spec.thresholds;
  return {
    kind: 'Planned',
    facts: { startedAt, plan, services, stored, aboveTrigger, consecutive },
    overlap: foreign.message,
  };
}

function usesMetrics({ stored }: RunContext): boolean {
  const { load, strategy } = stored.policy.spec;
  return load.source !== 'Requests' && STRATEGY_TRAITS[strategy.type].readsMetrics;
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

/** Runs in a row above the trigger, this one included; an edit of the policy starts the count anew. */
function countAbove({ policy }: StoredPolicy, plan: Plan, options: PolicyOptions): number {
  if (plan.coverage.ratio < options.load.minCoverage || plan.spread.before < options.thresholds.trigger) {
    return 0;
  }
  const sameGeneration = policy.status?.observedGeneration === policy.metadata.generation;
  return (sameGeneration ? (policy.status?.aboveTrigger ?? 0) : 0) + 1;
}

async function store(
  context: RunContext,
  plan: Plan,
  aboveTrigger: number,
  snapshot: ClusterSnapshot,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<RebalancePlan | undefined> {
  const { policy } = context.stored;
  const open = context.plans.filter(isOpen);
  const isUrgent = !STRATEGY_TRAITS[plan.strategy].awaitsTrigger || aboveTrigger >= policy.spec.thresholds.consecutive;
  const proposal = decide(policy, plan, open, isUrgent, snapshot);
  if (proposal.kind === 'Wait') {
    return undefined;
  }
  if (proposal.kind === 'Keep') {
    return proposal.plan;
  }
  for (const old of open) {
    await supersede(old, 'a later run came to another plan', ports, signal);
  }
  return proposal.kind === 'Drop' ? undefined : create(context, plan, snapshot, proposal.phase, ports, signal);
}

/** Marks a plan that nobody will carry out any more. Resolves to the plan as stored. */
export async function supersede(
  plan: RebalancePlan,
  message: string,
  { plans, clock }: Pick<RunPorts, 'plans' | 'clock'>,
  signal: AbortSignal,
): Promise<RebalancePlan> {
  const status = { ...plan.status, phase: 'Superseded', message, finishedAt: formatInstant(clock.now()) } as const;
  return plans.writeStatus(plan, status, signal);
}

/** Tells people once that budgets keep the cluster unbalanced, and again after it was otherwise. */
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
  { stored: { policy }, allPlans }: RunContext,
  plan: Plan,
  snapshot: ClusterSnapshot,
  phase: PlanPhase,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<RebalancePlan> {
  const taken = new Set(allPlans.map(({ metadata }) => metadata.name));
  let attempt = 1;
  while (taken.has(planName(policy.metadata.name, plan.hash, attempt))) {
    attempt += 1;
  }
  const resource = toRebalancePlan(plan, policy, attempt, snapshot);
  const moves = openJournal(resource);
  const progress = { moves: [...moves], summary: summarize(moves), message: outcomeMessage(plan) };
  const started = phase === 'Executing' ? await startFields(policy.spec.steering.mode, ports, signal) : {};
  const created = await ports.plans.create(inPhase(resource, phase, { ...progress, ...started }), signal);
  const regarding = { kind: 'RebalancePolicy', name: policy.metadata.name, uid: policy.metadata.uid ?? '' } as const;
  const note = `plan ${created.metadata.name}: ${outcomeMessage(plan)}`;
  await ports.events.send({ type: 'Normal', reason: 'PlanComputed', note, regarding }, signal);
  return created;
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
