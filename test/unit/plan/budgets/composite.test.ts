import { expect, it } from 'vitest';
import { allOf, type Budget } from '../../../../src/plan/budgets/budget.ts';
import type { BudgetName } from '../../../../src/plan/rejection-codes.ts';

function aBudgetOf(limit: number, code: BudgetName): Budget {
  let spent = 0;
  return {
    check: () => (spent < limit ? undefined : { code, message: '', numbers: { spent } }),
    spend: () => {
      spent += 1;
    },
    refund: () => {
      spent -= 1;
    },
  };
}

it('lets a move through when all budgets do, and spends and refunds all of them', () => {
  const budgets = allOf([aBudgetOf(3, 'PerNode'), aBudgetOf(2, 'PerOwner'), aBudgetOf(2, 'MaxMoves')]);
  budgets.spend(0);
  expect(budgets.check(0, 1)).toBeUndefined();
  budgets.spend(0);
  expect(budgets.check(0, 1)).toMatchObject({ code: 'PerOwner', numbers: { spent: 2 } });
  expect(budgets.refusals(0, 1).map(({ code }) => code)).toEqual(['PerOwner', 'MaxMoves']);
  budgets.refund(0);
  expect(budgets.check(0, 1)).toBeUndefined();
});

it('lets everything through without budgets', () => {
  expect(allOf([]).check(0)).toBeUndefined();
});
