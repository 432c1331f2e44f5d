import type { PlanPhase, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { entries } from '../execute/journal.ts';
import type { JournalEntry } from '../execute/move.ts';
import { isFinal, NOT_EVICTED } from '../execute/transitions.ts';
import { compareText } from '../model/compare-text.ts';
import { parseInstant } from '../model/instant.ts';
import { kindOf } from '../model/move.ts';
import { oncePer } from '../model/once-per.ts';
import { type EpochSeconds, elapsed } from '../model/units.ts';
import { LOOK_BACK } from '../plan/budgets/cooldown.ts';

/**
 * Plans of one policy that are kept for their history at most. Cooldown keeps plans apart long before that; the bound is
 * for the API server, and for our memory.
 */
export const MAX_REMEMBERED = 100;

const OPEN: readonly (PlanPhase | undefined)[] = ['Executing', 'AwaitingApproval', 'Proposed'];

/** Whether a plan is still of use: proposed, waiting, or being carried out. */
export function isOpen(plan: RebalancePlan): boolean {
  return OPEN.includes(plan.status?.phase);
}

/**
 * Ended plans of one policy to be deleted: those beyond the `historyLimit` newest, but for up to MAX_REMEMBERED of the
 * last 24 h that evicted pods, from which cooldown, quarantine and `maxOverhead` are worked out.
 */
export function expiredPlans(
  plans: readonly RebalancePlan[],
  historyLimit: number,
  now: EpochSeconds,
): readonly RebalancePlan[] {
  const ended = plans.filter((plan) => !isOpen(plan)).sort((a, b) => compareText(b.spec.takenAt, a.spec.takenAt));
  if (ended.length <= historyLimit) {
    return [];
  }
  const remembered = new Set(ended.filter((plan) => isRemembered(plan, now)).slice(0, MAX_REMEMBERED));
  return ended.slice(historyLimit).filter((plan) => !remembered.has(plan));
}

/** Whether evictions of the plan were accepted, or may have been, and are over. */
export function hasEvicted(plan: RebalancePlan): boolean {
  return endOf(plan).hasEvicted;
}

function isRemembered(plan: RebalancePlan, now: EpochSeconds): boolean {
  const { endedAt, hasEvicted } = endOf(plan);
  return hasEvicted && elapsed(endedAt, now) < LOOK_BACK;
}

const endOf = oncePer((plan: RebalancePlan) => ({
  endedAt: parseInstant(plan.status?.finishedAt ?? plan.spec.takenAt),
  hasEvicted: entries(plan).some(isEvicted),
}));

/** A removal is of a pod that has failed: it moves no load, and nothing is learnt of its controller. */
function isEvicted({ move, run: { phase } }: JournalEntry): boolean {
  return kindOf(move) !== 'Removal' && isFinal(phase) && !NOT_EVICTED.has(phase);
}
