import { describe, expect, it } from 'vitest';
import type { FreeCapacity } from '../../../../src/plan/free-capacity.ts';
import { covers, fewestThatCover, shortageOf } from '../../../../src/plan/room/shortage.ts';
import { subsets } from '../../../../src/plan/room/subsets.ts';
import { aNode, aPod, aSnapshot, constraints, type Resources } from '../../../support/builders.ts';
import { stateOf } from '../../../support/state.ts';

/** What is free on a node with these amounts. */
function free(allocatable: Resources & { pods?: number }): FreeCapacity {
  const nodes = [aNode('a', { allocatable }), aNode('b')];
  return stateOf(aSnapshot({ nodes, pods: [aPod('p', { nodeName: 'b' })], uses: { p: 1 } })).whereabouts.freeCapacityOf(
    0,
  );
}

const NOTHING = { cpu: 0, memory: 0, ephemeralStorage: 0 };

describe('what a node lacks for a pod', () => {
  it.each<[what: string, asks: Resources, offers: Resources & { pods?: number }, lacks: number[]]>([
    [
      'nothing where all just fits',
      { cpu: 100, memory: 10, ephemeralStorage: 5 },
      { cpu: 100, memory: 10, ephemeralStorage: 5 },
      [],
    ],
    ['cpu', { cpu: 101, memory: 10 }, { cpu: 100, memory: 10 }, [1]],
    ['memory', { cpu: 100, memory: 15 }, { cpu: 100, memory: 10 }, [5]],
    ['ephemeral storage', { ephemeralStorage: 7 }, { ephemeralStorage: 5 }, [2]],
    ['an extended resource', { extended: { gpu: 3 } }, { extended: { gpu: 1 } }, [2]],
    ['an extended resource that it does not have', { extended: { gpu: 3 } }, {}, [3]],
    ['a slot', {}, { pods: 0 }, [1]],
    ['a slot, cpu and memory', { cpu: 5, memory: 6 }, { pods: 0, cpu: 1, memory: 1 }, [1, 4, 5]],
  ])('is %s', (_, asks, offers, lacks) => {
    expect(shortageOf(constraints({ requests: asks }), free({ ...NOTHING, ...offers })).amounts).toEqual(lacks);
  });

  it('is no resource that the pod does not ask for, however little there is', () => {
    const room: FreeCapacity = { ...free(NOTHING), cpu: -500, memory: -1, ephemeralStorage: -1 };
    expect(shortageOf(constraints({ requests: {} }), room).amounts).toEqual([]);
    expect(shortageOf(constraints({ requests: { cpu: 100 } }), room).amounts).toEqual([600]);
  });

  it('is given back, resource by resource, by a pod that leaves', () => {
    const asks = constraints({ requests: { cpu: 5, memory: 6, ephemeralStorage: 7, extended: { gpu: 2 } } });
    const { givenBackBy } = shortageOf(asks, free({ ...NOTHING, pods: 0 }));
    expect(
      givenBackBy(constraints({ requests: { cpu: 1, memory: 2, ephemeralStorage: 3, extended: { gpu: 4 } } })),
    ).toEqual([1, 1, 2, 3, 4]);
    expect(givenBackBy(constraints({ requests: {} }))).toEqual([1, 0, 0, 0, 0]);
  });
});

describe('pods that end a shortage', () => {
  it('give back as much as is lacking of everything, together', () => {
    expect(covers([], [])).toBe(true);
    expect(covers([3], [[1], [2]])).toBe(true);
    expect(covers([3], [[1], [1]])).toBe(false);
    expect(covers([3, 1], [[3, 0]])).toBe(false);
    expect(covers([3, 1], [[3, 0], []])).toBe(false);
    expect(
      covers(
        [3, 1],
        [
          [3, 0],
          [0, 1],
        ],
      ),
    ).toBe(true);
  });

  it('are no fewer than the largest of them could be', () => {
    expect(fewestThatCover([5], [[1], [3], [2]])).toBe(2);
    expect(fewestThatCover([3], [[1], [3], [2]])).toBe(1);
    expect(fewestThatCover([6], [[1], [3], [2]])).toBe(3);
    expect(fewestThatCover([7], [[1], [3], [2]])).toBe(Number.POSITIVE_INFINITY);
    expect(
      fewestThatCover(
        [3, 4],
        [
          [3, 1],
          [0, 3],
        ],
      ),
    ).toBe(2);
    expect(fewestThatCover([3, 4], [[3, 1], [0]])).toBe(Number.POSITIVE_INFINITY);
  });

  it('are one at least, and none can be where there are none', () => {
    expect(fewestThatCover([], [[]])).toBe(1);
    expect(fewestThatCover([], [])).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('sets of pods', () => {
  const all = (count: number, size: number, ...twins: number[]) => [
    ...subsets(count, size, (place) => twins.includes(place)),
  ];

  it('come with the one first whose most expensive member costs least', () => {
    expect(all(4, 2)).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
      [0, 3],
      [1, 3],
      [2, 3],
    ]);
    expect([all(3, 3), all(3, 1), all(3, 0), all(2, 3)]).toEqual([[[0, 1, 2]], [[0], [1], [2]], [[]], []]);
  });

  it('have of equal pods the first alone', () => {
    expect(all(3, 1, 1, 2)).toEqual([[0]]);
    expect(all(3, 2, 1, 2)).toEqual([[0, 1]]);
    expect(all(3, 2, 1)).toEqual([
      [0, 1],
      [0, 2],
    ]);
    expect(all(4, 2, 1, 3)).toEqual([
      [0, 1],
      [0, 2],
      [2, 3],
    ]);
  });
});
