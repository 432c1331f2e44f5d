import type { OwnerRef } from './pod.ts';
import type { Selector } from './selector.ts';
import type { EpochSeconds, Seconds } from './units.ts';

/** A controller of pods: ReplicaSet, StatefulSet, DaemonSet, Job, ReplicationController, or the Deployment above a ReplicaSet. */
export interface WorkloadInfo {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The controller above it (a ReplicaSet's Deployment). */
  readonly owner: OwnerRef | undefined;
  /** Desired replicas; `undefined` where the kind has none. */
  readonly replicas: number | undefined;
  /** Seconds that a replacement must be Ready before it counts as available. */
  readonly minReadySeconds: Seconds;
  /** `spec.template.spec.nodeName`: its pods come back there whatever a plan says. */
  readonly pinnedNode: string | undefined;
  /** Its pod template carries our scheduling gate: each of its pods waits until the operator opens it. */
  readonly gated: boolean;
  /** A Job whose podFailurePolicy ignores the condition DisruptionTarget. False for other kinds. */
  readonly toleratesDisruption: boolean;
  /**
   * It makes a pod in place of one that is still terminating: a ReplicaSet, a ReplicationController, and a Job unless its
   * podReplacementPolicy is Failed. Others wait until the old pod is gone, which on a node that has failed it never is.
   */
  readonly replacesTerminating: boolean;
  /** How far its controller has come; `undefined` where the kind or the object does not say. */
  readonly rollout: RolloutState | undefined;
  /**
   * When its pods were last asked to change: when it was created, or, of a Deployment, when condition Progressing was last
   * updated, which only a rollout does.
   */
  readonly changedAt: EpochSeconds;
}

/** What the controller of a Deployment, StatefulSet, ReplicaSet or ReplicationController has reached of its spec. */
export interface RolloutState {
  /** Its controller has seen the newest spec. */
  readonly observed: boolean;
  /** Pods of the newest template; `undefined` where the kind does not roll out, or does so by hand (OnDelete). */
  readonly updated: number | undefined;
  /** How many of those there have to be: `replicas`, less the partition of a StatefulSet. */
  readonly toUpdate: number;
  /** Pods that there are: more than `replicas` while it rolls out or scales down. */
  readonly current: number;
  readonly ready: number;
  readonly available: number;
}

/** A PodDisruptionBudget. */
export interface PdbInfo {
  readonly namespace: string;
  readonly name: string;
  /** `undefined` selects no pods. */
  readonly selector: Selector | undefined;
  /** Evictions that the disruption controller allows now; 0 when its status is older than its spec. */
  readonly disruptionsAllowed: number;
  /**
   * Whether the eviction API lets pods go that are not Ready even when it allows no disruption: enough others are healthy, or
   * `unhealthyPodEvictionPolicy` is AlwaysAllow.
   */
  readonly allowsUnready: boolean;
}
