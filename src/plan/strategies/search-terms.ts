import type { PodIndex } from '../indices.ts';
import type { State } from '../state.ts';
import type { Proposal } from './strategy.ts';

/** Moves from some state to a better one, in order. A pod may move more than once. */
export interface Way {
  readonly moves: readonly Proposal[];
  /** Whether nothing more would be found from its end. */
  readonly isFinal: boolean;
}

/** What a search for a way may do. */
export interface WayTerms {
  readonly minGain: number;
  /** Whether the pod may be moved, after the moves that were noted. */
  readonly allows: (pod: PodIndex) => boolean;
  /** The way moves the pod: counts against the budgets. */
  readonly note: (pod: PodIndex) => void;
  /** Forgets what was noted in this search, for another try from the same start. */
  readonly restart: () => void;
  /** No more moves than this are of use. */
  readonly maxMoves: number;
}

/** Finds a way from where `scratch` is, and takes `scratch` to its end. */
export type FindWay = (scratch: State, terms: WayTerms) => Way;
