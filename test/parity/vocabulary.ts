import type { Random } from '../support/random.ts';
import { chance, pick } from './choice.ts';
import type { KubeObject, LabelsJson } from './kube-object.ts';

/** Namespaces of every campaign; their labels differ from cluster to cluster. */
export const NAMESPACES = ['team-a', 'team-b', 'team-c', 'team-d'] as const;

/** Label keys and values of the namespaces. */
export const NAMESPACE_LABELS: Readonly<Record<string, readonly string[]>> = {
  env: ['prod', 'test'],
  owner: ['red', 'blue'],
};

/** Label keys and values of pods; few, so that selectors meet pods. */
export const POD_LABELS: Readonly<Record<string, readonly string[]>> = {
  app: ['web', 'db', 'cache', 'batch'],
  tier: ['front', 'back'],
};

/** Labels for matchLabelKeys and mismatchLabelKeys, which the API server does not allow in the selector beside them. */
export const REVISION_LABELS: Readonly<Record<string, readonly string[]>> = {
  'pod-template-hash': ['r1', 'r2'],
  track: ['stable', 'canary'],
};

export const ZONE = 'topology.kubernetes.io/zone';
export const REGION = 'topology.kubernetes.io/region';
export const HOSTNAME = 'kubernetes.io/hostname';

/** Domains of affinity and spread. */
export const TOPOLOGY_KEYS = [HOSTNAME, ZONE, ZONE, 'rack'] as const;

/** Extended resource of some nodes. */
export const GPU = 'example.com/gpu';
/** CSI driver whose volumes per node are limited, and provisioner of two classes. */
export const DRIVER = 'disk.example.com';
/** A finalizer that nobody serves: a deleted pod stays, terminating. */
export const FINALIZER = 'example.com/hold';

/** Priority classes that never preempt. */
export const PRIORITY_CLASSES = { low: 'parity-low', high: 'parity-high' } as const;

/** CPU in millicores and memory in MiB that RuntimeClass `sandboxed` adds to its pods. */
export const OVERHEAD = { cpu: 120, memory: 64 } as const;

/** Cluster-scoped objects that all clusters of a campaign share. */
export function fixtures(): readonly KubeObject[] {
  return [
    ...NAMESPACES.map(namespaceObject),
    ...priorityClasses(),
    ...runtimeClasses(),
    ...storageClasses(),
    csiDriver(),
  ];
}

function namespaceObject(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function priorityClasses(): readonly KubeObject[] {
  const levels = [
    [PRIORITY_CLASSES.low, 100],
    [PRIORITY_CLASSES.high, 1000],
  ] as const;
  return levels.map(([name, value]) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
    preemptionPolicy: 'Never',
  }));
}

function runtimeClasses(): readonly KubeObject[] {
  const shape = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', handler: 'simulated' };
  const podFixed = { cpu: `${OVERHEAD.cpu}m`, memory: `${OVERHEAD.memory}Mi` };
  return [
    { ...shape, metadata: { name: 'sandboxed' }, overhead: { podFixed } },
    { ...shape, metadata: { name: 'on-ssd' }, scheduling: { nodeSelector: { disk: 'ssd' } } },
  ];
}

/** Its volumes need nodes on which it is installed: from 1.37, API servers before drop the field. */
function csiDriver(): KubeObject {
  const spec = { preventPodSchedulingIfMissing: true };
  return { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: DRIVER }, spec };
}

function storageClasses(): readonly KubeObject[] {
  return [
    storageClass('immediate', 'kubernetes.io/no-provisioner', 'Immediate'),
    storageClass('local', 'kubernetes.io/no-provisioner', 'WaitForFirstConsumer'),
    storageClass('dynamic', DRIVER, 'WaitForFirstConsumer'),
    storageClass('dynamic-now', 'nobody.example.com', 'Immediate'),
    {
      ...storageClass('dynamic-zonal', DRIVER, 'WaitForFirstConsumer'),
      allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: ['zone-a', 'zone-b'] }] }],
    },
  ];
}

function storageClass(name: string, provisioner: string, volumeBindingMode: string): KubeObject {
  return { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name }, provisioner, volumeBindingMode };
}

/** A value for each key, or for most of them. */
export function randomLabels(
  random: Random,
  values: Readonly<Record<string, readonly string[]>>,
  probability: number,
): LabelsJson {
  const entries = Object.entries(values).filter(() => chance(random, probability));
  return Object.fromEntries(entries.map(([key, choices]) => [key, pick(random, choices)]));
}

/** Labels of a random pod. */
export function randomPodLabels(random: Random): LabelsJson {
  return { ...randomLabels(random, POD_LABELS, 0.85), ...randomLabels(random, REVISION_LABELS, 0.6) };
}
