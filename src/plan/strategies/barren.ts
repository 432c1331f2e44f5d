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

/** Nothing is known yet. What is known stays true for the nodes that do not change; those that do are asked again. */
export function createBarren(state: StateView): Barren {
  const { shapes, nodes } = state.cluster;
  const bounds = new Float64Array(shapes.subjects.length).fill(-1);
  const synced = new Int32Array(shapes.subjects.length);
  const shapeOf = (pod: number): number => shapes.ofPod[pod] ?? -1;
  const recheck = (pod: number, bound: number, from: number): number => {
    const { changes } = state;
    let lowered = bound;
    for (let entry = from; entry < changes.count(); entry += 1) {
      const node = changes.node(entry);
      if (state.load(node) < lowered && state.fits(pod, node)) {
        lowered = state.load(node);
      }
    }
    return lowered;
  };
  return {
    below: (pod) => {
      const shape = shapeOf(pod);
      const [bound, from, now] = [bounds[shape] ?? -1, synced[shape] ?? 0, state.changes.count()];
      if (bound >= 0 && from < now) {
        bounds[shape] = now - from > nodes.length ? -1 : recheck(pod, bound, from);
      }
      synced[shape] = now;
      return bounds[shape] ?? -1;
    },
    extend: (pod, load) => {
      bounds[shapeOf(pod)] = Math.max(bounds[shapeOf(pod)] ?? -1, load);
    },
  };
}
