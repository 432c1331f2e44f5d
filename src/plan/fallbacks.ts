import type { NodeIndex } from './indices.ts';
import type { AcceptedMove } from './judge.ts';
import type { StateView } from './state.ts';

/** Nodes that are named for a replacement beside the planned one, and how many are looked at for them. */
const MOST_FALLBACKS = 2;
const MOST_LOOKS = 32;

/**
 * For each move the nodes that would be good ones, too, should the scheduler not choose the planned one: the least loaded of
 * the finished plan on which the pod fits at its place in the plan, and where it would still lower the higher of the two
 * nodes. At most MOST_FALLBACKS each, the better one first; `start` is where the moves begin.
 */
export function fallbacksOf(start: StateView, moves: readonly AcceptedMove[]): readonly (readonly NodeIndex[])[] {
  if (moves.length === 0) {
    return [];
  }
  const state = start.fork();
  for (const { pod, to } of moves) {
    state.move(pod, to);
  }
  const least = [...state.cluster.nodes.keys()]
    .sort((left, right) => state.load(left) - state.load(right) || left - right)
    .slice(0, MOST_LOOKS);
  const replay = start.fork();
  return moves.map(({ pod, from, to, before }) => {
    replay.lift(pod);
    const found: NodeIndex[] = [];
    for (const node of least) {
      const isOther = node !== from && node !== to && found.length < MOST_FALLBACKS;
      if (isOther && replay.loadWith(pod, node) < before.from && replay.fits(pod, node)) {
        found.push(node);
      }
    }
    replay.place(pod, to);
    return found;
  });
}
