import type { MoveStatus, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { Waiting } from '../model/gate.ts';
import { type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import type { Deletion, EvictionAnswer } from '../ports.ts';
import type { Siblings } from './siblings.ts';

/** A move as it was planned. */
export type PlannedMove = RebalancePlan['spec']['moves'][number];

/** What happened to a move. */
export type MoveEvent =
  /**
   * The live check passed; `serverTime` is the API server's clock, `leaderEpoch` undefined without leader election, and so are
   * `siblings` for an admission.
   */
  | {
      readonly kind: 'Begin';
      readonly serverTime: EpochSeconds;
      readonly leaderEpoch: number | undefined;
      readonly siblings: Siblings | undefined;
    }
  /**
   * What the API server said, to the dry run while Planned and to the eviction while Intent; `at` is its clock when the answer
   * came, or was waited for no longer. `siblings` are those right before it was asked.
   */
  | {
      readonly kind: 'Answer';
      readonly answer: EvictionAnswer;
      readonly at: EpochSeconds;
      readonly siblings: Siblings | undefined;
    }
  /** What stands on the cluster. */
  | ({ readonly kind: 'Observed' } & Observation)
  /** The check before the intent, or that before the eviction, found something that may pass. */
  | { readonly kind: 'Hold'; readonly why: string }
  /** One of them failed for good. */
  | { readonly kind: 'Skip'; readonly why: string }
  /** The plan was stopped before the eviction was sent. */
  | { readonly kind: 'Abort'; readonly why: string };

/** What stands on the cluster of a move in flight. */
export interface Observation {
  /** The incarnation that was to be evicted. */
  readonly pod: 'Running' | 'Terminating' | 'Gone';
  /** What keeps it while it is Terminating; `undefined` where nothing is known of that. */
  readonly deletion: Deletion | undefined;
  /** The pod that its controller made instead, if it did; of an admission, the pod itself while it is there. */
  readonly replacement: Replacement | undefined;
  /** Whether its controller, if it is there, has fewer pods than it wants: a replacement may yet come. */
  readonly awaited: boolean;
  readonly serverTime: EpochSeconds;
  /** How long this process had looked at the eviction when this look began; 0 in other phases than Evicting. */
  readonly withoutEffect: Seconds;
}

/** The pod that took an evicted one's place. */
export interface Replacement {
  readonly name: string;
  readonly uid: string;
  readonly node: string | undefined;
  /** Ready for the owner's minReadySeconds. */
  readonly available: boolean;
  /** When it became Ready; `undefined` while it is not. */
  readonly readySince: EpochSeconds | undefined;
  /** Seconds since it was created. */
  readonly age: Seconds;
  /** What it waits for; `undefined` once it is bound. */
  readonly waiting: Waiting | undefined;
  /** Why it does not run on its planned node; `undefined` while it may, and when that is on record or cannot be told. */
  readonly miss: MoveStatus['miss'];
}

/** Side effects in the order in which they are to be performed, after the new run was written. */
export type MoveEffect = 'Evict' | 'RemoveHint' | 'OpenGate' | 'Release';

/** A move's next state and what has to be done about it. */
export interface Advanced {
  readonly run: MoveStatus;
  readonly effects: readonly MoveEffect[];
}

/** The longest that a move rests between two tries, whatever a server asks for. */
export const LONGEST_REST: Seconds = seconds(600);

/** A move of the plan with its journal entry. */
export interface JournalEntry {
  readonly index: number;
  readonly move: PlannedMove;
  readonly run: MoveStatus;
}

/** Moves in flight that belong to other plans: what those left behind whose policy was deleted or lost pods to another. */
export interface Elsewhere {
  /** Of plans of a policy of this name, which share its `maxConcurrent`; all share the limit of the operator. */
  readonly ofPolicy: readonly JournalEntry[];
  readonly ofOthers: readonly JournalEntry[];
}
