import type { PodInfo } from '../../model/pod.ts';
import { amountAt, at, atOrNone, type DomainIndex } from '../indices.ts';
import { MAX_SCORE, type Score } from './score.ts';
import { podAt, type ScoreContext } from './score-index.ts';
import type { Attraction } from './term-index.ts';

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
      sums[place] = amountAt(sums, place) + (byDomain.get(at(of, site)) ?? 0);
    });
  }
  const least = sums.reduce((lowest, sum) => Math.min(lowest, sum), Number.POSITIVE_INFINITY);
  const most = sums.reduce((highest, sum) => Math.max(highest, sum), Number.NEGATIVE_INFINITY);
  return Int32Array.from(sums, (sum) => (most > least ? MAX_SCORE * ((sum - least) / (most - least)) : 0));
};

/** By topology key and domain. */
type Weights = Map<string, Map<DomainIndex, number>>;

function weighDomains(pod: PodInfo, ground: ScoreContext): Weights {
  const { index } = ground;
  const { preferredPodAffinity } = pod.constraints;
  const weights: Weights = new Map();
  if (preferredPodAffinity.length === 0 && !index.anyAttracts()) {
    return weights;
  }
  const terms = index.terms();
  for (const { weight, term } of preferredPodAffinity) {
    for (const pods of terms.matching(term, pod.namespace) ?? []) {
      enter(weights, { topologyKey: term.topologyKey, weight, pods }, ground);
    }
  }
  for (const attraction of terms.attracting(pod)) {
    enter(weights, attraction, ground);
  }
  return weights;
}

/** Adds the weight to the domain of every pod. */
function enter(weights: Weights, { topologyKey, weight, pods }: Attraction, ground: ScoreContext): void {
  const { of } = ground.index.domainsOf(topologyKey);
  const byDomain = weights.get(topologyKey) ?? new Map<DomainIndex, number>();
  for (const pod of pods) {
    const domain = atOrNone(of, ground.siteOf(pod));
    if (domain >= 0) {
      byDomain.set(domain, (byDomain.get(domain) ?? 0) + weight);
      weights.set(topologyKey, byDomain);
    }
  }
}
