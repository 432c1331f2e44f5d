import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excessOf } from '../../../../src/plan/repair/excess.ts';

/** Domains with so many pods each, as numbers of domains by their pods. */
function sizesOf(pods: readonly number[]): ReadonlyMap<number, number> {
  return new Map([...Map.groupBy(pods, (number) => number)].map(([number, domains]) => [number, domains.length]));
}

/** The fewest moves, by trying ever more of them from the fullest domain to the emptiest. */
function movesUntilEven(pods: readonly number[], maxSkew: number): number {
  const counts = [...pods];
  let moves = 0;
  while (Math.max(...counts) - Math.min(...counts) > maxSkew) {
    counts.sort((left, right) => left - right);
    counts[0] = (counts[0] ?? 0) + 1;
    counts[counts.length - 1] = (counts.at(-1) ?? 0) - 1;
    moves += 1;
  }
  return moves;
}

describe('the fewest moves that restore a spread', () => {
  it.each([
    [[2, 2], 1, 0],
    [[3, 2], 1, 0],
    [[4, 2], 1, 1],
    [[4, 2], 2, 0],
    [[6, 0], 1, 3],
    [[5, 5, 0], 1, 3],
    [[9, 0, 0], 1, 6],
    [[9, 0, 0], 3, 4],
    [[7], 1, 0],
    [[], 1, 0],
  ])('of domains with %j pods and a maxSkew of %i are %i', (pods, maxSkew, moves) => {
    expect(excessOf(sizesOf(pods), maxSkew, false)).toBe(moves);
  });

  it('count from none where there are too few domains', () => {
    expect(excessOf(sizesOf([4, 2]), 1, true)).toBe(4);
    expect(excessOf(sizesOf([1, 1]), 1, true)).toBe(0);
    expect(excessOf(sizesOf([3, 3]), 2, true)).toBe(2);
  });

  it('do not count sizes that no domain has', () => {
    const sizes = new Map([
      [9, 0],
      [2, 2],
      [0, 0],
    ]);
    expect(excessOf(sizes, 1, false)).toBe(0);
  });

  it('are as many as it takes from the fullest domain to the emptiest, one by one', () => {
    const pods = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(pods, fc.integer({ min: 1, max: 4 }), (domains, maxSkew) => {
        expect(excessOf(sizesOf(domains), maxSkew, false)).toBe(movesUntilEven(domains, maxSkew));
      }),
      { numRuns: 300 },
    );
  });
});
