import type { JsonObject } from '../../../src/model/json.ts';

/** Raw Kubernetes objects as the API server sends them, with defaults; a test names only what matters. */
export type Raw = Record<string, unknown>;

/** A Node that is Ready, with 4 CPU, 16Gi and 110 pod slots. */
export function aRawNode(
  name: string,
  { spec = {}, status = {}, metadata = {} }: Partial<Record<'spec' | 'status' | 'metadata', Raw>> = {},
): Raw {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `node-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'kubernetes.io/hostname': name },
      ...metadata,
    },
    spec,
    status: {
      allocatable: { cpu: '4', memory: '16Gi', pods: '110', 'ephemeral-storage': '100Gi' },
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:01:00Z' }],
      ...status,
    },
  };
}

/** A Pod that runs on node `a`, owned by the ReplicaSet `web`. */
export function aRawPod(
  name: string,
  { spec = {}, status = {}, metadata = {} }: Partial<Record<'spec' | 'status' | 'metadata', Raw>> = {},
): Raw {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      uid: `pod-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: 'web' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-web', controller: true }],
      ...metadata,
    },
    spec: {
      nodeName: 'a',
      priority: 0,
      schedulerName: 'default-scheduler',
      containers: [{ name: 'web', image: 'web' }],
      ...spec,
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' }],
      ...status,
    },
  };
}

/** A ReplicaSet `web` with three replicas. */
export function aRawReplicaSet(
  name: string,
  { spec = {}, metadata = {} }: Partial<Record<'spec' | 'metadata', Raw>> = {},
): Raw {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'shop', uid: `rs-${name}`, ...metadata },
    spec: { replicas: 3, ...spec },
  };
}

const BOUND = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' };

/** A bound claim of a StatefulSet as the API server sends it. */
export function aRawClaim(
  name: string,
  { spec = {}, metadata = {}, status = {} }: Partial<Record<string, Raw>> = {},
): Raw {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'shop', uid: `claim-${name}`, annotations: BOUND, ...metadata },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '10Gi' } },
      storageClassName: 'fast',
      volumeMode: 'Filesystem',
      volumeName: 'pvc-1',
      ...spec,
    },
    status: { phase: 'Bound', capacity: { storage: '10Gi' }, ...status },
  };
}

/** A zonal CSI volume that is bound to that claim, as the API server sends it. */
export function aRawVolume(
  name: string,
  { spec = {}, metadata = {}, status = {} }: Partial<Record<string, Raw>> = {},
): Raw {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, uid: `volume-${name}`, ...metadata },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '10Gi' },
      claimRef: { kind: 'PersistentVolumeClaim', namespace: 'shop', name: 'data', uid: 'claim-data' },
      csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1', fsType: 'ext4' },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] },
      },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'fast',
      volumeMode: 'Filesystem',
      ...spec,
    },
    status: { phase: 'Bound', ...status },
  };
}

/** A class of zonal CSI volumes that are made for the first pod. */
export function aRawStorageClass(name: string, fields: Raw = {}, metadata: Raw = {}): Raw {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, uid: `class-${name}`, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    provisioner: 'ebs.csi.aws.com',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...fields,
  };
}

/** A ServiceClass with this spec. */
export function aRawServiceClass(name: string, spec: JsonObject): JsonObject {
  return { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'ServiceClass', metadata: { name }, spec };
}

/** A Node as somebody writes it by hand, with ten cores: without a uid, times and conditions. */
export function aBareNode(name: string, fields: Raw = {}): Raw {
  const status = { allocatable: { cpu: '10', memory: '8Gi', pods: '110' } };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status, ...fields };
}

/** A Pod as somebody writes it by hand, with one core on node `a`. */
export function aBarePod(name: string, namespace?: string): Raw {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ownerReferences: [{ kind: 'ReplicaSet', name: 'web', controller: true }] },
    spec: { nodeName: 'a', containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
  };
}

/** Nodes a and b of ten cores, and four pods of one core each on node a. */
export function fourPods(): readonly Raw[] {
  return [...['a', 'b'].map((name) => aBareNode(name)), ...[1, 2, 3, 4].map((index) => aBarePod(`web-${index}`))];
}
