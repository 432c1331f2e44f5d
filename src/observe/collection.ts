import type { NodeInfo } from '../model/node.ts';
import type { PastMove } from '../model/past-move.ts';
import type { Labels } from '../model/selector.ts';
import type { UsageSample } from '../model/snapshot.ts';
import type { VolumeInfo } from '../model/storage.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import type { ProjectedClaim } from './project/claim.ts';
import type { ProjectedCsiDriver, ProjectedCsiNode } from './project/csi.ts';
import type { ProjectedPdb } from './project/pdb.ts';
import type { ProjectedPod } from './project/pod.ts';
import type { ProjectedPriorityClass } from './project/priority-class.ts';
import type { ProjectedServiceClass } from './project/service-class.ts';
import type { ProjectedLedger } from './project/service-ledger.ts';
import type { ProjectedStorageClass } from './project/storage-class.ts';
import type { Projected, SnapshotKind } from './snapshot-kinds.ts';

/** Projected objects by kind and name, before they are put in order. */
export interface Collection {
  readonly nodes: ReadonlyMap<string, NodeInfo>;
  /** By `namespace/name`. */
  readonly pods: ReadonlyMap<string, ProjectedPod>;
  readonly namespaces: ReadonlyMap<string, Labels>;
  /** By `Kind/namespace/name`. */
  readonly workloads: ReadonlyMap<string, WorkloadInfo>;
  readonly pdbs: ReadonlyMap<string, ProjectedPdb>;
  readonly priorityClasses: ReadonlyMap<string, ProjectedPriorityClass>;
  readonly volumes: ReadonlyMap<string, VolumeInfo>;
  /** By `namespace/name`. */
  readonly claims: ReadonlyMap<string, ProjectedClaim>;
  readonly storageClasses: ReadonlyMap<string, ProjectedStorageClass>;
  readonly csiNodes: ReadonlyMap<string, ProjectedCsiNode>;
  readonly csiDrivers: ReadonlyMap<string, ProjectedCsiDriver>;
  readonly nodeSamples: ReadonlyMap<string, UsageSample>;
  readonly podSamples: ReadonlyMap<string, UsageSample>;
  /** By name of the RebalancePlan. */
  readonly pastMoves: ReadonlyMap<string, readonly PastMove[]>;
  readonly serviceClasses: ReadonlyMap<string, ProjectedServiceClass>;
  /** By `namespace/name` of the QoSLedger. */
  readonly serviceLedgers: ReadonlyMap<string, ProjectedLedger>;
  /** The Metrics API is served, or there is at least one of its objects. */
  metricsServed(): boolean;
  /** Keeps an object; true when it replaces another of its name. */
  put(projected: Projected): boolean;
  /** Drops all objects of a kind. */
  forget(kind: SnapshotKind): void;
  noteMetricsServed(): void;
}

/** A collection without objects. */
export function createCollection(): Collection {
  const nodes = new Map<string, NodeInfo>();
  const pods = new Map<string, ProjectedPod>();
  const namespaces = new Map<string, Labels>();
  const workloads = new Map<string, WorkloadInfo>();
  const pdbs = new Map<string, ProjectedPdb>();
  const priorityClasses = new Map<string, ProjectedPriorityClass>();
  const volumes = new Map<string, VolumeInfo>();
  const claims = new Map<string, ProjectedClaim>();
  const storageClasses = new Map<string, ProjectedStorageClass>();
  const csiNodes = new Map<string, ProjectedCsiNode>();
  const csiDrivers = new Map<string, ProjectedCsiDriver>();
  const nodeSamples = new Map<string, UsageSample>();
  const podSamples = new Map<string, UsageSample>();
  const pastMoves = new Map<string, readonly PastMove[]>();
  const serviceClasses = new Map<string, ProjectedServiceClass>();
  const serviceLedgers = new Map<string, ProjectedLedger>();
  let served = false;

  const tables = {
    Node: nodes,
    Pod: pods,
    Namespace: namespaces,
    PodDisruptionBudget: pdbs,
    PriorityClass: priorityClasses,
    PersistentVolume: volumes,
    PersistentVolumeClaim: claims,
    StorageClass: storageClasses,
    CSINode: csiNodes,
    CSIDriver: csiDrivers,
    NodeMetrics: nodeSamples,
    PodMetrics: podSamples,
    RebalancePlan: pastMoves,
    ServiceClass: serviceClasses,
    QoSLedger: serviceLedgers,
  } satisfies Partial<Record<SnapshotKind, Map<string, unknown>>>;

  function put(projected: Projected): boolean {
    switch (projected.table) {
      case 'nodes':
        return replace(nodes, projected.value.name, projected.value);
      case 'pods':
        return replace(pods, keyOf(projected.value.pod), projected.value);
      case 'namespaces':
        return replace(namespaces, projected.value.name, projected.value.labels);
      case 'workloads':
        return replace(workloads, `${projected.value.kind}/${keyOf(projected.value)}`, projected.value);
      case 'pdbs':
        return replace(pdbs, keyOf(projected.value), projected.value);
      case 'priorityClasses':
        return replace(priorityClasses, projected.value.name, projected.value);
      case 'volumes':
        return replace(volumes, projected.value.name, projected.value);
      case 'claims':
        return replace(claims, keyOf(projected.value.claim), projected.value);
      case 'storageClasses':
        return replace(storageClasses, projected.value.storageClass.name, projected.value);
      case 'csiNodes':
        return replace(csiNodes, projected.value.name, projected.value);
      case 'csiDrivers':
        return replace(csiDrivers, projected.value.name, projected.value);
      case 'nodeSamples':
        return replace(nodeSamples, projected.value.key, projected.value.sample);
      case 'podSamples':
        return replace(podSamples, projected.value.key, projected.value.sample);
      case 'plans':
        return replace(pastMoves, projected.value.name, projected.value.moves);
      case 'serviceClasses':
        return replace(serviceClasses, projected.value.terms.name, projected.value);
      case 'serviceLedgers':
        return replace(serviceLedgers, keyOf(projected.value), projected.value);
      default:
        return projected satisfies never;
    }
  }

  function forget(kind: SnapshotKind): void {
    const table = Object.entries(tables).find(([name]) => name === kind)?.[1];
    table?.clear();
    for (const [key, workload] of table === undefined ? workloads : []) {
      if (workload.kind === kind) {
        workloads.delete(key);
      }
    }
  }

  return {
    nodes,
    pods,
    namespaces,
    workloads,
    pdbs,
    priorityClasses,
    volumes,
    claims,
    storageClasses,
    csiNodes,
    csiDrivers,
    nodeSamples,
    podSamples,
    pastMoves,
    serviceClasses,
    serviceLedgers,
    metricsServed: () => served || nodeSamples.size > 0 || podSamples.size > 0,
    put,
    forget,
    noteMetricsServed: () => {
      served = true;
    },
  };
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

function replace<Value>(table: Map<string, Value>, key: string, value: Value): boolean {
  const known = table.has(key);
  table.set(key, value);
  return known;
}
