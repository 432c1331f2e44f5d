import { CONDITION_REASONS, type ConditionReason } from '../api/v1alpha1/conditions.ts';
import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy, RebalancePolicyStatus } from '../api/v1alpha1/rebalance-policy.ts';
import { formatDecimal } from '../model/decimal.ts';
import { formatInstant } from '../model/instant.ts';
import { isForLoad } from '../model/move.ts';
import type { EpochSeconds } from '../model/units.ts';
import { formatDeadline } from '../plan/cron.ts';
import { count, percent } from '../plan/format.ts';
import type { Plan } from '../plan/plan.ts';
import type { ServiceReport } from '../plan/service-report.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import { applyVerdicts, type Verdict, type Verdicts } from './conditions.ts';
import { hitRatio } from './hit-ratio.ts';
import { budgetNote } from './plan-resource.ts';
import { trafficSummary } from './plan-traffic.ts';
import { readiness, SUSPENDED } from './readiness.ts';
import { oversoldVerdict, serviceFields } from './service-status.ts';

const HISTORY = 10;
const TOP_MOVES = 20;

/** What the operator knows about a policy in one pass; what is undefined leaves the status as it is, but for `leader`. */
export interface PolicyFacts {
  readonly acceptance: Verdict;
  readonly suspended: boolean;
  readonly run: RunFacts | undefined;
  /** Why a run came to no plan, or undefined. */
  readonly postponed: Verdicts | undefined;
  /** Plans of this policy, any order. */
  readonly plans: readonly RebalancePlan[];
  /** `None`: none is due, since the policy is suspended, not valid, or waits for what it carries out. */
  readonly nextRun: EpochSeconds | 'None' | undefined;
  /** Condition LedgerFresh. */
  readonly ledgers: Verdict | undefined;
  /** Steering of plans that start now, and why. */
  readonly steering: RebalancePolicyStatus['steering'] | undefined;
  /** The replica that leads the policy; undefined without leader election. */
  readonly leader: string | undefined;
  /** What plans have cost that are not kept. */
  readonly past: Pick<RebalancePolicyStatus, 'pastOverhead' | 'deletedPlans'>;
}

/** What a run found. */
export interface RunFacts {
  readonly startedAt: EpochSeconds;
  /** The request that it answers; `undefined` when there was never one. */
  readonly request?: string | undefined;
  readonly plan: Plan;
  readonly services: ServiceReport;
  /** The plan's resource, if one was stored. */
  readonly stored: RebalancePlan | undefined;
  readonly aboveTrigger: number;
  /** Whether the runs above the trigger are enough to act. */
  readonly consecutive: number;
}

/** The policy's next status. Pure; equal facts give an equal status. */
export function policyStatus(policy: RebalancePolicy, facts: PolicyFacts, now: EpochSeconds): RebalancePolicyStatus {
  const { generation = 0 } = policy.metadata;
  const {
    leader: _,
    pastOverhead: __,
    deletedPlans: ___,
    ...old
  }: RebalancePolicyStatus = withoutPastRun(policy, facts);
  const newest = newestPlan(facts.plans);
  const current = currentPlan(facts.plans);
  const verdicts: Verdicts = {
    Accepted: facts.acceptance,
    ...initial(old, facts, now),
    ...(facts.run === undefined ? {} : runVerdicts(policy, facts.run, nextRunNote(facts, now))),
    ...facts.postponed,
    ...(facts.ledgers === undefined ? {} : { LedgerFresh: facts.ledgers }),
    Executing: executing(facts.plans, facts.suspended),
    ...degradedByPlan(newest, facts),
  };
  const conditions = applyVerdicts(old.conditions ?? [], verdicts, generation, now);
  const ready = readiness(conditions, old.conditions ?? [], facts, now);
  return {
    ...(facts.run === undefined ? old : withoutServices(old)),
    observedGeneration: generation,
    ...(facts.leader === undefined ? {} : { leader: facts.leader }),
    conditions: applyVerdicts(conditions, { Ready: ready }, generation, now),
    ...(facts.run === undefined ? {} : runFields(old, facts.run)),
    ...(isInstant(facts.nextRun) ? { nextRun: formatInstant(facts.nextRun) } : {}),
    ...(current === undefined ? {} : { plan: planSummary(current) }),
    ...steeringField(facts),
    ...hitRatioField(facts.plans),
    ...facts.past,
  };
}

