import { describe, expect, it } from 'vitest';
import type { State } from '../../../../src/plan/state.ts';
import { keepLoadInPlace } from '../../../../src/plan/strategies/minimize-moves.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';
import { stateOf } from '../../../support/state.ts';
import { loaded } from './loaded.ts';

const TOLERANCE = 2e7;

function kept(state: State, target: readonly number[], nearlyEqual = 0): readonly number[] {
  return [...keepLoadInPlace(state, Int32Array.from(target), TOLERANCE, nearlyEqual)];
}

describe('keeping load in place', () => {
  it('gives nodes the roles with which they share most load', () => {
    // The assignment has the same sets of pods, but on each other's nodes.
    expect(kept(stateOf(loaded([30, 10], [20, 20])), [1, 1, 0, 0])).toEqual([0, 0, 1, 1]);
    // n0 keeps the role with its 30, although the role with its 10 has the same name.
    expect(kept(stateOf(loaded([30, 10], [20, 20])), [1, 0, 1, 0])).toEqual([0, 1, 0, 1]);
  });

  it('does not swap the roles of nodes of different size', () => {
    const pods = [aPod('p', { nodeName: 'a' }), aPod('q', { nodeName: 'b' })];
    const nodes = [aNode('a'), aNode('b', { allocatable: { cpu: 8000 } })];
    expect(kept(stateOf(aSnapshot({ nodes, pods, uses: { p: 400, q: 500 } })), [1, 0])).toEqual([1, 0]);
  });

  it('does not swap the roles of nodes on which different pods may run', () => {
    const constraints = { nodeSelector: new Map([['zone', 'x']]) };
    const pods = [aPod('p', { nodeName: 'a', constraints }), aPod('q', { nodeName: 'b' })];
    const nodes = [aNode('a', { labels: { zone: 'x' } }), aNode('b')];
    expect(kept(stateOf(aSnapshot({ nodes, pods, uses: { p: 400, q: 500 } })), [1, 0])).toEqual([1, 0]);
  });

  it('does not swap the roles of nodes whose fixed loads differ', () => {
    const pods = [aPod('p', { nodeName: 'a' }), aPod('q', { nodeName: 'b' })];
    const snapshot = aSnapshot({
      nodes: [aNode('a'), aNode('b')],
      pods,
      uses: { p: 400, q: 500 },
      daemons: { a: 2000, b: 0 },
    });
    expect(kept(stateOf(snapshot), [1, 0])).toEqual([1, 0]);
  });

  it('leaves out swaps of pods that are nearly equal, and only those', () => {
    const state = stateOf(loaded([300, 20, 7], [300, 21, 12]));
    const swapped = [0, 1, 1, 1, 0, 0];
    expect(kept(state, swapped, 1e7)).toEqual([0, 0, 1, 1, 1, 0]);
    expect(kept(state, swapped, 0)).toEqual(swapped);
  });

  it.each<[string, NonNullable<Parameters<typeof aNode>[1]>['allocatable']]>([
    ['memory', { memory: 2 ** 30 }],
    ['storage', { ephemeralStorage: 2 ** 30 }],
    ['pod slots', { pods: 50 }],
    ['an extended resource', { extended: { gpu: 1 } }],
  ])('does not swap the roles of nodes with different %s', (_, allocatable) => {
    const pods = [aPod('p', { nodeName: 'a' }), aPod('q', { nodeName: 'b' })];
    const swapped = (offered: typeof allocatable) => {
      const nodes = [aNode('a'), aNode('b', { allocatable: offered ?? {} })];
      return kept(stateOf(aSnapshot({ nodes, pods, uses: { p: 400, q: 500 } })), [1, 0]);
    };
    expect(swapped(allocatable)).toEqual([1, 0]);
    expect(swapped({})).toEqual([0, 1]);
  });

  it('swaps roles whatever the order in which nodes name what they offer', () => {
    const pods = [aPod('p', { nodeName: 'a' }), aPod('q', { nodeName: 'b' })];
    const nodes = [
      aNode('a', { allocatable: { extended: { gpu: 1, fpga: 2 } } }),
      aNode('b', { allocatable: { extended: { fpga: 2, gpu: 1 } } }),
    ];
    expect(kept(stateOf(aSnapshot({ nodes, pods, uses: { p: 400, q: 500 } })), [1, 0])).toEqual([0, 1]);
  });

  it('swaps the roles of nodes whose fixed loads differ by less than the tolerance', () => {
    const pods = [aPod('p', { nodeName: 'a' }), aPod('q', { nodeName: 'b' })];
    const nodes = [aNode('a'), aNode('b')];
    const uses = { p: 400, q: 500 };
    const of = (a: number, b: number) => kept(stateOf(aSnapshot({ nodes, pods, uses, daemons: { a, b } })), [1, 0]);
    expect(of(200, 220)).toEqual([0, 1]);
    expect(of(100, 900)).toEqual([1, 0]);
  });

  it('gives a node without a shared load what is left, so that every role has a node of its own', () => {
    // All of n0 goes to n2 and all of n1 to n0: the roles are the same as before, on other nodes.
    expect(kept(stateOf(loaded([30], [20], [])), [2, 0])).toEqual([0, 1]);
    // n0 and n1 come together on n2, which is n0 by what it keeps there.
    expect(kept(stateOf(loaded([30], [20], [])), [2, 2])).toEqual([0, 0]);
  });

  it('leaves out swaps of as many pods as have a partner of nearly their size on the other node', () => {
    const state = stateOf(loaded([200, 50, 40], [200, 51, 41, 30]));
    const swapped = [0, 1, 1, 1, 0, 0, 0];
    expect(kept(state, swapped, 1e7)).toEqual([0, 0, 0, 1, 1, 1, 0]);
  });

  it('leaves pods alone that go from one node to another without any that come back', () => {
    const state = stateOf(loaded([200, 50], [200, 50], [200, 50]));
    expect(kept(state, [0, 1, 1, 2, 2, 0], 1e7)).toEqual([0, 1, 1, 2, 2, 0]);
  });
});
