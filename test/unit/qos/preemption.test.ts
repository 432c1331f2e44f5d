import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import { allocationScore } from '../../../src/qos/allocation-score.ts';
import { type Contender, type Incumbent, isEligible } from '../../../src/qos/eligibility.ts';
import { isOverheadSpent, preemptionOverhead } from '../../../src/qos/overhead.ts';
import { compareCosts, preemptionCost } from '../../../src/qos/preemption-cost.ts';
import { aLedger, aServiceClass, times } from '../../support/builders/service-levels.ts';

const A = 1;
const B = 2;
const C = 3;

function contender(metric: number, importance = B, safetyMargin = 10): Contender {
  return { metric: seconds(metric), safetyMargin: seconds(safetyMargin), importance };
}

function incumbent(metric: number, importance = B, overheadSpent = false): Incumbent {
  return { ...contender(metric, importance), overheadSpent };
}

describe('the preemption overhead', () => {
  const twice = aLedger({ preemptions: 2, overhead: 5 });

  it('is 0 before the first preemption', () => {
    expect(preemptionOverhead(aLedger({ preemptions: 0, overhead: 0 }), times())).toBe(0);
  });

  it('is the share of starts in the run time and starts, and is spent at the limit (vector 5)', () => {
    const overhead = preemptionOverhead(twice, times({ useful: 45 }));
    expect(overhead).toBeCloseTo(0.1, 9);
    expect(isOverheadSpent(overhead, aServiceClass({ slo: 0.9 }))).toBe(true);
  });

  it('is 0 where starts cost nothing, and counts run time that was lost, too', () => {
    expect(preemptionOverhead(aLedger({ preemptions: 1, overhead: 0 }), times())).toBe(0);
    expect(preemptionOverhead(aLedger({ preemptions: 0, overhead: 5 }), times({ useful: 5 }))).toBe(0);
    expect(preemptionOverhead(twice, times({ useful: 5, discarded: 10, pending: 1000 }))).toBe(0.25);
    expect(preemptionOverhead(twice, times())).toBe(1);
  });

  it('is not spent a second later (vector 5)', () => {
    const overhead = preemptionOverhead(twice, times({ useful: 46 }));
    expect(overhead).toBeCloseTo(0.098, 3);
    expect(isOverheadSpent(overhead, aServiceClass({ slo: 0.9 }))).toBe(false);
  });

  it('is spent from the beginning for a class that is promised everything', () => {
    expect(isOverheadSpent(0, aServiceClass({ slo: 1 }))).toBe(true);
  });
});

describe('eligibility', () => {
  it('is only for the more important once the overhead is spent (vector 5)', () => {
    const spent = incumbent(500, B, true);
    expect([A, B, C].map((importance) => isEligible(spent, contender(-50, importance)))).toEqual([true, false, false]);
  });

  it('is for whoever is worse off than one above its margin (vector 6)', () => {
    expect(isEligible(incumbent(50), contender(20, C))).toBe(true);
    expect(isEligible(incumbent(20), contender(20, A))).toBe(false);
  });

  it('is for the more important, and for worse equals, below the margin (vector 6)', () => {
    const claims = (metric: number) => [A, B, C].map((rank) => isEligible(incumbent(5), contender(metric, rank)));
    expect(claims(3)).toEqual([true, true, false]);
    expect(claims(8)).toEqual([true, false, false]);
    expect(claims(12)).toEqual([false, false, false]);
  });

  it('is for no equal and no less important one at the margin itself unless it is worse off', () => {
    const claims = (own: number, metric: number) =>
      [A, B, C].map((rank) => isEligible(incumbent(own), contender(metric, rank)));
    expect(claims(10, 9)).toEqual([true, true, true]);
    expect(claims(10, 10)).toEqual([false, false, false]);
    expect(claims(9, 9)).toEqual([true, false, false]);
    expect(claims(9, 10)).toEqual([false, false, false]);
    expect(claims(9, 8)).toEqual([true, true, false]);
  });

  it('is for an equal below its own margin only, which may be another one', () => {
    const claims = (metric: number, margin: number) => isEligible(incumbent(5), contender(metric, B, margin));
    expect([claims(2, 3), claims(3, 3), claims(4, 3), claims(4, 30), claims(5, 30)]).toEqual([
      true,
      false,
      false,
      true,
      false,
    ]);
  });

  it('is for a more important one by the same rules once the overhead is spent', () => {
    const spent = (own: number, metric: number) => isEligible(incumbent(own, B, true), contender(metric, A));
    expect([spent(50, 49), spent(50, 50), spent(5, 9), spent(5, 10)]).toEqual([true, false, true, false]);
  });

  it('never lets an equal take the place of one that is promised everything', () => {
    expect(isEligible(incumbent(-3, A, true), contender(-1e6, A))).toBe(false);
  });
});

