import { MAX_MOVES } from '../../api/v1alpha1/rebalance-plan.ts';
import type { BudgetOptions } from '../options.ts';
import { type Budget, type BudgetRefusal, isSpent } from './budget.ts';

/** Moves of one plan: the smallest `maxMoves` of the entries, and never more than a RebalancePlan can hold. */
export function maxMoves(entries: readonly BudgetOptions[]): Budget {
  const limit = Math.min(MAX_MOVES, ...entries.flatMap((entry) => entry.maxMoves ?? []));
  const refusal: BudgetRefusal = { code: 'MaxMoves', message: `the plan has its ${limit} moves`, numbers: { limit } };
  let moves = 0;
  return {
    reach: 'Plan',
    check: () => (isSpent(moves, limit) ? refusal : undefined),
    spend: () => {
      moves += 1;
    },
  };
}
