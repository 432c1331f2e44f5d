import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { lower, raise } from '../../../../src/plan/strategies/level.ts';
import type { Proposal } from '../../../../src/plan/strategies/strategy.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';
import { stateOf } from '../../../support/state.ts';
import { loaded } from './loaded.ts';
import { notedTerms, PERCENT, type Terms } from './noted-terms.ts';

/** The moves as `pod>node` that take the nodes of a snapshot down, or up, to a load in percent. */
function moved(level: typeof lower, snapshot: ClusterSnapshot, percent: number, said: Terms = {}): readonly string[] {
  const state = stateOf(snapshot);
  const nameOf = (pod: number): string => state.cluster.pods[pod]?.name ?? '';
  const moves: Proposal[] = [];
  const terms = notedTerms(state, said);
  level(state, percent * PERCENT, terms, moves);
  expect(terms.noted).toEqual(moves.map(({ pod }) => pod));
  const ends = new Map(moves.map(({ pod, to }) => [pod, to]));
  expect([...ends].every(([pod, to]) => state.nodeOf(pod) === to)).toBe(true);
  return moves.map(({ pod, to }) => `${nameOf(pod)}>n${to}`);
}

describe('filling low nodes', () => {
  it('takes from the highest node the pod that evens it out best', () => {
    expect(moved(raise, loaded([20, 27, 13], [30, 20], [5]), 40)).toEqual(['p0-1>n2']);
    expect(moved(raise, loaded([30, 20], [20, 27, 13], [5]), 40)).toEqual(['p1-1>n2']);
  });

  it('goes on until the node is as full as that, and no longer', () => {
    const snapshot = loaded([10, 10, 10, 10, 10, 10, 10, 10], [0]);
    expect(moved(raise, snapshot, 20)).toHaveLength(2);
    expect(moved(raise, snapshot, 20.1)).toHaveLength(3);
    expect(moved(raise, snapshot, 0)).toEqual([]);
  });

  it('begins with the lowest, and makes no more moves than are of use', () => {
    const snapshot = loaded([10, 10, 10, 10, 10, 10], [15], [5]);
    expect(moved(raise, snapshot, 18)).toEqual(['p0-0>n2', 'p0-1>n2', 'p0-2>n1']);
    expect(moved(raise, snapshot, 18, { maxMoves: 2 })).toEqual(['p0-0>n2', 'p0-1>n2']);
    expect(moved(raise, snapshot, 18, { maxMoves: 0 })).toEqual([]);
  });

  it('asks for each pod the node that is the highest by then', () => {
    expect(moved(raise, loaded([10, 10, 10, 10], [10, 10, 10, 5], []), 20)).toEqual(['p0-0>n2', 'p1-0>n2']);
  });

  it('asks the next node where the highest has no pod to give', () => {
    const snapshot = loaded([60, 30], [30, 30], []);
    expect(moved(raise, snapshot, 20, { stay: ['p0-0'] })).toEqual(['p0-1>n2']);
    expect(moved(raise, snapshot, 20, { stay: ['p0-0', 'p0-1'] })).toEqual(['p1-0>n2']);
    expect(moved(raise, snapshot, 20, { stay: ['p0-0', 'p0-1', 'p1-0', 'p1-1'] })).toEqual([]);
  });

  it('asks the four highest nodes, and no others', () => {
    const snapshot = loaded([90], [80], [70], [30, 20, 10], [20, 20], []);
    expect(moved(raise, snapshot, 10)).toEqual(['p3-0>n5']);
    expect(moved(raise, snapshot, 10, { stay: ['p3-0', 'p3-1', 'p3-2'] })).toEqual([]);
    expect(
      moved(raise, loaded([80], [70], [30, 20, 10], [20, 20], []), 10, { stay: ['p2-0', 'p2-1', 'p2-2'] }),
    ).toEqual(['p3-0>n4']);
  });

  it('gains at least what a move must gain', () => {
    // 20 takes the higher of the two from 50 to 30.
    const snapshot = loaded([30, 20], [10]);
    expect(moved(raise, snapshot, 20, { minGain: 20 })).toEqual(['p0-1>n1']);
    expect(moved(raise, snapshot, 20, { minGain: 20.1 })).toEqual([]);
  });

  it('passes over a pod that does not fit', () => {
    const sizes = { p: 30, q: 20 };
    const pods = (['p', 'q'] as const).map((name) =>
      aPod(name, { nodeName: 'n0', constraints: { requests: { cpu: 100 * sizes[name] } } }),
    );
    const nodes = [10_000, 2_500].map((cpu, place) => aNode(`n${place}`, { allocatable: { cpu } }));
    const uses = { p: 4000, q: 200 };
    expect(moved(raise, aSnapshot({ nodes, pods, uses }), 10)).toEqual(['q>n1']);
  });
});

