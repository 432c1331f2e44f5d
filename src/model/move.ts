/**
 * What a move does: takes a pod from node to node, from a node that has failed to another, from its node back to the queue, or
 * from the queue to a node.
 */
export type MoveKind = 'Transfer' | 'Failover' | 'Preemption' | 'Admission';

/** The nodes that a move names: an admission has no `from`, a preemption no `to`. */
export interface Route {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The node `from` has failed. */
  readonly failover?: boolean | undefined;
}

/** The kind of a move. */
export function kindOf({ from, to, failover = false }: Route): MoveKind {
  if (from === undefined) {
    return 'Admission';
  }
  if (to === undefined) {
    return 'Preemption';
  }
  return failover ? 'Failover' : 'Transfer';
}

const DISRUPTIVE: Readonly<Record<MoveKind, boolean>> = {
  Transfer: true,
  Failover: false,
  Preemption: true,
  Admission: false,
};

/** Whether a move may take a pod away that runs: only these cost service, and count against budgets and limits. */
export function isDisruption(route: Route): boolean {
  return DISRUPTIVE[kindOf(route)];
}
