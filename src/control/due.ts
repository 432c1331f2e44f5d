import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { runRequestOf } from '../api/v1alpha1/run-request.ts';
import { formatProblem } from '../api/validate.ts';
import { openMoves } from '../execute/committed.ts';
import { LONGEST_REST } from '../execute/failed-admissions.ts';
import { parseInstant } from '../model/instant.ts';
import { type EpochSeconds, elapsed, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import type { StoredPolicy, UsageServers } from '../ports.ts';
import type { Verdict } from '../report/conditions.ts';
import { type GateQueueNews, newsFor } from './gate-queue.ts';
import type { Pace } from './pace.ts';
import type { Remembered } from './policy-memory.ts';
import { expiredPlans, isOpen } from './retention.ts';
import { untilSample } from './sampling.ts';
import { scheduleProblems } from './schedule.ts';
import { serverProblems } from './usage-source.ts';

/** The longest that a policy waits after a run: until one that was postponed or failed is tried again. */
export const RETRY_WAIT: Seconds = seconds(5);

/** One policy as a pass finds it. */
export interface PolicyState {
  readonly stored: StoredPolicy;
  /** Its own plans. */
  readonly plans: readonly RebalancePlan[];
  /** `undefined` for a policy that is not valid, and so has no schedule. */
  readonly remembered: Remembered | undefined;
  /** News of the gate queue so far, counted. */
  readonly news: GateQueueNews;
  readonly now: EpochSeconds;
}

/** What a pass does with one plan. */
export type PlanAction =
  /** It is being carried out: one step further. */
  | { readonly kind: 'Step' }
  /** It was approved. */
  | { readonly kind: 'Start' }
  /** It will not be carried out. */
  | { readonly kind: 'Supersede'; readonly why: string }
  | { readonly kind: 'Leave' };

/** What is due for one policy at one moment. */
export interface Due {
  /** For each plan, in their order. */
  readonly actions: readonly PlanAction[];
  /** Why a run is due: observe, plan, store. `undefined`: none is. */
  readonly run: RunCause | undefined;
}

/** What a run is for. */
export type RunCause =
  /** The schedule of the policy; the status reports every such run. */
  | 'Schedule'
  /** A user has requested a run; the status reports it. */
  | 'Request'
  /** What waits, or what room there is, has changed. */
  | 'News'
  /** The last one lacked ledgers, or nodes that had failed to take pods, which may be there by now. It counts as the same run. */
  | 'Again';

/** Decides what a pass does for a policy. Pure: the performer asks again after each stage, with the plans as they stand then. */
export function whatIsDue({ stored, plans, remembered, news, now }: PolicyState): Due {
  return {
    actions: plans.map((plan) => actionFor(plan, stored, remembered !== undefined)),
    run: remembered === undefined ? undefined : runDue(stored, plans, remembered, newsOf(stored, news), now),
  };
}

/** Plans that are kept no longer. */
export function expiredNow({ stored: { policy }, plans, now }: PolicyState): readonly RebalancePlan[] {
  return expiredPlans(plans, policy.spec.historyLimit ?? 10, now);
}

/** News that this policy runs at; `undefined` when its strategy runs by its schedule alone. */
export function newsOf({ policy }: StoredPolicy, news: GateQueueNews): number | undefined {
  return newsFor(news, policy.spec.strategy);
}

/** Whether a policy is valid: by its schema and rules, and by its schedule, which CEL cannot judge. */
export function acceptance({ policy, invalid }: StoredPolicy, usageServers: UsageServers): Verdict {
  const unmet =
    invalid.length > 0
      ? invalid
      : serverProblems(policy.spec, usageServers, 'start the operator with').map(formatProblem);
  if (unmet.length > 0) {
    return { status: 'False', reason: 'InvalidSpec', message: unmet.join('; ') };
  }
  const problems = scheduleProblems(policy.spec);
  return problems.length === 0
    ? { status: 'True', reason: 'Valid', message: 'the policy is valid' }
    : { status: 'False', reason: 'InvalidSchedule', message: problems.map(formatProblem).join('; ') };
}

function actionFor(plan: RebalancePlan, { policy }: StoredPolicy, isAccepted: boolean): PlanAction {
  const phase = plan.status?.phase;
  if (phase === 'Executing') {
    return { kind: 'Step' };
  }
  if (phase === undefined) {
    return { kind: 'Supersede', why: 'its creation was interrupted: the next run makes another plan' };
  }
  if (isOpen(plan) && plan.spec.policy.generation !== policy.metadata.generation) {
    return { kind: 'Supersede', why: 'the policy was edited' };
  }
  const mayStart = isAccepted && !policy.spec.suspend && phase === 'AwaitingApproval' && plan.spec.approved;
  return mayStart ? { kind: 'Start' } : { kind: 'Leave' };
}

function runDue(
  { policy }: StoredPolicy,
  plans: readonly RebalancePlan[],
  remembered: Remembered,
  news: number | undefined,
  now: EpochSeconds,
): RunCause | undefined {
  const { schedule, notBefore } = remembered;
  if (policy.spec.suspend || isBusy(policy, plans) || untilFree(notBefore, now) > 0) {
    return undefined;
  }
  if (isRequested(policy, remembered)) {
    return 'Request';
  }
  if (schedule.due(lastRunAt(policy, remembered), now)) {
    return 'Schedule';
  }
  if (isDemanded(remembered, news, plans)) {
    return schedule.due(lastRunOf(policy), now) ? 'Schedule' : 'News';
  }
  return news !== undefined && isAgainDue(remembered, now) ? 'Again' : undefined;
}

/** Whether no run has answered the newest request yet. */
function isRequested(policy: RebalancePolicy, { request }: Pick<Remembered, 'request'>): boolean {
  const asked = runRequestOf(policy);
  return asked !== undefined && asked !== (request ?? policy.status?.lastRunRequest);
}

/** When the policy last ran since it was edited, by its status or later. */
function lastRunAt(policy: RebalancePolicy, { ranAt }: Pick<Remembered, 'ranAt'>): EpochSeconds | undefined {
  const told = lastRunOf(policy);
  return told === undefined || ranAt === undefined ? (told ?? ranAt) : epochSeconds(Math.max(told, ranAt));
}

/** Whether there is news since the last run: of the queue and the room, or that what was under way then has ended. */
function isDemanded(
  { demand, underWay }: Remembered,
  news: number | undefined,
  plans: readonly RebalancePlan[],
): boolean {
  if (news === undefined) {
    return false;
  }
  const now = podsUnderWay(plans);
  return demand !== news || [...underWay].some((uid) => !now.has(uid));
}

function isAgainDue({ againAt }: Remembered, now: EpochSeconds): boolean {
  return againAt !== undefined && untilFree(againAt, now, LONGEST_REST) === 0;
}

/** Pods whose moves have begun, or are bound to, and have not ended. */
export function podsUnderWay(plans: readonly RebalancePlan[]): ReadonlySet<string> {
  return new Set(plans.flatMap((plan) => openMoves(plan).committed).map(({ run }) => run.podUID));
}

/** Whether the policy has to wait for what it carries out. One whose plans people approve does: they approved all of it. */
function isBusy({ spec }: Pick<RebalancePolicy, 'spec'>, plans: readonly RebalancePlan[]): boolean {
  const replans = STRATEGY_TRAITS[spec.strategy.type].replansInFlight && spec.mode === 'Automatic';
  return !replans && isExecuting(plans);
}

function isExecuting(plans: readonly RebalancePlan[]): boolean {
  return plans.some(({ status }) => status?.phase === 'Executing');
}

/** A wait longer than any that is given was written before our clock was set back: it is over. */
function untilFree(notBefore: EpochSeconds | undefined, now: EpochSeconds, longest: Seconds = RETRY_WAIT): Seconds {
  const left = notBefore === undefined ? 0 : elapsed(now, notBefore);
  return seconds(left > 0 && left <= longest ? left : 0);
}

/** When the policy last ran by its status; `undefined` before the first run, and after an edit, which runs at once. */
function lastRunOf({ status, metadata }: StoredPolicy['policy']): EpochSeconds | undefined {
  return status?.lastRun === undefined || status.observedGeneration !== metadata.generation
    ? undefined
    : parseInstant(status.lastRun);
}

/** When the policy runs next; `undefined` while nothing can be said: suspended, or it waits for what it carries out. */
export function nextRunOf({
  stored: { policy },
  plans,
  remembered,
  now,
}: Omit<PolicyState, 'news'>): EpochSeconds | undefined {
  if (remembered === undefined || policy.spec.suspend || isBusy(policy, plans)) {
    return undefined;
  }
  const { schedule, notBefore } = remembered;
  const free = untilFree(notBefore, now) === 0 ? undefined : notBefore;
  const due = isRequested(policy, remembered) ? now : schedule.nextRun(lastRunAt(policy, remembered), now);
  return epochSeconds(Math.max(due, free ?? 0));
}

/** Time until the policy wants to be looked at again; infinite when it does not by itself. */
export function untilNextLook(
  { stored, plans, remembered, news, now }: PolicyState,
  nextRun: EpochSeconds | undefined,
  pace: Pick<Pace, 'plans'>,
): Seconds {
  const untilRun = elapsed(now, nextRun ?? epochSeconds(Number.POSITIVE_INFINITY));
  const untilStep = isExecuting(plans) ? pace.plans : Number.POSITIVE_INFINITY;
  const held = untilFree(remembered?.notBefore, now);
  const isDue = remembered !== undefined && isDemanded(remembered, newsOf(stored, news), plans);
  const untilAgain = untilFree(remembered?.againAt, now, LONGEST_REST);
  const waits = [isDue ? held : 0, untilAgain].filter((wait) => wait > 0);
  return seconds(Math.min(untilRun, untilStep, ...waits, untilSample(remembered?.sampling, now)));
}
