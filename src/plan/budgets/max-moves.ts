import { MAX_MOVES } from '../../api/v1alpha1/rebalance-plan.ts';
import type { BudgetOptions } from '../options.ts';
import { type Budget, type BudgetRefusal, isSpent } from './budget.ts';

/** The smallest `maxMoves` of the entries, and never more than a RebalancePlan can hold. */
export function smallestMaxMoves(entries: readonly BudgetOptions[]): number {
  return Math.min(MAX_MOVES, ...entries.flatMap((entry) => entry.maxMoves ?? []));
}

/** Moves of one plan. */
export function maxMoves(limit: number): Budget {
  const refusal: BudgetRefusal = { code: 'MaxMoves', message: `the plan has its ${limit} moves`, numbers: { limit } };
  let moves = 0;
  return {
    reach: 'Plan',
    check: () => (isSpent(moves, limit) ? refusal : undefined),
    spend: () => {
      moves += 1;
    },
    refund: () => {
      moves -= 1;
    },
  };
}
