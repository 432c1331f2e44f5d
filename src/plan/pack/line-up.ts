import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { type AcceptedMove, carryOut } from '../judge.ts';
import type { State } from '../state.ts';

/** The moves that empty one node. */
export interface Group {
  readonly node: NodeIndex;
  readonly pods: readonly { readonly pod: PodIndex; readonly to: NodeIndex }[];
}

/** Moves in an order in which each is feasible, node by node. */
export interface LinedUp {
  readonly moves: readonly AcceptedMove[];
  /** Nodes that no such order was found for, with a pod that stays: none of their pods is moved. */
  readonly stuck: ReadonlyMap<NodeIndex, PodIndex>;
}

/** Carries the groups out on `state`, each as a whole or not at all. */
export function lineUp(state: State, groups: readonly Group[]): LinedUp {
  const moves: AcceptedMove[] = [];
  const stuck = new Map<NodeIndex, PodIndex>();
  for (const { node, pods } of groups) {
    const done: AcceptedMove[] = [];
    let waiting = pods;
    // One may be feasible only behind another: a pod that wants to be near others, or far from them.
    for (let before = -1; before !== waiting.length; ) {
      before = waiting.length;
      waiting = waiting.filter(({ pod, to }) => {
        const fits = state.fits(pod, to);
        if (fits) {
          done.push({ ...carryOut(state, { pod, to }, state.gain(pod, to)), partner: undefined });
        }
        return !fits;
      });
    }
    if (waiting.length === 0) {
      moves.push(...done);
    } else {
      stuck.set(node, itemAt(waiting, 0).pod);
      for (const { pod, from } of done) {
        state.move(pod, from);
      }
    }
  }
  return { moves, stuck };
}
