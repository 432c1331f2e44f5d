import { describe, expect, it } from 'vitest';
import type { PastMove } from '../../../../src/model/past-move.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import { budgetsLeft } from '../../../../src/plan/budgets/left.ts';
import type { Move } from '../../../../src/plan/plan.ts';
import { resolveOptions } from '../../../../src/plan/resolve-options.ts';
import { aPolicy } from '../../../support/builders/policy.ts';
import { aPastMove } from '../../../support/builders.ts';
import { NOON } from '../../../support/test-clock.ts';

/** A plan of noon with moves that cost so many seconds. */
function aPlanOf(...costs: readonly number[]) {
  return { takenAt: NOON, moves: costs.map((cost) => ({ cost: seconds(cost) }) as Move) };
}

/** A move that began so many seconds before noon and cost `unavailable` seconds. */
const pastMove = (before: number, unavailable: number): PastMove =>
  aPastMove('web-1', { startedAt: epochSeconds(NOON - before), phase: 'Landed', unavailable: seconds(unavailable) });

function left(budgets: readonly object[], plan: ReturnType<typeof aPlanOf>, ...pastMoves: readonly PastMove[]): object {
  return Object.fromEntries(budgetsLeft(resolveOptions(aPolicy('even', { budgets }).spec), plan, { pastMoves }));
}

describe('what a plan leaves of its budgets', () => {
  it('is the moves that it does not make', () => {
    expect(left([{ maxMoves: 10 }, { maxMoves: 4 }], aPlanOf(5, 5, 5))).toEqual({ maxMoves: 1 });
  });

  it('is the service that neither it nor earlier moves within the window cost', () => {
    const budgets = [{ maxOverhead: '10m', window: '1h' }];
    expect(left(budgets, aPlanOf(20, 30), pastMove(600, 100), pastMove(7200, 100))).toEqual({ maxOverhead: 450 });
  });

  it('is nothing where no budget says how much', () => {
    expect(left([{ perNode: 2 }], aPlanOf(5))).toEqual({});
  });

  it('is of budgets in force alone', () => {
    expect(left([{ maxMoves: 0, schedule: '0 3 * * *', duration: '1h' }, { maxMoves: 5 }], aPlanOf())).toEqual({
      maxMoves: 5,
    });
  });
});
