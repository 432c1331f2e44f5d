import { describe, expect, it } from 'vitest';
import { seconds } from '../../../../src/model/units.ts';
import type { ServicePosition } from '../../../../src/plan/qos/rules.ts';
import { STANDARD } from '../../../../src/plan/qos/standard.ts';
import { aPosition, aServiceClass } from '../../../support/builders/service-levels.ts';

describe('the cost of an eviction by the Standard refinements', () => {
  it('counts how long the victim can wait beyond its margin', () => {
    expect(STANDARD.costOf([aPosition(100)])).toMatchObject({ below: [], above: 90 });
    expect(STANDARD.costOf([aPosition(100), aPosition(70)])).toMatchObject({ below: [], above: 30, victims: 2 });
  });

  it('counts as a loss that less than the quiet time is left to it beyond its margin', () => {
    // The geometric mean of 1 s and 100 s, 2.8 times: 28 s.
    expect(STANDARD.costOf([aPosition(38)]).below).toEqual([]);
    expect(STANDARD.costOf([aPosition(37)]).below).toEqual([{ importance: 2, sum: -1 }]);
  });
});

describe('the quiet time that an eviction must buy by the Standard refinements', () => {
  /** What the victim lacks of it beyond its margin of 10 s. */
  const lacks = (metric: number, slo: number, allowance: number) =>
    Math.abs(
      STANDARD.costOf([aPosition(metric, { serviceClass: aServiceClass({ slo }), allowance: seconds(allowance) })])
        .below[0]?.sum ?? 0,
    );

  it('is at most half of what the victim may lose, and four starts where that is more', () => {
    expect([lacks(20, 0.99, 20), lacks(19, 0.99, 20)]).toEqual([0, 1]);
    expect([lacks(14, 0.995, 6), lacks(13, 0.995, 6)]).toEqual([0, 1]);
  });

  it('is that of a request that is 800 starts old for a younger one', () => {
    // In 800 s it can lose a ninth of them.
    expect([lacks(37, 0.9, 10), lacks(36, 0.9, 10)]).toEqual([0, expect.closeTo(2.8 * Math.sqrt(800 / 9) - 26, 9)]);
  });
});

describe('the margin of a request by the Standard refinements', () => {
  const margin = (slo: number, allowance: number, alpha: number) =>
    STANDARD.marginOf(aServiceClass({ slo, safetyMargin: 10 }), seconds(allowance), seconds(alpha));

  it('is that of its class, but at most a twentieth of what it may lose, or two starts', () => {
    expect([margin(0.9, 100, 1), margin(0.9, 100, 4), margin(0.9, 20, 0.25)]).toEqual([5, 8, 1]);
    expect([margin(0.9, 1000, 1), margin(0.9, 1, 9)]).toEqual([10, 10]);
  });

  it('is all of that where everything was promised', () => {
    expect([margin(1, 100, 1), margin(1, 0, 0)]).toEqual([10, 10]);
  });
});

describe('who is served first by the Standard refinements', () => {
  const order = (left: ServicePosition, right: ServicePosition) =>
    [STANDARD.compare(left, right), STANDARD.compare(right, left)].map(Math.sign);
  const ranked = (metric: number, importance: number) => aPosition(metric, { importance });

  it('is who is below the margin, the most important of them, and who can wait less long', () => {
    expect(order(ranked(9, 3), ranked(10, 1))).toEqual([-1, 1]);
    expect(order(ranked(9, 1), ranked(5, 2))).toEqual([-1, 1]);
    expect(order(ranked(5, 2), ranked(9, 2))).toEqual([-1, 1]);
    expect(order(ranked(20, 3), ranked(30, 1))).toEqual([-1, 1]);
    expect(STANDARD.compare(ranked(20, 3), ranked(20, 1))).toBe(0);
  });
});

describe('the metric below which a claimant may take the place of another by the Standard refinements', () => {
  /** Of an incumbent of importance 2, for claimants with a margin of 12 s. */
  const bound = (metric: number, importance: number, fields: Partial<ServicePosition> = {}) =>
    STANDARD.boundOf(aPosition(metric, fields), { importance, safetyMargin: seconds(12) });

  it('is the margin of the claimant that is more important, whatever the other has lost', () => {
    expect([bound(100, 1), bound(-50, 1), bound(100, 1, { overheadSpent: true })]).toEqual([12, 12, 12]);
  });

  it('is none for others once the overhead is spent', () => {
    expect([bound(100, 2, { overheadSpent: true }), bound(100, 3, { overheadSpent: true })]).toEqual([
      Number.NEGATIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ]);
  });

  it('is the margin of one that is less important while the other can wait, and none when it cannot', () => {
    expect([bound(38, 3), bound(37, 3)]).toEqual([12, Number.NEGATIVE_INFINITY]);
  });

  it('is so much less for an equal as is a share of what the other may lose, or the margin', () => {
    expect([bound(100, 2), bound(60, 2)]).toEqual([40, 12]);
    // Of a younger one, that can lose a ninth of 800 s when it has grown.
    expect(bound(100, 2, { allowance: seconds(10) })).toBeCloseTo(100 - (0.6 * 800) / 9, 9);
  });

  it('is less by the quiet time for an equal of one that cannot wait, or by a share of what it may lose', () => {
    expect([bound(37, 2), bound(30, 2)]).toEqual([9, 2]);
    expect(bound(12, 2, { alpha: seconds(0.01) })).toBeCloseTo(5, 9);
  });

  it('is none for an equal of one that was promised everything', () => {
    const strict = { serviceClass: aServiceClass({ slo: 1 }), allowance: seconds(0) };
    expect(bound(5, 2, strict)).toBe(Number.NEGATIVE_INFINITY);
  });
});
