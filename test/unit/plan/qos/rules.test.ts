import { describe, expect, it } from 'vitest';
import { seconds } from '../../../../src/model/units.ts';
import { compareNumbers, leastCost, PUBLISHED, type ServicePosition } from '../../../../src/plan/qos/rules.ts';
import { eligibilityBound } from '../../../../src/qos/eligibility.ts';
import { preemptionCost } from '../../../../src/qos/preemption-cost.ts';
import { aPosition, aServiceClass } from '../../../support/builders/service-levels.ts';

const residents = (...all: readonly ServicePosition[]) => all.map((standing) => ({ standing }));
/** An equal with a margin of 10 s. */
const CLAIMANT = { importance: 2, safetyMargin: seconds(10) };

describe('numbers', () => {
  it('are compared, infinite ones among them', () => {
    const infinite = Number.POSITIVE_INFINITY;
    expect([compareNumbers(1, 2), compareNumbers(2, 1), compareNumbers(2, 2)]).toEqual([-1, 1, 0]);
    expect([compareNumbers(infinite, infinite), compareNumbers(-infinite, infinite)]).toEqual([0, -1]);
  });
});

describe('the policy as published', () => {
  it('has the margin of the class, and serves who can wait less long first', () => {
    expect(PUBLISHED.marginOf(aServiceClass({ safetyMargin: 7 }), seconds(1), seconds(1))).toBe(7);
    expect(PUBLISHED.compare(aPosition(5, { importance: 3 }), aPosition(6, { importance: 1 }))).toBe(-1);
    expect(PUBLISHED.compare(aPosition(6), aPosition(6, { importance: 1 }))).toBe(0);
  });

  it('says what evictions cost at best: from who can wait longest, and with what all of them can spare', () => {
    const best = PUBLISHED.bestCaseFor(CLAIMANT)(residents(aPosition(40), aPosition(25), aPosition(8)));
    expect(best?.victims).toEqual([0]);
    expect(best?.bound).toBe(40);
    expect(best?.cost).toMatchObject({ below: [], victims: 1, above: expect.closeTo(45, 9) });
    expect(best?.cost.above).toBeGreaterThan(45);
    expect(PUBLISHED.bestCaseFor(CLAIMANT)(residents(aPosition(40, { overheadSpent: true })))).toBeUndefined();
  });
});

describe('the least that an eviction costs', () => {
  const least = (...all: readonly ServicePosition[]) =>
    leastCost(CLAIMANT, eligibilityBound, preemptionCost)(residents(...all));

  it('is that of all who cost as little, by their places', () => {
    expect(least(aPosition(40), aPosition(20), aPosition(40))?.victims).toEqual([0, 2]);
    expect(least(aPosition(40), aPosition(40), aPosition(20))?.victims).toEqual([0, 1]);
    expect(least(aPosition(20), aPosition(40), aPosition(40))?.victims).toEqual([1, 2]);
  });

  it('leaves out those who may not be evicted, and is none without others', () => {
    const held = aPosition(90, { overheadSpent: true });
    expect(least(held, aPosition(20))?.victims).toEqual([1]);
    expect([least(held), least()]).toEqual([undefined, undefined]);
  });

  it('is open to claimants below the largest bound, or below their own margin', () => {
    expect(least(aPosition(40), aPosition(90))?.bound).toBe(90);
    expect(least(aPosition(4))?.bound).toBe(10);
  });

  it('is the same when it is asked for once more', () => {
    const leastOf = leastCost(CLAIMANT, eligibilityBound, preemptionCost);
    const all = residents(aPosition(40), aPosition(20));
    expect(leastOf(all)).toEqual(leastOf(all));
  });
});
