import type { SnapshotKind } from '../../observe/snapshot-kinds.ts';
import { type ApiError, isApiError } from './api-error.ts';
import { RESOURCES, type ResourceRef } from './resource.ts';

/** Where the objects of one kind of a snapshot are listed. */
export interface SnapshotSource {
  readonly kind: SnapshotKind;
  readonly target: ResourceRef;
  readonly query: Readonly<Record<string, string>>;
}

/** Pods that hold or want a node. */
export const UNFINISHED = 'status.phase!=Succeeded,status.phase!=Failed';

/** Everything that a snapshot is made from but usage. A pod's priority is in the pod: PriorityClasses are not needed. */
export const SNAPSHOT_SOURCES: readonly SnapshotSource[] = [
  source('Pod', RESOURCES.pods, { fieldSelector: UNFINISHED }),
  source('Node', RESOURCES.nodes),
  source('ReplicaSet', RESOURCES.replicaSets),
  source('Deployment', RESOURCES.deployments),
  source('StatefulSet', RESOURCES.statefulSets),
  source('DaemonSet', RESOURCES.daemonSets),
  source('Job', RESOURCES.jobs),
  source('ReplicationController', RESOURCES.replicationControllers),
  source('PodDisruptionBudget', RESOURCES.pdbs),
  source('Namespace', RESOURCES.namespaces),
  source('PersistentVolume', RESOURCES.volumes),
  source('PersistentVolumeClaim', RESOURCES.claims),
  source('StorageClass', RESOURCES.storageClasses),
  source('CSINode', RESOURCES.csiNodes),
  source('CSIDriver', RESOURCES.csiDrivers),
];

/** What is measured, and what a sample is judged by. */
export const MEASURED_KINDS: ReadonlySet<SnapshotKind> = new Set(['Pod', 'Node']);

/** Usage, which a cluster may not measure. */
export const METRICS_SOURCES: readonly SnapshotSource[] = [
  source('NodeMetrics', RESOURCES.nodeMetrics),
  source('PodMetrics', RESOURCES.podMetrics),
];

/** What was moved before; a cluster without our kinds has no history. */
export const HISTORY_SOURCE: SnapshotSource = source('RebalancePlan', RESOURCES.plans);

/** What decides the class of a pod. */
export const CLASS_SOURCES: readonly SnapshotSource[] = [
  source('Namespace', RESOURCES.namespaces),
  source('ServiceClass', RESOURCES.serviceClasses),
];

/** What workloads were promised, and what they got; in a cluster without our kinds nobody was promised anything. */
export const SERVICE_SOURCES: readonly SnapshotSource[] = [
  source('ServiceClass', RESOURCES.serviceClasses),
  source('QoSLedger', RESOURCES.ledgers),
];

/** Whether our kinds are not installed, or the caller may not read them: anybody who may read pods may plan. */
export function areOursMissing(error: unknown): error is ApiError {
  return isApiError(error, 'NotServed', 'NotFound', 'Forbidden');
}

/** Whether the Metrics API is not there, or its server does not answer. */
export function isMetricsMissing(error: unknown): error is ApiError {
  return isApiError(error, 'NotServed', 'NotFound') || (isApiError(error, 'ServerError') && error.status === 503);
}

function source(kind: SnapshotKind, target: ResourceRef, query: Readonly<Record<string, string>> = {}): SnapshotSource {
  return { kind, target, query };
}
