import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { rehearse, settle, split, straight } from '../../../../src/plan/strategies/local-search.ts';
import type { FindWay } from '../../../../src/plan/strategies/search-terms.ts';
import { anyNode, type Terms as PlanTerms, type Proposal } from '../../../../src/plan/strategies/strategy.ts';
import { aNode } from '../../../support/builders.ts';
import { stateOf } from '../../../support/state.ts';
import { loaded } from './loaded.ts';
import { notedTerms, type Terms } from './noted-terms.ts';

/** What is made of the wanted moves `pod>node`, those that go together with a plus between them. */
function rehearsed(
  snapshot: ClusterSnapshot,
  wanted: readonly string[],
  /** `sources`: nodes that pods may leave. */
  { sources, ...said }: Terms & { readonly sources?: readonly number[] } = {},
): readonly string[] {
  const state = stateOf(snapshot);
  const nameOf = (pod: number): string => state.cluster.pods[pod]?.name ?? '';
  const proposals = wanted.map((text): Proposal => {
    const [name, node] = text.split('>n');
    return { pod: state.cluster.pods.findIndex((pod) => pod.name === name), to: Number(node) };
  });
  const terms = notedTerms(state, said);
  const found = rehearse(state, proposals, terms, (_, node) => sources === undefined || sources.includes(node));
  const single = found.flatMap((each) => split(each));
  expect(terms.noted).toEqual(single.map(({ pod }) => pod));
  expect(single.every(({ pod, to }) => state.nodeOf(pod) === to)).toBe(true);
  return found.map((each) =>
    split(each)
      .map(({ pod, to }) => `${nameOf(pod)}>n${to}`)
      .join(' + '),
  );
}

describe('a rehearsal of moves', () => {
  const slots = (snapshot: ClusterSnapshot, name: string, pods: number): ClusterSnapshot => ({
    ...snapshot,
    nodes: snapshot.nodes.map((node) =>
      node.name === name ? aNode(name, { allocatable: { cpu: 10_000, pods } }) : node,
    ),
  });

  it('makes those that help, each once those are made that make it feasible', () => {
    const snapshot = slots(loaded([40, 40], [30, 5], []), 'n1', 2);
    expect(rehearsed(snapshot, ['p0-0>n1', 'p1-0>n2'])).toEqual(['p1-0>n2', 'p0-0>n1']);
    expect(rehearsed(snapshot, ['p0-0>n1'])).toEqual([]);
  });

  it('makes none that gains too little, that budgets refuse, or that leaves a node which pods may not leave', () => {
    const snapshot = loaded([40, 30], [50], [10]);
    const wanted = ['p0-0>n2', 'p1-0>n2'];
    expect(rehearsed(snapshot, wanted)).toEqual(['p0-0>n2']);
    expect(rehearsed(snapshot, wanted, { minGain: 20 })).toEqual(['p0-0>n2']);
    expect(rehearsed(snapshot, wanted, { minGain: 20.1 })).toEqual([]);
    expect(rehearsed(snapshot, wanted, { stay: ['p0-0'] })).toEqual([]);
    expect(rehearsed(snapshot, wanted, { sources: [1, 2] })).toEqual([]);
  });

  it('makes no more than the plan has room for', () => {
    const snapshot = loaded([20, 20, 20], [], []);
    const wanted = ['p0-0>n1', 'p0-1>n2'];
    expect(rehearsed(snapshot, wanted)).toEqual(wanted);
    expect(rehearsed(snapshot, wanted, { maxMoves: 1 })).toEqual(['p0-0>n1']);
    expect(rehearsed(snapshot, wanted, { maxMoves: 0 })).toEqual([]);
  });

  it('makes two together that help only together, if there is room for both in the plan', () => {
    const snapshot = loaded([60, 50], [50, 40], [5]);
    const swap = ['p0-0>n1', 'p1-0>n0'];
    expect(rehearsed(snapshot, swap)).toEqual(['p0-0>n1 + p1-0>n0']);
    expect(rehearsed(snapshot, swap, { maxMoves: 2 })).toEqual(['p0-0>n1 + p1-0>n0']);
    expect(rehearsed(snapshot, swap, { maxMoves: 1 })).toEqual([]);
    expect(rehearsed(snapshot, swap, { stay: ['p1-0'] })).toEqual([]);
    expect(rehearsed(snapshot, swap, { sources: [1] })).toEqual(['p0-0>n1 + p1-0>n0']);
    expect(rehearsed(snapshot, swap, { sources: [2] })).toEqual([]);
    expect(rehearsed(snapshot, swap, { minGain: 5 })).toEqual(['p0-0>n1 + p1-0>n0']);
    expect(rehearsed(snapshot, swap, { minGain: 5.1 })).toEqual([]);
  });
});

