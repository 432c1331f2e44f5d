import type { NodeInfo } from '../../model/node.ts';
import type { Labels } from '../../model/selector.ts';
import type { VolumeInfo } from '../../model/storage.ts';
import type { WorkloadInfo } from '../../model/workload.ts';
import type { Interner } from '../interner.ts';
import { asObject } from '../json.ts';
import type { SnapshotKind } from '../kinds.ts';
import { type ProjectedClaim, projectClaim } from './claim.ts';
import { type ProjectedCsiDriver, type ProjectedCsiNode, projectCsiDriver, projectCsiNode } from './csi.ts';
import { type ProjectedSample, projectNodeMetrics, projectPodMetrics } from './metrics.ts';
import { projectNamespace } from './namespace.ts';
import { projectNode } from './node.ts';
import { type ProjectedPlan, projectPastMoves } from './past-moves.ts';
import { type ProjectedPdb, projectPdb } from './pdb.ts';
import { type ProjectedPod, projectPod } from './pod.ts';
import { type ProjectedPriorityClass, projectPriorityClass } from './priority-class.ts';
import { type ProjectedServiceClass, projectServiceClass } from './service-class.ts';
import { type ProjectedLedger, projectServiceLedger } from './service-ledger.ts';
import { type ProjectedStorageClass, projectStorageClass } from './storage-class.ts';
import { projectVolume } from './volume.ts';
import { projectWorkload } from './workload.ts';

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
