/** One of the reasons why a pod stays. */
export interface ReasonRow {
  readonly code: string;
  readonly message: string;
  /** The numbers of the message, by name, base units. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** A pod and what the plan of this moment does with it. */
export interface PodRow {
  /** `namespace/name`. */
  readonly pod: string;
  readonly owner?: string;
  readonly node?: string;
  /** What it adds to the load of its node, a fraction. */
  readonly load?: number;
  readonly decision: 'Moves' | 'Removed' | 'Stays' | 'NotConsidered';
  /** Where it goes, or why it stays, with numbers. */
  readonly message: string;
  readonly code?: string;
  /** What keeps it where it is whatever the balance. */
  readonly protections: readonly ReasonRow[];
}

/** A node, looked at in detail. */
export interface NodeDetail {
  readonly kind: 'node';
  readonly name: string;
  readonly policy: string;
  /** Why it takes no part. */
  readonly absent?: string;
  /** Aggregated by the policy, and the mean of all nodes; fractions. */
  readonly load?: number;
  readonly mean?: number;
  readonly resources: readonly { readonly name: string; readonly allocatable: string; readonly requested: string }[];
  /** Pods that run there, the ones that add most first. */
  readonly pods: readonly PodRow[];
  /** Pods of other nodes that fit and would gain by coming, those that would gain most first; a few of them. */
  readonly candidates: readonly (PodRow & { readonly gain?: number })[];
}

/** What a node says to a pod. */
export interface PodNodeRow {
  readonly node: string;
  readonly current: boolean;
  readonly fits: boolean;
  readonly load?: number;
  readonly gain?: number;
  readonly score?: number;
  /** What filters, budgets and participation say, with their numbers. */
  readonly remarks: readonly ReasonRow[];
}

/** A pod, looked at in detail. */
export interface PodDetail extends PodRow {
  readonly kind: 'pod';
  readonly policy: string;
  /** Nodes that fit first; the first hundred. */
  readonly nodes: readonly PodNodeRow[];
  readonly allNodes: number;
  readonly fittingNodes: number;
  /** Nodes that a filter refuses, by filter. */
  readonly refusals: Readonly<Record<string, number>>;
}

/** Why pods stay, if the planner is asked now. */
export interface StaysDetail {
  readonly kind: 'stays';
  readonly policy: string;
  readonly outcome: string;
  readonly message: string;
  /** The most frequent first. */
  readonly reasons: readonly {
    readonly code: string;
    readonly count: number;
    /** Some of them. */
    readonly examples: readonly { readonly pod: string; readonly message: string }[];
  }[];
}

/** An answer of the planner to the page. */
export type PageDetail = NodeDetail | PodDetail | StaysDetail;