/** The plan to look at: of those that are being carried out the one that was made last, or else the last one; undefined without any. */
export function currentPlan(plans: readonly RebalancePlan[]): RebalancePlan | undefined {
  return newestPlan(plans.filter(isExecuting)) ?? newestPlan(plans);
}

/** The plan that was made last; undefined without any. */
export function newestPlan(plans: readonly RebalancePlan[]): RebalancePlan | undefined {
  const newer = (a: RebalancePlan, b: RebalancePlan): number =>
    b.spec.takenAt.localeCompare(a.spec.takenAt) || b.metadata.name.localeCompare(a.metadata.name);
  return [...plans].sort(newer)[0];
}

function isExecuting({ status }: RebalancePlan): boolean {
  return status?.phase === 'Executing';
}

/** The status without an instant for the next run where none is due. */
function withoutPastRun({ status = {} }: RebalancePolicy, { nextRun }: PolicyFacts): RebalancePolicyStatus {
  const { nextRun: _, ...rest } = status;
  return nextRun === 'None' ? rest : status;
}

function isInstant(nextRun: PolicyFacts['nextRun']): nextRun is EpochSeconds {
  return nextRun !== undefined && nextRun !== 'None';
}

/** When to expect news, behind a message; empty where that is not known. */
function nextRunNote({ nextRun }: PolicyFacts, now: EpochSeconds): string {
  return isInstant(nextRun) ? `; the next run is at ${formatDeadline(nextRun, now)}` : '';
}

function initial(old: RebalancePolicyStatus, facts: PolicyFacts, now: EpochSeconds): Verdicts {
  const newest = newestPlan(facts.plans);
  const why = newest === undefined ? 'no run yet' : `the run that made ${newest.metadata.name} could not report`;
  const message = `${why}${nextRunNote(facts, now)}`;
  const unknown: Verdict = { status: 'Unknown', reason: 'AwaitingFirstRun', message };
  const healthy: Verdict = { status: 'False', reason: 'AsExpected', message: 'nothing failed' };
  return old.conditions?.some(({ type }) => type === 'MetricsFresh') === true
    ? {}
    : { MetricsFresh: unknown, LedgerFresh: unknown, PlanReady: unknown, Converged: unknown, Degraded: healthy };
}

/** `next` says when the next run is. */
function runVerdicts(policy: RebalancePolicy, run: RunFacts, next: string): Verdicts {
  const { outcome, coverage } = run.plan;
  const isGated = outcome.kind === 'MetricsUnavailable' || outcome.kind === 'MetricsIncomplete';
  const { strategy, load } = policy.spec;
  const isShort = STRATEGY_TRAITS[strategy.type].needsMetrics && coverage.ratio < Number(load.minCoverage);
  const covered = `${coverage.sampledNodes} of ${coverage.readyNodes} nodes have a valid sample`;
  return {
    MetricsFresh: isGated
      ? { status: 'False', reason: outcome.kind, message: outcome.message }
      : isShort
        ? { status: 'False', reason: 'MetricsIncomplete', message: `only ${covered}` }
        : { status: 'True', reason: 'Fresh', message: covered },
    ...(STRATEGY_TRAITS[policy.spec.strategy.type].improves === 'Service'
      ? { Oversold: oversoldVerdict(run.services) }
      : {}),
    PlanReady: planReady(policy, run, next),
    Converged: converged(run.plan),
    Degraded: { status: 'False', reason: 'AsExpected', message: 'nothing failed' },
  };
}

