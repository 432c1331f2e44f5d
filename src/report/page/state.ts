import type { MovePhase, PlanPhase } from '../../api/v1alpha1/rebalance-plan.ts';
import type { RepairName } from '../../api/v1alpha1/repair.ts';

/** Resources of the heat map: those that a load is measured in, and pod slots. */
export const PAGE_RESOURCES = ['cpu', 'memory', 'pods'] as const;
/** A resource of the heat map. */
export type PageResource = (typeof PAGE_RESOURCES)[number];

/** By resource, as fractions of a node's allocatable, to a thousandth; what is not known is absent. */
export type Loads = Readonly<Partial<Record<PageResource, number>>>;

/**
 * Source of the page: the replica that leads, one that waits to lead, a dashboard that reads what an operator does, one that
 * plans by itself from a cluster, or one that plans from files, which do not change.
 */
export type PageRole = 'Leader' | 'Follower' | 'Reader' | 'Planner' | 'Files';

/**
 * Everything that the page shows at one moment, as JSON: without null, which a merge patch means absence by. Rows are keyed, so
 * that the difference of two states names what changed and nothing else.
 */
export interface PageState {
  /** The cluster or the files. */
  readonly title: string;
  readonly role: PageRole;
  /** Time of the snapshot; absent before the first. */
  readonly takenAt?: string;
  /** What loads are: measured, or what pods request where there are no metrics. */
  readonly basis: 'Usage' | 'Requests';
  /** Why what is shown is old or incomplete. */
  readonly trouble?: string;
  readonly pods: number;
  /** By name. */
  readonly nodes: Readonly<Record<string, NodeRow>>;
  /** By name. */
  readonly policies: Readonly<Record<string, PolicyRow>>;
  /** By `namespace/Kind/name` of the workload. */
  readonly services: Readonly<Record<string, ServiceRow>>;
  /** What they came to, by the name of their ServiceClass. */
  readonly classes: Readonly<Record<string, ClassRow>>;
}

/** One node. */
export interface NodeRow {
  readonly status: 'Ready' | 'NotReady' | 'Cordoned' | 'Terminating';
  readonly pods: number;
  readonly now: Loads;
  /** Names of its zone and of its node pool, by its labels. */
  readonly zone?: string;
  readonly pool?: string;
}

/** One policy with its newest plan. */
export interface PolicyRow {
  readonly strategy: string;
  readonly mode: string;
  readonly suspended: boolean;
  /** Replica of the operator that leads it; absent without leader election, and before its first pass. */
  readonly leader?: string;
  /** What is wrong with it. */
  readonly invalid?: string;
  /** Weights of the resources that it balances. */
  readonly weights: Readonly<Partial<Record<PageResource, number>>>;
  /** How they become one load. */
  readonly aggregate: 'Weighted' | 'Dominant';
  /** What it takes for load. */
  readonly source: 'MetricsAPI' | 'Requests' | 'Prometheus';
  /** Nodes that its scope leaves out. */
  readonly outside: readonly string[];
  /** `thresholds.trigger`. */
  readonly trigger: number;
  /** Highest minus lowest aggregated load at the last run. */
  readonly imbalance?: number;
  readonly lastRun?: string;
  readonly nextRun?: string;
  readonly hitRatio?: number;
  readonly conditions: readonly ConditionRow[];
  readonly plan?: PlanRow;
  /** Newest first. */
  readonly history: readonly HistoryRow[];
}

