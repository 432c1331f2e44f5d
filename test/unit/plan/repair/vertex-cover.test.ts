import { describe, expect, it } from 'vitest';
import { type Edge, fewestThatTouchAll } from '../../../../src/plan/repair/vertex-cover.ts';

/** A pod that is in one pair with each of these. */
function star(hub: number, leaves: readonly number[]): readonly Edge[] {
  return leaves.map((leaf) => [leaf, hub]);
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

const inOrder = (left: number, right: number): number => left - right;

describe('the fewest pods with one of each pair', () => {
  it.each([
    ['20 pods, of which the smallest cover is looked for', 19],
    ['21 pods, of which the one in most pairs goes first', 20],
  ])('are the one in all pairs, although it is the last choice, in a group of %s', (_, leaves) => {
    expect(fewestThatTouchAll(star(99, range(0, leaves)), () => true, inOrder)).toEqual([99]);
  });

  it.each([
    [20, 'the smallest cover', [2, 3, 5]],
    [21, 'what comes of taking the one in most pairs first', [0, 1, 3, 5]],
  ])('are, in a group of %d, %s', (pods, _, fewest) => {
    // A path 1-2-0-3-4, and a star around 5 that its middle is part of.
    const path: readonly Edge[] = [
      [1, 2],
      [2, 0],
      [0, 3],
      [3, 4],
    ];
    expect(fewestThatTouchAll([...path, ...star(5, [0, ...range(6, pods)])], () => true, inOrder)).toEqual(fewest);
  });

  it('are, in a large group, the first of those in as many pairs, until no pair is left', () => {
    const pairs: readonly Edge[] = [...star(98, range(0, 15)), ...star(99, range(15, 30)), [98, 99], [0, 50], [50, 51]];
    expect(fewestThatTouchAll(pairs, () => true, inOrder)).toEqual([50, 98, 99]);
  });

  it('are those that may go, and none of a pair of which neither may', () => {
    const pairs: readonly Edge[] = [
      [1, 2],
      [3, 4],
    ];
    expect(fewestThatTouchAll(pairs, (pod) => pod === 2, inOrder)).toEqual([2]);
  });
});
