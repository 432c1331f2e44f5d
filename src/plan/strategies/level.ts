import { type NodeIndex, numberAt, type PodIndex } from '../indices.ts';
import type { State } from '../state.ts';
import { isImprovement } from '../state.ts';
import { bestMoveFrom, leastOf } from './best-move.ts';
import { createLoadOrder, type LoadOrder } from './load-order.ts';
import { createNodeHeap } from './node-heap.ts';
import { bestPairFrom } from './pairs.ts';
import type { WayTerms } from './search-terms.ts';
import type { Proposal } from './strategy.ts';
import { createTargets } from './targets.ts';

const ANYWHERE = { below: Number.POSITIVE_INFINITY, upTo: Number.POSITIVE_INFINITY };

/**
 * Takes pods from the nodes of `state` above `high`, the highest first, until none is above or no move from there gains
 * enough: each time the move that lowers the deviations most, if possible to a node below the mean that stays within
 * `high`, else to any. Appends to `moves`.
 *
 * On identical nodes whose whole load can be moved, the highest node ends at most at `high`, or at 2 - 2/(m + 1) times
 * the least that is possible on m nodes, plus twice `minGain`: no single pod could leave it for the lowest node (Finn
 * and Horowitz 1979).
 */
export function lower(state: State, high: number, terms: WayTerms, moves: Proposal[]): void {
  const { minGain, allows, note, maxMoves } = terms;
  const targets = createTargets(state);
  const preferred = { below: state.cluster.load.mean, upTo: high };
  const heap = createNodeHeap(
    state,
    [...state.cluster.nodes.keys()].filter((node) => state.load(node) > high),
  );
  const make = ({ pod, to }: Proposal): void => {
    state.move(pod, to);
    note(pod);
    moves.push({ pod, to });
  };
  let stuck = 0;
  let order: LoadOrder | undefined;
  for (let node = heap.pop(); node >= 0 && moves.length < maxMoves; node = heap.pop()) {
    const proposal =
      bestMoveFrom(state, node, targets, preferred, minGain, allows) ??
      bestMoveFrom(state, node, targets, ANYWHERE, minGain, allows);
    if (proposal === undefined) {
      if (stuck < MOST_STUCK) {
        stuck += 1;
        order ??= createLoadOrder(state, state.cluster.nodes.keys());
        order.sync();
        const pair = bestPairFrom(state, node, order, targets, terms) ?? [];
        for (const risen of makeAll(state, pair, node, high, make)) {
          heap.push(risen);
        }
      }
      continue;
    }
    const wasHigh = state.load(proposal.to) > high;
    make(proposal);
    if (state.load(node) > high) {
      heap.push(node);
    }
    if (!wasHigh && state.load(proposal.to) > high) {
      heap.push(proposal.to);
    }
  }
}

/** Nodes without a single move for which swaps and chains are looked for in one search; the highest come first. */
const MOST_STUCK = 64;

/** Makes the moves. Returns which of their nodes are high then, other than those that were before; but `node` counts. */
function makeAll(
  state: State,
  pair: readonly Proposal[],
  node: NodeIndex,
  high: number,
  make: (proposal: Proposal) => void,
): readonly NodeIndex[] {
  const nodes = [...new Set(pair.flatMap(({ pod, to }) => [state.nodeOf(pod), to]))];
  const wasHigh = new Set(nodes.filter((each) => each !== node && state.load(each) > high));
  pair.forEach(make);
  return nodes.filter((each) => state.load(each) > high && !wasHigh.has(each));
}

/**
 * Nodes that are asked, the highest first, for a pod that fills a low node; a node that none of them can fill stays
 * low.
 */
const SOURCES_PER_TARGET = 4;

/**
 * Brings pods to the nodes of `state` below `low`, the lowest first, each from the highest node that has one to give.
 * Appends to `moves`.
 */
export function raise(state: State, low: number, terms: WayTerms, moves: Proposal[]): void {
  const order = createLoadOrder(state, state.cluster.nodes.keys());
  const ascending = Array.from({ length: order.firstFrom(low) }, (_, position) => order.at(position));
  const refused = new Set<PodIndex>();
  for (const node of ascending) {
    while (state.load(node) < low && moves.length < terms.maxMoves) {
      const pod = bestPodFor(state, node, order, terms, refused);
      if (pod < 0) {
        break;
      }
      state.move(pod, node);
      terms.note(pod);
      moves.push({ pod, to: node });
      order.sync();
    }
  }
}

/**
 * From the highest node that has one: the pod whose move to `node` lowers the objective most; -1 when there is none. Pods that
 * budgets refuse join `refused`: while moves are only added, they stay refused.
 */
function bestPodFor(
  state: State,
  node: NodeIndex,
  order: LoadOrder,
  { minGain, allows }: WayTerms,
  refused: Set<PodIndex>,
): PodIndex {
  for (let tried = 1; tried <= Math.min(SOURCES_PER_TARGET, order.size); tried += 1) {
    const source = order.at(order.size - tried);
    if (state.load(source) - state.load(node) < minGain) {
      return -1;
    }
    const pods = state.movablePodsOn(source).filter((pod) => !refused.has(pod));
    const changes = pods.map((pod) => changeBy(state, pod, node, minGain));
    for (let next = leastOf(changes); next >= 0; next = leastOf(changes)) {
      const pod = numberAt(pods, next);
      if (!allows(pod)) {
        refused.add(pod);
      } else if (state.fits(pod, node)) {
        return pod;
      }
      changes[next] = Number.POSITIVE_INFINITY;
    }
  }
  return -1;
}

/** By how much the move changes the objective; +Infinity when it does not help, or gains less than `minGain`. */
function changeBy(state: State, pod: PodIndex, node: NodeIndex, minGain: number): number {
  const change = state.gain(pod, node) >= Math.max(minGain, 1) ? state.objectiveChange(pod, node) : 0;
  return isImprovement(change) ? change : Number.POSITIVE_INFINITY;
}
