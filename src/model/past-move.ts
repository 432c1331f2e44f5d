import type { OwnerRef, PodRef } from './pod.ts';
import type { EpochSeconds, Seconds } from './units.ts';

/**
 * A move or a preemption of an earlier plan whose eviction was sent, or may have been: what the journals on the cluster
 * remember.
 */
export interface PastMove {
  /** Name of its RebalancePlan. */
  readonly plan: string;
  /** The incarnation that was evicted. */
  readonly pod: PodRef;
  /** Controller of the pod. */
  readonly owner: OwnerRef;
  readonly from: string;
  /** Node that was planned; `undefined` for a preemption. */
  readonly to: string | undefined;
  /** The pod that its controller made instead, once it is there. */
  readonly replacement: PastReplacement | undefined;
  /** InFlight until the replacement is Ready, or is given up. Vacated: the pod of a preemption has left. */
  readonly phase: 'InFlight' | 'Landed' | 'Missed' | 'Failed' | 'Vacated';
  /** When the intent to evict was written: at most a few seconds before the eviction. */
  readonly startedAt: EpochSeconds;
  /** When the final phase was reached. */
  readonly endedAt: EpochSeconds | undefined;
  /** Measured: from the eviction until the replacement was Ready. `undefined` while it is not. */
  readonly unavailable: Seconds | undefined;
  /** What the plan expected that to be. */
  readonly cost: Seconds | undefined;
}

/** Service that moves have cost and that no journal remembers any more, in one span of SPENT_SPAN. */
export interface SpentService {
  /** When the span begins. */
  readonly from: EpochSeconds;
  /** Pod-seconds. */
  readonly lost: Seconds;
}

/** The pod that took an evicted one's place. */
export interface PastReplacement {
  readonly uid: string;
  /** Node that it was bound to. */
  readonly node: string | undefined;
}

/** An eviction that a plan of the policy has begun, or is bound to make for who was promised room, and that has not ended. */
export interface MoveUnderWay {
  /** What it is for: equal for the preemptions that make room for one pod. */
  readonly purpose: string;
  readonly from: string;
  readonly namespace: string;
  /** UID of the pod's controller. */
  readonly owner: string;
  /** Whether it was sent, or may have been: then it is a past move, too. */
  readonly isSent: boolean;
  /** What the plan expected it to cost. */
  readonly cost: Seconds;
}
