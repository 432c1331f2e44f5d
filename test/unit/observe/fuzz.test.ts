import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SNAPSHOT_KINDS } from '../../../src/observe/kind-table.ts';
import { buildSnapshot, createSnapshotBuilder } from '../../../src/observe/snapshot-builder.ts';
import { aRawNode, aRawPod, aRawReplicaSet } from '../../support/builders/raw.ts';

/** Keys that the projection reads, so that arbitrary values reach deep into it. */
const KEYS = [
  'metadata',
  'spec',
  'status',
  'name',
  'namespace',
  'uid',
  'labels',
  'annotations',
  'ownerReferences',
  'controller',
  'kind',
  'containers',
  'initContainers',
  'resources',
  'requests',
  'limits',
  'cpu',
  'memory',
  'affinity',
  'nodeAffinity',
  'podAntiAffinity',
  'tolerations',
  'requiredDuringSchedulingIgnoredDuringExecution',
  'nodeSelectorTerms',
  'matchExpressions',
  'matchLabels',
  'key',
  'operator',
  'values',
  'volumes',
  'ports',
  'conditions',
  'type',
  'containerStatuses',
  'allocatable',
  'taints',
  'selector',
  'minAvailable',
  'usage',
  'timestamp',
  'window',
  'replicas',
  'template',
  'items',
  '__proto__',
  'constructor',
  'toString',
  'topologySpreadConstraints',
  'overhead',
  'podAffinity',
  'preferredDuringSchedulingIgnoredDuringExecution',
  'podAffinityTerm',
  'preference',
  'weight',
  'labelSelector',
  'topologyKey',
  'matchLabelKeys',
  'maxSkew',
  'image',
  'images',
  'names',
  'sizeBytes',
  'nominatedNodeName',
  'persistentVolumeClaim',
  'claimName',
  'ephemeral',
  'volumeClaimTemplate',
  'storage',
  'storageClassName',
  'accessModes',
  'volumeName',
  'phase',
  'capacity',
  'claimRef',
  'required',
  'csi',
  'driver',
  'provisioner',
  'allowedTopologies',
  'matchLabelExpressions',
  'drivers',
  'count',
  'storageCapacity',
];

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'medium' },
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1.5,
      '',
      '1',
      'Always',
      'Exists',
      'In',
      '1Gi',
      '-3m',
      '2026-01-01T00:00:00Z',
      'x'.repeat(300),
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 6 }),
  ),
})).value;

const required = (topologyKey: string) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: {}, matchLabelKeys: ['app'] }],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey } }],
});
/** A spec with everything that decides where a pod fits. */
const RICH = {
  affinity: { podAffinity: required('zone'), podAntiAffinity: required('rack') },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', labelSelector: {}, matchLabelKeys: ['app'] }],
  volumes: [
    { name: 'v', persistentVolumeClaim: { claimName: 'c' } },
    { name: 'e', ephemeral: { volumeClaimTemplate: { spec: { resources: { requests: { storage: '1' } } } } } },
  ],
};
const nodeSelectorTerms = [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }];
const STORAGE = [
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v' },
    spec: { capacity: { storage: '1' }, claimRef: { name: 'c' }, nodeAffinity: { required: { nodeSelectorTerms } } },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c' },
    spec: { volumeName: 'v', resources: { requests: { storage: '1' } } },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 's', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'd',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'a' },
    spec: { drivers: [{ name: 'd', allocatable: { count: 1 } }] },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: 'd' },
    spec: { storageCapacity: true },
  },
];

describe('projection of arbitrary JSON', () => {
  it.each(SNAPSHOT_KINDS)('as %s gives records or problem texts and never throws', (kind) => {
    fc.assert(
      fc.property(json, (value) => {
        const builder = createSnapshotBuilder();
        builder.addAs(kind, value);
        const { problems } = builder.finish();
        expect(problems.every((problem) => problem.startsWith(kind) && problem.length < 1500)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('as anything gives a snapshot', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(json, fc.anything())), (objects) => buildSnapshot(objects).nodes.length >= 0),
      { numRuns: 1000 },
    );
  });

  it('nested too deeply for the stack is a problem of that pod', () => {
    const affinity: unknown = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    const { problems } = buildSnapshot([aRawPod('deep', { spec: { affinity } })]);
    expect(problems).toEqual(['Pod shop/deep: spec: is nested too deeply, or is no JSON']);
  });

  it('put into any place of a good object spoils at most that object', () => {
    const good = [aRawNode('a'), aRawPod('p'), aRawReplicaSet('web'), aRawPod('rich', { spec: RICH }), ...STORAGE];
    fc.assert(
      fc.property(fc.constantFrom(...good), fc.array(fc.nat(9), { maxLength: 6 }), json, (object, path, value) => {
        const spoiled: unknown = structuredClone(object);
        replaceAt(spoiled, path, value);
        const snapshot = buildSnapshot([spoiled, aRawNode('other'), aRawPod('other')]);
        expect(snapshot.nodes.some(({ name }) => name === 'other')).toBe(true);
        expect(snapshot.pods.some(({ name }) => name === 'other')).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});

/** Walks down by the path's indexes and puts `value` where it ends. */
function replaceAt(target: unknown, path: readonly number[], value: unknown): void {
  if (typeof target !== 'object' || target === null) {
    return;
  }
  const keys = Object.keys(target);
  const key = keys[(path[0] ?? 0) % Math.max(1, keys.length)];
  if (key === undefined) {
    return;
  }
  const child: unknown = Reflect.get(target, key);
  if (path.length <= 1 || typeof child !== 'object' || child === null) {
    Reflect.set(target, key, value);
    return;
  }
  replaceAt(child, path.slice(1), value);
}
