import { matchesTerm } from '../filters/node-affinity.ts';
import { normalize, type Score } from './score.ts';
import { podAt } from './score-index.ts';

/** kube-scheduler's NodeAffinity: the weights of the preferred terms that the node matches, added up. */
export const nodeAffinity: Score = (pod, feasible, { index }) => {
  const { constraints } = podAt(index, pod);
  const { preferredNodeAffinity } = constraints;
  if (preferredNodeAffinity.length === 0) {
    return new Int32Array(feasible.length);
  }
  const sums = feasible.map((site) => {
    const node = index.nodes[site];
    return preferredNodeAffinity.reduce(
      (sum, { weight, term }) => sum + (node !== undefined && matchesTerm(term, node) ? weight : 0),
      0,
    );
  });
  return normalize(sums, false);
};
