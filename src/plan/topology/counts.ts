import { at, type DomainIndex, itemAt, type PodIndex, type SiteIndex, type TrackerIndex } from '../indices.ts';
import type { TopologyIndex } from './topology-index.ts';

/** How many pods each tracker counts in each domain, while pods come and go. Pods and nodes are named by their place. */
export interface TopologyCounts {
  readonly topologyIndex: TopologyIndex;
  /** Pods in a domain. */
  readonly inDomain: (tracker: TrackerIndex, domain: DomainIndex) => number;
  /** Pods by domain, of the domains that have any. */
  readonly byDomain: (tracker: TrackerIndex) => ReadonlyMap<DomainIndex, number>;
  /** Pods in all domains together. */
  readonly total: (tracker: TrackerIndex) => number;
  /** Pods in the domain that has fewest, of those with a node that counts; 0 when there is none. */
  readonly least: (tracker: TrackerIndex) => number;
  /** Pods in the domain that has most; 0 when there are none. */
  readonly most: (tracker: TrackerIndex) => number;
  /** Grows with every change of any of the tracker's counts. */
  readonly version: (tracker: TrackerIndex) => number;
  readonly add: (pod: PodIndex, node: SiteIndex) => void;
  readonly remove: (pod: PodIndex, node: SiteIndex) => void;
  /** A copy that can be changed on its own. */
  readonly fork: () => TopologyCounts;
}

/** Per tracker the domains that are not empty; shared with forks until one of them writes. */
interface Books {
  readonly counts: Map<DomainIndex, number>[];
  readonly totals: Int32Array;
  readonly versions: Int32Array;
  /** 1 where `counts` may be changed in place. */
  readonly owned: Uint8Array;
}

/** The counts of a cluster without pods. */
export function emptyCounts(topologyIndex: TopologyIndex): TopologyCounts {
  const size = topologyIndex.trackers.length;
  return createCounts(topologyIndex, {
    counts: Array.from({ length: size }, () => new Map<DomainIndex, number>()),
    totals: new Int32Array(size),
    versions: new Int32Array(size),
    owned: new Uint8Array(size).fill(1),
  });
}

function createCounts(topologyIndex: TopologyIndex, books: Books): TopologyCounts {
  const { trackers, countedBy } = topologyIndex;
  const { counts, totals, versions, owned } = books;
  const inDomain = (tracker: TrackerIndex, domain: DomainIndex): number => itemAt(counts, tracker).get(domain) ?? 0;
  const change = (tracker: TrackerIndex, domain: DomainIndex, by: 1 | -1): void => {
    if (owned[tracker] === 0) {
      counts[tracker] = new Map(itemAt(counts, tracker));
      owned[tracker] = 1;
    }
    const now = inDomain(tracker, domain) + by;
    if (now === 0) {
      itemAt(counts, tracker).delete(domain);
    } else {
      itemAt(counts, tracker).set(domain, now);
    }
    totals[tracker] = at(totals, tracker) + by;
    versions[tracker] = at(versions, tracker) + 1;
  };
  const enter = (pod: PodIndex, node: SiteIndex, by: 1 | -1): void => {
    const counting = countedBy(pod);
    for (let place = 0; place < counting.length; place += 1) {
      const tracker = at(counting, place);
      const domain = at(itemAt(trackers, tracker).counted, node);
      if (domain >= 0) {
        change(tracker, domain, by);
      }
    }
  };
  const least = rememberedPer(versions, (tracker) =>
    leastOf(itemAt(counts, tracker), itemAt(trackers, tracker).eligible),
  );
  return {
    topologyIndex,
    inDomain,
    byDomain: (tracker) => itemAt(counts, tracker),
    total: (tracker) => at(totals, tracker),
    least,
    most: rememberedPer(versions, (tracker) => mostOf(itemAt(counts, tracker))),
    version: (tracker) => at(versions, tracker),
    add: (pod, node) => enter(pod, node, 1),
    remove: (pod, node) => enter(pod, node, -1),
    fork: () => {
      owned.fill(0);
      return createCounts(topologyIndex, {
        counts: counts.slice(),
        totals: totals.slice(),
        versions: versions.slice(),
        owned: new Uint8Array(owned.length),
      });
    },
  };
}

/** Computes anew only what has changed since it was last asked for. */
function rememberedPer(
  versions: Int32Array,
  compute: (tracker: TrackerIndex) => number,
): (tracker: TrackerIndex) => number {
  const values = new Int32Array(versions.length);
  const knownAt = new Int32Array(versions.length).fill(-1);
  return (tracker) => {
    const version = at(versions, tracker);
    if (knownAt[tracker] !== version) {
      values[tracker] = compute(tracker);
      knownAt[tracker] = version;
    }
    return at(values, tracker);
  };
}

function mostOf(counts: ReadonlyMap<DomainIndex, number>): number {
  let most = 0;
  for (const count of counts.values()) {
    most = Math.max(most, count);
  }
  return most;
}

function leastOf(counts: ReadonlyMap<DomainIndex, number>, eligible: number): number {
  if (counts.size < eligible || counts.size === 0) {
    return 0;
  }
  let least = Number.POSITIVE_INFINITY;
  for (const count of counts.values()) {
    least = Math.min(least, count);
  }
  return least;
}
