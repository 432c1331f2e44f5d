import type { PodAffinityTerm, PodInfo } from '../../model/pod.ts';
import { resolveTerm, selects } from '../topology/terms.ts';
import { type Ground, type Kind, podAt } from './ground.ts';
import { MAX_SCORE, type Score } from './score.ts';

/** What a required affinity term of a pod that runs is worth to the pods that it matches (hardPodAffinityWeight). */
const HARD_AFFINITY_WEIGHT = 1;

/**
 * kube-scheduler's InterPodAffinity: for each topology key, the weights of the preferred terms that the pods in the node's
 * domain meet, and of their terms that the pod meets, their required affinity included. The least becomes 0, the most 100.
 */
export const interPodAffinity: Score = (pod, feasible, ground) => {
  const weights = weighDomains(podAt(ground.index, pod), ground);
  if (weights.size === 0) {
    return new Int32Array(feasible.length);
  }
  const sums = new Float64Array(feasible.length);
  for (const [key, byDomain] of weights) {
    const { of } = ground.index.domainsOf(key);
    feasible.forEach((site, place) => {
      sums[place] = (sums[place] ?? 0) + (byDomain.get(of[site] ?? -1) ?? 0);
    });
  }
  const least = sums.reduce((lowest, sum) => Math.min(lowest, sum), Number.POSITIVE_INFINITY);
  const most = sums.reduce((highest, sum) => Math.max(highest, sum), Number.NEGATIVE_INFINITY);
  return Int32Array.from(sums, (sum) => (most > least ? MAX_SCORE * ((sum - least) / (most - least)) : 0));
};

/** By topology key and domain. */
type Weights = Map<string, Map<number, number>>;

function weighDomains(pod: PodInfo, ground: Ground): Weights {
  const { index } = ground;
  const { namespaces } = index;
  const { preferredPodAffinity } = pod.constraints;
  const weights: Weights = new Map();
  for (const { weight, term } of preferredPodAffinity) {
    const resolved = resolveTerm(term, pod.namespace, namespaces);
    if (resolved !== undefined) {
      const met = index.kinds().filter((kind) => selects(resolved, kind.namespace, kind.labels));
      enter(weights, resolved.topologyKey, weight, met, ground);
    }
  }
  for (const kind of index.attracting()) {
    const meets = (term: PodAffinityTerm): boolean => {
      const resolved = resolveTerm(term, kind.namespace, namespaces);
      return resolved !== undefined && selects(resolved, pod.namespace, pod.labels);
    };
    for (const term of kind.constraints.podAffinity.filter(meets)) {
      enter(weights, term.topologyKey, HARD_AFFINITY_WEIGHT, [kind], ground);
    }
    for (const { term, weight } of kind.constraints.preferredPodAffinity.filter((preferred) => meets(preferred.term))) {
      enter(weights, term.topologyKey, weight, [kind], ground);
    }
  }
  return weights;
}

/** Adds the weight to the domain of every pod of the kinds. */
function enter(weights: Weights, key: string, weight: number, kinds: readonly Kind[], ground: Ground): void {
  const { of } = ground.index.domainsOf(key);
  const byDomain = weights.get(key) ?? new Map<number, number>();
  for (const { pods } of kinds) {
    for (const pod of pods) {
      const domain = of[ground.siteOf(pod)] ?? -1;
      if (domain >= 0) {
        byDomain.set(domain, (byDomain.get(domain) ?? 0) + weight);
        weights.set(key, byDomain);
      }
    }
  }
}
