import { expect, it } from 'vitest';
import { budgetStop } from '../../../src/control/budget-stop.ts';
import { parseInstant } from '../../../src/model/instant.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import type { BudgetOptions } from '../../../src/plan/options.ts';
import { aBudget, someOptions } from '../../support/builders/options.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
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
