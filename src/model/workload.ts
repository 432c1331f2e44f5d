import type { OwnerRef } from './pod.ts';
import type { Selector } from './selector.ts';
import type { Seconds } from './units.ts';

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
  /** A Job whose podFailurePolicy ignores the condition DisruptionTarget. False for other kinds. */
  readonly toleratesDisruption: boolean;
}

/** A PodDisruptionBudget. */
export interface PdbInfo {
  readonly namespace: string;
  readonly name: string;
  /** `undefined` selects no pods. */
  readonly selector: Selector | undefined;
  /** Evictions that the disruption controller allows now; 0 when its status is older than its spec. */
  readonly disruptionsAllowed: number;
}
