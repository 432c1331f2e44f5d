import type { RepairName } from '../api/v1alpha1/repair.ts';

/** How evenly one resource was used, in fractions of node capacity, in the mean over all windows of the metrics. */
export interface Balance {
  /** Mean of the nodes. */
  readonly mean: number;
  /** Mean absolute error against the mean (KSE eq. 1). */
  readonly ema: number;
  readonly stddev: number;
  /** The highest node. */
  readonly max: number;
}

/** What one class of workloads came to. Availabilities are fractions in [0, 1], since admission. */
export interface ClassResult {
  readonly name: string;
  readonly slo: number;
  readonly workloads: number;
  readonly mean: number;
  readonly least: number;
  /** Share of its workloads that reached their SLO, within a tolerance (class-results.ts). */
  readonly fulfilled: number;
  /** Mean of O - A over those that did not; 0 when all did. */
  readonly deficit: number;
  readonly gini: number;
  /** Core-seconds owed (algorithms.md 8). */
  readonly penalty: number;
  /** Availability of each workload, ascending. */
  readonly availabilities: readonly number[];
}

/** A window of ten minutes, by class: what was got within it. */
export interface WindowResult {
  /** Seconds since the beginning. */
  readonly from: number;
  readonly to: number;
  readonly classes: readonly WindowClass[];
}

/** One class in one window. */
export interface WindowClass {
  readonly name: string;
  readonly mean: number;
  readonly least: number;
  readonly gini: number;
  readonly fulfilled: number;
  /** Share of its workloads that would have missed their SLO for want of room alone, if starts took no time. */
  readonly withoutRoom: number;
}

/** How short of room the cluster was in a window, judged by the classes that the priority baseline did not serve. */
export type Contention = 'none' | 'low' | 'medium' | 'high';

/** Evictions, and what came of plans. */
export interface MoveResult {
  /** Evictions of pods that were to go to another node. */
  readonly transfers: number;
  /** Evictions on behalf of others. */
  readonly preemptions: number;
  /** Evictions by kubelets whose node had no memory left; 0 unless the scenario says how memory behaves. */
  readonly memoryEvictions: number;
  /** Runs of policies, and how many of them began a plan. */
  readonly runs: number;
  readonly plans: number;
  /** Transfers per run. */
  readonly perRun: number;
}

/** Pods that violate a rule of `spec.repair` at the end. */
export interface ViolationsLeft {
  readonly rule: RepairName;
  readonly pods: number;
}

/** What applications said between domains, in bits per second, over all windows of the metrics. */
export interface TrafficResult {
  /** The node label whose values are the domains. */
  readonly domain: string;
  /** Over time. */
  readonly mean: number;
  readonly max: number;
  /** In the last window. */
  readonly end: number;
  /** Seconds in which a link carried more than its capacity. */
  readonly overloaded: number;
}

/** Waiting and batch (KMS), in seconds; means over the workloads that got so far, `undefined` when none did. */
export interface WaitResult {
  /** From arrival until all instances served. */
  readonly waiting: number | undefined;
  /** Workloads that never served with all instances. */
  readonly neverServed: number;
  /** From arrival to finish of Jobs. */
  readonly makespan: number | undefined;
  /** (wait + run) / run of Jobs. */
  readonly slowdown: number | undefined;
  readonly finished: number;
}

/** How things went over time, at equal distances. */
export interface Series {
  /** Seconds since the beginning. */
  readonly times: readonly number[];
  /** Mean absolute error of the nodes in the last window of the metrics. */
  readonly cpu: readonly number[];
  readonly memory: readonly number[];
  /** Evictions so far. */
  readonly evictions: readonly number[];
  /** Mean availability since admission, by class; `null` while there is none. */
  readonly availability: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

/** What one variant of a scenario came to. The same for the same scenario and seed, to the byte. */
export interface VariantResult {
  readonly name: string;
  readonly events: number;
  readonly balance: { readonly cpu: Balance; readonly memory: Balance };
  readonly moves: MoveResult;
  /** By every rule that any policy of any variant repairs, within the scopes of these; empty when none does. */
  readonly violations: readonly ViolationsLeft[];
  /** `undefined` without AppGraphs. */
  readonly traffic: TrafficResult | undefined;
  readonly requests: { readonly total: number; readonly failed: number; readonly success: number };
  readonly classes: readonly ClassResult[];
  readonly windows: readonly WindowResult[];
  readonly waits: WaitResult;
  readonly series: Series;
}

/** What a simulation came to. */
export interface SimulationResult {
  readonly scenario: string;
  readonly seed: number;
  /** Seconds. */
  readonly duration: number;
  readonly nodes: number;
  readonly workloads: number;
  readonly variants: readonly VariantResult[];
  /** Of each window; empty without a variant with the scheduler's preemption by priority. */
  readonly contention: readonly Contention[];
}
