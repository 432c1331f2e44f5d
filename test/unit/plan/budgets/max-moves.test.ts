import { describe, expect, it } from 'vitest';
import type { ActiveBudget } from '../../../../src/plan/budgets/in-force.ts';
import { maxMoves, smallestMaxMoves } from '../../../../src/plan/budgets/max-moves.ts';
import { aBudget } from '../../../support/builders/options.ts';

const inForce = (fields: Parameters<typeof aBudget>[0], until?: string): ActiveBudget => ({
  ...aBudget(fields),
  until,
});

describe('the moves of a plan', () => {
  it('are as many as the smallest entry allows, and never more than a plan can hold', () => {
    expect(smallestMaxMoves([])).toBe(1000);
    expect(smallestMaxMoves([inForce({ maxMoves: 5 }), inForce({}), inForce({ maxMoves: 3 })])).toBe(3);
    expect(smallestMaxMoves([inForce({ maxMoves: 1001 })])).toBe(1000);
  });

  it('end with the last that is allowed, are given back, and count those under way', () => {
    const budget = maxMoves([inForce({ maxMoves: 2 })]);
    budget.spend(0);
    expect(budget.check(1)).toBeUndefined();
    budget.spend(1);
    expect(budget.check(2)).toEqual({
      code: 'MaxMoves',
      message: 'the plan already has 2 moves',
      numbers: { limit: 2 },
    });
    budget.refund(1);
    expect(budget.check(2)).toBeUndefined();
    expect(maxMoves([inForce({ maxMoves: 2 })], 1).check(0)).toBeUndefined();
    expect(maxMoves([inForce({ maxMoves: 2 })], 2).check(0)?.code).toBe('MaxMoves');
  });

  it.each<[string, readonly ActiveBudget[]]>([
    ['no moves: budgets[1] has maxMoves 0', [inForce({ maxMoves: 5 }), inForce({ place: 1, maxMoves: 0 })]],
    ['no moves until 18:00: budgets[2]', [inForce({ place: 2, maxMoves: 0 }, 'until 18:00')]],
    [
      'no more than 1 move until 18:00: budgets[2]',
      [inForce({ maxMoves: 5 }), inForce({ place: 2, maxMoves: 1 }, 'until 18:00')],
    ],
    ['the plan already has 1 move', [inForce({ maxMoves: 5 }, 'until 18:00'), inForce({ maxMoves: 1 })]],
  ])('say: %s', (message, entries) => {
    expect(maxMoves(entries, 9).check(0)?.message).toBe(message);
  });
});
