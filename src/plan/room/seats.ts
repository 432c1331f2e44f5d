import type { NodeIndex, PodIndex } from '../indices.ts';
import { shapeOf } from '../shapes.ts';
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

/** Pods that are asked to sit elsewhere for one pod. */
const MOST_ASKED = 100;

/**
 * No seats yet. Who is seated is on its node in `state`; `wantedBy` says how many that are still to be served are pinned to a node,
 * among others.
 */
export function createSeats(state: State, wantedBy: (node: NodeIndex) => number): Seats {
  const nodeOf = new Map<PodIndex, NodeIndex>();
  const seatedOn = new Map<NodeIndex, readonly PinnedPod[]>();
  let asked = 0;
  const on = (node: NodeIndex): readonly PinnedPod[] => seatedOn.get(node) ?? [];
  const sit = (pinned: PinnedPod, node: NodeIndex): void => {
    state.place(pinned.pod, node);
    nodeOf.set(pinned.pod, node);
    seatedOn.set(node, [...on(node), pinned]);
  };
  const rise = (pinned: PinnedPod, node: NodeIndex): void => {
    state.lift(pinned.pod);
    nodeOf.delete(pinned.pod);
    seatedOn.set(
      node,
      on(node).filter((other) => other !== pinned),
    );
  };
  const seatIn = (pinned: PinnedPod, closed: ReadonlySet<NodeIndex>): boolean => {
    const open = pinned.nodes.filter((node) => !closed.has(node));
    const [free] = open
      .filter((node) => state.passes(pinned.pod, node))
      .sort((left, right) => wantedBy(left) - wantedBy(right) || left - right);
    if (free !== undefined) {
      sit(pinned, free);
      return true;
    }
    return open.some((node) => on(node).some((other) => giveWay(pinned, other, node, closed)));
  };
  /** A pod that needs the same as this one finds no other node either. */
  const mayGiveWay = (pinned: PinnedPod, other: PinnedPod): boolean => {
    const { shapes } = state.cluster;
    return other.nodes.length > 1 && shapeOf(shapes, other.pod) !== shapeOf(shapes, pinned.pod);
  };
  /** Whether `other` can sit elsewhere, so that the pod gets its node. */
  const giveWay = (pinned: PinnedPod, other: PinnedPod, node: NodeIndex, closed: ReadonlySet<NodeIndex>): boolean => {
    if (asked >= MOST_ASKED || !mayGiveWay(pinned, other)) {
      return false;
    }
    asked += 1;
    rise(other, node);
    if (state.passes(pinned.pod, node)) {
      sit(pinned, node);
      if (seatIn(other, new Set([...closed, node]))) {
        return true;
      }
      rise(pinned, node);
    }
    sit(other, node);
    return false;
  };
  return {
    nodeOf,
    seat: (pinned) => {
      asked = 0;
      return seatIn(pinned, new Set());
    },
    seatOn: sit,
  };
}
