import { describe, expect, it } from 'vitest';
import { greedyAssignment } from '../../../../src/plan/strategies/greedy-lb.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';
import { stateOf } from '../../../support/state.ts';
import { loaded } from './loaded.ts';

describe('the greedy assignment', () => {
  it('puts the largest pod first on the node that ends up with the least load, wherever it is', () => {
    expect([...greedyAssignment(stateOf(loaded([10, 20], [40, 30])), undefined)]).toEqual([0, 1, 0, 1]);
  });

  it('does not depend on where the pods are', () => {
    const [one, other] = [stateOf(loaded([10, 20], [40, 30])), stateOf(loaded([10, 20], [40, 30]))];
    other.move(0, 1);
    other.move(2, 0);
    expect(greedyAssignment(one, undefined)).toEqual(greedyAssignment(other, undefined));
  });

  it('leaves a pod at home when that is at most the tolerance worse', () => {
    // 31 goes to n0 and 30 to n1; then 5 would be 2 better off on n1 than at home.
    const state = stateOf(loaded([32, 5], [30]));
    expect([...greedyAssignment(state, 1e7)]).toEqual([0, 1, 1]);
    expect([...greedyAssignment(state, 2e7)]).toEqual([0, 0, 1]);
  });

  it('measures a node by its own capacity', () => {
    const nodes = [aNode('small', { allocatable: { cpu: 1000 } }), aNode('large', { allocatable: { cpu: 9000 } })];
    const pods = ['p', 'q', 'r'].map((name) => aPod(name, { nodeName: 'small' }));
    const state = stateOf(aSnapshot({ nodes, pods, uses: { p: 300, q: 300, r: 300 } }));
    expect([...greedyAssignment(state, undefined)]).toEqual([0, 0, 0]);
  });

  it('leaves a pod at home that fits nowhere', () => {
    const nodes = [aNode('a', { allocatable: { cpu: 1000 } }), aNode('b', { allocatable: { cpu: 1000 } })];
    const pods = [aPod('big', { nodeName: 'a', constraints: { requests: { cpu: 2000 } } })];
    expect([...greedyAssignment(stateOf(aSnapshot({ nodes, pods, uses: { big: 900 } })), undefined)]).toEqual([0]);
  });
});