function converged({ outcome, moves, spread, strategy }: Plan): Verdict {
  switch (outcome.kind) {
    case 'Moves': {
      const would = `${count(moves.length, 'move')} would`;
      const gain =
        STRATEGY_TRAITS[strategy].improves === 'Balance' && spread.planned < spread.before
          ? `narrow the spread from ${percent(spread.before)} to ${percent(spread.planned)}`
          : 'help';
      return { status: 'False', reason: 'MovesPending', message: `${would} ${gain}` };
    }
    case 'MetricsUnavailable':
    case 'MetricsIncomplete':
      return { status: 'Unknown', reason: outcome.kind, message: outcome.message };
    case 'Blocked':
    case 'BudgetExhausted':
      return { status: 'False', reason: outcome.kind, message: outcome.message };
    default:
      return { status: 'True', reason: outcome.kind, message: outcome.message };
  }
}

function planReady(policy: RebalancePolicy, { plan, aboveTrigger, consecutive }: RunFacts, next: string): Verdict {
  const { outcome, moves } = plan;
  const note = budgetNote(plan);
  if (outcome.kind !== 'Moves') {
    const isGated = outcome.kind === 'MetricsUnavailable' || outcome.kind === 'MetricsIncomplete';
    return { status: 'False', reason: outcome.kind, message: `${outcome.message}${isGated ? next : ''}` };
  }
  const { mode } = policy.spec;
  const planned = count(moves.length, 'move');
  if (mode === 'DryRun') {
    return { status: 'True', reason: 'DryRun', message: `${planned}; mode DryRun carries none of them out${note}` };
  }
  if (STRATEGY_TRAITS[plan.strategy].awaitsTrigger && aboveTrigger < consecutive) {
    const runs = `${aboveTrigger} of ${consecutive} consecutive runs`;
    const message = `${planned}; the spread was at or above thresholds.trigger in ${runs}${next}`;
    return { status: 'False', reason: 'AwaitingConsecutive', message };
  }
  const waits = moves.length === 1 ? 'waits' : 'wait';
  return mode === 'Approve'
    ? { status: 'True', reason: 'AwaitingApproval', message: `${planned} ${waits} for: evenkeel approve PLAN` }
    : { status: 'True', reason: 'Planned', message: `${planned}${note}` };
}

function executing(plans: readonly RebalancePlan[], suspended: boolean): Verdict {
  const current = newestPlan(plans.filter(isExecuting));
  if (current !== undefined) {
    const { done = 0, total = current.spec.moves.length } = current.status?.summary ?? {};
    const message = `plan ${current.metadata.name}: ${done} of ${total} moves ended${finishing(plans, current)}`;
    return { status: 'True', reason: 'Executing', message };
  }
  if (suspended) {
    return { status: 'False', reason: 'Suspended', message: SUSPENDED };
  }
  const stop = stopOf(newestPlan(plans));
  return stop === undefined
    ? { status: 'False', reason: 'Idle', message: 'no plan is being carried out' }
    : { status: 'False', ...stop };
}

/** Older plans only finish what they have begun. */
function finishing(plans: readonly RebalancePlan[], current: RebalancePlan): string {
  const older = plans.filter((plan) => isExecuting(plan) && plan !== current).length;
  return older === 0 ? '' : `; ${count(older, 'older plan')} still finish${older === 1 ? 'es' : ''} what has begun`;
}

/** Which rule stopped the plan, as a condition says it (execution.md, stop rules); undefined when none did. */
function stopOf(plan: RebalancePlan | undefined): Pick<Verdict, 'reason' | 'message'> | undefined {
  const reason = CONDITION_REASONS.find((known) => known === plan?.status?.stopped);
  return plan?.status?.phase === 'Aborted' && reason !== undefined
    ? { reason, message: `plan ${plan.metadata.name} was stopped: ${plan.status.message ?? ''}` }
    : undefined;
}

/** What a person should look at; an edit, a suspension or a budget stops a plan because people wanted it so. */
const TROUBLES: ReadonlySet<ConditionReason> = new Set([
  'TooManyFailures',
  'ClusterUnhealthy',
  'MetricsUnavailable',
  'MetricsIncomplete',
  'ServiceLevelMissed',
  'EvictionForbidden',
]);