/** A condition of a policy. */
export interface ConditionRow {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** The newest plan of a policy. */
export interface PlanRow {
  readonly name: string;
  readonly phase: PlanPhase;
  readonly outcome: string;
  /** One sentence without its full stop, and the notes that belong to it. */
  readonly message: string;
  readonly notes: readonly string[];
  readonly takenAt: string;
  readonly finishedAt?: string;
  readonly steering?: string;
  readonly expectedHitRatio?: number;
  /** Standard deviation by resource. */
  readonly stddev: Readonly<Partial<Record<PageResource, BeforeAfter>>>;
  /** By place in the plan. */
  readonly moves: Readonly<Record<string, MoveRow>>;
  /** By node: what its loads would be besides those of now. Nodes that the plan does not touch are absent. */
  readonly shifts: Readonly<Record<string, NodeShift>>;
  /** Pods that were considered and stay, by reason. */
  readonly stays: Readonly<Record<string, number>>;
  /** Of a plan that brings applications together. */
  readonly traffic?: TrafficRow;
}

/** What passes between domains, in bits per second, before the plan and as planned. */
export interface TrafficRow extends Required<Omit<BeforeAfter, 'actual'>> {
  /** What domains are, in the plural: `zones`. */
  readonly domains: string;
  /** By the names of two domains, with a slash between them, the most first. */
  readonly between: Readonly<Record<string, Required<Omit<BeforeAfter, 'actual'>>>>;
}

/** A figure before, as planned, and as measured afterwards. */
export interface BeforeAfter {
  readonly before?: number;
  readonly planned?: number;
  readonly actual?: number;
}

/**
 * What to add to the loads of now to have those with the pods of the plan where they were before it, and where it wants them:
 * the effect of the plan, whatever else has changed since.
 */
export interface NodeShift {
  readonly before: Loads;
  readonly planned: Loads;
}

/** One move with its journal. */
export interface MoveRow {
  /** `namespace/name`. */
  readonly pod: string;
  readonly owner: string;
  /** Absent for a pod that waits at the gate. */
  readonly from?: string;
  /** Absent for a pod that goes back to the queue, or is removed. */
  readonly to?: string;
  /** It has failed, and is removed. */
  readonly removal?: boolean;
  /** What the move repairs; absent when nothing. */
  readonly repairs?: readonly RepairName[];
  /** `namespace/name` of the pod without a node for which it makes room. */
  readonly makesRoomFor?: string;
  readonly phase: MovePhase;
  /** Points of node capacity. */
  readonly gain: number;
  /** Seconds of service: expected, and measured. */
  readonly cost?: number;
  readonly measured?: number;
  readonly reason: string;
  readonly outcome?: string;
  /** Places of the moves that come first. */
  readonly after?: readonly number[];
  readonly replacement?: string;
  /** Node of the replacement. */
  readonly landedOn?: string;
}

/** One run of a policy: what it predicted beside what was measured. Highest minus lowest load. */
export interface HistoryRow extends BeforeAfter {
  readonly time: string;
  readonly outcome: string;
  readonly moves: number;
  readonly plan?: string;
}

/** What a workload was promised and what it got. */
export interface ServiceRow {
  readonly className: string;
  readonly importance: number;
  readonly slo: number;
  /** Over the window of the class; absent while nothing was observed. */
  readonly availability?: number;
  readonly sinceAdmission?: number;
  /** Seconds until the SLO is violated if a replica stopped now; absent: never. */
  readonly timeToViolate?: number;
  readonly standing: 'Kept' | 'InDanger' | 'Missed';
  readonly running: number;
  readonly waiting: number;
  readonly preemptions: number;
}

/** All workloads of one ServiceClass that have a ledger. */
export interface ClassRow {
  readonly importance: number;
  readonly slo: number;
  readonly workloads: number;
  /** Those of them that fall short of the SLO. */
  readonly missed: number;
  /** The least of their availabilities that are held against the SLO; absent while nothing was observed. */
  readonly least?: number;
  /** Gini coefficient of those availabilities. */
  readonly gini: number;
  /** Core-seconds that they are owed for the window of the class. */
  readonly penalty: number;
  /** Their pods without a node, and for how many seconds the oldest has existed. */
  readonly waiting: number;
  readonly longestWait: number;
}

/** The state before anything is known. */
export function emptyState(title: string, role: PageRole): PageState {
  return { title, role, basis: 'Usage', pods: 0, nodes: {}, policies: {}, services: {}, classes: {} };
}
