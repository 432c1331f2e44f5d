import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { formatProblem } from '../api/validate.ts';
import { parseInstant } from '../model/instant.ts';
import { type EpochSeconds, elapsed, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import type { StoredPolicy, UsageServers } from '../ports.ts';
import type { Verdict } from '../report/conditions.ts';
import { type GateQueueNews, newsFor } from './gate-queue.ts';
import type { Pace } from './pace.ts';
import type { Remembered } from './policy-memory.ts';
import { expiredPlans, isOpen } from './retention.ts';
import { untilSample } from './sampling.ts';
import { scheduleProblems } from './schedule.ts';
import { serverProblems } from './usage-source.ts';

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

/** What is to be done with one plan. */
export type PlanAction =
  /** It is being carried out: one step further. */
  | { readonly kind: 'Step' }
  /** It was approved. */
  | { readonly kind: 'Start' }
  /** Nobody will carry it out any more. */
  | { readonly kind: 'Supersede'; readonly why: string }
  | { readonly kind: 'Leave' };

/** What is due for one policy at one moment. */
export interface Due {
  /** For each plan, in their order. */
  readonly actions: readonly PlanAction[];
  /** A run: observe, plan, store. */
  readonly run: boolean;
}

/** Decides what a pass does for a policy. Pure: the performer asks again after each stage, with the plans as they stand then. */
export function whatIsDue({ stored, plans, remembered, news, now }: PolicyState): Due {
  return {
    actions: plans.map((plan) => actionFor(plan, stored, remembered !== undefined)),
    run: remembered !== undefined && isRunDue(stored, plans, remembered, newsOf(stored, news), now),
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
    return { kind: 'Supersede', why: 'was cut off before it had a phase: the next run plans anew' };
  }
  if (isOpen(plan) && plan.spec.policy.generation !== policy.metadata.generation) {
    return { kind: 'Supersede', why: 'the policy was edited' };
  }
  const mayStart = isAccepted && !policy.spec.suspend && phase === 'AwaitingApproval' && plan.spec.approved;
  return mayStart ? { kind: 'Start' } : { kind: 'Leave' };
}

function isRunDue(
  { policy }: StoredPolicy,
  plans: readonly RebalancePlan[],
  { schedule, notBefore, demand }: Remembered,
  news: number | undefined,
  now: EpochSeconds,
): boolean {
  const held = notBefore !== undefined && notBefore > now;
  const isDemanded = news !== undefined && demand !== news;
  const isFree = !policy.spec.suspend && !isBusy(plans) && !held;
  return isFree && (isDemanded || schedule.due(lastRunOf(policy), now));
}

function isBusy(plans: readonly RebalancePlan[]): boolean {
  return plans.some(({ status }) => status?.phase === 'Executing');
}

/** When the policy last ran; `undefined` before the first run, and after an edit, which runs at once. */
export function lastRunOf({ status, metadata }: StoredPolicy['policy']): EpochSeconds | undefined {
  return status?.lastRun === undefined || status.observedGeneration !== metadata.generation
    ? undefined
    : parseInstant(status.lastRun);
}

/** When the policy runs next; `undefined` while nothing can be said: suspended, or a plan is being carried out. */
export function nextRunOf(
  { stored: { policy }, plans, remembered, now }: Omit<PolicyState, 'news'>,
  lastRun: EpochSeconds | undefined,
): EpochSeconds | undefined {
  return remembered === undefined || policy.spec.suspend || isBusy(plans)
    ? undefined
    : epochSeconds(Math.max(remembered.schedule.nextRun(lastRun, now), remembered.notBefore ?? 0));
}

/** Time until the policy wants to be looked at again; infinite when it does not by itself. */
export function untilNextLook(
  { plans, remembered, now }: Pick<PolicyState, 'plans' | 'remembered' | 'now'>,
  nextRun: EpochSeconds | undefined,
  pace: Pick<Pace, 'plans'>,
): Seconds {
  const untilRun = isBusy(plans) ? pace.plans : elapsed(now, nextRun ?? epochSeconds(Number.POSITIVE_INFINITY));
  return seconds(Math.min(untilRun, untilSample(remembered?.sampling, now)));
}
