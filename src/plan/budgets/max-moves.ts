import { MAX_MOVES } from '../../api/v1alpha1/rebalance-plan.ts';
import { count } from '../format.ts';
import { type Budget, type BudgetRefusal, isSpent } from './budget.ts';
import type { ActiveBudget } from './in-force.ts';

/** The smallest `maxMoves` of the entries, and never more than a RebalancePlan can hold. */
export function smallestMaxMoves(entries: readonly ActiveBudget[]): number {
  return Math.min(MAX_MOVES, ...entries.flatMap((entry) => entry.maxMoves ?? []));
}

/** Moves of one plan, and those `underWay` that older ones have begun. */
export function maxMoves(entries: readonly ActiveBudget[], underWay = 0): Budget {
  const limit = smallestMaxMoves(entries);
  const refusal: BudgetRefusal = { code: 'MaxMoves', message: describe(entries, limit), numbers: { limit } };
  let moves = underWay;
  return {
    check: () => (isSpent(moves, limit) ? refusal : undefined),
    spend: () => {
      moves += 1;
    },
    refund: () => {
      moves -= 1;
    },
  };
}

/** Names the entry that limits when it does so for a time only, or allows nothing at all. */
function describe(entries: readonly ActiveBudget[], limit: number): string {
  const entry = entries.find(({ maxMoves }) => maxMoves === limit);
  if (entry?.until !== undefined) {
    const allowed = limit === 0 ? 'no moves' : `no more than ${count(limit, 'move')}`;
    return `${allowed} ${entry.until}: budgets[${entry.place}]`;
  }
  return entry !== undefined && limit === 0 ? `no moves: budgets[${entry.place}] has maxMoves 0` : planIsFull(limit);
}

/** Why a plan takes up no further move. */
export function planIsFull(limit: number): string {
  return `the plan already has ${count(limit, 'move')}`;
}
