import type { PlanPhase, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';

const OPEN: readonly (PlanPhase | undefined)[] = ['Executing', 'AwaitingApproval', 'Proposed'];

/** Whether a plan is still of use: proposed, waiting, or being carried out. */
export function isOpen(plan: RebalancePlan): boolean {
  return OPEN.includes(plan.status?.phase);
}

/** Ended plans of one policy beyond the `historyLimit` newest, to be deleted. */
export function expiredPlans(plans: readonly RebalancePlan[], historyLimit: number): readonly RebalancePlan[] {
  return plans
    .filter((plan) => !isOpen(plan))
    .sort((a, b) => b.spec.takenAt.localeCompare(a.spec.takenAt))
    .slice(historyLimit);
}
