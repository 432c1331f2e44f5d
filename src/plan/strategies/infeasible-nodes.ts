import { at, type NodeIndex, type PodIndex } from '../indices.ts';
import { shapeOf } from '../shapes.ts';
import type { StateView } from '../state.ts';

/**
 * For the nodes of one load order: below which load all of them are known to refuse some pods, so that a full cluster is not
 * searched again for every pod.
 */
export interface InfeasibleNodes {
  /** All nodes with less load refuse the pod. */
  readonly below: (pod: PodIndex) => number;
  /** All nodes with less than `load` have been seen to refuse the pod, in the present state. */
  readonly extend: (pod: PodIndex, load: number) => void;
}

/** What is remembered, and for which pods. */
interface Question {
  /** Pods with the same number share what is known. */
  readonly keyOf: (pod: PodIndex) => number;
  readonly accepts: (pod: PodIndex, node: NodeIndex) => boolean;
  /** A number for what answers depend on beyond the node (see StateView.surroundings). */
  readonly surroundings: (pod: PodIndex) => number;
}

interface Frontier {
  /** All nodes with less load refuse. */
  bound: number;
  /** Entries of the change log that have been taken into account. */
  synced: number;
  surroundings: number;
}

/** Nodes that refuse pods of a shape, for an order of `size` nodes of which nothing is known yet. */
export function createInfeasibleNodes(state: StateView, size: number): InfeasibleNodes {
  const { shapes } = state.cluster;
  return remember(state, size, {
    keyOf: (pod) => shapeOf(shapes, pod),
    accepts: state.fits,
    surroundings: state.surroundings,
  });
}

/** Nodes without room for pods of a size, whatever else they ask for: there are fewer sizes than shapes. */
export function createFullNodes(state: StateView, size: number): InfeasibleNodes {
  const { shapes } = state.cluster;
  return remember(state, size, {
    keyOf: (pod) => at(shapes.sizeOf, shapeOf(shapes, pod)),
    accepts: state.couldHold,
    surroundings: () => 0,
  });
}

/** What is known stays true for the nodes that do not change; those that do are asked again. */
function remember(state: StateView, size: number, { keyOf, accepts, surroundings }: Question): InfeasibleNodes {
  const frontiers = new Map<number, Frontier>();
  const recheck = (pod: PodIndex, { bound, synced }: Frontier): number => {
    const { changes } = state;
    let lowered = bound;
    for (let entry = synced; entry < changes.count(); entry += 1) {
      const node = changes.node(entry);
      if (state.load(node) < lowered && accepts(pod, node)) {
        lowered = state.load(node);
      }
    }
    return lowered;
  };
  return {
    below: (pod) => {
      const frontier = frontiers.get(keyOf(pod));
      if (frontier === undefined || frontier.surroundings !== surroundings(pod)) {
        return NOTHING;
      }
      const now = state.changes.count();
      frontier.bound = now - frontier.synced > size ? NOTHING : recheck(pod, frontier);
      frontier.synced = now;
      return frontier.bound;
    },
    extend: (pod, load) => {
      const key = keyOf(pod);
      const known = frontiers.get(key);
      const about = surroundings(pod);
      const bound = known?.surroundings === about ? Math.max(known.bound, load) : load;
      frontiers.set(key, { bound, synced: state.changes.count(), surroundings: about });
    },
  };
}

/** Below every load. */
const NOTHING = -1;