/** A plan that was stopped by trouble stays a warning until a later run comes to another one. */
function degradedByPlan(plan: RebalancePlan | undefined, { run }: PolicyFacts): Verdicts {
  const stop = stopOf(plan);
  const isLatest = run === undefined || run.stored?.metadata.name === plan?.metadata.name;
  return isLatest && stop !== undefined && TROUBLES.has(stop.reason) ? { Degraded: { status: 'True', ...stop } } : {};
}

/** What a run says anew, even by saying nothing. */
function withoutServices({ serviceClasses: _, sloMissed: __, ...rest }: RebalancePolicyStatus): RebalancePolicyStatus {
  return rest;
}

function runFields(old: RebalancePolicyStatus, run: RunFacts): Partial<RebalancePolicyStatus> {
  const { plan, services, stored, startedAt, request, aboveTrigger } = run;
  const spread = formatDecimal(plan.spread.before);
  const [last, ...earlier] = old.history ?? [];
  const measures = Object.keys(plan.imbalance.before).length > 0;
  const measured = last === undefined || last.actual !== undefined || !measures ? last : { ...last, actual: spread };
  const entry = {
    time: formatInstant(startedAt),
    outcome: plan.outcome.kind,
    moves: plan.moves.length,
    before: spread,
    planned: formatDecimal(plan.spread.planned),
    ...(stored === undefined ? {} : { plan: stored.metadata.name }),
  };
  const history = [entry, ...(measured === undefined ? [] : [measured]), ...earlier].slice(0, HISTORY);
  return {
    lastRun: formatInstant(startedAt),
    ...(request === undefined ? {} : { lastRunRequest: request }),
    aboveTrigger,
    ...(measures ? { imbalance: spread } : {}),
    ...serviceFields(services),
    history,
  };
}

function planSummary(plan: RebalancePlan): NonNullable<RebalancePolicyStatus['plan']> {
  const runs = plan.status?.moves ?? [];
  const count = (...phases: readonly string[]): number => runs.filter(({ phase }) => phases.includes(phase)).length;
  const ranked = plan.spec.moves.toSorted(
    (a, b) => Number(isForLoad(a)) - Number(isForLoad(b)) || Number(b.gain) - Number(a.gain),
  );
  return {
    name: plan.metadata.name,
    hash: plan.spec.hash,
    phase: plan.status?.phase ?? 'Proposed',
    moves: {
      total: plan.spec.moves.length,
      done: count('Landed', 'Missed', 'Vacated'),
      failed: count('Failed', 'Aborted'),
      skipped: count('Skipped'),
    },
    imbalance: plan.status?.imbalance ?? {},
    ...packingSummary(plan),
    ...trafficSummary(plan),
    topMoves: ranked.slice(0, TOP_MOVES).map(({ pod, from, to, gain, repairs, makesRoomFor }) => ({
      pod: `${pod.namespace}/${pod.name}`,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      gain,
      ...(repairs === undefined ? {} : { repairs }),
      ...(makesRoomFor === undefined ? {} : { makesRoomFor }),
    })),
    skipped: plan.spec.rejectionCounts,
  };
}

const NAMED_NODES = 20;

function packingSummary({ spec }: RebalancePlan): Pick<NonNullable<RebalancePolicyStatus['plan']>, 'packing'> {
  if (spec.packing === undefined) {
    return {};
  }
  const { emptied, removable, removableTotal } = spec.packing;
  return {
    packing: { emptied: emptied.length, removable: removableTotal, nodes: removable.slice(0, NAMED_NODES) },
  };
}

/** What a field of the status may hold. */
const LONGEST_MESSAGE = 1024;

function steeringField({ steering }: PolicyFacts): Pick<RebalancePolicyStatus, 'steering'> {
  return steering === undefined
    ? {}
    : { steering: { mode: steering.mode, message: steering.message.slice(0, LONGEST_MESSAGE) } };
}

function hitRatioField(plans: readonly RebalancePlan[]): Pick<RebalancePolicyStatus, 'hitRatio'> {
  const ratio = hitRatio(plans);
  return ratio === undefined ? {} : { hitRatio: formatDecimal(ratio) };
}
