import { at, type DomainIndex, itemAt, type TrackerIndex } from '../indices.ts';
import type { Need } from '../topology/needs.ts';
import { type Place, podsNear } from '../topology/place.ts';
import type { Refusal, Subject } from './refusal.ts';

/**
 * kube-scheduler's InterPodAffinity: pods that match all of the pod's affinity terms are in the node's domain of every
 * term, or there are none anywhere and the pod matches its own terms; no pod that an anti-affinity term of the pod
 * matches, and none with an anti-affinity term that matches the pod, is in the node's domain
 * (interpodaffinity.satisfyPodAffinity, satisfyPodAntiAffinity, satisfyExistingPodsAntiAffinity).
 */
export function interPodAffinity({ topology }: Subject, place: Place): Refusal | undefined {
  const { affinity, hopeless, antiAffinity, repelledBy } = topology;
  const lonely = affinity.length > 0 || hopeless ? affinityRefusal(topology, place) : undefined;
  if (lonely !== undefined) {
    return lonely;
  }
  const near = firstNear(antiAffinity, place);
  if (near !== undefined) {
    return refuse('antiAffinity', near, place);
  }
  const repelling = firstNear(repelledBy, place);
  return repelling === undefined ? undefined : refuse('existingAntiAffinity', repelling, place);
}

function firstNear(needs: readonly Need[], place: Place): Need | undefined {
  for (const need of needs) {
    if (podsNear(place, need) > 0) {
      return need;
    }
  }
  return undefined;
}

function affinityRefusal(
  { affinity, matchesItself, hopeless }: Subject['topology'],
  place: Place,
): Refusal | undefined {
  const unlabelled = affinity.find(({ tracker }) => domainOf(place, tracker) < 0);
  if (unlabelled !== undefined) {
    return refuse('affinity', unlabelled, place);
  }
  const missing = hopeless ? affinity[0] : affinity.find((need) => podsNear(place, need) <= 0);
  if (missing === undefined && !hopeless) {
    return undefined;
  }
  const isFirst = !hopeless && matchesItself && affinity.every((need) => othersAnywhere(place, need) === 0);
  return isFirst ? undefined : refuse('affinity', missing, place);
}

function domainOf({ counts, site }: Place, tracker: TrackerIndex): DomainIndex {
  return at(itemAt(counts.topologyIndex.trackers, tracker).domains.of, site);
}

function othersAnywhere({ counts, home }: Place, { tracker, self }: Need): number {
  const isCounted = self && home >= 0 && at(itemAt(counts.topologyIndex.trackers, tracker).counted, home) >= 0;
  return counts.total(tracker) - (isCounted ? 1 : 0);
}

function refuse(
  rule: 'affinity' | 'antiAffinity' | 'existingAntiAffinity',
  need: Need | undefined,
  place: Place,
): Refusal {
  const domains = need && itemAt(place.counts.topologyIndex.trackers, need.tracker).domains;
  const domain = domains?.values[at(domains.of, place.site)];
  return {
    filter: 'InterPodAffinity',
    rule,
    topologyKey: domains?.key ?? '',
    domain,
    pods: need === undefined ? 0 : podsNear(place, need),
  };
}
