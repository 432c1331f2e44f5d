import { isObject, type JsonObject } from '../../model/json.ts';
import { BOUND_ANNOTATION, CLASS_ANNOTATION } from '../../observe/project/claim.ts';
import { MIGRATED_SOURCES } from '../../observe/project/in-tree-volumes.ts';
import { POD_ANNOTATIONS } from '../../observe/project/pod.ts';
import { DEFAULT_CLASS_ANNOTATIONS } from '../../observe/project/storage-class.ts';
import { relevantVolumes } from '../../observe/project/volumes.ts';
import { SNAPSHOT_API_VERSIONS, type SnapshotKind } from '../../observe/snapshot-kinds.ts';

/** What is kept of a value: all of it, some keys of an object, or some keys of each object of a list. */
type Mask = true | { readonly [key: string]: Mask } | readonly [Mask];

const METADATA = {
  name: true,
  namespace: true,
  uid: true,
  generation: true,
  creationTimestamp: true,
  deletionTimestamp: true,
  labels: true,
  ownerReferences: [{ apiVersion: true, kind: true, name: true, uid: true, controller: true }],
} as const satisfies Mask;
const CONDITIONS: Mask = [{ type: true, status: true, reason: true, lastTransitionTime: true }];
const RESOURCES: Mask = { requests: true, limits: true };
const CONTAINERS: Mask = [
  {
    name: true,
    image: true,
    restartPolicy: true,
    restartPolicyRules: [{ action: true }],
    resources: RESOURCES,
    ports: [{ containerPort: true, hostPort: true, hostIP: true, protocol: true }],
  },
];
const CONTAINER_STATUSES: Mask = [{ name: true, allocatedResources: true, resources: { requests: true } }];
const AFFINITY: Mask = {
  requiredDuringSchedulingIgnoredDuringExecution: true,
  preferredDuringSchedulingIgnoredDuringExecution: true,
};
const CLAIM_SPEC = {
  accessModes: true,
  storageClassName: true,
  volumeMode: true,
  volumeAttributesClassName: true,
  selector: true,
  resources: { requests: { storage: true } },
} as const satisfies Mask;
/** What is kept of the sources of a pod's volumes that are claims. */
const CLAIM_SOURCES: Mask = {
  persistentVolumeClaim: { claimName: true },
  ephemeral: {
    volumeClaimTemplate: { metadata: { annotations: { [CLASS_ANNOTATION]: true } }, spec: CLAIM_SPEC },
  },
};

/** Metadata with these annotations and no others. */
function withAnnotations(keys: readonly string[]): Mask {
  return { ...METADATA, annotations: Object.fromEntries(keys.map((key) => [key, true])) };
}

const POD: Mask = {
  metadata: withAnnotations(POD_ANNOTATIONS),
  spec: {
    nodeName: true,
    schedulerName: true,
    priority: true,
    priorityClassName: true,
    nodeSelector: true,
    affinity: { nodeAffinity: AFFINITY, podAffinity: AFFINITY, podAntiAffinity: AFFINITY },
    tolerations: true,
    topologySpreadConstraints: true,
    hostNetwork: true,
    hostUsers: true,
    overhead: true,
    resources: RESOURCES,
    schedulingGates: true,
    schedulingGroup: true,
    workloadRef: true,
    resourceClaims: [{ name: true }],
    os: { name: true },
    volumes: true,
    containers: CONTAINERS,
    initContainers: CONTAINERS,
  },
  status: {
    phase: true,
    nominatedNodeName: true,
    conditions: CONDITIONS,
    resources: { requests: true },
    allocatedResources: true,
    containerStatuses: CONTAINER_STATUSES,
    initContainerStatuses: CONTAINER_STATUSES,
  },
};

const WORKLOAD: Mask = {
  metadata: METADATA,
  spec: {
    replicas: true,
    parallelism: true,
    minReadySeconds: true,
    template: { spec: { nodeName: true, schedulingGates: [{ name: true }] } },
    podFailurePolicy: true,
    updateStrategy: { type: true, rollingUpdate: { partition: true } },
  },
  status: {
    observedGeneration: true,
    replicas: true,
    updatedReplicas: true,
    readyReplicas: true,
    availableReplicas: true,
    conditions: [{ type: true, lastUpdateTime: true }],
  },
};

const POD_REF: Mask = { namespace: true, name: true, uid: true };
/** What plans work cooldown, quarantine and lost service out from; the rejections of a plan are no part of it. */
const PLAN: Mask = {
  metadata: METADATA,
  spec: { moves: [{ pod: POD_REF, owner: { kind: true, name: true, uid: true }, from: true, to: true, cost: true }] },
  status: {
    moves: [
      {
        podUID: true,
        phase: true,
        startedAt: true,
        finishedAt: true,
        unavailableSeconds: true,
        replacement: { uid: true, node: true },
      },
    ],
  },
};

