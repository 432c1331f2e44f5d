import { API_VERSION } from '../api/v1alpha1/schema.ts';
import type { JsonObject } from './json.ts';
import { WORKLOAD_KINDS } from './project/workload.ts';

/** Kinds that a snapshot is made from. */
export const SNAPSHOT_KINDS = [
  'Node',
  'Pod',
  'Namespace',
  ...WORKLOAD_KINDS,
  'PodDisruptionBudget',
  'PriorityClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'StorageClass',
  'CSINode',
  'CSIDriver',
  'NodeMetrics',
  'PodMetrics',
  'RebalancePlan',
  'ServiceClass',
  'QoSLedger',
] as const;
/** A kind that a snapshot is made from. */
export type SnapshotKind = (typeof SNAPSHOT_KINDS)[number];

/** The version in which each kind is read from an API server and written to a file. */
export const SNAPSHOT_API_VERSIONS: Readonly<Record<SnapshotKind, string>> = {
  Node: 'v1',
  Pod: 'v1',
  Namespace: 'v1',
  ReplicationController: 'v1',
  Deployment: 'apps/v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  Job: 'batch/v1',
  PodDisruptionBudget: 'policy/v1',
  PriorityClass: 'scheduling.k8s.io/v1',
  PersistentVolume: 'v1',
  PersistentVolumeClaim: 'v1',
  StorageClass: 'storage.k8s.io/v1',
  CSINode: 'storage.k8s.io/v1',
  CSIDriver: 'storage.k8s.io/v1',
  NodeMetrics: 'metrics.k8s.io/v1beta1',
  PodMetrics: 'metrics.k8s.io/v1beta1',
  RebalancePlan: API_VERSION,
  ServiceClass: API_VERSION,
  QoSLedger: API_VERSION,
};

const BY_NAME: ReadonlyMap<string, SnapshotKind> = new Map(SNAPSHOT_KINDS.map((kind) => [kind, kind]));

/** The snapshot kind of an object; undefined for every other kind, and for the same word in another API group. */
export function snapshotKindOf({ apiVersion, kind }: JsonObject): SnapshotKind | undefined {
  const known = typeof kind === 'string' ? BY_NAME.get(kind) : undefined;
  return known !== undefined && groupOf(SNAPSHOT_API_VERSIONS[known]) === groupOf(apiVersion) ? known : undefined;
}

function groupOf(apiVersion: unknown): string | undefined {
  if (typeof apiVersion !== 'string') {
    return undefined;
  }
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}
