import type { OwnerRef } from './pod.ts';
import type { EpochSeconds, Seconds } from './units.ts';

/** How the availability of a request with several replicas is counted (T 7.2). */
export const LEDGER_MODES = ['Aggregated', 'Independent', 'Concurrent', 'Task'] as const;
/**
 * Aggregated: replica-seconds. Independent: each replica on its own, and the request is as well served as its worst one.
 * Concurrent: only time with all replicas up counts. Task: the run time of failed or evicted incarnations is lost.
 */
export type LedgerMode = (typeof LEDGER_MODES)[number];

/** A penalty of service-level agreements: it applies below `below`, down to the next lower tier. */
export interface PenaltyTier {
  /** Availability, a fraction. */
  readonly below: number;
  /** `b` in `P = D* (1 + b)` (algorithms.md 8). */
  readonly surcharge: number;
}

/** What a class of workloads was promised, and what it may cost others. */
export interface ServiceClass {
  readonly name: string;
  /** Availability, a fraction in [0, 1]. 0: best effort. */
  readonly slo: number;
  /** Rank: 1 is the most important. */
  readonly importance: number;
  /** sigma: a request with less time to violate is in danger. */
  readonly safetyMargin: Seconds;
  /** Share of its time that a request may lose to preemptions before its equals may take its place no more. */
  readonly maxPreemptionOverhead: number;
  /** How long an incarnation runs before it may be preempted. */
  readonly minRunTime: Seconds;
  /** Time over which the SLO is to hold (OpenSLO timeWindow). */
  readonly window: Seconds;
  readonly mode: LedgerMode;
  /** alpha, until starts have been measured. */
  readonly expectedStartup: Seconds;
  /** From the highest `below` to the lowest; empty without an agreement. */
  readonly penalties: readonly PenaltyTier[];
}

/** Seconds of service since admission, summed over incarnations. */
export interface ServiceTimes {
  /** e: useful run time. */
  readonly useful: Seconds;
  /** d: run time that was lost, in mode Task. */
  readonly discarded: Seconds;
  /** p: time in which an instance was wanted and did not run. */
  readonly pending: Seconds;
}

/** One replica of a request: what its incarnations came to, and the one that it has. */
export interface InstanceLedger extends ServiceTimes {
  /** UID of the pod that is its incarnation now; `undefined` while it has none. */
  readonly pod: string | undefined;
  /** Whether that pod is Ready. */
  readonly running: boolean;
  /** Since when it has been running or not: the instant up to which the times are counted. */
  readonly since: EpochSeconds;
}

/** What a request, a workload with a class, has got since it was admitted. Piecewise linear: times go on from `asOf`. */
export interface ServiceLedger {
  readonly namespace: string;
  /** The workload at the top: a Deployment rather than its ReplicaSet. */
  readonly owner: OwnerRef;
  /** Name of its ServiceClass. */
  readonly className: string;
  readonly admittedAt: EpochSeconds;
  /** Instant up to which `times` are counted. */
  readonly asOf: EpochSeconds;
  /** Of the whole request, in the way of the mode of its class. */
  readonly times: ServiceTimes;
  /** Instances that run, and that wait, since `asOf`. */
  readonly running: number;
  readonly waiting: number;
  /** Each replica by itself. */
  readonly instances: readonly InstanceLedger[];
  /** What `times` were at earlier instants, oldest first, so that the time since can be told apart: for the class's window. */
  readonly checkpoints: readonly (ServiceTimes & { readonly at: EpochSeconds })[];
  /** Evictions on behalf of other requests, and the sum of the start-up times that followed them. */
  readonly preemptions: number;
  readonly overhead: Seconds;
  /** Measured start-up times, from eviction or creation to Ready: where the image was on the node, and where not. */
  readonly startup: { readonly hot: StartTime | undefined; readonly cold: StartTime | undefined };
}

/** How long the starts took that were measured. */
export interface StartTime {
  readonly mean: Seconds;
  /** Standard deviation. */
  readonly deviation: Seconds;
}

/** Names of the classes of pods that name none, and whose namespace names none. */
export interface AssignedClasses {
  /** By the PriorityClass of the pod. */
  readonly byPriorityClass: ReadonlyMap<string, string>;
  /** Of the pods that have no class otherwise; `undefined`: they were promised nothing. */
  readonly byDefault: string | undefined;
}

/** Classes by name, and ledgers by the UID of the workload at the top. */
export interface ServiceLevels extends AssignedClasses {
  readonly classes: ReadonlyMap<string, ServiceClass>;
  readonly ledgers: ReadonlyMap<string, ServiceLedger>;
}

/** Nobody was promised anything. */
export const NO_SERVICE_LEVELS: ServiceLevels = {
  classes: new Map(),
  ledgers: new Map(),
  byPriorityClass: new Map(),
  byDefault: undefined,
};
