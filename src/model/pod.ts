import type { Waiting } from './gate.ts';
import type { NodeSelectorTerm, PreferredNodeTerm, TaintEffect } from './node.ts';
import type { Placement } from './placement.ts';
import type { ResourceVector } from './resources.ts';
import type { Labels, Selector } from './selector.ts';
import type { ClaimRequest } from './storage.ts';
import type { EpochSeconds } from './units.ts';

/** What names one incarnation of a pod. */
export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The controller that owns a pod: the owner reference with `controller: true`. */
export interface OwnerRef {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** A pod's toleration. An absent effect tolerates every effect; an absent key with Exists tolerates every key. */
export interface Toleration {
  readonly key: string | undefined;
  readonly operator: 'Exists' | 'Equal' | 'Gt' | 'Lt';
  readonly value: string;
  readonly effect: TaintEffect | undefined;
}

/** A port that a pod takes on its node. */
export interface HostPort {
  /** `0.0.0.0` when the pod names none. */
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** A term of pod affinity or anti-affinity; matchLabelKeys and mismatchLabelKeys are part of its selector. */
export interface PodAffinityTerm {
  /** `undefined` selects no pods (a null selector). */
  readonly selector: Selector | undefined;
  /** Namespaces that the term names; empty with no selector means the pod's own. */
  readonly namespaces: readonly string[];
  /** `undefined`: only `namespaces` count. */
  readonly namespaceSelector: Selector | undefined;
  readonly topologyKey: string;
}

/** A term of pod affinity or anti-affinity that nodes are ranked by. */
export interface PreferredPodTerm {
  /** 1 to 100; negative for anti-affinity. */
  readonly weight: number;
  readonly term: PodAffinityTerm;
}

/** Whether a spread constraint counts a node that the pod could not run on anyway. */
export type NodePolicy = 'Honor' | 'Ignore';

/** A topology spread constraint; matchLabelKeys are part of its selector. */
export interface SpreadConstraint {
  /** DoNotSchedule refuses nodes, ScheduleAnyway ranks them. */
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  /** At least 1. */
  readonly maxSkew: number;
  readonly topologyKey: string;
  /** `undefined` selects no pods. Selects in the pod's own namespace. */
  readonly selector: Selector | undefined;
  /** At least 1. With fewer domains, the least count is taken to be 0. */
  readonly minDomains: number;
  readonly nodeAffinityPolicy: NodePolicy;
  readonly nodeTaintsPolicy: NodePolicy;
}

/** A PersistentVolumeClaim that a pod mounts. */
export interface PodClaim {
  /** In the pod's namespace. */
  readonly name: string;
  /**
   * What the claim is made from when it is a generic ephemeral volume: it is deleted with the pod, and the replacement gets
   * a new one. `undefined` for a claim that outlives the pod.
   */
  readonly template: ClaimRequest | undefined;
}

/** A scheduling constraint that no filter evaluates yet; its pod is not moved. */
export interface UnsupportedConstraint {
  /** The scheduler plugin that would evaluate it. */
  readonly filter: string;
  /** The field and value, for people. */
  readonly detail: string;
}

/**
 * What decides where a pod fits. Interned by the projection: pods of one template share one object,
 * so that verdicts can be memoised by identity.
 */
export interface SchedulingConstraints {
  /** Effective requests: containers, init containers, sidecars, overhead, in-place resize (component-helpers resource.PodRequests). */
  readonly requests: ResourceVector;
  readonly nodeSelector: Labels;
  /** `undefined`: no required node affinity. Terms are ORed. */
  readonly nodeAffinity: readonly NodeSelectorTerm[] | undefined;
  readonly preferredNodeAffinity: readonly PreferredNodeTerm[];
  readonly tolerations: readonly Toleration[];
  readonly hostPorts: readonly HostPort[];
  /** Required. */
  readonly podAffinity: readonly PodAffinityTerm[];
  /** Required. */
  readonly podAntiAffinity: readonly PodAffinityTerm[];
  /** Preferred affinity, and anti-affinity with negative weights. */
  readonly preferredPodAffinity: readonly PreferredPodTerm[];
  readonly spread: readonly SpreadConstraint[];
  /** By normalised name, one for each container, init containers first; images that are volumes are not among them. */
  readonly images: readonly string[];
  readonly unsupported: readonly UnsupportedConstraint[];
}

/** Phases of a pod. */
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** Why containers of a pod wait or were terminated (`state` of their statuses), in the order of the containers. */
export interface ContainerStates {
  readonly reasons: readonly string[];
  readonly exitCodes: readonly number[];
}

/** Of containers that all run. */
export const NO_CONTAINER_STATES: ContainerStates = { reasons: [], exitCodes: [] };

/** Classes by which kubelets choose whom to evict, those that go first at the front (`status.qosClass`). */
export const QOS_CLASSES = ['BestEffort', 'Burstable', 'Guaranteed'] as const;
/** Class by which kubelets choose whom to evict. */
export type QosClass = (typeof QOS_CLASSES)[number];

/** A pod as the planner and the executor see it. */
export interface PodInfo extends PodRef {
  readonly labels: Labels;
  /** Only KEPT_ANNOTATIONS (see stay-annotations.ts). */
  readonly annotations: Labels;
  readonly owner: OwnerRef | undefined;
  /** Node it is bound to. */
  readonly nodeName: string | undefined;
  readonly phase: PodPhase;
  /** `status.reason`, such as Evicted; `undefined` for most pods. */
  readonly reason: string | undefined;
  readonly states: ContainerStates;
  /** Of its init containers. */
  readonly initStates: ContainerStates;
  /** Its Job has yet to count how it ended: it has the finalizer `batch.kubernetes.io/job-tracking`. */
  readonly uncounted: boolean;
  /** Condition Ready is True. */
  readonly ready: boolean;
  /** When condition Ready last changed. */
  readonly readySince: EpochSeconds | undefined;
  readonly createdAt: EpochSeconds;
  /** `metadata.deletionTimestamp` is set. */
  readonly terminating: boolean;
  /** Mirror of a static pod (annotation `kubernetes.io/config.mirror`) or static itself. */
  readonly mirror: boolean;
  readonly priority: number;
  readonly priorityClassName: string | undefined;
  readonly qosClass: QosClass;
  /** Annotation `controller.kubernetes.io/pod-deletion-cost`: pods that cost less go first; 0 without it. */
  readonly deletionCost: number;
  /** Times that its containers were started anew, in sum. */
  readonly restarts: number;
  /** The same of its init containers. */
  readonly initRestarts: number;
  /** Uses an emptyDir or hostPath volume, whose data a move would lose. */
  readonly localStorage: boolean;
  /** In the order of the pod's volumes. */
  readonly claims: readonly PodClaim[];
  /** `status.nominatedNodeName` of a pod without a node: the scheduler keeps room for it there. */
  readonly nominatedNode: string | undefined;
  /** `undefined` once it is bound. */
  readonly waiting: Waiting | undefined;
  /** Where it was steered to; `undefined` for a pod that was not. */
  readonly placement: Placement | undefined;
  /** As its template has them: without what steering added. */
  readonly constraints: SchedulingConstraints;
}

/** `namespace/name`, as people write it. */
export function podKey(pod: Pick<PodRef, 'namespace' | 'name'>): string {
  return `${pod.namespace}/${pod.name}`;
}
