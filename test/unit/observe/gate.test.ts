import { describe, expect, it } from 'vitest';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import { projectWorkload } from '../../../src/observe/project/workload.ts';
import { aRawPod, type Raw } from '../../support/builders/raw.ts';

const OURS = [{ name: 'evenkeel.dev/qos' }];

function podOf(parts: Parameters<typeof aRawPod>[1]) {
  return projectPod(aRawPod('p', parts), createInterner()).pod;
}

describe('a pod at our gate', () => {
  const unbound = { nodeName: undefined };
  const status = { phase: 'Pending', conditions: [] };

  it('is seen to wait there, and asks for nothing that no filter evaluates', () => {
    const pod = podOf({ spec: { ...unbound, schedulingGates: OURS }, status });
    expect(pod.waiting).toEqual({ gated: true, pinnedTo: undefined, unschedulable: false });
    expect(pod.constraints.unsupported).toEqual([]);
  });

  it('may wait at gates of others as well, which stay unsupported', () => {
    const pod = podOf({ spec: { ...unbound, schedulingGates: [{ name: 'other' }, ...OURS] }, status });
    expect(pod.waiting?.gated).toBe(true);
    expect(pod.constraints.unsupported.map(({ filter }) => filter)).toEqual(['SchedulingGates']);
  });

  it('is told apart from one that the scheduler found no node for, and from one that is bound', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
    const annotations = { 'evenkeel.dev/steered-to': 'b' };
    const pinTo = { key: 'metadata.name', operator: 'In', values: ['b'] };
    const required = {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [pinTo] }] },
    };
    const spec = { ...unbound, affinity: { nodeAffinity: required } };
    const refused = podOf({ spec, status: { ...status, conditions }, metadata: { annotations } });
    expect(refused.waiting).toEqual({ gated: false, pinnedTo: 'b', unschedulable: true });
    expect(podOf({ metadata: { annotations } }).waiting).toBeUndefined();
  });

  it('is not refused by the scheduler where another condition holds it up', () => {
    const waiting = (condition: Raw) =>
      podOf({ spec: unbound, status: { ...status, conditions: [{ type: 'PodScheduled', ...condition }] } }).waiting;
    expect(waiting({ status: 'False', reason: 'Unschedulable' })?.unschedulable).toBe(true);
    expect(waiting({ status: 'False', reason: 'SchedulingGated' })?.unschedulable).toBe(false);
    expect(waiting({ status: 'True', reason: 'Unschedulable' })?.unschedulable).toBe(false);
    expect(waiting({ status: 'False' })).toEqual({ gated: false, pinnedTo: undefined, unschedulable: false });
  });

  it('that was steered has the affinity of its template, and is kept only where it was pinned', () => {
    const preferred = { weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } };
    const pinTo = (node: string) => ({
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [preferred],
    });
    const steered = (node: string, annotations: Raw) =>
      podOf({ spec: { ...unbound, affinity: { nodeAffinity: pinTo(node) } }, status, metadata: { annotations } });
    const annotations = { 'evenkeel.dev/steered-to': 'b' };
    const kept = steered('b', annotations);
    expect([kept.waiting?.pinnedTo, kept.placement?.target]).toEqual(['b', 'b']);
    expect(kept.constraints.nodeAffinity).toBeUndefined();
    expect(kept.constraints.preferredNodeAffinity).toHaveLength(1);
    const elsewhere = steered('c', annotations);
    expect([elsewhere.waiting?.pinnedTo, elsewhere.placement?.target]).toEqual([undefined, 'b']);
    expect(elsewhere.constraints.nodeAffinity).toHaveLength(1);
    const own = steered('b', {});
    expect([own.waiting?.pinnedTo, own.placement]).toEqual([undefined, undefined]);
    expect(own.constraints.nodeAffinity).toHaveLength(1);
  });

  it('is announced by the template of its controller', () => {
    const gated = (spec: Raw) =>
      projectWorkload({ metadata: { name: 'web' }, spec: { template: { spec } } }, 'ReplicaSet').gated;
    expect(gated({ schedulingGates: OURS })).toBe(true);
    expect(gated({ schedulingGates: [{ name: 'other' }] })).toBe(false);
    expect(gated({})).toBe(false);
  });
});