describe('the cost of preemptions', () => {
  it('is ordered by the loss of the most important, then by what others can spare (vector 7)', () => {
    const costs = [
      [contender(110)],
      [contender(60)],
      [contender(2.6, C)],
      [contender(-4.4, C)],
      [contender(9, B)],
      [contender(9.9, A)],
    ].map(preemptionCost);
    expect(costs.toReversed().sort(compareCosts)).toEqual(costs);
  });

  it('of mixed victims is compared the same way from either side', () => {
    const ascending = [
      [contender(110)],
      [contender(60)],
      [contender(110), contender(6, C)],
      [contender(60), contender(6, C)],
      [contender(5, C)],
      [contender(9, B)],
      [contender(9, B), contender(-90, C)],
      [contender(8, B)],
      [contender(9.5, A)],
    ].map(preemptionCost);
    for (const [place, cheaper] of ascending.entries()) {
      for (const dearer of ascending.slice(place + 1)) {
        expect(compareCosts(cheaper, dearer)).toBeLessThan(0);
        expect(compareCosts(dearer, cheaper)).toBeGreaterThan(0);
      }
    }
  });

  it('has the sum of what victims of each rank lack, the most important rank first, and of what others can spare', () => {
    const victims = [contender(8, C), contender(15), contender(9, A), contender(3, C), contender(10, A), contender(12)];
    expect(preemptionCost(victims)).toEqual({
      below: [
        { importance: A, sum: -1 },
        { importance: C, sum: -9 },
      ],
      above: 7,
      victims: 6,
    });
    expect(preemptionCost([])).toEqual({ below: [], above: 0, victims: 0 });
  });

  it('is lower for fewer victims where nothing else differs', () => {
    const [one, two] = [preemptionCost([contender(110)]), preemptionCost([contender(60), contender(60)])];
    expect(compareCosts(one, two)).toBeLessThan(0);
  });

  it('is the same for two who are promised nothing', () => {
    const free = preemptionCost([contender(Number.POSITIVE_INFINITY, C)]);
    expect(compareCosts(free, free)).toBe(0);
    expect(compareCosts(free, preemptionCost([contender(1e9)]))).toBeLessThan(0);
  });
});

describe('the allocation score', () => {
  it('is the mean of what is free and how balanced it is (vector 8)', () => {
    expect(allocationScore({ capacity: 4, allocated: 1 }, { capacity: 8, allocated: 4 })).toBe(6.875);
  });

  it.each([
    [10, [0, 0]],
    [5, [1, 1]],
    [2.5, [0, 1]],
    [2.5, [1, 0]],
    [6.875, [0.5, 0.25]],
    [6.875, [0.25, 0.5]],
    [5, [1.5, 3]],
    [2.5, [-1, 2]],
  ])('is %d for %j of cpu and memory that is allocated', (score, [cpu = 0, memory = 0]) => {
    const found = allocationScore({ capacity: 4, allocated: 4 * cpu }, { capacity: 8, allocated: 8 * memory });
    expect(found).toBeCloseTo(score, 12);
  });

  it('counts a resource that the node does not offer as full', () => {
    expect(allocationScore({ capacity: 4, allocated: 4 }, { capacity: 0, allocated: 0 })).toBe(5);
    expect(allocationScore({ capacity: 1, allocated: 0 }, { capacity: 0, allocated: 0 })).toBe(2.5);
    expect(allocationScore({ capacity: 0, allocated: 0 }, { capacity: 8, allocated: 8 })).toBe(5);
  });
});
