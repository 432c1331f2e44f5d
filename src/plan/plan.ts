import type { StrategyName } from '../api/v1alpha1/rebalance-policy.ts';
import type { RepairName } from '../api/v1alpha1/repair.ts';
import type { OwnerRef, PodRef } from '../model/pod.ts';
import type { LoadResource } from '../model/resources.ts';
import type { EpochSeconds, Seconds } from '../model/units.ts';
import type { RejectionCode } from './rejection-codes.ts';

/** One pod that the plan wants elsewhere. Its place in `Plan.moves` is its place in the sequence. */
export type Move = Transfer | Preemption | Admission | Removal;

/** From one node to another. */
export interface Transfer extends MoveBase {
  readonly from: string;
  /** Never equal to `from`. */
  readonly to: string;
  /** The node `from` has failed: the pod does not run, and its eviction costs no service. */
  readonly failover?: true;
}

/** From its node back to the queue, so that another gets its room: its replacement waits at our scheduling gate. */
export interface Preemption extends MoveBase {
  readonly from: string;
  readonly to: undefined;
}

/** From the queue to a node: the pod waits at our scheduling gate, and is let through to that node alone. */
export interface Admission extends MoveBase {
  readonly from: undefined;
  readonly to: string;
}

/** A pod that has failed is removed: nothing is to take its place. */
export interface Removal extends MoveBase {
  readonly from: string;
  readonly to: undefined;
  readonly removal: true;
}

interface MoveBase {
  readonly pod: PodRef;
  readonly owner: OwnerRef;
  /** What the pod adds to the load of its node, or will: a fraction of that node's allocatable. */
  readonly load: number;
  /** Points of node capacity (0.01 = one percentage point) by which the higher of the two nodes falls. */
  readonly gain: number;
  /** Nodes that would be good ones, too, the better one first; at most two, and none where nothing goes from node to node. */
  readonly fallbacks: readonly string[];
  /** Service that the move is expected to cost: from the eviction until the replacement is Ready. */
  readonly cost: Seconds;
  /** One sentence with the numbers behind the move. */
  readonly reason: string;
  /** Places in `Plan.moves` of earlier moves that must have left their nodes first; ascending. */
  readonly after: readonly number[];
  /** What it repairs; empty for a move of the strategy. */
  readonly repairs: readonly RepairName[];
  /** `namespace/name` of the pod without a node for which the move makes room; absent for other moves. */
  readonly makesRoomFor?: string;
  /** Place of the other move when two go together: both are worth it only together. */
  readonly partner: number | undefined;
  /** `namespace/name` of the AppGraph with whose other moves it goes: all of them, or none. */
  readonly application?: string;
}

