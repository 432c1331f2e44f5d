import { describe, expect, it } from 'vitest';
import { type AcceptedMove, carryOut } from '../../../src/plan/judge.ts';
import { plan } from '../../../src/plan/planner.ts';
import { sequence, withNeeds } from '../../../src/plan/sequence.ts';
import type { State } from '../../../src/plan/state.ts';
import type { MayLeave } from '../../../src/plan/strategies/strategy.ts';
import { greedyLb, refineLb, someOptions } from '../../support/builders/options.ts';
import { anAffinityTerm } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';
import { stateOf } from '../../support/state.ts';
import { loaded } from './strategies/loaded.ts';
import { PERCENT } from './strategies/noted-terms.ts';

const EAGER = { trigger: 0, minGain: 0, minImprovement: 0, minReduction: 0 };

describe('the sequence of a plan', () => {
  it('relieves the worst node first', () => {
    const { moves } = plan(
      loaded([30, 30, 10], [40, 40, 20], [], [5]),
      someOptions({ strategy: refineLb({ overload: 1 }), thresholds: EAGER }),
    );
    expect(moves[0]?.from).toBe('n1');
    expect(moves.length).toBeGreaterThan(1);
  });

  it('names the move that makes room for another', () => {
    // The large pod of a can only go to b, which is full by requests until a pod has left it for c.
    const nodes = [
      aNode('a', { labels: { tier: 'x' }, allocatable: { cpu: 4000 } }),
      aNode('b', { labels: { tier: 'x' }, allocatable: { cpu: 4000 } }),
      aNode('c', { allocatable: { cpu: 4000 } }),
    ];
    const pods = [
      aPod('fixed', { nodeName: 'a', owner: undefined }),
      aPod('large', {
        nodeName: 'a',
        constraints: { requests: { cpu: 3000 }, nodeSelector: new Map([['tier', 'x']]) },
      }),
      aPod('small', { nodeName: 'b', constraints: { requests: { cpu: 3000 } } }),
    ];
    const uses = { fixed: 2000, large: 1800, small: 400 };
    const { moves } = plan(
      aSnapshot({ nodes, pods, uses }),
      someOptions({ strategy: refineLb({ overload: 1 }), thresholds: EAGER }),
    );
    expect(moves.map(({ pod, to }) => [pod.name, to])).toEqual([
      ['small', 'c'],
      ['large', 'b'],
    ]);
    expect(moves.map(({ after }) => after)).toEqual([[], [0]]);
    expect(moves.map(({ partner }) => partner)).toEqual([1, 0]);
    expect(moves[1]?.reason).toContain('worth it only with shop/small');
  });

  it('names the move that makes another worth it', () => {
    // n0 is as high as n1 until it has given a pod to n2: a pod that came before would only make it higher.
    const { moves } = plan(
      loaded([40, 30], [55, 13], [28]),
      someOptions({ strategy: refineLb({ refinements: 'None' }), thresholds: EAGER }),
    );
    expect(moves.map(({ pod, from, to, after }) => [pod.name, from, to, after])).toEqual([
      ['p0-1', 'n0', 'n2', []],
      ['p1-1', 'n1', 'n0', [0]],
    ]);
  });

  it('names nothing where a move is worth it whatever becomes of the others', () => {
    const { moves } = plan(
      loaded([30, 20, 20], [30, 20, 10], [5], [5]),
      someOptions({ strategy: refineLb({ overload: 1 }), thresholds: EAGER }),
    );
    expect(moves.length).toBeGreaterThan(1);
    expect(moves.flatMap(({ after }) => after)).toEqual([]);
  });

  it('keeps pods apart that refuse each other, move by move', () => {
    const nodes = ['a', 'b', 'c'].map((name) => aNode(name));
    const lonely = { podAntiAffinity: [anAffinityTerm({ app: 'db' }, { topologyKey: 'kubernetes.io/hostname' })] };
    const pods = [
      aPod('db-1', { nodeName: 'a', labels: { app: 'db' }, constraints: lonely }),
      aPod('db-2', { nodeName: 'b', labels: { app: 'db' }, constraints: lonely }),
      aPod('web-1', { nodeName: 'a' }),
      aPod('web-2', { nodeName: 'a' }),
    ];
    const uses = { 'db-1': 1600, 'db-2': 200, 'web-1': 900, 'web-2': 100 };
    const { moves } = plan(
      aSnapshot({ nodes, pods, uses }),
      someOptions({ strategy: greedyLb({ tolerance: 0 }), thresholds: EAGER }),
    );
    expect(moves.length).toBeGreaterThan(0);
    expect(moves.filter(({ pod, to }) => pod.name === 'db-1' && to === 'b')).toEqual([]);
  });
});

type Step = readonly [pod: number, to: number];

/** Moves that were accepted in this order, one by one or two that go together. */
function acceptedOn(start: State, ...units: readonly (readonly Step[])[]): readonly AcceptedMove[] {
  const state = start.fork();
  return units.flatMap((unit) =>
    unit.map(([pod, to], place) => ({
      ...carryOut(state, { pod, to }, state.gain(pod, to)),
      partner: unit.length === 2 ? unit[1 - place]?.[0] : undefined,
    })),
  );
}

const route = (moves: readonly AcceptedMove[]): readonly Step[] => moves.map(({ pod, to }) => [pod, to]);
const anywhere = (): boolean => true;