describe('moves made straight', () => {
  it('have each pod once, at the place of its last move, and none that came back', () => {
    const state = stateOf(loaded([10, 10], [10], []));
    const home = { pod: 0, to: state.nodeOf(0) };
    const [first, other, last] = [
      { pod: 0, to: 1 },
      { pod: 1, to: 2 },
      { pod: 0, to: 2 },
    ];
    expect(straight(state, [first, other, last])).toEqual([other, last]);
    expect(straight(state, [first, other, home])).toEqual([other]);
    expect(straight(state, [])).toEqual([]);
  });
});

describe('settling', () => {
  type Step = readonly [pod: number, to: number];

  /** Pods 0 to 2 are on n0, 3 and 4 on n1, and 5 on n5. */
  const snapshot = loaded([30, 30, 20], [25, 25], [], [], [], [1]);

  /** What is offered, and the pods that budgets count as thought of whenever there is one more. The searches find these ways. */
  function settled(ways: readonly (readonly Step[])[], isFinal: boolean, refused: readonly number[] = []) {
    const state = stateOf(snapshot);
    const held: number[] = [];
    const counted: (readonly number[])[] = [];
    const terms: PlanTerms = {
      minGain: 0,
      movesLeft: () => Number.POSITIVE_INFINITY,
      mayMove: () => true,
      reserve: (pod) => {
        held.push(pod);
        counted.push([...held]);
      },
      release: (pod) => {
        expect(held).toContain(pod);
        held.splice(held.indexOf(pod), 1);
      },
    };
    const left = [...ways];
    const find: FindWay = (scratch, { note, restart }) => {
      const moves = (left.shift() ?? []).map(([pod, to]) => ({ pod, to }));
      // The first try comes to nothing.
      note(5);
      restart();
      for (const { pod, to } of moves) {
        note(pod);
        scratch.move(pod, to);
      }
      return { moves, isFinal: isFinal || left.length === 0 };
    };
    const offered: Step[] = [];
    const proposals = settle(state, terms, find, anyNode);
    for (let next = proposals.next(); next.done !== true; ) {
      const { pod, to } = next.value;
      expect(held).toEqual([]);
      offered.push([pod, to]);
      const accepted = !refused.includes(pod);
      if (accepted) {
        state.move(pod, to);
      }
      next = proposals.next(accepted ? { accepted } : { accepted, reach: 'Pod' });
    }
    expect(held).toEqual([]);
    return { offered, counted };
  }

  it('offers all that one search after the other finds, and counts what was found before while it looks for more', () => {
    const { offered, counted } = settled([[[0, 2]], [[3, 3]]], false);
    expect(offered).toEqual([
      [0, 2],
      [3, 3],
    ]);
    expect(counted).toEqual([[5], [0], [0], [0, 5], [0, 3], [0], [0, 3]]);
  });

  it('looks for something else where one of several is refused, and for nothing where all are accepted', () => {
    const ways = [[[0, 2] as const, [3, 3] as const], [[1, 4] as const]];
    expect(settled(ways, true).offered).toEqual([
      [0, 2],
      [3, 3],
    ]);
    expect(settled(ways, true, [0]).offered).toEqual([
      [0, 2],
      [3, 3],
      [1, 4],
    ]);
  });
});
