import { describe, expect, it } from 'vitest';
import { createLoadOrder } from '../../../../src/plan/strategies/load-order.ts';
import { bestPairFrom, type Pair, pairGain, pairMinimum, payingOrder } from '../../../../src/plan/strategies/pairs.ts';
import { createTargets } from '../../../../src/plan/strategies/targets.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';
import { stateOf } from '../../../support/state.ts';
import { loaded } from './loaded.ts';

const PERCENT = 1e7;

/** The pair that helps a node, its moves as `pod>node`; `stay` names pods that may not be moved. Nodes as in `loaded`. */
function found(nodes: readonly (readonly number[])[], minGain = 0, stay: readonly string[] = [], node = 0) {
  const state = stateOf(loaded(...nodes));
  const nameOf = (pod: number): string => state.cluster.pods[pod]?.name ?? '';
  const before = [...state.placement];
  const pair = bestPairFrom(state, node, createLoadOrder(state, state.cluster.nodes.keys()), createTargets(state), {
    minGain: minGain * PERCENT,
    allows: (pod) => !stay.includes(nameOf(pod)),
    note: () => undefined,
    restart: () => undefined,
    maxMoves: Number.POSITIVE_INFINITY,
  });
  expect([...state.placement]).toEqual(before);
  return pair?.map(({ pod, to }) => `${nameOf(pod)}>n${to}`);
}

describe('what two moves must gain', () => {
  it('is twice what one must, and a point of node capacity at least', () => {
    expect(pairMinimum(3 * PERCENT)).toBe(6 * PERCENT);
    expect(pairMinimum(0.5 * PERCENT)).toBe(PERCENT);
    expect(pairMinimum(0)).toBe(PERCENT);
  });
});

describe('a pair of moves that helps a node', () => {
  it('swaps a pod for a smaller one so that the higher of the two comes out lowest', () => {
    // From 112 and 98: 60 for 50 comes to 108, 52 for 40 or 50 to 110.
    expect(
      found([
        [60, 52],
        [50, 40, 8],
      ]),
    ).toEqual(['p0-0>n1', 'p1-0>n0']);
    expect(
      found([
        [52, 60],
        [8, 40, 50],
      ]),
    ).toEqual(['p0-1>n1', 'p1-2>n0']);
  });

  it('is the best of several, wherever the pods come among the others', () => {
    // 30 for 15 comes to 85; 30 for 20, and 40 for 20, to 90 and more.
    expect(
      found(
        [
          [30, 40, 30],
          [20, 15, 35],
        ],
        0,
        ['p0-2', 'p1-2'],
      ),
    ).toEqual(['p0-0>n1', 'p1-1>n0']);
    expect(
      found(
        [
          [40, 30, 30],
          [15, 20, 35],
        ],
        0,
        ['p0-2', 'p1-2'],
      ),
    ).toEqual(['p0-1>n1', 'p1-0>n0']);
  });

  it('makes room on a node for a pod by moving another on to a third', () => {
    const stay = ['p1-1', 'p2-0'];
    expect(found([[30, 20, 50], [25, 40], [40]], 0, stay)).toEqual(['p1-0>n2', 'p0-0>n1']);
    expect(found([[50, 20, 30], [25, 40], [40]], 0, stay)).toEqual(['p1-0>n2', 'p0-2>n1']);
  });

  it('makes room with the pod that leaves the highest of the three nodes lowest', () => {
    // With 25 moved on, 30 comes to 70; with 10, to 85.
    expect(found([[30, 70], [10, 25, 30], [40]], 0, ['p0-1', 'p1-2', 'p2-0'])).toEqual(['p1-1>n2', 'p0-0>n1']);
    expect(found([[30, 70], [25, 10, 30], [40]], 0, ['p0-1', 'p1-2', 'p2-0'])).toEqual(['p1-0>n2', 'p0-0>n1']);
  });

  it('is the first of those that come to the same', () => {
    const swap = [
      [30, 30, 40],
      [20, 20, 25],
    ];
    expect(found(swap, 0, ['p0-2', 'p1-2'])).toEqual(['p0-0>n1', 'p1-0>n0']);
    const chain = [[30, 30, 40], [25, 25, 15], [40]];
    expect(found(chain, 0, ['p0-2', 'p1-2', 'p2-0'])).toEqual(['p1-0>n2', 'p0-0>n1']);
  });

  it('moves a pod on to any node, the first one among them', () => {
    const nodes = [[40], [30, 70], [25, 40]];
    expect(found(nodes, 0, ['p0-0', 'p1-1', 'p2-1'], 1)).toEqual(['p2-0>n0', 'p1-0>n2']);
  });

  it('gains exactly what it must, or is not made', () => {
    // The swap takes the node from 100 to 90.
    const swap = [
      [40, 60],
      [30, 40],
    ];
    expect(found(swap, 5, ['p0-1', 'p1-1'])).toEqual(['p0-0>n1', 'p1-0>n0']);
    expect(found(swap, 5.1, ['p0-1', 'p1-1'])).toBeUndefined();
    // The chain takes it to 70.
    const chain = [[30, 70], [25, 40], [40]];
    expect(found(chain, 15, ['p0-1', 'p1-1', 'p2-0'])).toEqual(['p1-0>n2', 'p0-0>n1']);
    expect(found(chain, 15.1, ['p0-1', 'p1-1', 'p2-0'])).toBeUndefined();
  });

  it('has a partner that is lighter already than the node has to come out', () => {
    const stay = ['p0-1', 'p1-1', 'p2-0'];
    expect(found([[30, 70], [30, 59], [50]], 5, stay)).toEqual(['p1-0>n2', 'p0-0>n1']);
    expect(found([[30, 70], [30, 60], [50]], 5, stay)).toBeUndefined();
  });

  it('is none where no pod may be moved on one of the two sides', () => {
    const nodes = [
      [60, 50],
      [50, 40],
    ];
    expect(found(nodes, 0, ['p0-0', 'p0-1'])).toBeUndefined();
    expect(found(nodes, 0, ['p1-0', 'p1-1'])).toBeUndefined();
    expect(found([[60, 50], []])).toBeUndefined();
    expect(found([[60, 50]])).toBeUndefined();
  });

  it('is looked for on the sixteen lightest nodes', () => {
    const swap = [
      [40, 60],
      [30, 40],
    ];
    const empty = (count: number) => Array.from({ length: count }, () => []);
    const stay = ['p0-1', 'p1-1'];
    expect(found([...swap, ...empty(15)], 5, stay)).toBeDefined();
    expect(found([...swap, ...empty(16)], 5, stay)).toBeUndefined();
  });
});

