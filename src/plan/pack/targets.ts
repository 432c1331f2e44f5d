import { at, itemAt, type NodeIndex, type PodIndex, type SizeIndex } from '../indices.ts';
import type { PackingOptions } from '../options.ts';
import { shapeOf, subjectOf } from '../shapes.ts';
import type { StateView } from '../state.ts';
import { createLoadOrder } from '../strategies/load-order.ts';
import { headroomTest } from './requested.ts';
import type { Residents } from './residents.ts';

/** Nodes that are named for a replacement beside the planned one, and how many are looked at for them. */
const MOST_FALLBACKS = 2;
const MOST_LOOKS = 32;

/** Where pods can go: nodes with other pods, on which all filters let them run and which keep their headroom. */
export interface PackTargets {
  /** The fullest one that `allows` says yes to; -1 when there is none. */
  readonly fullest: (pod: PodIndex, allows: (node: NodeIndex) => boolean) => NodeIndex;
  /** The fullest ones of the fullest nodes, but for that of the pod. */
  readonly fallbacks: (pod: PodIndex) => readonly NodeIndex[];
  /** Whether the node takes the pod. */
  readonly takes: (pod: PodIndex, node: NodeIndex) => boolean;
  /** Pods that were placed on the node have left it again. */
  readonly reopen: (node: NodeIndex) => void;
}

/**
 * Looks from the fullest node downwards. Nodes only fill up while a plan is made, but for what `reopen` says: one without room
 * for pods of a size is not asked again.
 */
export function createPackTargets(state: StateView, residents: Residents, options: PackingOptions): PackTargets {
  const { nodes, shapes } = state.cluster;
  const order = createLoadOrder(state, nodes.keys());
  const leavesHeadroom = headroomTest(state, options);
  const closed = new Map<SizeIndex, Uint8Array>();
  const sizeOf = (pod: PodIndex): SizeIndex => at(shapes.sizeOf, shapeOf(shapes, pod));
  const closedTo = (pod: PodIndex): Uint8Array => {
    const table = closed.get(sizeOf(pod)) ?? new Uint8Array(nodes.length);
    closed.set(sizeOf(pod), table);
    return table;
  };
  const hasRoom = (pod: PodIndex, node: NodeIndex): boolean =>
    state.couldHold(pod, node) && leavesHeadroom(itemAt(shapes.sizes, sizeOf(pod)), node);
  const takes = (pod: PodIndex, node: NodeIndex): boolean =>
    !residents.isEmpty(node) && leavesHeadroom(subjectOf(shapes, pod), node) && state.fits(pod, node);
  return {
    takes,
    fullest: (pod, allows) => {
      order.sync();
      const home = state.nodeOf(pod);
      const table = closedTo(pod);
      for (let position = order.size - 1; position >= 0; position -= 1) {
        const node = order.at(position);
        if (table[node] !== 1 && !hasRoom(pod, node)) {
          table[node] = 1;
        }
        if (table[node] !== 1 && node !== home && takes(pod, node) && allows(node)) {
          return node;
        }
      }
      return -1;
    },
    fallbacks: (pod) => {
      order.sync();
      const home = state.nodeOf(pod);
      const found: NodeIndex[] = [];
      for (let look = 1; look <= MOST_LOOKS && found.length < MOST_FALLBACKS; look += 1) {
        const node = order.at(order.size - look);
        if (node >= 0 && node !== home && takes(pod, node)) {
          found.push(node);
        }
      }
      return found;
    },
    reopen: (node) => {
      for (const table of closed.values()) {
        table[node] = 0;
      }
    },
  };
}
