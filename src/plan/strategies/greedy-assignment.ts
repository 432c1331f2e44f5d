import type { Cluster } from '../cluster.ts';
import { amountAt, type IndexTable, type NodeIndex, type PodIndex } from '../indices.ts';
import type { StateView } from '../state.ts';
import { createTargets, type TargetLimits } from './targets.ts';

const ANYWHERE: TargetLimits = { below: Number.POSITIVE_INFINITY, upTo: Number.POSITIVE_INFINITY };

/**
 * The greedy assignment (KSE 4): all movable pods are lifted, and in descending order of size each is put on the
 * feasible node that ends up with the least load. A pod stays at home when that is at most `tolerance` (a load) worse;
 * as published that is `undefined`, and a pod goes home only by chance. A pod that fits nowhere goes home. O(P log N).
 *
 * Returns the node of every pod; those that are not movable keep theirs. Size is the pod's load on the largest node,
 * which does not depend on where the pod is: neither does the published assignment, so carrying it out once is enough.
 */
export function greedyAssignment(view: StateView, tolerance: number | undefined): IndexTable<PodIndex, NodeIndex> {
  const state = view.fork();
  const { cluster } = state;
  const pods = bySize(cluster);
  for (const pod of pods) {
    state.lift(pod);
  }
  const targets = createTargets(state);
  for (const pod of pods) {
    const home = view.nodeOf(pod);
    const best = targets.leastLoaded(pod, ANYWHERE);
    const stays = tolerance !== undefined && best >= 0 && best !== home && state.fits(pod, home);
    const keep = stays && state.loadWith(pod, home) <= state.loadWith(pod, best) + tolerance;
    state.place(pod, best < 0 || keep ? home : best);
  }
  return state.placement;
}

/**
 * The movable pods, the largest first, ties by place. Size and place are packed into one number, largest sizes lowest:
 * numbers sort several times faster than by a comparison.
 */
export function bySize({ movableByNode, pods, nodes, load }: Cluster): Int32Array {
  const { least } = load.boundsOver(nodes.keys());
  const count = Math.max(1, pods.length);
  const largest = Math.floor(Number.MAX_SAFE_INTEGER / count) - 1;
  const keys = Float64Array.from(movableByNode.pods);
  for (let index = 0; index < keys.length; index += 1) {
    const pod = amountAt(keys, index);
    keys[index] = (largest - Math.min(largest, least(pod))) * count + pod;
  }
  keys.sort();
  return Int32Array.from(keys, (key) => key % count);
}
