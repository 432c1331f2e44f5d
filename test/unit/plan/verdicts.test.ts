/** Cases in which kube-scheduler 1.36.3 and our filters once differed (npm run parity). */
import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../src/model/pod.ts';
import type { Requirement } from '../../../src/model/selector.ts';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { type ClaimRequest, NO_STORAGE, type StorageClassInfo } from '../../../src/model/storage.ts';
import { bytes } from '../../../src/model/units.ts';
import { verdictsIn } from '../../../src/plan/verdicts.ts';
import { aHostPort, anAffinityTerm } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, labels } from '../../support/builders.ts';

const NODE = aNode('a', { labels: { zone: 'z' }, allocatable: { cpu: 1000 } });

/** Names of the filters that refuse the pod on NODE. */
function refusing(
  pod: PodInfo,
  fields: Partial<Pick<ClusterSnapshot, 'pods' | 'storage' | 'namespaces'>> = {},
): string[] {
  const snapshot = aSnapshot({ nodes: [NODE], ...fields });
  return verdictsIn(snapshot)(pod, NODE).refusals.map(({ filter }) => filter);
}

describe('a pending pod whose ephemeral volume has no claim yet', () => {
  const storageClass: StorageClassInfo = {
    name: 'dynamic',
    provisioner: 'disk.example.com',
    waitForFirstConsumer: true,
    allowedTopologies: [],
    tracksCapacity: false,
  };
  const template: ClaimRequest = {
    storageClass: 'dynamic',
    accessModes: ['ReadWriteOnce'],
    size: bytes(2 ** 30),
    selector: undefined,
    volumeMode: 'Filesystem',
  };
  const pod = aPod('probe', { claims: [{ name: 'probe-scratch', template }] });

  it('fits where the claim can be provisioned once it is made', () => {
    const classes = new Map([[storageClass.name, storageClass]]);
    expect(refusing(pod, { storage: { ...NO_STORAGE, classes } })).toEqual([]);
  });

  it('fits nowhere when its class binds at once', () => {
    const classes = new Map([[storageClass.name, { ...storageClass, waitForFirstConsumer: false }]]);
    expect(refusing(pod, { storage: { ...NO_STORAGE, classes } })).toEqual(['VolumeBinding']);
  });
});

describe('room that the scheduler keeps for a nominated pod', () => {
  const nominee = aPod('nominee', {
    nominatedNode: 'a',
    priority: 100,
    constraints: { requests: { cpu: 800 }, hostPorts: [aHostPort(80)] },
  });
  const large = { requests: { cpu: 500 } };

  it('is closed to a pod of the same priority', () => {
    expect(refusing(aPod('probe', { priority: 100, constraints: large }), { pods: [nominee] })).toEqual([
      'NodeResourcesFit',
    ]);
  });

  it('is closed with its host ports', () => {
    const probe = aPod('probe', { priority: 100, constraints: { hostPorts: [aHostPort(80)] } });
    expect(refusing(probe, { pods: [nominee] })).toEqual(['NodePorts']);
  });

  it('is open to a pod of a higher priority', () => {
    expect(refusing(aPod('probe', { priority: 101, constraints: large }), { pods: [nominee] })).toEqual([]);
  });

  it('is open to the nominated pod itself', () => {
    expect(refusing(nominee, { pods: [nominee] })).toEqual([]);
  });

  it('holds no pod that affinity may rely on: the pod must fit without the nominated one too', () => {
    const friend = aPod('friend', { nominatedNode: 'a', labels: { app: 'db' } });
    const probe = aPod('probe', { constraints: { podAffinity: [anAffinityTerm({ app: 'db' })] } });
    expect(refusing(probe, { pods: [friend] })).toEqual(['InterPodAffinity']);
  });

  it('repels by anti-affinity', () => {
    const foe = aPod('foe', { nominatedNode: 'a', labels: { app: 'db' } });
    const probe = aPod('probe', { constraints: { podAntiAffinity: [anAffinityTerm({ app: 'db' })] } });
    expect(refusing(probe, { pods: [foe] })).toEqual(['InterPodAffinity']);
  });
});

describe('a namespace selector that holds without labels, which kube-scheduler 1.36 reads as one for all namespaces', () => {
  const notLabelled: Requirement = { key: 'env', operator: 'DoesNotExist', values: [] };
  const term = anAffinityTerm({ app: 'db' }, { namespaceSelector: { requirements: [notLabelled] } });
  const namespaces = new Map([
    ['shop', labels()],
    ['prod', labels({ env: 'prod' })],
  ]);
  const there = aPod('there', { namespace: 'prod', nodeName: 'a', labels: { app: 'db' } });

  it('keeps the pod that is placed away from pods of any namespace', () => {
    const probe = aPod('probe', { constraints: { podAntiAffinity: [term] } });
    expect(refusing(probe, { pods: [there], namespaces })).toEqual(['InterPodAffinity']);
  });

  it('lets a pod in a namespace that it does not select come to a pod with the term', () => {
    const guard = aPod('guard', { nodeName: 'a', constraints: { podAntiAffinity: [term] } });
    const probe = aPod('probe', { namespace: 'prod', labels: { app: 'db' } });
    expect(refusing(probe, { pods: [guard], namespaces })).toEqual([]);
  });

  it('is not relied on: affinity needs a pod in a namespace that the selector does select', () => {
    const probe = aPod('probe', { constraints: { podAffinity: [term] } });
    expect(refusing(probe, { pods: [there], namespaces })).toEqual(['InterPodAffinity']);
    const near = aPod('near', { nodeName: 'a', labels: { app: 'db' } });
    expect(refusing(probe, { pods: [there, near], namespaces })).toEqual([]);
  });

  it('lets the first pod of a group go anywhere only while there is none in any namespace', () => {
    const probe = aPod('probe', { labels: { app: 'db' }, constraints: { podAffinity: [term] } });
    expect(refusing(probe, { pods: [there], namespaces })).toEqual(['InterPodAffinity']);
    expect(refusing(probe, { namespaces })).toEqual([]);
  });
});
