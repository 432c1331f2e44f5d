import { STEERED_ANNOTATION } from '../../model/gate.ts';
import {
  describe,
  integerAt,
  type JsonObject,
  MalformedField,
  objectAt,
  objectsAt,
  textAt,
  textEntriesAt,
  textsAt,
} from '../../model/json.ts';
import {
  type ContainerStates,
  NO_CONTAINER_STATES,
  type OwnerRef,
  type PodInfo,
  type PodPhase,
  QOS_CLASSES,
  type QosClass,
} from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import { KEPT_ANNOTATIONS } from '../../model/stay-annotations.ts';
import { unsteered } from '../../steer/unsteered.ts';
import { CONDITION_FIELDS, type FieldMask, withAnnotations } from '../fields.ts';
import type { Interner } from '../interner.ts';
import { type Condition, type Metadata, readCondition, readController, readMetadata } from './metadata.ts';
import { readConstraints } from './scheduling.ts';
import { readVolumes } from './volumes.ts';
import { readWaiting } from './waiting.ts';

/** A pod whose priority may still have to be looked up in the PriorityClasses. */
export interface ProjectedPod {
  readonly pod: PodInfo;
  /** The object names no `spec.priority`; in a live cluster admission has always set it. */
  readonly priorityUnknown: boolean;
  /** Names of those claims whose templates leave the class to the cluster's default, which is yet to be looked up. */
  readonly claimsWithoutClass: readonly string[];
}

const PHASES: ReadonlyMap<string, PodPhase> = new Map([
  ['Pending', 'Pending'],
  ['Running', 'Running'],
  ['Succeeded', 'Succeeded'],
  ['Failed', 'Failed'],
  ['Unknown', 'Unknown'],
]);

/** ReplicaSets read it, too, when they choose whom to end. */
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

/** Pods of a Job have it until the Job has counted how they ended (KEP-2307). */
const JOB_TRACKING = 'batch.kubernetes.io/job-tracking';

/** Annotations of a pod that the planner reads; everything else in a pod's annotations is dropped. */
export const POD_ANNOTATIONS: readonly string[] = [
  ...KEPT_ANNOTATIONS,
  DELETION_COST,
  'kubernetes.io/config.mirror',
  'kubernetes.io/config.source',
  STEERED_ANNOTATION,
];

/**
 * The planner's view of a Pod. A pod written by hand (no uid) that is bound and says nothing of its state counts as
 * Running and Ready. Throws MalformedField.
 */
export function projectPod(object: JsonObject, interner: Interner): ProjectedPod {
  const metadata = readMetadata(object, 'Pod', 'Namespaced');
  const spec = objectAt(object, 'spec', '') ?? {};
  const status = objectAt(object, 'status', '') ?? {};
  const labels = interner.labels(textEntriesAt(metadata.object, 'labels', 'metadata'));
  const annotations = new Map(textEntriesAt(metadata.object, 'annotations', 'metadata'));
  const owner = internOwner(readController(metadata), interner);
  const nodeName = interner.text(textAt(spec, 'nodeName', 'spec') ?? '') || undefined;
  const ready = readReady(metadata, nodeName, status);
  const volumes = readVolumes(spec, metadata.name, interner);
  const target = annotations.get(STEERED_ANNOTATION);
  const steered = target === undefined ? undefined : unsteered(spec['affinity'], target);
  const priority = integerAt(spec, 'priority', 'spec');
  const pod: PodInfo = {
    namespace: interner.text(metadata.namespace),
    name: metadata.name,
    uid: metadata.uid,
    labels,
    annotations: interner.labels(keptAnnotations(annotations)),
    owner,
    nodeName,
    phase: readPhase(metadata, nodeName, status),
    reason: interner.text(textAt(status, 'reason', 'status') ?? '') || undefined,
    states: readStates(status, 'containerStatuses', interner),
    initStates: readStates(status, 'initContainerStatuses', interner),
    uncounted: textsAt(metadata.object, 'finalizers', 'metadata').includes(JOB_TRACKING),
    ready: ready.isTrue,
    readySince: ready.since,
    createdAt: metadata.createdAt,
    terminating: metadata.terminating,
    mirror: isMirror(annotations) || owner?.kind === 'Node',
    priority: priority ?? 0,
    priorityClassName: textAt(spec, 'priorityClassName', 'spec') || undefined,
    qosClass: readQosClass(status),
    deletionCost: readDeletionCost(annotations),
    restarts: readRestarts(status, 'containerStatuses'),
    initRestarts: readRestarts(status, 'initContainerStatuses'),
    localStorage: volumes.localStorage,
    claims: volumes.claims,
    nominatedNode: nodeName === undefined ? textAt(status, 'nominatedNodeName', 'status') || undefined : undefined,
    waiting:
      nodeName === undefined ? readWaiting(spec, status, steered?.isKept === true ? target : undefined) : undefined,
    placement: steered?.placement,
    constraints: readConstraints(
      {
        spec: steered === undefined ? spec : { ...spec, affinity: steered.affinity },
        status,
        labels,
        unsupportedVolumes: volumes.unsupported,
      },
      interner,
    ),
  };
  return { pod, priorityUnknown: priority === undefined, claimsWithoutClass: volumes.claimsWithoutClass };
}

