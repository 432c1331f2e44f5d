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
});
