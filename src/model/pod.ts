import type { TaintEffect } from './node.ts';
import type { ResourceVector } from './resources.ts';
import type { Labels, Requirement, Selector } from './selector.ts';
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

/** One required node-affinity term; all of its requirements must hold. A term without any matches no node. */
export interface NodeSelectorTerm {
  readonly expressions: readonly Requirement[];
  /** Only `metadata.name` exists as a field. */
  readonly fields: readonly Requirement[];
}

/** A port that a pod takes on its node. */
export interface HostPort {
  /** `0.0.0.0` when the pod names none. */
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** A required pod anti-affinity term, needed for its effect on *other* pods. */
export interface AntiAffinityTerm {
  /** `undefined` selects no pods (a null selector). */
  readonly selector: Selector | undefined;
  /** Namespaces that the term names; empty with no selector means the pod's own. */
  readonly namespaces: readonly string[];
  /** `undefined`: only `namespaces` count. */
  readonly namespaceSelector: Selector | undefined;
  readonly topologyKey: string;
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
  readonly tolerations: readonly Toleration[];
  readonly hostPorts: readonly HostPort[];
  readonly antiAffinity: readonly AntiAffinityTerm[];
  readonly unsupported: readonly UnsupportedConstraint[];
}

/** Phases of a pod. */
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** A pod as the planner and the executor see it. */
export interface PodInfo extends PodRef {
  readonly labels: Labels;
  /** Only the annotations that protect a pod (see plan/budgets/protections.ts). */
  readonly annotations: Labels;
  readonly owner: OwnerRef | undefined;
  /** Node it is bound to. */
  readonly nodeName: string | undefined;
  readonly phase: PodPhase;
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
  /** Uses an emptyDir or hostPath volume, whose data a move would lose. */
  readonly localStorage: boolean;
  readonly constraints: SchedulingConstraints;
}

/** `namespace/name`, as people write it. */
export function podKey(pod: Pick<PodRef, 'namespace' | 'name'>): string {
  return `${pod.namespace}/${pod.name}`;
}
