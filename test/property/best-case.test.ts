import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seconds } from '../../src/model/units.ts';
import { type PreemptionRules, PUBLISHED, type ServicePosition } from '../../src/plan/qos/rules.ts';
import { STANDARD } from '../../src/plan/qos/standard.ts';
import { aLedger } from '../support/builders/service-levels.ts';
import { PUBLISHED_CLASSES } from '../support/crowd.ts';

const RUNS = 2000;
const classes = fc.constantFrom(...PUBLISHED_CLASSES);
const shares = fc.constantFrom(0, 0.5, 1);
const alpha = seconds(2.37);

const residents = fc
  .record({
    serviceClass: classes,
    metric: fc.integer({ min: -100, max: 1000 }),
    margin: shares,
    allowance: fc.nat({ max: 1800 }),
    overheadSpent: fc.boolean(),
  })
  .map(({ serviceClass, metric, margin, allowance, overheadSpent }): ServicePosition => {
    const { importance, safetyMargin } = serviceClass;
    const given = { serviceClass, importance, overheadSpent, allowance: seconds(allowance), alpha };
    const contender = { metric: seconds(metric), safetyMargin: seconds(margin * safetyMargin) };
    return { ...given, ...contender, request: aLedger(), running: true, lacking: 0 };
  });

describe('the best case of a node', () => {
  it.each<[string, PreemptionRules]>([
    ['as published', PUBLISHED],
    ['with our refinements', STANDARD],
  ])('rules out only claimants that can have nobody, even when others of their requests go, %s', (_, rules) => {
    let found = 0;
    const property = fc.property(
      fc.array(residents, { minLength: 1, maxLength: 6 }),
      fc.record({ serviceClass: classes, margin: shares, fall: fc.nat({ max: 1000 }) }),
      (incumbents, { serviceClass: { importance, safetyMargin }, margin, fall }) => {
        const best = rules.bestCaseFor({ importance, safetyMargin })(incumbents.map((standing) => ({ standing })));
        const claimant = { importance, safetyMargin: seconds(margin * safetyMargin) };
        const fallen = incumbents.map((each) => ({ ...each, metric: seconds(each.metric - fall) }));
        const bounds = [...incumbents, ...fallen].map((each) => rules.boundOf(each, claimant));
        expect(best?.bound ?? Number.NEGATIVE_INFINITY).toBeGreaterThanOrEqual(Math.max(...bounds));
        found += best === undefined ? 0 : 1;
      },
    );
    fc.assert(property, { numRuns: RUNS });
    expect(found).toBeGreaterThan(RUNS / 2);
  });
});
