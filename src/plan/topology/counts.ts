import { at, itemAt, type PodIndex, type SiteIndex } from '../indices.ts';
import type { TopologyIndex } from './topology-index.ts';

/** How many pods each tracker counts in each domain, while pods come and go. Pods and nodes are named by their place. */
export interface TopologyCounts {
  readonly census: TopologyIndex;
  /** Pods in a domain. */
  readonly inDomain: (tracker: number, domain: number) => number;
  /** Pods in all domains together. */
  readonly total: (tracker: number) => number;
  /** Pods in the domain that has fewest, of those with a node that counts; 0 when there is none. */
  readonly least: (tracker: number) => number;
  /** Grows with every change of any of the tracker's counts. */
  readonly version: (tracker: number) => number;
  readonly add: (pod: PodIndex, node: SiteIndex) => void;
  readonly remove: (pod: PodIndex, node: SiteIndex) => void;
  /** A copy that can be changed on its own. */
  readonly fork: () => TopologyCounts;
}

/** Per tracker the domains that are not empty; shared with forks until one of them writes. */
interface Books {
  readonly counts: Map<number, number>[];
  readonly totals: Int32Array;
  readonly versions: Int32Array;
  /** 1 where `counts` may be changed in place. */
  readonly owned: Uint8Array;
}

/** The counts of a cluster without pods. */
export function emptyCounts(census: TopologyIndex): TopologyCounts {
  const size = census.trackers.length;
  return createCounts(census, {
    counts: Array.from({ length: size }, () => new Map<number, number>()),
    totals: new Int32Array(size),
    versions: new Int32Array(size),
    owned: new Uint8Array(size).fill(1),
  });
}

function createCounts(census: TopologyIndex, books: Books): TopologyCounts {
  const { trackers, countedBy } = census;
  const { counts, totals, versions, owned } = books;
  const inDomain = (tracker: number, domain: number): number => counts[tracker]?.get(domain) ?? 0;
  const change = (tracker: number, domain: number, by: 1 | -1): void => {
    if (owned[tracker] === 0) {
      counts[tracker] = new Map(counts[tracker]);
      owned[tracker] = 1;
    }
    const now = inDomain(tracker, domain) + by;
    if (now === 0) {
      counts[tracker]?.delete(domain);
    } else {
      counts[tracker]?.set(domain, now);
    }
    totals[tracker] = (totals[tracker] ?? 0) + by;
    versions[tracker] = (versions[tracker] ?? 0) + 1;
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
  const leasts = new Int32Array(trackers.length);
  const leastAt = new Int32Array(trackers.length).fill(-1);
  return {
    census,
    inDomain,
    total: (tracker) => totals[tracker] ?? 0,
    least: (tracker) => {
      const version = versions[tracker] ?? 0;
      if (leastAt[tracker] !== version) {
        leasts[tracker] = leastOf(counts[tracker] ?? new Map(), trackers[tracker]?.eligible ?? 0);
        leastAt[tracker] = version;
      }
      return leasts[tracker] ?? 0;
    },
    version: (tracker) => versions[tracker] ?? 0,
    add: (pod, node) => enter(pod, node, 1),
    remove: (pod, node) => enter(pod, node, -1),
    fork: () => {
      owned.fill(0);
      return createCounts(census, {
        counts: counts.slice(),
        totals: totals.slice(),
        versions: versions.slice(),
        owned: new Uint8Array(owned.length),
      });
    },
  };
}

function leastOf(counts: ReadonlyMap<number, number>, eligible: number): number {
  if (counts.size < eligible || counts.size === 0) {
    return 0;
  }
  let least = Number.POSITIVE_INFINITY;
  for (const count of counts.values()) {
    least = Math.min(least, count);
  }
  return least;
}