/** Three nodes of a core; p and r on a, q on b, s on c: two of them fill a node. Moves as [pod, node]. */
function crowded() {
  const requests = { p: 500, q: 600, r: 300, s: 100 };
  const homes = { p: 'a', q: 'b', r: 'a', s: 'c' };
  const pods = (['p', 'q', 'r', 's'] as const).map((name) =>
    aPod(name, { nodeName: homes[name], constraints: { requests: { cpu: requests[name] } } }),
  );
  const nodes = ['a', 'b', 'c'].map((name) => aNode(name, { allocatable: { cpu: 1000 } }));
  return stateOf(aSnapshot({ nodes, pods, uses: requests }));
}

function aPair(first: readonly [number, number], second: readonly [number, number]): Pair {
  return [
    { pod: first[0], to: first[1] },
    { pod: second[0], to: second[1] },
  ];
}

describe('the order of a pair', () => {
  const [P, Q, R, S] = [0, 1, 2, 3];
  const [A, B, C] = [0, 1, 2];

  it('is the given one where that is feasible, else the other one', () => {
    const [first, second] = [aPair([Q, C], [P, B]), aPair([P, B], [Q, C])];
    expect(payingOrder(crowded(), first, 0)).toEqual(first);
    expect(payingOrder(crowded(), second, 0)).toEqual(first);
    const [either, way] = [aPair([R, C], [S, A]), aPair([S, A], [R, C])];
    expect(payingOrder(crowded(), either, 0)).toEqual(either);
    expect(payingOrder(crowded(), way, 0)).toEqual(way);
  });

  it('gains by how much the highest of the nodes falls', () => {
    // From 80, 60 and 10 %.
    expect(pairGain(crowded(), aPair([Q, C], [P, B]))).toBe(10 * PERCENT);
    expect(pairGain(crowded(), aPair([R, C], [S, A]))).toBe(20 * PERCENT);
    expect(pairGain(crowded(), aPair([R, C], [S, B]))).toBe(10 * PERCENT);
    expect(pairGain(crowded(), aPair([S, A], [R, C]))).toBe(20 * PERCENT);
    expect(pairGain(crowded(), aPair([R, B], [S, A]))).toBe(-10 * PERCENT);
  });

  it('is none that gains too little', () => {
    const pair = aPair([R, C], [S, A]);
    expect(payingOrder(crowded(), pair, 10 * PERCENT)).toEqual(pair);
    expect(payingOrder(crowded(), pair, 10.1 * PERCENT)).toBeUndefined();
  });

  it.each([
    ['the second has no room', aPair([R, B], [P, B])],
    ['the first has no room before the second', aPair([P, B], [Q, C])],
    ['both move the same pod', aPair([R, C], [R, B])],
    ['the first goes where it is', aPair([R, A], [S, A])],
    ['the second goes where it is', aPair([R, C], [S, C])],
  ])('is not one in which %s', (_, pair) => {
    const state = crowded();
    const before = [...state.placement];
    expect(pairGain(state, pair)).toBe(Number.NEGATIVE_INFINITY);
    expect([...state.placement]).toEqual(before);
  });
});
