import { describe, expect, it } from 'vitest';
import { applyPlan } from '../../../support/apply-plan.ts';
import { fewestMovesFor, pinnedThatFit, roomFor, wronglyFull } from '../../../support/wrongly-full.ts';

describe('a cluster that is full in the wrong way', () => {
  it.each([
    [1, 80],
    [2, 80],
    [3, 78],
    [4, 75],
  ])('gets room for every pinned pod by the fewest moves: seed %i, %i chains', (seed, chains) => {
    const before = wronglyFull(seed, chains);
    expect(pinnedThatFit(before)).toBeLessThan(chains);
    const found = roomFor(before);
    const after = applyPlan(before, found);
    expect(pinnedThatFit(after)).toBe(chains);
    expect(found.moves).toHaveLength(fewestMovesFor(before));
    expect(roomFor(after).moves).toEqual([]);
  });
});
