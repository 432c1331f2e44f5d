import { amountAt, type NodeIndex, numberAt, type PodIndex } from '../indices.ts';
import { toFraction } from '../load.ts';
import { isImprovement, type StateView } from '../state.ts';
import type { Proposal } from './strategy.ts';
import type { TargetLimits, Targets } from './targets.ts';

/**
 * Of the pods on `node`, each with the target that ends up with the least load, the move that lowers the deviations most
 * among those that gain at least `minGain`; `undefined` when there is none. Lowering the squared deviations most takes
 * the pod that comes closest to evening out the two nodes, which is what needs the fewest moves. The pods that could lower
 * them most come first, so that a target is looked for only for those that may still be better than the best so far.
 */
export function bestMoveFrom(
  state: StateView,
  node: NodeIndex,
  targets: Targets,
  limits: TargetLimits,
  minGain: number,
  allows: (pod: PodIndex) => boolean,
): Proposal | undefined {
  const load = state.load(node);
  const within = { below: limits.below, upTo: Math.min(limits.upTo, load - Math.max(minGain, 1)) };
  const pods = state.movablePodsOn(node);
  const bounds = pods.map((pod) => boundOf(state, pod, targets, minGain));
  let best: Proposal | undefined;
  let bestChange = Number.POSITIVE_INFINITY;
  for (let next = leastOf(bounds); next >= 0; next = leastOf(bounds)) {
    const [pod, bound] = [numberAt(pods, next), bounds[next] ?? Number.POSITIVE_INFINITY];
    if (best !== undefined && !isImprovement(bound - bestChange)) {
      break;
    }
    bounds[next] = Number.POSITIVE_INFINITY;
    const to = allows(pod) ? targets.leastLoaded(pod, within) : -1;
    const change = to < 0 ? Number.POSITIVE_INFINITY : state.objectiveChange(pod, to);
    if (to >= 0 && (best === undefined || isImprovement(change - bestChange))) {
      best = { pod, to };
      bestChange = change;
    }
  }
  return best && { pod: best.pod, to: targets.favourite(best.pod, best.to, within) };
}

/**
 * No target of the pod lowers the objective by more; +Infinity when it is too small to be worth a move. With w for the
 * weights, a pod of usage u takes the objective from node to node by u x (load of the target with and without it - load of
 * its node with and without it), since w x load is usage. That holds for one resource; for a mean of several it is an
 * estimate, and for the dominant one nothing is known beforehand.
 */
function boundOf(state: StateView, pod: PodIndex, targets: Targets, minGain: number): number {
  const { weights, dimensions } = state.cluster.load;
  const node = state.nodeOf(pod);
  const [load, rest] = [state.load(node), state.loadWithout(pod)];
  if (load - rest < minGain) {
    return Number.POSITIVE_INFINITY;
  }
  const fall = toFraction(load - rest) * toFraction(targets.leastSum(pod) - load - rest);
  return dimensions > 1 ? Number.NEGATIVE_INFINITY : amountAt(weights, node) * fall;
}

/** Place of the least value, the first of several; -1 when all are +Infinity. */
export function leastOf(values: readonly number[]): number {
  let least = -1;
  for (let place = 0; place < values.length; place += 1) {
    const isLess = (values[place] ?? 0) < (least < 0 ? Number.POSITIVE_INFINITY : (values[least] ?? 0));
    least = isLess ? place : least;
  }
  return least;
}
