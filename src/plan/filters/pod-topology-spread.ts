import { at, itemAt } from '../indices.ts';
import type { SpreadNeed } from '../topology/needs.ts';
import { type Place, podsNear } from '../topology/place.ts';
import type { Refusal, Subject } from './refusal.ts';

/**
 * kube-scheduler's PodTopologySpread with DoNotSchedule: the matching pods in the node's domain, with this one, exceed those
 * in the domain that has fewest by at most maxSkew; with fewer domains than minDomains the fewest count as 0
 * (podtopologyspread.Filter).
 */
export function podTopologySpread({ topology }: Subject, place: Place): Refusal | undefined {
  for (const need of topology.spread) {
    const refusal = check(need, place);
    if (refusal !== undefined) {
      return refusal;
    }
  }
  return undefined;
}

function check(need: SpreadNeed, place: Place): Refusal | undefined {
  const { counts, site } = place;
  const { domains, eligible } = itemAt(counts.topologyIndex.trackers, need.tracker);
  const domain = at(domains.of, site);
  if (domain < 0) {
    const topologyKey = domains.key;
    return { filter: 'PodTopologySpread', topologyKey, domain: undefined, skew: 0, maxSkew: need.maxSkew };
  }
  const skew = podsNear(place, need) + need.adds - leastOfOthers(need, place, eligible);
  return skew <= need.maxSkew
    ? undefined
    : {
        filter: 'PodTopologySpread',
        topologyKey: domains.key,
        domain: itemAt(domains.values, domain),
        skew,
        maxSkew: need.maxSkew,
      };
}

/** Pods in the domain with fewest, the pod itself left out. */
function leastOfOthers({ tracker, self, minDomains }: SpreadNeed, { counts, home }: Place, eligible: number): number {
  if (eligible < minDomains) {
    return 0;
  }
  const least = counts.least(tracker);
  const own = self && home >= 0 ? at(itemAt(counts.topologyIndex.trackers, tracker).counted, home) : -1;
  return own < 0 ? least : Math.min(least, counts.inDomain(tracker, own) - 1);
}
