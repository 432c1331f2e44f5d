import { isImprovement, type StateView } from '../state.ts';
import type { Proposal } from './strategy.ts';
import type { TargetLimits, Targets } from './targets.ts';

/**
 * Of the pods on `node`, each with the target that ends up with the least load, the move that lowers the deviations most
 * among those that gain at least `minGain`; `undefined` when there is none. Lowering the squared deviations most takes
 * the pod that comes closest to evening out the two nodes, which is what needs the fewest moves.
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
  for (const pod of state.movablePodsOn(node)) {
    if (!allows(pod) || load - state.loadWithout(pod) < minGain) {
      continue;
    }
    const to = targets.leastLoaded(pod, within);
    const change = to < 0 ? Number.POSITIVE_INFINITY : state.objectiveChange(pod, to);
    if (to >= 0 && (best === undefined || isImprovement(change - bestChange))) {
      best = { pod, to };
      bestChange = change;
    }
  }
  return best && { pod: best.pod, to: targets.favourite(best.pod, best.to, within) };
}