/** Why pods that were considered are not moved. */
export interface Reason {
  readonly code: RejectionCode;
  /** One sentence that names what stands in the way and its numbers. */
  readonly message: string;
  /** The numbers of the message, by name, base units. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** A pod that was considered and is not moved, and why. */
export interface Rejection extends Reason {
  readonly pod: PodRef;
}

/**
 * All pods that were considered and are not moved, in order, each with the reason at the same place. Pods that stay for the
 * same reason share it: there may be 150,000 of them.
 */
export interface Rejections {
  readonly pods: readonly PodRef[];
  readonly reasons: readonly Reason[];
}

/** How uneven the load of one resource is over the nodes that take part. All are fractions of node capacity. */
export interface Imbalance {
  /** Capacity-weighted mean: sum of usage over sum of allocatable. */
  readonly mean: number;
  /** Mean absolute error against the mean (KSE eq. 1). */
  readonly ema: number;
  readonly stddev: number;
  /** Highest minus lowest. */
  readonly range: number;
  /** Highest node. */
  readonly max: number;
}

/** Imbalance of each resource of the policy, in its order. */
export type ImbalanceByResource = Readonly<Record<LoadResource, Imbalance>>;

/** Why a plan has the moves that it has, or none. */
export type PlanOutcome =
  /** There are moves; where they do not reach balance, what stands in the way. */
  | { readonly kind: 'Moves'; readonly obstacle: string | undefined }
  /** Imbalance is below `thresholds.trigger`. */
  | { readonly kind: 'Balanced'; readonly message: string }
  /** Imbalance is above the trigger, but no allowed move helps enough; the message says what stands in the way. */
  | { readonly kind: 'NoBeneficialMove'; readonly message: string }
  /** Moves would help, but budgets allow none of them; the message names the budget. */
  | { readonly kind: 'BudgetExhausted'; readonly message: string }
  /** Imbalance is above the trigger, and pods that would have to move may not, or traffic is not known; the message says why, and until when if that is known. */
  | { readonly kind: 'Blocked'; readonly message: string }
  /** Fewer than two nodes take part. */
  | { readonly kind: 'NothingToBalance'; readonly message: string }
  /** The policy only repairs, and no pod runs where it should not. */
  | { readonly kind: 'NothingToRepair'; readonly message: string }
  /** No node that runs pods requests little enough to be emptied. */
  | { readonly kind: 'NothingToPack'; readonly message: string }
  /** There is no AppGraph in scope, or nothing between domains that moves would save. */
  | { readonly kind: 'NothingToReroute'; readonly message: string }
  /** No Metrics API, or no metrics objects in the file. */
  | { readonly kind: 'MetricsUnavailable'; readonly message: string }
  /** Coverage of valid samples below `load.minCoverage`. */
  | { readonly kind: 'MetricsIncomplete'; readonly message: string };

/** How well the Metrics API covers the nodes. */
export interface MetricsCoverage {
  readonly readyNodes: number;
  /** Ready nodes with a valid sample, idle nodes included. */
  readonly sampledNodes: number;
  /** sampledNodes / readyNodes; 1 when there are no Ready nodes. */
  readonly ratio: number;
  /** Age of the oldest valid sample; `undefined` when there is none. */
  readonly maxAge: Seconds | undefined;
}

/** A node that requests little and keeps its pods. */
export interface KeptNode {
  readonly node: string;
  /** The pod that keeps the others there; `undefined`: the reason is the node's own. */
  readonly pod: PodRef | undefined;
  readonly reason: Reason;
}

/** What a plan that empties nodes comes to. */
export interface PackingReport {
  /** Nodes that the plan empties, in that order. */
  readonly emptied: readonly string[];
  /** Nodes that run nothing after the plan but pods of DaemonSets and mirror pods: an autoscaler can remove them. */
  readonly removable: readonly string[];
  /** Why other nodes below the thresholds keep their pods, the least used first. */
  readonly kept: readonly KeptNode[];
}

/** An application of a plan that reduces traffic. */
export interface ApplicationTraffic {
  readonly namespace: string;
  /** Of its AppGraph. */
  readonly name: string;
  /** Moves of its pods. */
  readonly moves: number;
  /** Between domains. */
  readonly before: TrafficAmount;
  readonly planned: TrafficAmount;
  /** Why it is not brought closer together; `undefined` when it has moves, or no traffic between domains. */
  readonly stays: Reason | undefined;
}

/** Traffic between domains. */
export interface TrafficAmount {
  /** Bits per second. */
  readonly bandwidth: number;
  /** For an hour; `undefined` without prices. */
  readonly cost: number | undefined;
}

/** What all applications say between two domains, in bits per second. */
export interface DomainTraffic {
  readonly domains: readonly [string, string];
  readonly before: number;
  readonly planned: number;
}

/** What a plan that reduces traffic comes to. */
export interface TrafficReport {
  /** The node label whose values are the domains. */
  readonly domain: string;
  /** Of all applications. */
  readonly before: TrafficAmount;
  readonly planned: TrafficAmount;
  /** Pairs of domains with traffic between them, the most first. */
  readonly between: readonly DomainTraffic[];
  /** Those with traffic between domains before, the most first. */
  readonly applications: readonly ApplicationTraffic[];
}

/** What the planner decided: plain data, the same for the same snapshot and policy wherever it runs. */
export interface Plan {
  readonly strategy: StrategyName;
  readonly takenAt: EpochSeconds;
  readonly outcome: PlanOutcome;
  readonly moves: readonly Move[];
  readonly rejections: Rejections;
  readonly coverage: MetricsCoverage;
  readonly imbalance: { readonly before: ImbalanceByResource; readonly planned: ImbalanceByResource };
  /** The figure that `thresholds.trigger` is compared with: highest minus lowest aggregated load, before and planned. */
  readonly spread: { readonly before: number; readonly planned: number };
  /**
   * The share of the moves that kube-scheduler would make of itself, without steering, in [0, 1]: the mean of the chances
   * that it chooses the planned node (see hit-ratio.ts). `undefined` without moves.
   */
  readonly expectedHitRatio: number | undefined;
  /** `undefined`: the strategy does not empty nodes. */
  readonly packing?: PackingReport | undefined;
  /** `undefined`: the strategy does not look at traffic. */
  readonly traffic?: TrafficReport | undefined;
  /** SHA-256 in hex over strategy and moves; equal plans have equal hashes. */
  readonly hash: string;
}
