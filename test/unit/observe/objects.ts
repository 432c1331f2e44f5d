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
