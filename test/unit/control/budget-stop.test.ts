import { describe, expect, it } from 'vitest';
import { budgetStop } from '../../../src/control/budget-stop.ts';
import { parseInstant } from '../../../src/model/instant.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import type { BudgetOptions } from '../../../src/plan/options.ts';
import { aBudget, someOptions } from '../../support/builders/options.ts';
import { aMove, anAdmission, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPodOf, aWorkload } from '../../support/builders.ts';

const PLAN = aPlan(aPolicy('even', {}), []);
const MADE = parseInstant(PLAN.spec.takenAt);
/** Opens in the minute after the plan was made. */
const WINDOW = {
  schedule: `${new Date((MADE + 60) * 1000).getUTCMinutes()} * * * *`,
  timeZone: 'Etc/UTC',
  duration: seconds(60),
};

function stopFor(limit: Partial<BudgetOptions>): string | undefined {
  const options = someOptions({ budgets: [aBudget({ ...limit, window: WINDOW })] });
  return budgetStop(PLAN, options, () => ({ pastMoves: [], spent: [] }), epochSeconds(MADE + 60))([])?.reason;
}

it.each<Partial<BudgetOptions>>([
  { maxMoves: 1 },
  { perOwner: { kind: 'Count', count: 1 } },
  { perNode: 1 },
  { perNamespace: 1 },
  { overhead: { limit: seconds(60), window: seconds(600) } },
])('an entry that comes into force stops a plan that was made without it: %j', (limit) => {
  expect(stopFor(limit)).toBe('BudgetExhausted');
});

it('an entry that limits moves in flight alone lets the plan go on', () => {
  expect(stopFor({ maxConcurrent: 1 })).toBeUndefined();
});

it.each([
  [2, undefined],
  [
    3,
    '30 s of service were lost in the last 600 s, the next 3 moves would cost 60 s: maxOverhead of budgets[0] allows 70 s',
  ],
])('%d moves begin together only where there is room for all of them', (moves, message) => {
  const options = someOptions({ budgets: [aBudget({ overhead: { limit: seconds(70), window: seconds(600) } })] });
  const now = epochSeconds(MADE + 60);
  const spent = [{ from: epochSeconds(MADE), lost: seconds(30) }];
  const pod = aPodOf(aWorkload('web', { replicas: 3 }), 'web-1', 'a');
  const next = Array.from({ length: moves }, () => ({ ...aMove(pod, 'b'), cost: '20' }));
  expect(budgetStop(PLAN, options, () => ({ pastMoves: [], spent }), now)(next)?.message).toBe(message);
});

it('asks for no history where no budget limits the service that moves cost', () => {
  const options = someOptions({ budgets: [aBudget({ maxConcurrent: 1 })] });
  const move = aMove(aPodOf(aWorkload('web', { replicas: 3 }), 'web-1', 'a'), 'b');
  const stop = budgetStop(PLAN, options, () => expect.fail('history was asked for'), epochSeconds(MADE + 60));
  expect(stop([move])).toBeUndefined();
});

describe('a budget of lost service', () => {
  const now = epochSeconds(MADE + 60);
  const pod = aPodOf(aWorkload('web', { replicas: 3 }), 'web-1', 'a');
  const move = (cost: string) => ({ ...aMove(pod, 'b'), cost });

  /** Stops by budgets of so many seconds, each in ten minutes, of which so many are spent. */
  function stops(limits: readonly number[], lost: number) {
    const budgets = limits.map((limit, place) =>
      aBudget({ place, overhead: { limit: seconds(limit), window: seconds(600) } }),
    );
    const spent = [{ from: epochSeconds(MADE), lost: seconds(lost) }];
    return budgetStop(PLAN, someOptions({ budgets }), () => ({ pastMoves: [], spent }), now);
  }

  it('that is overspent stops nothing where nothing is to begin that takes a pod away', () => {
    const stop = stops([20], 30);
    expect(stop([])).toBeUndefined();
    expect(stop([anAdmission(pod, 'b')])).toBeUndefined();
    expect(stop([move('0')])?.reason).toBe('BudgetExhausted');
  });

  it.each([
    ['9', undefined],
    ['10', undefined],
    [
      '11',
      '30 s of service were lost in the last 600 s, the next move would cost 11 s: maxOverhead of budgets[0] allows 40 s',
    ],
  ])('lets a move begin that costs up to what is left of it: %s', (cost, message) => {
    expect(stops([40], 30)([move(cost)])?.message).toBe(message);
    expect(stops([40], 30)([anAdmission(pod, 'b'), move(cost)])?.message).toBe(message);
  });

  it('is each asked where there are several, and the first that says no is named', () => {
    expect(stops([100, 40], 30)([move('11')])?.message).toContain('budgets[1] allows 40 s');
    expect(stops([40, 100], 30)([move('11')])?.message).toContain('budgets[0] allows 40 s');
    expect(stops([100, 41], 30)([move('11')])).toBeUndefined();
  });

  it('that allows no number of seconds allows nothing', () => {
    expect(stops([Number.NaN], 0)([move('0')])?.reason).toBe('BudgetExhausted');
  });

  it('asks for the history once, however often it is asked', () => {
    const budgets = [aBudget({ overhead: { limit: seconds(40), window: seconds(600) } })];
    let asked = 0;
    const stop = budgetStop(
      PLAN,
      someOptions({ budgets }),
      () => {
        asked += 1;
        return { pastMoves: [], spent: [] };
      },
      now,
    );
    expect([stop([move('41')])?.reason, stop([move('40')])?.reason]).toEqual(['BudgetExhausted', undefined]);
    expect(asked).toBe(1);
  });
});

describe('an entry of a budget', () => {
  const stopAt = (span: number) => {
    const options = someOptions({ budgets: [aBudget({ maxMoves: 1, window: WINDOW })] });
    const stop = budgetStop(PLAN, options, () => ({ pastMoves: [], spent: [] }), epochSeconds(MADE + span));
    return stop([]);
  };

  it('stops a plan from when its window opens until it closes, and says which one and until when', () => {
    expect([59, 119, 120].map((span) => stopAt(span)?.stops)).toEqual([undefined, 'Budgeted', undefined]);
    expect(stopAt(60)?.message).toMatch(/^budgets\[0\] came into force after the plan was made, until /);
  });

  it('stops no plan that was made while it was in force', () => {
    const options = someOptions({ budgets: [aBudget({ maxMoves: 1 })] });
    const stop = budgetStop(PLAN, options, () => ({ pastMoves: [], spent: [] }), epochSeconds(MADE + 60));
    expect(stop([])).toBeUndefined();
  });
});
