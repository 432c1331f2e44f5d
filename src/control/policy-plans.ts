import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { compareText } from '../model/compare-text.ts';
import type { PlanStore } from '../ports.ts';

/**
 * The plans of a policy, named by its uid, as they stand now: work on it since a pass began may have changed them. The
 * oldest first: of several that are carried out a policy only finishes what it has begun. Rejects with ApiError.
 */
export async function plansOfPolicy(
  uid: string | undefined,
  plans: Pick<PlanStore, 'list'>,
  signal: AbortSignal,
): Promise<readonly RebalancePlan[]> {
  const own = (await plans.list(signal)).filter(({ spec }) => spec.policy.uid === uid);
  return own.sort((left, right) => compareText(left.spec.takenAt, right.spec.takenAt));
}