const MASKS: Readonly<Record<SnapshotKind, Mask>> = {
  Node: {
    metadata: METADATA,
    spec: { unschedulable: true, taints: [{ key: true, value: true, effect: true }] },
    status: { allocatable: true, conditions: CONDITIONS, images: [{ names: true, sizeBytes: true }] },
  },
  Pod: POD,
  Namespace: { metadata: METADATA },
  Deployment: WORKLOAD,
  ReplicaSet: WORKLOAD,
  StatefulSet: WORKLOAD,
  DaemonSet: WORKLOAD,
  Job: WORKLOAD,
  ReplicationController: WORKLOAD,
  PodDisruptionBudget: {
    metadata: METADATA,
    spec: true,
    status: { observedGeneration: true, disruptionsAllowed: true },
  },
  PriorityClass: { metadata: METADATA, value: true, globalDefault: true },
  PersistentVolume: {
    metadata: withAnnotations([CLASS_ANNOTATION]),
    spec: {
      capacity: { storage: true },
      accessModes: true,
      storageClassName: true,
      volumeMode: true,
      volumeAttributesClassName: true,
      claimRef: { namespace: true, name: true, uid: true },
      nodeAffinity: true,
      csi: { driver: true, volumeHandle: true },
      ...Object.fromEntries(MIGRATED_SOURCES.map(({ source, handle }) => [source, { [handle]: true }])),
    },
    status: { phase: true },
  },
  PersistentVolumeClaim: {
    metadata: withAnnotations([CLASS_ANNOTATION, BOUND_ANNOTATION]),
    spec: { ...CLAIM_SPEC, volumeName: true },
    status: { phase: true },
  },
  StorageClass: {
    metadata: withAnnotations(DEFAULT_CLASS_ANNOTATIONS),
    provisioner: true,
    volumeBindingMode: true,
    allowedTopologies: true,
  },
  CSINode: { metadata: METADATA, spec: { drivers: [{ name: true, allocatable: { count: true } }] } },
  CSIDriver: { metadata: METADATA, spec: { storageCapacity: true } },
  NodeMetrics: { metadata: METADATA, timestamp: true, window: true, usage: true },
  PodMetrics: { metadata: METADATA, timestamp: true, window: true, containers: [{ name: true, usage: true }] },
  RebalancePlan: PLAN,
  ServiceClass: { metadata: METADATA, spec: true },
  QoSLedger: { metadata: METADATA, spec: true, status: true },
};

/**
 * The object with what a plan needs and nothing else: a list of fields to keep, not to drop, so that environment
 * variables, commands, annotations of other tools and managed fields never get into a file.
 */
export function trimObject(kind: SnapshotKind, object: JsonObject): JsonObject {
  const kept = keep(withoutNoise(object), MASKS[kind]);
  return { apiVersion: SNAPSHOT_API_VERSIONS[kind], kind, ...(isObject(kept) ? kept : {}) };
}

function keep(value: unknown, mask: Mask): unknown {
  if (mask === true) {
    return value;
  }
  if (isListMask(mask)) {
    return Array.isArray(value) ? value.map((item) => keep(item, mask[0])) : value;
  }
  if (!isObject(value)) {
    return value;
  }
  const kept: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(mask)) {
    const content = Object.hasOwn(value, key) ? value[key] : undefined;
    if (content !== undefined && content !== null) {
      kept[key] = keep(content, inner);
    }
  }
  return kept;
}

function isListMask(mask: Exclude<Mask, true>): mask is readonly [Mask] {
  return Array.isArray(mask);
}

/** Conditions that a plan reads. */
const READ_CONDITIONS = new Set<unknown>(['Ready', 'PodResizePending', 'Progressing']);

/**
 * Without conditions that no plan reads. Volumes are there only where they matter, with their name, the kind of their source
 * and, of a claim, what it asks for.
 */
function withoutNoise(object: JsonObject): JsonObject {
  const { spec, status } = object;
  return {
    ...object,
    ...(isObject(spec) && Array.isArray(spec.volumes) ? { spec: { ...spec, volumes: volumesOf(spec.volumes) } } : {}),
    ...(isObject(status) && Array.isArray(status.conditions)
      ? { status: { ...status, conditions: conditionsOf(status.conditions) } }
      : {}),
  };
}

/** Undefined, so that it is left out, when no volume matters. */
function volumesOf(volumes: readonly unknown[]): readonly unknown[] | undefined {
  const kept = relevantVolumes(volumes).map((volume) =>
    isObject(volume) ? Object.assign({}, volume, keep(volume, CLAIM_SOURCES)) : volume,
  );
  return kept.length === 0 ? undefined : kept;
}

function conditionsOf(conditions: readonly unknown[]): readonly unknown[] {
  const isRead = ({ type, status }: JsonObject): boolean =>
    READ_CONDITIONS.has(type) || (type === 'PodScheduled' && status === 'False');
  return conditions.filter((condition) => isObject(condition) && isRead(condition));
}
