import { describe, expect, it } from 'vitest';
import type { Placement } from '../../../src/model/placement.ts';
import { controllerOf, gatePatch, placementOf, placementPatch } from '../../../src/steer/pod-patch.ts';

const controller = { kind: 'ReplicaSet', uid: 'owner', controller: true };
const pod = (spec: object = {}, metadata: object = {}) => ({
  metadata: { ownerReferences: [{ kind: 'Other', uid: 'other' }, controller], ...metadata },
  spec,
});
const prefers = (name: string, weight: number) => ({
  weight,
  preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] },
});
const preferred = (...terms: readonly object[]) => ({
  nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: terms },
});
const TO_A: Placement = { target: 'a', fallbacks: [], alternatives: undefined };
const NARROWED: Placement = { target: 'a', fallbacks: [], alternatives: ['host-a'] };

describe('placementOf', () => {
  it('reads what a hint leaves out', () => {
    const hint = { ownerUID: 'owner', nodeName: 'a', plan: 'plan', podUID: 'pod' };
    expect(placementOf(hint)).toEqual(TO_A);
  });
});

describe('controllerOf', () => {
  it('is the owner that controls the pod', () => {
    expect(controllerOf(pod())).toBe('owner');
    expect(controllerOf({ metadata: { ownerReferences: [{ uid: 'other' }] } })).toBeUndefined();
    expect(controllerOf({})).toBeUndefined();
  });
});

describe('placementPatch', () => {
  it('changes nothing without a placement', () => {
    expect(placementPatch(pod(), [])).toEqual([]);
  });

  it('replaces the affinity as a whole', () => {
    const own = prefers('own', 1);
    expect(placementPatch(pod({ affinity: preferred(own) }), [TO_A])).toEqual([
      { op: 'add', path: '/spec/affinity', value: preferred(own, prefers('a', 100)) },
      { op: 'add', path: '/metadata/annotations', value: { 'evenkeel.dev/steered-to': 'a' } },
    ]);
  });

  it.each([
    [{}, { path: '/metadata/annotations', value: { 'evenkeel.dev/steered-to': 'a' } }],
    [{ annotations: { x: 'y' } }, { path: '/metadata/annotations/evenkeel.dev~1steered-to', value: 'a' }],
  ])('names the planned node in an annotation: %o', (metadata, annotation) => {
    expect(placementPatch(pod({}, metadata), [NARROWED])[1]).toEqual({ op: 'add', ...annotation });
  });

  it('leaves a pod alone that the admission policy has steered to the same node', () => {
    expect(placementPatch(pod({ affinity: preferred(prefers('a', 100)) }), [NARROWED])).toEqual([]);
    expect(placementPatch(pod({ affinity: preferred(prefers('a', 99)) }), [TO_A])).toHaveLength(2);
    expect(placementPatch(pod({ affinity: preferred(prefers('b', 100)) }), [TO_A])).toHaveLength(2);
  });

  it('follows each hint of the controller', () => {
    const [patch, annotation] = placementPatch(pod(), [TO_A, { ...TO_A, target: 'b' }]);
    expect(patch?.value).toEqual(preferred(prefers('a', 100), prefers('b', 100)));
    expect(annotation?.value).toEqual({ 'evenkeel.dev/steered-to': 'b' });
  });
});

describe('gatePatch', () => {
  it('appends our gate to those of the pod', () => {
    const other = { name: 'example.com/other' };
    const added = (...before: readonly object[]) => [
      { op: 'add', path: '/spec/schedulingGates', value: [...before, { name: 'evenkeel.dev/qos' }] },
    ];
    expect(gatePatch(pod())).toEqual(added());
    expect(gatePatch(pod({ nodeName: '', schedulingGates: [other] }))).toEqual(added(other));
  });

  it.each([
    ['has the gate', pod({ schedulingGates: [{ name: 'evenkeel.dev/qos' }] })],
    ['has a node', pod({ nodeName: 'a' })],
    ['has no controller', pod({}, { ownerReferences: [] })],
    ['is of a DaemonSet', pod({}, { ownerReferences: [{ ...controller, kind: 'DaemonSet' }] })],
    ['is a mirror pod', pod({}, { ownerReferences: [{ ...controller, kind: 'Node' }] })],
  ])('leaves a pod alone that %s', (_why, untouched) => {
    expect(gatePatch(untouched)).toEqual([]);
  });
});
