import type { PodIndex } from '../indices.ts';
import type { State, StateView } from '../state.ts';
import { createExclusions } from './exclusions.ts';
import { type Pair, payingOrder } from './pairs.ts';
import type { FindWay, WayTerms } from './search-terms.ts';
import type { MayLeave, Proposal, Proposals, Terms } from './strategy.ts';

/**
 * Finds a way on a scratch state to where no more way is found, and only then proposes the moves that lead there, each pod
 * once and straight to its last node. When all of them are accepted the next plan is empty, because it would begin with the
 * search that found nothing; moves proposed as they are found would leave pods that the same plan may not move again. What
 * is refused is ruled out, and the search starts anew from where things then are.
 */
export function* settle(state: StateView, terms: Terms, find: FindWay, mayLeave: MayLeave): Proposals {
  const { minGain } = terms;
  const exclusions = createExclusions(state, terms);
  let accepted: number;
  let missed: number;
  do {
    accepted = 0;
    const moves = findWithinBudgets(state, terms, exclusions.allows, find, mayLeave);
    for (const proposal of moves) {
      if (isAllowed(proposal, exclusions.allows) && mayHelp(state, proposal, minGain, mayLeave)) {
        accepted += (yield* exclusions.offer(proposal)) ? 1 : 0;
      }
      if (exclusions.isOver()) {
        return;
      }
    }
    missed = moves.length - accepted;
  } while (accepted > 0 && missed > 0);
}

/** The budgets count the moves that are thought of, so that what is proposed is within them. */
function findWithinBudgets(
  state: StateView,
  terms: Terms,
  allows: (pod: PodIndex) => boolean,
  find: FindWay,
  mayLeave: MayLeave,
): readonly Proposal[] {
  const reservations = createReservations(terms, allows);
  const moves = findStraight(state, terms, reservations, find, mayLeave);
  reservations.clear();
  return moves;
}

function isAllowed({ pod, then }: Proposal, allows: (pod: PodIndex) => boolean): boolean {
  return allows(pod) && (then === undefined || allows(then.pod));
}

/** Whether it is worth offering; for two moves that go together the planner finds out by making them. */
function mayHelp(state: StateView, proposal: Proposal, minGain: number, mayLeave: MayLeave): boolean {
  return proposal.then !== undefined || helps(state, proposal, minGain, mayLeave);
}

/** Moves, of which some go together. */
function countMoves(proposals: readonly Proposal[]): number {
  return proposals.reduce((sum, { then }) => sum + (then === undefined ? 1 : 2), 0);
}

/** Whether the single move would pass the planner's own test of gain and filters. */
export function helps(state: StateView, { pod, to }: Proposal, minGain: number, mayLeave: MayLeave): boolean {
  const gains = state.gain(pod, to) >= Math.max(minGain, 1);
  return gains && mayLeave(state, state.nodeOf(pod)) && state.fits(pod, to);
}

/** More searches than any cluster has been seen to need; a bound all the same. */
const MAX_SEARCHES = 16;

/**
 * Straight moves from `state` that help one after the other, to a place from which no way leads on. Making a way straight
 * may leave moves that do not help any more; they are left out, and the search goes on from where the others lead.
 */
function findStraight(
  state: StateView,
  { minGain, movesLeft }: Terms,
  reservations: Reservations,
  find: FindWay,
  mayLeave: MayLeave,
): readonly Proposal[] {
  const maxMoves = movesLeft();
  const { allows, add: note, restart } = reservations;
  const terms = { minGain, allows, note, restart, maxMoves };
  let scratch = state.fork();
  let moves: readonly Proposal[] = [];
  for (let search = 0; search < MAX_SEARCHES && countMoves(moves) < maxMoves; search += 1) {
    const way = find(scratch, { ...terms, maxMoves: maxMoves - countMoves(moves) });
    if (way.moves.length === 0) {
      break;
    }
    const wanted = straight(state, [...moves.flatMap(split), ...way.moves]);
    scratch = state.fork();
    reservations.clear();
    moves = rehearse(scratch, wanted, terms, mayLeave);
    reservations.mark();
    if (way.isFinal && countMoves(moves) === wanted.length) {
      break;
    }
  }
  return moves;
}

