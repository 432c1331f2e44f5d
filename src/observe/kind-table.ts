import { API_VERSION } from '../api/v1alpha1/schema.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { FieldMask } from './fields.ts';
import type { Interner } from './interner.ts';
import { APP_GRAPH_FIELDS, projectAppGraph } from './project/app-graph.ts';
import { CLAIM_FIELDS, projectClaim } from './project/claim.ts';
import { CSI_DRIVER_FIELDS, CSI_NODE_FIELDS, projectCsiDriver, projectCsiNode } from './project/csi.ts';
import { NODE_METRICS_FIELDS, POD_METRICS_FIELDS, projectNodeMetrics, projectPodMetrics } from './project/metrics.ts';
import { NAMESPACE_FIELDS, projectNamespace } from './project/namespace.ts';
import { NODE_FIELDS, projectNode } from './project/node.ts';
import { PLAN_FIELDS, projectPastMoves } from './project/past-moves.ts';
import { PDB_FIELDS, projectPdb } from './project/pdb.ts';
import { POD_FIELDS, projectPod } from './project/pod.ts';
import { PRIORITY_CLASS_FIELDS, projectPriorityClass } from './project/priority-class.ts';
import { projectServiceClass, SERVICE_CLASS_FIELDS } from './project/service-class.ts';
import { LEDGER_FIELDS, projectServiceLedger } from './project/service-ledger.ts';
import { projectStorageClass, STORAGE_CLASS_FIELDS } from './project/storage-class.ts';
import { projectVolume, VOLUME_FIELDS } from './project/volume.ts';
import { projectWorkload, WORKLOAD_FIELDS, type WorkloadKind } from './project/workload.ts';

/** A part of the objects of a kind. */
export interface Part {
  /** Selects the part on an API server. */
  readonly fieldSelector: string;
  /** Selects it here; total. */
  readonly has: (object: unknown) => boolean;
}

/** What is known of a kind that a snapshot is made from. */
export interface KindRow<Value> {
  /** The version in which the kind is read from an API server and written to a file. */
  readonly apiVersion: string;
  /** Plural, as in URLs and RBAC rules. */
  readonly resource: string;
  /** The planner's view of an object. Throws MalformedField when the object is not what the API says of its kind. */
  readonly project: (object: JsonObject, interner: Interner) => Value;
  /** The name under which a snapshot has one object of the kind: `name`, or `namespace/name`. */
  readonly keyOf: (value: Value) => string;
  /** What a snapshot file keeps of an object. */
  readonly fields: FieldMask;
  /**
   * How a live cluster is read: watched, or listed for each snapshot, because it cannot be watched. `FileOnly`: a live cluster
   * says the same elsewhere.
   */
  readonly reading: 'Watched' | 'Listed' | 'FileOnly';
  /**
   * What it means that a cluster does not serve the kind: a `Failure`, a cluster that is `Unmeasured`, or nothing; then it may
   * be forbidden, too, and this is what plans go without.
   */
  readonly missing: 'Failure' | 'Unmeasured' | { readonly consequence: string };
  /** The part that plans need; all objects unless said otherwise. */
  readonly part?: Part | undefined;
  /** Smaller readings of a cluster that need the kind: usage and what it is judged by, and what decides the class of a pod. */
  readonly alsoFor: readonly ('Usage' | 'Promises')[];
}

/** The query that asks an API server for a part, or for everything. */
export function queryOf(part: Part | undefined): Readonly<Record<string, string>> {
  return part === undefined ? {} : { fieldSelector: part.fieldSelector };
}

/** Pods that use a node or wait for one, and those that have failed. */
const UNSUCCEEDED: Part = {
  fieldSelector: 'status.phase!=Succeeded',
  has: (object) => (isObject(object) && isObject(object.status) ? object.status.phase : undefined) !== 'Succeeded',
};

const MEASURED = { reading: 'Listed', missing: 'Unmeasured', alsoFor: ['Usage'] } as const;
const SERVICE = { reading: 'Listed', missing: { consequence: 'no workload has an SLO' } } as const;

