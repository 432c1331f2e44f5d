import type { InstanceLedger, ServiceLedger } from '../model/service-level.ts';
import type { EpochSeconds, Seconds } from '../model/units.ts';

/** What an instance had before, until it is Ready again. */
export interface LeftPod {
  /** UID. */
  readonly pod: string;
  /** When it was asked to go, failed, or was replaced. */
  readonly at: EpochSeconds;
  /** It was evicted on behalf of another request. */
  readonly preempted: boolean;
}

/** One replica with what its next change needs. */
export interface KeptInstance extends InstanceLedger {
  /** Of `useful`, what is lost when its pod fails or is evicted: in mode Task the run time of the pod, else 0. */
  readonly attempt: Seconds;
  readonly left: LeftPod | undefined;
}

/** Starts that were measured. */
export interface MeasuredStarts {
  readonly count: number;
  readonly total: Seconds;
  /** Sum of their squares. */
  readonly squares: number;
}

/** A ServiceLedger as it is kept: with all that it is carried on from. All seconds and instants are whole. */
export interface KeptLedger extends ServiceLedger {
  readonly instances: readonly KeptInstance[];
  /** What `startup` was worked out from. */
  readonly starts: { readonly hot: MeasuredStarts | undefined; readonly cold: MeasuredStarts | undefined };
  /** Since when there is nothing to count: the workload is gone, or has no class; `undefined` while there is. */
  readonly endedAt: EpochSeconds | undefined;
  /** Why it has ended, or what it does not count, for people. */
  readonly message: string | undefined;
}
