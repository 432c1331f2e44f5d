/** What a move does: takes a pod from node to node, from its node back to the queue, or from the queue to a node. */
export type MoveKind = 'Transfer' | 'Preemption' | 'Admission';

/** The nodes that a move names: an admission has no `from`, a preemption no `to`. */
export interface Route {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The kind of a move. */
export function kindOf({ from, to }: Route): MoveKind {
  if (from === undefined) {
    return 'Admission';
  }
  return to === undefined ? 'Preemption' : 'Transfer';
}
