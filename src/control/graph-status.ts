import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { Plan } from '../plan/plan.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import type { AppGraphStore, Clock, Log } from '../ports.ts';
import { appGraphStatus, isGraphNews } from '../report/app-graph-status.ts';

/** What the status of AppGraphs is written through. */
export interface GraphStatusPorts {
  readonly appGraphs: AppGraphStore;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Writes what a run has found of the traffic of AppGraphs to their status, where that is news. A graph that was edited or
 * deleted since is left to the next run, as is one whose status cannot be written: its plan is stored already, and others wait.
 * Rejects with ApiError when they cannot be listed.
 */
export async function reportGraphs(
  policy: string,
  { appGraphs = [] }: ClusterSnapshot,
  { strategy, traffic }: Plan,
  { appGraphs: store, clock, log }: GraphStatusPorts,
  signal: AbortSignal,
): Promise<void> {
  if (appGraphs.length === 0 || STRATEGY_TRAITS[strategy].improves !== 'Traffic') {
    return;
  }
  const planned = new Map(appGraphs.map((graph) => [graph.uid, graph]));
  for (const stored of await store.list(signal)) {
    const { uid = '', generation } = stored.metadata;
    const graph = planned.get(uid);
    const old = stored.status ?? {};
    const next = graph?.generation === generation && graph && appGraphStatus(graph, traffic, old, clock.now());
    if (next && isGraphNews(old, next)) {
      await store.writeStatus(stored, next, signal).catch((err: unknown) => {
        signal.throwIfAborted();
        log('graph status not stored', { policy, graph: `${stored.metadata.namespace}/${stored.metadata.name}`, err });
      });
    }
  }
}