/** Every kind that a snapshot is made from, in the order in which they are read. */
export const KINDS = {
  Pod: watched('v1', 'pods', projectPod, ({ pod }) => byNamespace(pod), POD_FIELDS, {
    part: UNSUCCEEDED,
    alsoFor: ['Usage'],
  }),
  Node: watched('v1', 'nodes', projectNode, byName, NODE_FIELDS, { alsoFor: ['Usage'] }),
  ReplicaSet: workload('ReplicaSet', 'apps/v1', 'replicasets'),
  Deployment: workload('Deployment', 'apps/v1', 'deployments'),
  StatefulSet: workload('StatefulSet', 'apps/v1', 'statefulsets'),
  DaemonSet: workload('DaemonSet', 'apps/v1', 'daemonsets'),
  Job: workload('Job', 'batch/v1', 'jobs'),
  ReplicationController: workload('ReplicationController', 'v1', 'replicationcontrollers'),
  PodDisruptionBudget: watched('policy/v1', 'poddisruptionbudgets', projectPdb, byNamespace, PDB_FIELDS),
  Namespace: watched('v1', 'namespaces', projectNamespace, byName, NAMESPACE_FIELDS, { alsoFor: ['Promises'] }),
  PersistentVolume: watched('v1', 'persistentvolumes', projectVolume, byName, VOLUME_FIELDS),
  PersistentVolumeClaim: watched(
    'v1',
    'persistentvolumeclaims',
    projectClaim,
    ({ claim }) => byNamespace(claim),
    CLAIM_FIELDS,
  ),
  StorageClass: watched(
    'storage.k8s.io/v1',
    'storageclasses',
    projectStorageClass,
    ({ storageClass }) => storageClass.name,
    STORAGE_CLASS_FIELDS,
  ),
  CSINode: watched('storage.k8s.io/v1', 'csinodes', projectCsiNode, byName, CSI_NODE_FIELDS),
  CSIDriver: watched('storage.k8s.io/v1', 'csidrivers', projectCsiDriver, byName, CSI_DRIVER_FIELDS),
  // In a live cluster a pod has its priority.
  PriorityClass: watched(
    'scheduling.k8s.io/v1',
    'priorityclasses',
    projectPriorityClass,
    byName,
    PRIORITY_CLASS_FIELDS,
    { reading: 'FileOnly' },
  ),
  RebalancePlan: row({
    apiVersion: API_VERSION,
    resource: 'rebalanceplans',
    project: projectPastMoves,
    keyOf: byName,
    fields: PLAN_FIELDS,
    reading: 'Watched',
    missing: { consequence: 'cooldown and maxOverhead know of no earlier moves' },
    alsoFor: [],
  }),
  ServiceClass: row({
    ...SERVICE,
    apiVersion: API_VERSION,
    resource: 'serviceclasses',
    project: projectServiceClass,
    keyOf: ({ terms }) => terms.name,
    fields: SERVICE_CLASS_FIELDS,
    alsoFor: ['Promises'],
  }),
  QoSLedger: row({
    ...SERVICE,
    apiVersion: API_VERSION,
    resource: 'qosledgers',
    project: projectServiceLedger,
    keyOf: byNamespace,
    fields: LEDGER_FIELDS,
    alsoFor: [],
  }),
  AppGraph: row({
    apiVersion: API_VERSION,
    resource: 'appgraphs',
    project: projectAppGraph,
    keyOf: byNamespace,
    fields: APP_GRAPH_FIELDS,
    reading: 'Listed',
    missing: { consequence: 'strategy TrafficAware knows of no traffic' },
    alsoFor: [],
  }),
  NodeMetrics: row({
    ...MEASURED,
    apiVersion: 'metrics.k8s.io/v1beta1',
    resource: 'nodes',
    project: projectNodeMetrics,
    keyOf: ({ key }) => key,
    fields: NODE_METRICS_FIELDS,
  }),
  PodMetrics: row({
    ...MEASURED,
    apiVersion: 'metrics.k8s.io/v1beta1',
    resource: 'pods',
    project: projectPodMetrics,
    keyOf: ({ key }) => key,
    fields: POD_METRICS_FIELDS,
  }),
};

/** A kind that a snapshot is made from. */
export type SnapshotKind = keyof typeof KINDS;

/** The planner's view of an object of each kind. */
export type Values = { readonly [Kind in SnapshotKind]: ReturnType<(typeof KINDS)[Kind]['project']> };

/** Kinds that a snapshot is made from. */
export const SNAPSHOT_KINDS = Object.keys(KINDS) as readonly SnapshotKind[];

function row<Value>(content: KindRow<Value>): KindRow<Value> {
  return content;
}

/** A kind that plans cannot do without; `more` says what is otherwise than with most of them. */
function watched<Value>(
  apiVersion: string,
  resource: string,
  project: KindRow<Value>['project'],
  keyOf: KindRow<Value>['keyOf'],
  fields: FieldMask,
  more: Partial<KindRow<Value>> = {},
): KindRow<Value> {
  return { reading: 'Watched', missing: 'Failure', alsoFor: [], apiVersion, resource, project, keyOf, fields, ...more };
}

function workload(kind: WorkloadKind, apiVersion: string, resource: string) {
  return watched(apiVersion, resource, (object) => projectWorkload(object, kind), byNamespace, WORKLOAD_FIELDS);
}

function byName({ name }: { readonly name: string }): string {
  return name;
}

function byNamespace({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
