import { expect, it } from 'vitest';
import { budgetStop } from '../../../src/control/budget-stop.ts';
import { parseInstant } from '../../../src/model/instant.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import type { BudgetOptions } from '../../../src/plan/options.ts';
import { aBudget, someOptions } from '../../support/builders/options.ts';
import { aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';

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
  return budgetStop(PLAN, options, { pastMoves: [], spent: [] }, epochSeconds(MADE + 60))?.reason;
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
