import type { NodeIndex, PodIndex } from '../indices.ts';
import type { StateView } from '../state.ts';

/** One pod to one node, both by place. */
export interface Proposal {
  readonly pod: PodIndex;
  readonly to: NodeIndex;
  /** A second move that follows at once: both are made, or none. */
  readonly then?: Proposal;
}

/** Whether pods may be taken from a node at that moment. */
export type MayLeave = (state: StateView, node: NodeIndex) => boolean;

/**
 * What else a refusal rules out for the rest of the plan: nothing but this move, every move of the pod, every move from
 * its node, or every move.
 */
export type Reach = 'Move' | 'Pod' | 'Node' | 'Plan';

/** The planner's answer to a proposal. An accepted move is already part of the state that the strategy looks at. */
export type Verdict = { readonly accepted: true } | { readonly accepted: false; readonly reach: Reach };

/** What the planner lets a strategy know before it proposes. */
export interface Terms {
  /** Moves that gain less are refused. A load (see load.ts). */
  readonly minGain: number;
  /** Moves that the plan still has room for. */
  readonly movesLeft: () => number;
  /** Whether the budgets would let the pod move now; they only get tighter, but for what is released. */
  readonly mayMove: (pod: PodIndex) => boolean;
  /** Counts a move of the pod that is only thought of against the budgets. To be released before anything is proposed. */
  readonly reserve: (pod: PodIndex) => void;
  readonly release: (pod: PodIndex) => void;
}

/**
 * A conversation with the planner: yields a proposal, is told the verdict, and offers something else after a refusal.
 * Ends when it returns. It knows budgets only through verdicts and terms.
 */
export type Proposals = Generator<Proposal, void, Verdict>;

/** What a strategy considers a node that has to give, and one that may take: for the reasons of the pods that stay. */
export interface Bounds {
  /** Pods leave nodes above this load only. */
  readonly sourceAbove: number;
  /** What it is called when a pod's node is not above. */
  readonly belowCode: 'NotHeavy' | 'InBalance';
  /** The rule behind `sourceAbove` in words, such as `mean 50.00 % x overload 1.05`. */
  readonly rule: string;
  /** Only nodes below this load take pods. */
  readonly targetBelow: number;
  /** No move takes its target above this load. */
  readonly targetUpTo: number;
}

/** A strategy with its settings. */
export interface Strategy {
  /**
   * EachMove: every move must gain at least minGain. WholePlan: moves may pass through worse states, and the plan as a
   * whole must lower the squared deviations; only for algorithms kept for comparison.
   */
  readonly judgedBy: 'EachMove' | 'WholePlan';
  /** Proposes moves on `state`, which changes as they are accepted. */
  readonly propose: (state: StateView, terms: Terms) => Proposals;
  readonly bounds: (state: StateView) => Bounds;
  /** Nodes that pods may be taken from at that moment; of two moves that go together, one must be from such a node. */
  readonly mayLeave: MayLeave;
  /** Moves keep the order in which they were proposed, since that is what the algorithm is known for. */
  readonly keepsOrder: boolean;
}

/** Pods may leave every node. */
export function anyNode(): boolean {
  return true;
}
