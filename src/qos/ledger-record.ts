import type { OwnerRef } from '../model/pod.ts';
import type { ServiceClass } from '../model/service-level.ts';
import type { EpochSeconds } from '../model/units.ts';

/** What condition Ready of a pod said when it was seen, with what its containers said. */
export interface ReadyMark {
  readonly ready: boolean;
  /** `lastTransitionTime` of the condition. */
  readonly since: EpochSeconds;
  /** When the containers that run, or ran last, were all started. */
  readonly startedAt: EpochSeconds | undefined;
  /** When a container last stopped. */
  readonly stoppedAt: EpochSeconds | undefined;
}

/** How a pod ended. Deleted: evicted, deleted, or gone without a trace. */
export interface PodEnd {
  /** When it was asked to go, or its last container stopped; `undefined` where the API server has no record of it. */
  readonly at: EpochSeconds | undefined;
  readonly how: 'Deleted' | 'Failed' | 'Succeeded';
}

/** What the API server records of one pod, and what of that was seen. */
export interface PodRecord {
  readonly uid: string;
  readonly createdAt: EpochSeconds;
  /** When it was bound to a node (condition PodScheduled). */
  readonly scheduledAt: EpochSeconds | undefined;
  /** Each state of Ready that was seen, in that order. */
  readonly marks: readonly ReadyMark[];
  /** `undefined` while it is there and nobody has asked it to go. */
  readonly end: PodEnd | undefined;
  /** When it was found to be gone, by who had seen it before. */
  readonly missedAt: EpochSeconds | undefined;
  /** Its node had the image before it was started; `undefined` when it was not seen before that. */
  readonly hot: boolean | undefined;
}

/** What the API server records of a request: of the workload at the top and its pods. */
export interface RequestRecord {
  readonly namespace: string;
  readonly owner: OwnerRef;
  readonly createdAt: EpochSeconds;
  /** Replicas that are wanted now; `undefined` where the kind has no such number: as many as there are. */
  readonly desired: number | undefined;
  /** When a Job completed: pods that are gone since have succeeded. */
  readonly completedAt: EpochSeconds | undefined;
  /** Those that are there, and those that went lately. */
  readonly pods: readonly PodRecord[];
}

/** A class and since when it promises something. */
export interface Promised {
  readonly terms: ServiceClass;
  readonly createdAt: EpochSeconds;
}
