import type { CacheListener, ClusterCache } from '../adapters/kubernetes/cluster-cache.ts';
import { seconds } from '../model/units.ts';
import type { ClusterReader, Log, Turnover } from '../ports.ts';
import type { Metrics } from '../report/metrics/metrics.ts';
import type { Cluster } from './cluster.ts';

/** After that the operator goes on without: moves in flight are brought to their end, and runs say what is missing. */
const PATIENCE = seconds(10);

/** Caches that are being kept current. */
export interface RunningCache {
  readonly reader: ClusterReader;
  /** Counts what came and went. */
  readonly turnover: () => Turnover;
  /** From now on this function, and none before it, is called when pods have come to our gate. */
  readonly onArrival: (arrived: () => void) => void;
  /** Resolves when the caches are filled, or 10 s after the start; never rejects. */
  readonly ready: Promise<void>;
  /** Ends all watches. A second call does nothing. */
  stop(): Promise<void>;
}

/** Fills caches of the cluster and keeps them current until aborted or stopped. A replica that waits to lead has them too. */
export function startCache(cluster: Cluster, metrics: Metrics, log: Log, signal: AbortSignal): RunningCache {
  const listener: CacheListener = {
    failed: (resource, err) => log('list or watch failed', { resource, err }),
    drifted(resource, diff) {
      metrics.cacheDrifted(resource, diff.added + diff.updated + diff.removed);
      const { added, updated, removed } = diff;
      log('cache drifted', { resource, added, updated, removed });
    },
  };
  const cache = cluster.cache(listener, cluster.plans);
  metrics.showCaches(cache.states);
  const stopping = new AbortController();
  const ended = AbortSignal.any([signal, stopping.signal]);
  const running = cache.run(ended);
  return {
    reader: cache.reader,
    turnover: cache.turnover,
    onArrival: cache.onArrival,
    ready: waitUntilSynced(cache, log, ended),
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}

async function waitUntilSynced(cache: ClusterCache, log: Log, signal: AbortSignal): Promise<void> {
  try {
    await cache.synced(PATIENCE, signal);
  } catch (err) {
    if (!signal.aborted) {
      log('caches not filled', { err });
    }
  }
}
