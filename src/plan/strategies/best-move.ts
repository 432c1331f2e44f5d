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
  node: number,
  targets: Targets,
  limits: TargetLimits,
  minGain: number,
  allows: (pod: number) => boolean,
): Proposal | undefined {
  const load = state.load(node);
  const within = { below: limits.below, upTo: Math.min(limits.upTo, load - Math.max(minGain, 1)) };
  let best: Proposal | undefined;
  let bestChange = Number.POSITIVE_INFINITY;
  for (const { pod, bound } of mostPromising(state, node, targets, minGain)) {
    if (best !== undefined && !isImprovement(bound - bestChange)) {
      break;
    }
    const to = allows(pod) ? targets.leastLoaded(pod, within) : -1;
    const change = to < 0 ? Number.POSITIVE_INFINITY : state.objectiveChange(pod, to);
    if (to >= 0 && (best === undefined || isImprovement(change - bestChange))) {
      best = { pod, to };
      bestChange = change;
    }
  }
  return best && { pod: best.pod, to: targets.favourite(best.pod, best.to, within) };
}

interface Candidate {
  readonly pod: number;
  /** No target lowers the objective by more. */
  readonly bound: number;
}

/**
 * The pods of a node that could be worth moving. With w for the weights, a pod of usage u takes the objective from node to
 * node by u x (load of the target with and without it - load of the node with and without it), since w x load is usage. That
 * holds for one resource; for a mean of several it is an estimate, and for the dominant one nothing is known beforehand.
 */
function mostPromising(state: StateView, node: number, targets: Targets, minGain: number): readonly Candidate[] {
  const { weights, dimensions } = state.cluster.load;
  const load = state.load(node);
  const candidates: Candidate[] = [];
  for (const pod of state.movablePodsOn(node)) {
    const rest = state.loadWithout(pod);
    if (load - rest >= minGain) {
      const fall = toFraction(load - rest) * toFraction(targets.leastSum(pod) - load - rest);
      const bound = dimensions > 1 ? Number.NEGATIVE_INFINITY : (weights[node] ?? 0) * fall;
      candidates.push({ pod, bound });
    }
  }
  return candidates.sort((left, right) => left.bound - right.bound || left.pod - right.pod);
}
