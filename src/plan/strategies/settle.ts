import { isImprovement, type State, type StateView } from '../state.ts';
import { createExclusions } from './exclusions.ts';
import type { Proposal, Proposals, Terms } from './strategy.ts';

/** Moves from some state to a better one, in order. A pod may move more than once. */
export interface Way {
  readonly moves: readonly Proposal[];
  /** Whether nothing more would be found from its end. */
  readonly isFinal: boolean;
}

/** What a search for a way may do. */
export interface WayTerms {
  readonly minGain: number;
  /** Whether the pod may be moved. */
  readonly allows: (pod: number) => boolean;
  /** No more moves than this are of use. */
  readonly maxMoves: number;
}

/** Finds a way from where `scratch` is, and takes `scratch` to its end. */
export type FindWay = (scratch: State, terms: WayTerms) => Way;

/**
 * Finds ways on a scratch state, one after the other until there is none, and only then proposes the moves that lead to
 * their end, each pod once and straight to its last node. When all of them are accepted the next plan is empty, because it
 * would begin with the search that found nothing; moves proposed as they are found would leave pods that the same plan
 * may not move again. What was refused is ruled out, and the search starts anew from where things then are.
 *
 * `mayLeave` says whether pods may be taken from a node at that moment.
 */
export function* settle(state: StateView, terms: Terms, find: FindWay, mayLeave: (node: number) => boolean): Proposals {
  const exclusions = createExclusions(state, terms);
  const isUseful = ({ pod, to }: Proposal): boolean =>
    exclusions.allows(pod) && mayLeave(state.nodeOf(pod)) && helps(state, { pod, to }, terms.minGain);
  let accepted: number;
  let missed: number;
  do {
    const moves = findAll(
      state,
      { minGain: terms.minGain, allows: exclusions.allows, maxMoves: terms.movesLeft() },
      find,
    );
    accepted = 0;
    missed = moves.length;
    // What does not help or fit yet may do so after the moves behind it.
    for (let before = -1; accepted !== before && !exclusions.isOver(); ) {
      before = accepted;
      for (const proposal of moves) {
        if (isUseful(proposal) && !exclusions.isOver()) {
          accepted += (yield* exclusions.offer(proposal)) ? 1 : 0;
        }
      }
    }
    missed -= accepted;
  } while (accepted > 0 && missed > 0 && !exclusions.isOver());
}

/** Whether the move would pass the planner's own test of gain and filters. */
export function helps(state: StateView, { pod, to }: Proposal, minGain: number): boolean {
  const gains = state.gain(pod, to) >= Math.max(minGain, 1) && isImprovement(state.objectiveChange(pod, to));
  return gains && state.fits(pod, to);
}

/** More searches than any cluster has been seen to need; a bound all the same. */
const MAX_SEARCHES = 8;

function findAll(state: StateView, terms: WayTerms, find: FindWay): readonly Proposal[] {
  const scratch = state.fork();
  const moves: Proposal[] = [];
  for (let search = 0; search < MAX_SEARCHES && moves.length < terms.maxMoves; search += 1) {
    const way = find(scratch, { ...terms, maxMoves: terms.maxMoves - moves.length });
    moves.push(...way.moves);
    if (way.isFinal || way.moves.length === 0) {
      break;
    }
  }
  return straight(state, moves);
}

/** Each pod once, at the position of its last move, and not at all when it came back. */
export function straight(state: StateView, moves: readonly Proposal[]): readonly Proposal[] {
  const last = new Map<number, number>();
  moves.forEach(({ pod }, position) => {
    last.set(pod, position);
  });
  return moves.filter(({ pod, to }, position) => last.get(pod) === position && to !== state.nodeOf(pod));
}
