import { describe, expect, it } from 'vitest';
import { promisedPlaces } from '../../../../src/plan/qos/preemption-pass.ts';
import { aNode, aPod, aSnapshot, type PodFields } from '../../../support/builders.ts';
import { clusterOf } from '../../../support/state.ts';

/** What is promised to a pod on the nodes a and b, of which a takes no part. */
function promised(fields: PodFields): readonly (readonly [number, number])[] {
  const nodes = [aNode('a', { ready: false }), aNode('b'), aNode('c')];
  const pods = [aPod('p', { nodeName: 'b' }), aPod('q', { phase: 'Pending', ready: false, ...fields })];
  return promisedPlaces(clusterOf(aSnapshot({ nodes, pods, uses: { p: 100 } })));
}

describe('a place that is promised', () => {
  const waiting = { gated: false, pinnedTo: 'c', unschedulable: false };

  it('is that of a pod whose gate was opened to a node, until it has one', () => {
    expect(promised({ waiting })).toEqual([[1, 1]]);
    expect(promised({ waiting, nodeName: 'c' })).toEqual([]);
    expect(promised({ waiting, nodeName: 'a' })).toEqual([]);
  });

  it('is none of a pod that waits at the gate, or for any node', () => {
    expect(promised({ waiting: { ...waiting, gated: true } })).toEqual([]);
    expect(promised({ waiting: { ...waiting, pinnedTo: undefined } })).toEqual([]);
    expect(promised({ waiting: undefined })).toEqual([]);
  });

  it('is none on a node that takes no part', () => {
    expect(promised({ waiting: { ...waiting, pinnedTo: 'a' } })).toEqual([]);
  });

  it('is none of a pod that is being deleted', () => {
    expect(promised({ waiting, terminating: true })).toEqual([]);
  });
});
