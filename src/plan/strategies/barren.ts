import type { StateView } from '../state.ts';

/**
 * For the nodes of one load order: below which load all of them are known to refuse the pods of a shape, so that a full
 * cluster is not searched again for every pod.
 */
export interface Barren {
  /** All nodes with less load refuse the pod. */
  readonly below: (pod: number) => number;
  /** All nodes with less than `load` have been seen to refuse the pod, in the present state. */
  readonly extend: (pod: number, load: number) => void;
}

interface Frontier {
  /** All nodes with less load refuse the shape. */
  bound: number;
  /** Entries of the change log that have been taken into account. */
  synced: number;
  /** What else verdicts depended on (see StateView.surroundings). */
  surroundings: number;
}

/**
 * For an order of `size` nodes, of which nothing is known yet. What is known stays true for the nodes that do not
 * change; those that do are asked again.
 */
export function createBarren(state: StateView, size: number): Barren {
  const { shapes } = state.cluster;
  const frontiers = new Map<number, Frontier>();
  const recheck = (pod: number, { bound, synced }: Frontier): number => {
    const { changes } = state;
    let lowered = bound;
    for (let entry = synced; entry < changes.count(); entry += 1) {
      const node = changes.node(entry);
      if (state.load(node) < lowered && state.fits(pod, node)) {
        lowered = state.load(node);
      }
    }
    return lowered;
  };
  return {
    below: (pod) => {
      const frontier = frontiers.get(shapes.ofPod[pod] ?? -1);
      if (frontier === undefined || frontier.surroundings !== state.surroundings(pod)) {
        return NOTHING;
      }
      const now = state.changes.count();
      frontier.bound = now - frontier.synced > size ? NOTHING : recheck(pod, frontier);
      frontier.synced = now;
      return frontier.bound;
    },
    extend: (pod, load) => {
      const shape = shapes.ofPod[pod] ?? -1;
      const known = frontiers.get(shape);
      const surroundings = state.surroundings(pod);
      const bound = known?.surroundings === surroundings ? Math.max(known.bound, load) : load;
      frontiers.set(shape, { bound, synced: state.changes.count(), surroundings });
    },
  };
}

/** Below every load. */
const NOTHING = -1;