type StatusField = 'containerStatuses' | 'initContainerStatuses';

function readStates(status: JsonObject, field: StatusField, { text }: Interner): ContainerStates {
  const reasons: string[] = [];
  const exitCodes: number[] = [];
  objectsAt(status, field, 'status').forEach((container, place) => {
    const path = `status.${field}[${place}].state`;
    const state = objectAt(container, 'state', `status.${field}[${place}]`) ?? {};
    const waiting = objectAt(state, 'waiting', path);
    const terminated = objectAt(state, 'terminated', path);
    for (const [why, name] of [
      [waiting, 'waiting'],
      [terminated, 'terminated'],
    ] as const) {
      const reason = why && textAt(why, 'reason', `${path}.${name}`);
      if (reason !== undefined && reason !== '') {
        reasons.push(text(reason));
      }
    }
    if (terminated !== undefined) {
      exitCodes.push(integerAt(terminated, 'exitCode', `${path}.terminated`) ?? 0);
    }
  });
  return reasons.length + exitCodes.length === 0 ? NO_CONTAINER_STATES : { reasons, exitCodes };
}

function readRestarts(status: JsonObject, field: StatusField): number {
  return objectsAt(status, field, 'status').reduce(
    (sum, container, index) => sum + (integerAt(container, 'restartCount', `status.${field}[${index}]`) ?? 0),
    0,
  );
}

function internOwner(owner: OwnerRef | undefined, { text }: Interner): OwnerRef | undefined {
  return owner && { kind: text(owner.kind), name: text(owner.name), uid: text(owner.uid) };
}

/** The pod is the shadow of one that a kubelet runs from a file or a URL, or is such a pod itself. */
function isMirror(annotations: Labels): boolean {
  const source = annotations.get('kubernetes.io/config.source');
  return annotations.has('kubernetes.io/config.mirror') || (source !== undefined && source !== 'api');
}

function keptAnnotations(annotations: Labels): [string, string][] {
  return KEPT_ANNOTATIONS.flatMap((key): [string, string][] => {
    const value = annotations.get(key);
    return value === undefined ? [] : [[key, value]];
  });
}

/** Files that were written by hand may leave it out. */
function readQosClass(status: JsonObject): QosClass {
  const text = textAt(status, 'qosClass', 'status');
  return QOS_CLASSES.find((name) => name === text) ?? 'Burstable';
}

/**
 * As controller.GetDeletionCostFromPodAnnotations reads it: a 32-bit integer without a plus sign, and without zeros in front where it
 * is positive, else 0.
 */
function readDeletionCost(annotations: Labels): number {
  const text = annotations.get(DELETION_COST) ?? '0';
  const cost = /^(0|[1-9][0-9]*|-[0-9]+)$/.test(text) ? Number(text) : 0;
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost || 0 : 0;
}

function readPhase({ handWritten }: Metadata, nodeName: string | undefined, status: JsonObject): PodPhase {
  const text = textAt(status, 'phase', 'status') || undefined;
  if (text === undefined) {
    return handWritten && nodeName !== undefined ? 'Running' : 'Pending';
  }
  const phase = PHASES.get(text);
  if (phase === undefined) {
    throw new MalformedField(
      'status.phase',
      `${describe(text)} is not a phase: write ${[...PHASES.keys()].join(', ')}`,
    );
  }
  return phase;
}

function readReady(metadata: Metadata, nodeName: string | undefined, status: JsonObject): Condition {
  const condition = readCondition(status, 'Ready');
  if (condition !== undefined) {
    return condition;
  }
  const silent = status.conditions === undefined && readPhase(metadata, nodeName, status) === 'Running';
  return { isTrue: metadata.handWritten && silent, reason: '', since: undefined };
}

const RESOURCES: FieldMask = { requests: true, limits: true };
const CONTAINERS: FieldMask = [
  {
    name: true,
    image: true,
    restartPolicy: true,
    restartPolicyRules: [{ action: true }],
    resources: RESOURCES,
    ports: [{ containerPort: true, hostPort: true, hostIP: true, protocol: true }],
  },
];
const CONTAINER_STATUSES: FieldMask = [
  {
    name: true,
    restartCount: true,
    state: { waiting: { reason: true }, terminated: { reason: true, exitCode: true } },
    allocatedResources: true,
    resources: { requests: true },
  },
];
const AFFINITY: FieldMask = {
  requiredDuringSchedulingIgnoredDuringExecution: true,
  preferredDuringSchedulingIgnoredDuringExecution: true,
};
/** What plans read of a Pod, and of its volumes what `relevantVolumes` leaves. */
export const POD_FIELDS: FieldMask = {
  metadata: { ...withAnnotations(POD_ANNOTATIONS), finalizers: true },
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
    reason: true,
    nominatedNodeName: true,
    qosClass: true,
    conditions: CONDITION_FIELDS,
    resources: { requests: true },
    allocatedResources: true,
    containerStatuses: CONTAINER_STATUSES,
    initContainerStatuses: CONTAINER_STATUSES,
  },
};
