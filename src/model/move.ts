/**
 * What a move does: takes a pod from node to node, from a node that has failed to another, from its node back to the queue, or
 * from the queue to a node; or removes one that has failed, in whose place nothing is to come.
 */
export type MoveKind = 'Transfer' | 'Failover' | 'Preemption' | 'Admission' | 'Removal';

/** The nodes that a move names: an admission has no `from`, a preemption and a removal no `to`. */
export interface Route {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The node `from` has failed. */
  readonly failover?: boolean | undefined;
  /** The pod has failed, and is removed. */
  readonly removal?: boolean | undefined;
}

/** The kind of a move. */
export function kindOf({ from, to, failover = false, removal = false }: Route): MoveKind {
  if (from === undefined) {
    return 'Admission';
  }
  if (to === undefined) {
    return removal ? 'Removal' : 'Preemption';
  }
  return failover ? 'Failover' : 'Transfer';
}

/** Whether an eviction counts against the limits of a policy on how many pods a plan evicts. */
export function isBudgeted(route: Route): boolean {
  return BUDGETED[kindOf(route)];
}

const BUDGETED: Readonly<Record<MoveKind, boolean>> = {
  Transfer: true,
  Failover: false,
  Preemption: true,
  Admission: false,
  Removal: true,
};

const DISRUPTIVE: Readonly<Record<MoveKind, boolean>> = {
  Transfer: true,
  Failover: false,
  Preemption: true,
  Admission: false,
  Removal: false,
};

/** What a move is for, besides load. */
interface OtherPurposes {
  readonly repairs?: readonly unknown[] | undefined;
  readonly makesRoomFor?: string | undefined;
}

/** Whether a move is for the load alone: it neither repairs nor makes room, which are worth it whatever they do to the load. */
export function isForLoad({ repairs = [], makesRoomFor }: OtherPurposes): boolean {
  return repairs.length === 0 && makesRoomFor === undefined;
}

/** Whether a move may take a pod away that runs: only these cost service, and count against maxOverhead and maxConcurrent. */
export function isDisruption(route: Route): boolean {
  return DISRUPTIVE[kindOf(route)];
}