/** The moves of a proposal, one by one. */
export function split({ then, ...first }: Proposal): readonly Proposal[] {
  return then === undefined ? [first] : [first, then];
}

/**
 * Makes the moves that help, in passes, since one may help only after those behind it; where no single one does, two that
 * help together. Returns them in their new order.
 */
export function rehearse(
  scratch: State,
  wanted: readonly Proposal[],
  { minGain, maxMoves, allows, note }: WayTerms,
  mayLeave: MayLeave,
): readonly Proposal[] {
  const moves: Proposal[] = [];
  let made = 0;
  let waiting = wanted;
  for (let before = -1; before !== waiting.length; ) {
    before = waiting.length;
    waiting = waiting.filter((proposal) => {
      const isGood = made < maxMoves && allows(proposal.pod) && helps(scratch, proposal, minGain, mayLeave);
      if (isGood) {
        scratch.move(proposal.pod, proposal.to);
        note(proposal.pod);
        moves.push(proposal);
        made += 1;
      }
      return !isGood;
    });
    const pair =
      before === waiting.length && made + 2 <= maxMoves
        ? findPair(
            scratch,
            waiting.filter(({ pod }) => allows(pod)),
            minGain,
            mayLeave,
          )
        : undefined;
    if (pair !== undefined) {
      const [first, then] = pair;
      for (const { pod, to } of pair) {
        scratch.move(pod, to);
        note(pod);
      }
      moves.push({ ...first, then });
      made += 2;
      waiting = waiting.filter(({ pod }) => pod !== first.pod && pod !== then.pod);
    }
  }
  return moves;
}

/** More moves than this that do not help are not paired up; it would take their square. */
const MOST_PAIRED = 64;

/** Two of the moves that have a node in common and help together. */
function findPair(scratch: State, moves: readonly Proposal[], minGain: number, mayLeave: MayLeave): Pair | undefined {
  const some = moves.slice(0, MOST_PAIRED);
  for (const [place, first] of some.entries()) {
    for (const second of some.slice(place + 1)) {
      const [from, other] = [scratch.nodeOf(first.pod), scratch.nodeOf(second.pod)];
      const meet = first.to === other || second.to === from;
      const pair =
        meet && (mayLeave(scratch, from) || mayLeave(scratch, other))
          ? payingOrder(scratch, [first, second], minGain)
          : undefined;
      if (pair !== undefined) {
        return pair;
      }
    }
  }
  return undefined;
}

/** Each pod once, at the position of its last move, and not at all when it came back. */
export function straight(state: StateView, moves: readonly Proposal[]): readonly Proposal[] {
  const last = new Map<PodIndex, number>();
  moves.forEach(({ pod }, position) => {
    last.set(pod, position);
  });
  return moves.filter(({ pod, to }, position) => last.get(pod) === position && to !== state.nodeOf(pod));
}

/** The budgets, as moves that are only thought of would leave them. */
interface Reservations {
  /** Whether the budgets would let the pod move too. */
  readonly allows: (pod: PodIndex) => boolean;
  /** The pod is moved, perhaps once more: counted once. */
  readonly add: (pod: PodIndex) => void;
  /** What is reserved now is where `restart` goes back to. */
  readonly mark: () => void;
  readonly restart: () => void;
  /** Takes everything back, marked or not. */
  readonly clear: () => void;
}

/** No reservations yet, for pods that `allows` lets move as far as it can tell. */
function createReservations({ reserve, release }: Terms, allows: (pod: PodIndex) => boolean): Reservations {
  const reserved = new Set<PodIndex>();
  let marked: ReadonlySet<PodIndex> = new Set();
  const releaseAllBut = (kept: ReadonlySet<PodIndex>): void => {
    for (const pod of reserved) {
      if (!kept.has(pod)) {
        release(pod);
        reserved.delete(pod);
      }
    }
  };
  return {
    allows: (pod) => reserved.has(pod) || allows(pod),
    add: (pod) => {
      if (!reserved.has(pod)) {
        reserved.add(pod);
        reserve(pod);
      }
    },
    mark: () => {
      marked = new Set(reserved);
    },
    restart: () => releaseAllBut(marked),
    clear: () => {
      marked = new Set();
      releaseAllBut(marked);
    },
  };
}