describe('moves in the order in which they help most', () => {
  /** The same moves, in their order. */
  const ordered = (state: State, units: readonly (readonly Step[])[], minGain = 0, mayLeave: MayLeave = anywhere) =>
    route(sequence(state, acceptedOn(state, ...units), minGain * PERCENT, mayLeave));

  it('leave the node that is the highest by then, those of one node as they were accepted', () => {
    const falling = stateOf(loaded([20, 20, 20], [25, 25], [], [], []));
    expect(ordered(falling, [[[0, 2]], [[1, 3]], [[3, 4]]])).toEqual([
      [0, 2],
      [3, 4],
      [1, 3],
    ]);
    const rising = stateOf(loaded([30, 30], [10, 10], [15, 10], [], []));
    expect(ordered(rising, [[[0, 1]], [[4, 4]], [[2, 3]]])).toEqual([
      [0, 1],
      [2, 3],
      [4, 4],
    ]);
  });

  it('leave the next node in height where it is too early for the highest', () => {
    const state = stateOf(loaded([30, 30], [15, 15], [20, 20], [], []));
    expect(ordered(state, [[[4, 4]], [[0, 2]], [[2, 3]]])).toEqual([
      [4, 4],
      [0, 2],
      [2, 3],
    ]);
    expect(ordered(state, [[[2, 3]], [[4, 4]], [[0, 2]]])).toEqual([
      [4, 4],
      [0, 2],
      [2, 3],
    ]);
  });

  it('stay as they were accepted where one gains too little, or leaves a node that it may not leave', () => {
    const state = stateOf(loaded([30, 30], [20, 20], [], []));
    const units = [[[2, 2] as const], [[0, 3] as const]];
    const [asAccepted, highestFirst] = [units.flat(), units.flat().toReversed()];
    expect(ordered(state, units, 20)).toEqual(highestFirst);
    expect(ordered(state, units, 20.1)).toEqual(asAccepted);
    expect(ordered(state, units, 0, (_, node) => node !== 1)).toEqual(asAccepted);
  });

  it('stay together two by two, and share what they gain', () => {
    const state = stateOf(loaded([60, 50], [50, 40], [20, 20], []));
    const pair = [[0, 1] as const, [2, 0] as const];
    const single = [[4, 3] as const];
    const both = [...pair, ...single];
    expect(ordered(state, [pair, single])).toEqual(both);
    expect(ordered(state, [single, pair])).toEqual(both);
    expect(ordered(state, [single, pair], 5)).toEqual(both);
    expect(ordered(state, [single, pair], 5.1)).toEqual([...single, ...pair]);
    const found = sequence(state, acceptedOn(state, single, pair), 0, anywhere);
    expect(found.map(({ gain, partner }) => [gain / PERCENT, partner])).toEqual([
      [5, 2],
      [5, 0],
      [20, undefined],
    ]);
    const others = stateOf(loaded([60, 50], [50, 40], [70, 60], [60, 50]));
    const second = [[4, 3] as const, [6, 2] as const];
    expect(ordered(others, [pair, second])).toEqual([...second, ...pair]);
  });
});

describe('the moves that a move needs first', () => {
  const needsOf = (state: State, units: readonly (readonly Step[])[], minGain?: number) =>
    withNeeds(
      state,
      acceptedOn(state, ...units),
      minGain === undefined ? undefined : { minGain: minGain * PERCENT, mayLeave: anywhere },
    ).map(({ needs }) => needs);

  it('are all that must leave its target, and no others', () => {
    const requests = { a0: 3000, b0: 2000, b1: 2000, c0: 100 };
    const pods = Object.entries(requests).map(([name, cpu]) =>
      aPod(name, { nodeName: name.slice(0, 1), constraints: { requests: { cpu } } }),
    );
    const nodes = ['a', 'b', 'c', 'd'].map((name) => aNode(name, { allocatable: { cpu: 4000 } }));
    const state = stateOf(aSnapshot({ nodes, pods, uses: { a0: 100, b0: 100, b1: 100, c0: 100 } }));
    expect(needsOf(state, [[[1, 2]], [[3, 3]], [[2, 3]], [[0, 1]]])).toEqual([[], [], [], [0, 2]]);
    expect(needsOf(state, [[[3, 3]], [[1, 2]], [[2, 3]], [[0, 1]]])).toEqual([[], [], [], [1, 2]]);
    expect(needsOf(state, [[[1, 2]], [[3, 3]], [[2, 3]]])).toEqual([[], [], []]);
  });

  it('are all that must come to its node where only they make it worth it', () => {
    const state = stateOf(loaded([10, 10, 40], [10, 10], [20], [30], []));
    const steps = [[[0, 1]], [[6, 4]], [[1, 1]], [[3, 2]]] as const;
    expect(needsOf(state, steps, 5)).toEqual([[], [], [], [0, 2]]);
    expect(needsOf(state, steps)).toEqual([[], [], [], []]);
  });

  it('are those of either of two that go together', () => {
    const sizes = { a0: 3000, a1: 2000, a2: 2000, a3: 3000, b0: 6000 };
    const pods = Object.entries(sizes).map(([name, cpu]) =>
      aPod(name, { nodeName: name.slice(0, 1), constraints: { requests: { cpu } } }),
    );
    const nodes = ['a', 'b', 'c'].map((name) => aNode(name, { allocatable: { cpu: 10_000 } }));
    const uses = { a0: 5000, a1: 500, a2: 500, a3: 2000, b0: 3000 };
    const state = stateOf(aSnapshot({ nodes, pods, uses }));
    const pair = [[0, 1] as const, [4, 0] as const];
    expect(needsOf(state, [[[1, 2]], [[2, 2]], pair], 1).slice(0, 3)).toEqual([[], [], [0, 1]]);
  });
});
