import { isImprovement, type State } from '../state.ts';
import { bestMoveFrom } from './best-move.ts';
import { createLoadOrder, type LoadOrder } from './load-order.ts';
import { createNodeHeap } from './node-heap.ts';
import type { Proposal } from './strategy.ts';
import { createTargets } from './targets.ts';

/** What leveling may do. Loads are those of load.ts. */
export interface LevelOptions {
  /** Nodes between `low` and `high` count as equally loaded. */
  readonly low: number;
  readonly high: number;
  readonly minGain: number;
  readonly allows: (pod: number) => boolean;
}

/** Nodes that are asked, the highest first, for a pod that fills a low node; a node that none of them can fill stays low. */
const SOURCES_PER_TARGET = 16;

/**
 * Moves single pods of `state` until every node is between `low` and `high` or no move that gains `minGain` helps: first
 * down from the nodes above, the highest first, then up to the nodes below. Returns the moves in order; a pod may move more
 * than once. Every move lowers the objective, so this ends.
 */
export function level(state: State, options: LevelOptions): readonly Proposal[] {
  const moves: Proposal[] = [];
  let before: number;
  do {
    before = moves.length;
    lower(state, options, moves);
    raise(state, options, moves);
  } while (moves.length > before);
  return moves;
}

function lower(state: State, { high, minGain, allows }: LevelOptions, moves: Proposal[]): void {
  const targets = createTargets(state);
  const anywhere = { below: Number.POSITIVE_INFINITY, upTo: Number.POSITIVE_INFINITY };
  const heap = createNodeHeap(
    state,
    [...state.cluster.nodes.keys()].filter((node) => state.load(node) > high),
  );
  for (let node = heap.pop(); node >= 0; node = heap.pop()) {
    const proposal = bestMoveFrom(state, node, targets, anywhere, minGain, allows);
    if (proposal === undefined) {
      continue;
    }
    const wasHigh = state.load(proposal.to) > high;
    state.move(proposal.pod, proposal.to);
    moves.push(proposal);
    if (state.load(node) > high) {
      heap.push(node);
    }
    if (!wasHigh && state.load(proposal.to) > high) {
      heap.push(proposal.to);
    }
  }
}

function raise(state: State, { low, minGain, allows }: LevelOptions, moves: Proposal[]): void {
  const order = createLoadOrder(state, state.cluster.nodes.keys());
  const ascending = Array.from({ length: order.size }, (_, position) => order.at(position));
  for (const node of ascending) {
    while (state.load(node) < low) {
      const pod = bestPodFor(state, node, order, minGain, low, allows);
      if (pod < 0) {
        break;
      }
      state.move(pod, node);
      moves.push({ pod, to: node });
      order.sync();
    }
  }
}

/**
 * From the highest node that has one: the pod whose move to `node` lowers the objective most without taking its own node
 * below `low`; -1 when there is none.
 */
function bestPodFor(
  state: State,
  node: number,
  order: LoadOrder,
  minGain: number,
  low: number,
  allows: (pod: number) => boolean,
): number {
  for (let tried = 1; tried <= Math.min(SOURCES_PER_TARGET, order.size); tried += 1) {
    const source = order.at(order.size - tried);
    if (state.load(source) - state.load(node) < minGain) {
      return -1;
    }
    let best = -1;
    let bestChange = 0;
    for (const pod of state.movablePodsOn(source)) {
      const gains = allows(pod) && state.loadWithout(pod) >= low && state.gain(pod, node) >= Math.max(minGain, 1);
      const change = gains && state.fits(pod, node) ? state.objectiveChange(pod, node) : 0;
      if (isImprovement(change - bestChange)) {
        best = pod;
        bestChange = change;
      }
    }
    if (best >= 0) {
      return best;
    }
  }
  return -1;
}
