import { dislikedTaints } from '../filters/taint-toleration.ts';
import { normalize, type Score } from './score.ts';
import { podAt } from './score-index.ts';

/** kube-scheduler's TaintToleration: the fewer PreferNoSchedule taints the pod does not tolerate, the better. */
export const taintToleration: Score = (pod, feasible, { index }) => {
  const { constraints } = podAt(index, pod);
  const counts = feasible.map((site) => {
    const node = index.nodes[site];
    return node === undefined ? 0 : dislikedTaints(constraints, node);
  });
  return normalize(counts, true);
};
