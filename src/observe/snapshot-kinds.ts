import { API_VERSION } from '../api/v1alpha1/schema.ts';
import { asObject, type JsonObject, MalformedField } from '../model/json.ts';
import type { NodeInfo } from '../model/node.ts';
import type { Labels } from '../model/selector.ts';
import type { VolumeInfo } from '../model/storage.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import type { Interner } from './interner.ts';
import { type ProjectedClaim, projectClaim } from './project/claim.ts';
import { type ProjectedCsiDriver, type ProjectedCsiNode, projectCsiDriver, projectCsiNode } from './project/csi.ts';
import { nameForPeople } from './project/metadata.ts';
import { type ProjectedSample, projectNodeMetrics, projectPodMetrics } from './project/metrics.ts';
import { projectNamespace } from './project/namespace.ts';
import { projectNode } from './project/node.ts';
import { type ProjectedPlan, projectPastMoves } from './project/past-moves.ts';
import { type ProjectedPdb, projectPdb } from './project/pdb.ts';
import { type ProjectedPod, projectPod } from './project/pod.ts';
import { type ProjectedPriorityClass, projectPriorityClass } from './project/priority-class.ts';
import { type ProjectedServiceClass, projectServiceClass } from './project/service-class.ts';
import { type ProjectedLedger, projectServiceLedger } from './project/service-ledger.ts';
import { type ProjectedStorageClass, projectStorageClass } from './project/storage-class.ts';
import { projectVolume } from './project/volume.ts';
import { projectWorkload, WORKLOAD_KINDS } from './project/workload.ts';

/** What an object of some kind is to the planner. */
export type Projected =
  | { readonly table: 'nodes'; readonly value: NodeInfo }
  | { readonly table: 'pods'; readonly value: ProjectedPod }
  | { readonly table: 'namespaces'; readonly value: { readonly name: string; readonly labels: Labels } }
  | { readonly table: 'workloads'; readonly value: WorkloadInfo }
  | { readonly table: 'pdbs'; readonly value: ProjectedPdb }
  | { readonly table: 'priorityClasses'; readonly value: ProjectedPriorityClass }
  | { readonly table: 'volumes'; readonly value: VolumeInfo }
  | { readonly table: 'claims'; readonly value: ProjectedClaim }
  | { readonly table: 'storageClasses'; readonly value: ProjectedStorageClass }
  | { readonly table: 'csiNodes'; readonly value: ProjectedCsiNode }
  | { readonly table: 'csiDrivers'; readonly value: ProjectedCsiDriver }
  | { readonly table: 'nodeSamples'; readonly value: ProjectedSample }
  | { readonly table: 'podSamples'; readonly value: ProjectedSample }
  | { readonly table: 'plans'; readonly value: ProjectedPlan }
  | { readonly table: 'serviceClasses'; readonly value: ProjectedServiceClass }
  | { readonly table: 'serviceLedgers'; readonly value: ProjectedLedger };

/** The planner's view of an object. Throws MalformedField when the object is not what the API says of its kind. */
export function project(kind: SnapshotKind, candidate: unknown, interner: Interner): Projected {
  const object = asObject(candidate, 'the object');
  switch (kind) {
    case 'Node':
      return { table: 'nodes', value: projectNode(object, interner) };
    case 'Pod':
      return { table: 'pods', value: projectPod(object, interner) };
    case 'Namespace':
      return { table: 'namespaces', value: projectNamespace(object, interner) };
    case 'Deployment':
    case 'ReplicaSet':
    case 'StatefulSet':
    case 'DaemonSet':
    case 'Job':
    case 'ReplicationController':
      return { table: 'workloads', value: projectWorkload(object, kind) };
    case 'PodDisruptionBudget':
      return { table: 'pdbs', value: projectPdb(object) };
    case 'PriorityClass':
      return { table: 'priorityClasses', value: projectPriorityClass(object) };
    case 'PersistentVolume':
      return { table: 'volumes', value: projectVolume(object, interner) };
    case 'PersistentVolumeClaim':
      return { table: 'claims', value: projectClaim(object, interner) };
    case 'StorageClass':
      return { table: 'storageClasses', value: projectStorageClass(object) };
    case 'CSINode':
      return { table: 'csiNodes', value: projectCsiNode(object) };
    case 'CSIDriver':
      return { table: 'csiDrivers', value: projectCsiDriver(object) };
    case 'NodeMetrics':
      return { table: 'nodeSamples', value: projectNodeMetrics(object) };
    case 'PodMetrics':
      return { table: 'podSamples', value: projectPodMetrics(object) };
    case 'RebalancePlan':
      return { table: 'plans', value: projectPastMoves(object) };
    case 'ServiceClass':
      return { table: 'serviceClasses', value: projectServiceClass(object) };
    case 'QoSLedger':
      return { table: 'serviceLedgers', value: projectServiceLedger(object) };
    default:
      return kind satisfies never;
  }
}

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

/** The planner's view of an object, or a problem text that says what is wrong with it; it then takes no part. */
export function readObject(kind: SnapshotKind, object: unknown, interner: Interner): Projected | string {
  try {
    return project(kind, object, interner);
  } catch (error) {
    if (!(error instanceof MalformedField)) {
      throw error;
    }
    return `${kind} ${nameForPeople(object)}: ${error.message}`;
  }
}
