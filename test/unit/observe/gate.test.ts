import { describe, expect, it } from 'vitest';
import { pinned } from '../../../src/adapters/kubernetes/gates.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod, withoutPin } from '../../../src/observe/project/pod.ts';
import { projectWorkload } from '../../../src/observe/project/workload.ts';
import { aRawPod, type Raw } from '../../support/builders/raw.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const OURS = [{ name: 'evenkeel.dev/qos' }];
const pinTo = (...values: readonly string[]) => ({ key: 'metadata.name', operator: 'In', values });
const onSsd = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] };
const notOnA = { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['a'] }] };

function podOf(parts: Parameters<typeof aRawPod>[1]) {
  return projectPod(aRawPod('p', parts), createInterner()).pod;
}

function requiring(...terms: readonly Raw[]): Raw {
  return { affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: terms } } } };
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
    const annotations = { 'evenkeel.dev/pinned-to': 'b' };
    const refused = podOf({ spec: unbound, status: { ...status, conditions }, metadata: { annotations } });
    expect(refused.waiting).toEqual({ gated: false, pinnedTo: 'b', unschedulable: true });
    expect(podOf({ metadata: { annotations } }).waiting).toBeUndefined();
  });

  it('is announced by the template of its controller', () => {
    const gated = (spec: Raw) =>
      projectWorkload({ metadata: { name: 'web' }, spec: { template: { spec } } }, 'ReplicaSet').gated;
    expect(gated({ schedulingGates: OURS })).toBe(true);
    expect(gated({ schedulingGates: [{ name: 'other' }] })).toBe(false);
    expect(gated({})).toBe(false);
  });
});

describe('a pod that was tied to a node', () => {
  it.each<[string, Raw]>([
    ['no affinity', {}],
    ['required terms', requiring(onSsd, notOnA)],
    ['a required node', requiring({ matchFields: [pinTo('b')] })],
    ['preferred terms', { affinity: { nodeAffinity: { preferred: [] }, podAffinity: {} } }],
  ])('is to plans what it was before: %s', (_, spec) => {
    const narrowed = merged(spec, pinned(spec, 'b') ?? {});
    expect(narrowed).not.toEqual(spec);
    expect(constraintsOf(withoutPin(narrowed, 'b'))).toEqual(constraintsOf(spec));
    const annotations = { 'evenkeel.dev/pinned-to': 'b' };
    expect(podOf({ spec: narrowed, metadata: { annotations } }).constraints).toEqual(constraintsOf(spec));
    expect(podOf({ spec: narrowed }).constraints).not.toEqual(constraintsOf(spec));
  });

  it.each<[string, Raw]>([
    ['another node', requiring({ matchFields: [pinTo('c')] })],
    ['two nodes', requiring({ matchFields: [pinTo('b', 'c')] })],
    ['one of two terms only', requiring({ matchFields: [pinTo('b')] }, onSsd)],
    ['nothing', {}],
    ['something malformed', { affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: 'b' } } } }],
  ])('keeps what does not look like our pin: %s', (_, spec) => {
    expect(withoutPin(spec, 'b')).toBe(spec);
  });

  function constraintsOf(spec: JsonObject) {
    return podOf({ spec: { ...spec } }).constraints;
  }
});

describe('pinned', () => {
  it('appends to each term and replaces none (core/validation validateNodeAffinityMutation)', () => {
    expect(pinned(requiring(onSsd, notOnA), 'b')).toEqual(
      requiring({ ...onSsd, matchFields: [pinTo('b')] }, { matchFields: [...notOnA.matchFields, pinTo('b')] })[
        'affinity'
      ],
    );
    expect(pinned({}, 'b')).toEqual(requiring({ matchFields: [pinTo('b')] })['affinity']);
  });

  it('knows that an empty term cannot be narrowed', () => {
    expect(pinned(requiring(onSsd, {}), 'b')).toBeUndefined();
  });
});

/** What a JSON merge patch makes of the affinity of a spec. */
function merged(spec: Raw, affinity: JsonObject): Raw {
  const before = (spec['affinity'] ?? {}) as { nodeAffinity?: Raw };
  const { nodeAffinity } = affinity as { nodeAffinity?: Raw };
  return { ...spec, affinity: { ...before, nodeAffinity: { ...before.nodeAffinity, ...nodeAffinity } } };
}
