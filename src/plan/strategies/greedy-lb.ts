import type { Cluster } from '../cluster.ts';
import { percent } from '../format.ts';
import { amountAt, at, type IndexTable, type NodeIndex, type PodIndex } from '../indices.ts';
import { share, toFraction, toLoad } from '../load.ts';
import type { StrategyOptions } from '../options.ts';
import type { State, StateView } from '../state.ts';
import { createExclusions } from './exclusions.ts';
import { lower, raise } from './level.ts';
import { rehearse, settle, split, straight } from './local-search.ts';
import { keepLoadInPlace } from './minimize-moves.ts';
import type { Way, WayTerms } from './search-terms.ts';
import { anyNode, type Bounds, type Proposal, type Proposals, type Strategy, type Terms } from './strategy.ts';
import { createTargets, type TargetLimits } from './targets.ts';

type GreedyOptions = Extract<StrategyOptions, { type: 'GreedyLB' }>;

/**
 * GreedyLB (algorithms.md 2; KSE 4, after Charm++): assign all pods anew, the largest first, each to the least loaded node.
 *
 * `minimizeMoves: false` is the published algorithm, kept for comparison. It moves nearly every pod, and through states
 * that are worse than the first, so the planner judges it by the plan as a whole: the deviations must be lower at the
 * end.
 *
 * `minimizeMoves: true` keeps the balance and gives up the reshuffling. Nodes within `tolerance` of each other tie, so
 * the balance to reach is every node within half of it of the mean. Two ways there are worked out on a scratch state:
 * moving single pods from nodes above to nodes below, and, should that leave a standard deviation above half of
 * `tolerance`, the greedy assignment with pods that stay where they tie, interchangeable nodes relabelled and idle
 * swaps left out, finished by single moves. The better balanced one is proposed, and of two that tie the one with fewer
 * moves.
 */
export function greedyLb(options: GreedyOptions): Strategy {
  return options.minimizeMoves
    ? {
        judgedBy: 'EachMove',
        bounds: (state) => bandBounds(state, options),
        propose: (state, terms) =>
          settle(state, terms, (from, way) => findShortest(from, way, toLoad(options.tolerance)), anyNode),
        mayLeave: anyNode,
        keepsOrder: false,
      }
    : { judgedBy: 'WholePlan', bounds: anyBounds, propose: proposePublished, mayLeave: anyNode, keepsOrder: true };
}

function bandBounds({ cluster }: StateView, { tolerance }: GreedyOptions): Bounds {
  const { mean } = cluster.load;
  return {
    sourceAbove: mean + toLoad(tolerance) / 2,
    belowCode: 'InBalance',
    rule: `mean ${share(mean)} + half of tolerance ${percent(tolerance)}`,
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
function* proposePublished(state: StateView, terms: Terms): Proposals {
  const target = greedyAssignment(state, undefined);
  const exclusions = createExclusions(state, terms);
  let waiting = bySize(state.cluster).filter((pod) => target[pod] !== state.nodeOf(pod));
  for (let before = -1; before !== waiting.length && !exclusions.isOver(); ) {
    before = waiting.length;
    for (const pod of waiting) {
      const to = at(target, pod);
      if (!exclusions.isOver() && exclusions.allows(pod) && state.fits(pod, to)) {
        yield* exclusions.offer({ pod, to });
      }
    }
    waiting = waiting.filter(exclusions.allows);
  }
}

/** To the better of the two balances. */
function findShortest(scratch: State, terms: WayTerms, tolerance: number): Way {
  const start = scratch.fork();
  const single = levelOut(scratch, terms, tolerance, []);
  const rest = Math.sqrt(scratch.objective());
  if (rest <= toFraction(tolerance) / 2 || single.length >= terms.maxMoves) {
    return { moves: single, isFinal: true };
  }
  const other = start.fork();
  terms.restart();
  const assigned = levelOut(other, terms, tolerance, assign(other, terms, tolerance));
  const difference = Math.sqrt(other.objective()) - rest;
  const tie = toFraction(tolerance) / 4;
  const fewer = straight(start, assigned).length < straight(start, single).length;
  if (Math.abs(difference) <= tie ? !fewer : difference > 0) {
    return { moves: single, isFinal: false };
  }
  for (const pod of scratch.placement.keys()) {
    const node = other.nodeOf(pod);
    if (node !== scratch.nodeOf(pod)) {
      scratch.move(pod, node);
    }
  }
  return { moves: assigned, isFinal: false };
}

/**
 * Moves single pods until every node ties with the mean or nothing helps. Every move lowers its higher node, so this
 * ends.
 */
function levelOut(state: State, terms: WayTerms, tolerance: number, moves: Proposal[]): Proposal[] {
  const { mean } = state.cluster.load;
  for (let before = -1; before !== moves.length; ) {
    before = moves.length;
    lower(state, mean + tolerance / 2, terms, moves);
    raise(state, mean - tolerance / 2, terms, moves);
  }
  return moves;
}

/** Carries out as much of the greedy assignment on `state` as helps at its position. */
function assign(state: State, terms: WayTerms, tolerance: number): Proposal[] {
  const target = keepLoadInPlace(state, greedyAssignment(state, tolerance), tolerance, terms.minGain);
  const wanted = [...bySize(state.cluster)]
    .map((pod) => ({ pod, to: at(target, pod) }))
    .filter(({ pod, to }) => to !== state.nodeOf(pod) && terms.allows(pod));
  return [...rehearse(state, wanted, terms, anyNode)].flatMap(split);
}

const ANYWHERE: TargetLimits = { below: Number.POSITIVE_INFINITY, upTo: Number.POSITIVE_INFINITY };

/**
 * The greedy assignment (KSE 4): all movable pods are lifted, and in descending order of size each is put on the
 * feasible node that ends up with the least load. A pod stays at home when that is at most `tolerance` (a load) worse;
 * as published that is `undefined`, and a pod goes home only by chance. A pod that fits nowhere goes home. O(P log N).
 *
 * Returns the node of every pod; those that are not movable keep theirs. Size is the pod's load on the largest node,
 * which does not depend on where the pod is: neither does the published assignment, so carrying it out once is enough.
 */
export function greedyAssignment(view: StateView, tolerance: number | undefined): IndexTable<PodIndex, NodeIndex> {
  const state = view.fork();
  const { cluster } = state;
  const pods = bySize(cluster);
  for (const pod of pods) {
    state.lift(pod);
  }
  const targets = createTargets(state);
  for (const pod of pods) {
    const home = view.nodeOf(pod);
    const best = targets.leastLoaded(pod, ANYWHERE);
    const stays = tolerance !== undefined && best >= 0 && best !== home && state.fits(pod, home);
    const keep = stays && state.loadWith(pod, home) <= state.loadWith(pod, best) + tolerance;
    state.place(pod, best < 0 || keep ? home : best);
  }
  return state.placement;
}

/**
 * The movable pods, the largest first, ties by place. Size and place are packed into one number, largest sizes lowest:
 * numbers sort several times faster than by a comparison.
 */
function bySize({ movableByNode, pods, nodes, load }: Cluster): Int32Array {
  const { least } = load.boundsOver(nodes.keys());
  const count = Math.max(1, pods.length);
  const largest = Math.floor(Number.MAX_SAFE_INTEGER / count) - 1;
  const keys = Float64Array.from(movableByNode.all);
  for (let index = 0; index < keys.length; index += 1) {
    const pod = amountAt(keys, index);
    keys[index] = (largest - Math.min(largest, least(pod))) * count + pod;
  }
  keys.sort();
  return Int32Array.from(keys, (key) => key % count);
}
