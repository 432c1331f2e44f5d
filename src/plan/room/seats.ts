import type { NodeIndex, PodIndex } from '../indices.ts';
import type { State } from '../state.ts';
import type { PinnedPod } from './waiting.ts';

/** The nodes on which room is kept for waiting pods. */
export interface Seats {
  readonly nodeOf: ReadonlyMap<PodIndex, NodeIndex>;
  /** Seats the pod where there is room as it is, or would be if others that are seated sat elsewhere; whether it could. */
  readonly seat: (pinned: PinnedPod) => boolean;
  /** Seats the pod on a node that has room for it. */
  readonly seatOn: (pinned: PinnedPod, node: NodeIndex) => void;
}

/** Seats that others may have to change for one pod. */
const MOST_CHANGES = 200;

/** No seats yet. Who is seated is on its node in `state`; `wantedBy` says how many that are still to be served are pinned to a node, among others. */
export function createSeats(state: State, wantedBy: (node: NodeIndex) => number): Seats {
  const seated = new Map<PodIndex, PinnedPod>();
  const nodeOf = new Map<PodIndex, NodeIndex>();
  let changes = 0;
  const sit = (pinned: PinnedPod, node: NodeIndex): void => {
    state.place(pinned.pod, node);
    nodeOf.set(pinned.pod, node);
    seated.set(pinned.pod, pinned);
  };
  const rise = ({ pod }: PinnedPod): void => {
    state.lift(pod);
    nodeOf.delete(pod);
  };
  const seatIn = (pinned: PinnedPod, closed: ReadonlySet<NodeIndex>): boolean => {
    const open = pinned.nodes
      .filter((node) => !closed.has(node))
      .toSorted((left, right) => wantedBy(left) - wantedBy(right));
    const free = open.find((node) => state.passes(pinned.pod, node));
    if (free !== undefined) {
      sit(pinned, free);
      return true;
    }
    return open.some((node) =>
      [...seated.values()].some((other) => nodeOf.get(other.pod) === node && giveWay(pinned, other, node, closed)),
    );
  };
  /** Whether `other` can sit elsewhere, so that the pod gets its node. */
  const giveWay = (pinned: PinnedPod, other: PinnedPod, node: NodeIndex, closed: ReadonlySet<NodeIndex>): boolean => {
    changes += 1;
    if (changes > MOST_CHANGES || other.nodes.length < 2) {
      return false;
    }
    rise(other);
    if (state.passes(pinned.pod, node)) {
      sit(pinned, node);
      if (seatIn(other, new Set([...closed, node]))) {
        return true;
      }
      rise(pinned);
      seated.delete(pinned.pod);
    }
    sit(other, node);
    return false;
  };
  return {
    nodeOf,
    seat: (pinned) => {
      changes = 0;
      return seatIn(pinned, new Set());
    },
    seatOn: sit,
  };
}
