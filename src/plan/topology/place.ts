import { at, itemAt, type SiteIndex } from '../indices.ts';
import type { TopologyCounts } from './counts.ts';
import type { Need } from './needs.ts';

/** A node that a pod might go to, as affinity and spread see it. */
export interface Place {
  readonly counts: TopologyCounts;
  /** Place of the node among all nodes of the cluster. */
  readonly site: SiteIndex;
  /** Node on which the pod counts now and would count no longer; -1 when there is none. */
  readonly home: SiteIndex;
}

/** Pods that the tracker counts in the domain of the node, without the pod itself; 0 for a node without the label. */
export function podsNear({ counts, site, home }: Place, { tracker, self }: Need): number {
  const { domains, counted } = itemAt(counts.topologyIndex.trackers, tracker);
  const domain = at(domains.of, site);
  if (domain < 0) {
    return 0;
  }
  const isOwn = self && home >= 0 && at(counted, home) === domain;
  return counts.inDomain(tracker, domain) - (isOwn ? 1 : 0);
}
