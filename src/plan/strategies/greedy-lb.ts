import { percent } from '../format.ts';
import { toFraction, toLoad } from '../load.ts';
import type { StrategyOptions } from '../options.ts';
import { isImprovement, type State, type StateView } from '../state.ts';
import { createExclusions, type Exclusions } from './exclusions.ts';
import { bySize, greedyAssignment } from './greedy-assignment.ts';
import { type LevelOptions, level } from './level.ts';
import { keepLoadInPlace } from './minimize-moves.ts';
import type { Bounds, Proposal, Proposals, Strategy } from './strategy.ts';

/** Settings of GreedyLB. */
export type GreedyOptions = Extract<StrategyOptions, { type: 'GreedyLB' }>;

/**
 * GreedyLB (KSE 4, after Charm++): assign all pods anew, the largest first, each to the least loaded node.
 *
 * `minimizeMoves: false` is the published algorithm, kept for comparison. It moves nearly every pod, and through states
 * that are worse than the first, so the planner judges it by the plan as a whole: the objective must be lower at the end.
 *
 * `minimizeMoves: true` keeps the balance and gives up the reshuffling. Nodes within `tolerance` of each other tie, so the
 * balance to reach is every node within half of it of the mean. Two ways there are worked out on a scratch state: moving
 * single pods from nodes above to nodes below, and, should that leave a standard deviation above half of `tolerance`, the
 * greedy assignment with pods that stay where they tie, interchangeable nodes relabelled and idle swaps left out, finished
 * by single moves. The better balanced one is proposed, and of two that tie the one with fewer moves.
 */
export function greedyLb(options: GreedyOptions): Strategy {
  return options.minimizeMoves
    ? {
        judgedBy: 'EachMove',
        bounds: (state) => bandBounds(state, options),
        propose: (state, minGain) => proposeFewMoves(state, minGain, options),
      }
    : { judgedBy: 'WholePlan', bounds: anyBounds, propose: proposePublished };
}

function bandBounds({ cluster }: StateView, { tolerance }: GreedyOptions): Bounds {
  const { mean } = cluster.load;
  return {
    sourceAbove: mean + toLoad(tolerance) / 2,
    belowCode: 'InBalance',
    rule: `mean ${percent(toFraction(mean))} + half of tolerance ${percent(tolerance)}`,
    targetBelow: Number.POSITIVE_INFINITY,
    targetUpTo: Number.POSITIVE_INFINITY,
  };
}

function anyBounds(): Bounds {
  return {
    sourceAbove: -1,
    belowCode: 'InBalance',
    rule: 'GreedyLB as published looks at every node',
    targetBelow: Number.POSITIVE_INFINITY,
    targetUpTo: Number.POSITIVE_INFINITY,
  };
}

/** Every pod to its place in the greedy assignment, the largest first; what does not fit yet is tried again later. */
function* proposePublished(state: StateView): Proposals {
  const target = greedyAssignment(state, undefined);
  const exclusions = createExclusions(state);
  let waiting = bySize(state.cluster).filter((pod) => target[pod] !== state.nodeOf(pod));
  let before: number;
  do {
    before = waiting.length;
    for (const pod of waiting) {
      const to = target[pod] ?? -1;
      if (exclusions.allows(pod) && !exclusions.isOver() && state.fits(pod, to)) {
        yield* offer(state, exclusions, { pod, to });
      }
    }
    waiting = waiting.filter((pod) => exclusions.allows(pod));
  } while (waiting.length > 0 && waiting.length < before && !exclusions.isOver());
}

/** Works out where to go, proposes the moves, and after refusals works out where to go from there. */
function* proposeFewMoves(state: StateView, minGain: number, { tolerance }: GreedyOptions): Proposals {
  const exclusions = createExclusions(state);
  const half = toLoad(tolerance) / 2;
  const { mean } = state.cluster.load;
  const options: LevelOptions = { low: mean - half, high: mean + half, minGain, allows: exclusions.allows };
  let way: readonly Proposal[];
  let accepted: number;
  do {
    accepted = 0;
    way = shortestWay(state, options, toLoad(tolerance));
    for (const proposal of way) {
      if (exclusions.allows(proposal.pod)) {
        accepted += (yield* offer(state, exclusions, proposal)) ? 1 : 0;
      }
      if (exclusions.isOver()) {
        return;
      }
    }
  } while (accepted > 0 && accepted < way.length);
}

function* offer(
  state: StateView,
  exclusions: Exclusions,
  proposal: Proposal,
): Generator<Proposal, boolean, Parameters<Exclusions['note']>[2]> {
  const from = state.nodeOf(proposal.pod);
  const verdict = yield proposal;
  exclusions.note(proposal, from, verdict);
  return verdict.accepted;
}

/** The moves from `state` to the better of the two balances, each pod once and straight to its last node. */
function shortestWay(state: StateView, options: LevelOptions, tolerance: number): readonly Proposal[] {
  const single = state.fork();
  const singleMoves = straight(state, level(single, options));
  const rest = Math.sqrt(single.objective());
  if (rest <= toFraction(tolerance) / 2) {
    return singleMoves;
  }
  const assigned = state.fork();
  const assignedMoves = straight(state, [...assign(assigned, options, tolerance), ...level(assigned, options)]);
  const difference = Math.sqrt(assigned.objective()) - rest;
  const tie = toFraction(tolerance) / 4;
  const better = Math.abs(difference) <= tie ? assignedMoves.length < singleMoves.length : difference < 0;
  return better ? assignedMoves : singleMoves;
}

/** Carries out as much of the greedy assignment on `state` as helps at its position. */
function assign(state: State, { minGain, allows }: LevelOptions, tolerance: number): readonly Proposal[] {
  const target = keepLoadInPlace(state, greedyAssignment(state, tolerance), tolerance, minGain);
  const moves: Proposal[] = [];
  let waiting = bySize(state.cluster).filter((pod) => target[pod] !== state.nodeOf(pod) && allows(pod));
  let before: number;
  do {
    before = waiting.length;
    waiting = waiting.filter((pod) => {
      const to = target[pod] ?? -1;
      const helps = state.gain(pod, to) >= Math.max(minGain, 1) && isImprovement(state.objectiveChange(pod, to));
      if (!helps || !state.fits(pod, to)) {
        return true;
      }
      state.move(pod, to);
      moves.push({ pod, to });
      return false;
    });
  } while (waiting.length > 0 && waiting.length < before);
  return moves;
}

/** Each pod once, at the position of its last move, and not at all when it came back. */
function straight(state: StateView, moves: readonly Proposal[]): readonly Proposal[] {
  const last = new Map<number, number>();
  moves.forEach(({ pod }, position) => {
    last.set(pod, position);
  });
  return moves.filter(({ pod, to }, position) => last.get(pod) === position && to !== state.nodeOf(pod));
}