describe('relieving high nodes', () => {
  it('moves the pod that lowers the deviations most to a node that stays within the limit', () => {
    expect(moved(lower, loaded([30, 25, 20], [45], [15]), 50)).toEqual(['p0-0>n2']);
    expect(moved(lower, loaded([20, 25, 30], [45], [15]), 50)).toEqual(['p0-2>n2']);
  });

  it('leaves nodes alone that are at the limit', () => {
    expect(moved(lower, loaded([30, 20], [10]), 50)).toEqual([]);
    expect(moved(lower, loaded([30, 20], [10]), 49.9)).toEqual(['p0-1>n1']);
  });

  it('begins with the highest, and makes no more moves than are of use', () => {
    const snapshot = loaded([10, 10, 10, 10], [20, 20, 20], []);
    expect(moved(lower, snapshot, 30)).toEqual(['p1-0>n2', 'p0-0>n2']);
    expect(moved(lower, snapshot, 30, { maxMoves: 1 })).toEqual(['p1-0>n2']);
    expect(moved(lower, snapshot, 30, { maxMoves: 0 })).toEqual([]);
  });

  it('gains at least what a move must gain', () => {
    const snapshot = loaded([30, 20], [10]);
    expect(moved(lower, snapshot, 40, { minGain: 20 })).toEqual(['p0-1>n1']);
    expect(moved(lower, snapshot, 40, { minGain: 20.1 })).toEqual([]);
  });

  it('moves no pod that is smaller than what a move must gain', () => {
    const snapshot = loaded([5, 4.9, 41], [10]);
    expect(moved(lower, snapshot, 40, { minGain: 5, stay: ['p0-2'] })).toEqual(['p0-0>n1']);
    expect(moved(lower, snapshot, 40, { minGain: 5, stay: ['p0-0', 'p0-2'] })).toEqual([]);
  });

  it('keeps to the best pod when another one only seems better, for the lightest node has no room', () => {
    const snapshot = loaded([30, 20, 10], [], [5]);
    const full = aNode('n1', { allocatable: { cpu: 10_000, pods: 0 } });
    const nodes = snapshot.nodes.map((node) => (node.name === 'n1' ? full : node));
    expect(moved(lower, { ...snapshot, nodes }, 50)).toEqual(['p0-0>n2']);
  });

  it('relieves a node that the first move has made high in its turn', () => {
    const snapshot = loaded([40, 50], [30, 15], [10, 25]);
    expect(moved(lower, snapshot, 60, { maxMoves: 1 })).toEqual(['p0-0>n2']);
    expect(moved(lower, snapshot, 60)).toEqual(['p0-0>n2', 'p2-0>n1']);
  });

  it('swaps where no single move helps, and not with pods that may not be moved', () => {
    const snapshot = loaded([60, 50], [50, 40]);
    expect(moved(lower, snapshot, 101)).toEqual(['p0-0>n1', 'p1-0>n0']);
    expect(moved(lower, snapshot, 101, { stay: ['p0-0', 'p1-0'] })).toEqual(['p0-1>n1', 'p1-1>n0']);
    expect(moved(lower, snapshot, 101, { stay: ['p0-0', 'p0-1'] })).toEqual([]);
  });
});
