import type { AppGraphInfo } from './app-graph.ts';
import type { NodeInfo } from './node.ts';
import type { MoveUnderWay, PastMove, SpentService } from './past-move.ts';
import type { PodInfo } from './pod.ts';
import type { Usage } from './resources.ts';
import type { Labels } from './selector.ts';
import type { ServiceLevels } from './service-level.ts';
import type { StorageInfo } from './storage.ts';
import type { EpochSeconds, Seconds } from './units.ts';
import type { PdbInfo, WorkloadInfo } from './workload.ts';

/** One sample of the Metrics API, or of another source of load. Values may be NaN or negative: the metrics gate judges, the projection only reads. */
export interface UsageSample extends Usage {
  /** End of the window. NaN when the object names none or an unreadable one. */
  readonly timestamp: EpochSeconds;
  /** Time over which the sample was taken. */
  readonly window: Seconds;
}

/**
 * Everything that a plan is made from, at one instant, in a total order: nodes by name, pods by namespace, name, uid.
 * Immutable; the same whether it came from a live cluster or from files.
 */
export interface ClusterSnapshot {
  readonly takenAt: EpochSeconds;
  readonly nodes: readonly NodeInfo[];
  /** Pods that hold or want a node: finished ones (Succeeded, Failed) are left out. */
  readonly pods: readonly PodInfo[];
  /** Pods in phase Failed, which take nothing from their nodes; absent where there are none. */
  readonly failedPods?: readonly PodInfo[];
  /** By uid. */
  readonly workloads: ReadonlyMap<string, WorkloadInfo>;
  /** Labels by namespace name. */
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly pdbs: readonly PdbInfo[];
  readonly storage: StorageInfo;
  /** What the RebalancePlans on the cluster say was moved, by start, plan and pod; empty when there are none. */
  readonly pastMoves: readonly PastMove[];
  /** What moves of plans have cost that are not on the cluster any more, as policies remember it; absent where nobody does. */
  readonly spent?: readonly SpentService[];
  /** What older plans of the policy have begun, which counts against its budgets; absent where there are none. */
  readonly underWay?: readonly MoveUnderWay[];
  /** What workloads were promised, and what they got. */
  readonly serviceLevels: ServiceLevels;
  /** Which workloads talk to each other, by namespace and name; absent where there is no AppGraph. */
  readonly appGraphs?: readonly AppGraphInfo[];
  /** `undefined`: the Metrics API is not served, or a file holds no metrics objects. */
  readonly usage: UsageSamples | undefined;
  /** Why there is no usage, where that is known better than that the Metrics API has none. */
  readonly usageProblem?: string;
  /** Objects that could not be read, for people; they take no part. */
  readonly problems: readonly string[];
}

/** Samples of one source. */
export interface UsageSamples {
  /** By node name. */
  readonly nodes: ReadonlyMap<string, UsageSample>;
  /** By `namespace/name` of the pod; containers summed. */
  readonly pods: ReadonlyMap<string, UsageSample>;
}
