import { tolerates } from '../filters/taint-toleration.ts';
import { normalize, type Score } from './score.ts';
import { podAt } from './score-index.ts';

/** kube-scheduler's TaintToleration: the fewer PreferNoSchedule taints the pod does not tolerate, the better. */
export const taintToleration: Score = (pod, feasible, { index }) => {
  const { constraints } = podAt(index, pod);
  const { tolerations } = constraints;
  const counts = feasible.map((site) => {
    const taints = index.nodes[site]?.taints ?? [];
    let count = 0;
    for (const taint of taints) {
      const isDisliked = taint.effect === 'PreferNoSchedule';
      count += isDisliked && !tolerations.some((toleration) => tolerates(toleration, taint)) ? 1 : 0;
    }
    return count;
  });
  return normalize(counts, true);
};
