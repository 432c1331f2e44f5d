import { describe, expect, it } from 'vitest';
import type { PenaltyTier } from '../../../src/model/service-level.ts';
import { seconds } from '../../../src/model/units.ts';
import { penaltyOf, tierOf } from '../../../src/qos/fulfilment.ts';

/** Penalties of the published evaluation (algorithms.md 8). */
function tiers(slo: number, ...below: readonly number[]): { readonly slo: number; readonly penalties: PenaltyTier[] } {
  const surcharges = [0.1, 0.3, 1];
  return { slo, penalties: below.map((bound, place) => ({ below: bound, surcharge: surcharges[place] ?? 1 })) };
}

const A = tiers(1, 0.9999, 0.99, 0.95);
const B = tiers(0.9, 0.9, 0.8911, 0.8556);

describe('the penalty', () => {
  it('is the deficit over time and cores with the surcharge of its tier (vector 10)', () => {
    expect(penaltyOf(A, 0.985, seconds(3600), 2)).toBeCloseTo(140.4, 9);
  });

  it('has tiers that end where the next one begins (vector 10)', () => {
    const surcharges = [0.9, 0.8911, 0.891, 0.8556, 0.8555].map((each) => tierOf(B.penalties, each)?.surcharge);
    expect(surcharges).toEqual([undefined, 0.1, 0.3, 0.3, 1]);
  });

  it('is nothing without a deficit or an agreement', () => {
    expect(penaltyOf(A, 0.99995, seconds(3600), 2)).toBe(0);
    expect(penaltyOf({ slo: 0.9, penalties: [] }, 0.1, seconds(3600), 2)).toBe(0);
  });
});
