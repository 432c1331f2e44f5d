import type { RebalancePolicySpec } from '../api/v1alpha1/rebalance-policy.ts';
import type { AppGraphInfo, TrafficQuery } from '../model/app-graph.ts';
import { runConcurrently } from '../model/concurrent.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import { learnEdges, withoutTraffic } from '../plan/traffic/learn.ts';
import { type ClusterReader, UsageError, type UsageServers } from '../ports.ts';

/** Queries that are under way at a time. */
const MOST_QUERIES = 8;

/** The reader whose snapshots have the traffic that AppGraphs learn, where the policy goes by traffic; else the one that it is given. */
export function learningReader(spec: RebalancePolicySpec, reader: ClusterReader, servers: UsageServers): ClusterReader {
  if (!goesByTraffic(spec)) {
    return reader;
  }
  return {
    ...reader,
    snapshot: async (signal, options) => withTraffic(spec, await reader.snapshot(signal, options), servers, signal),
  };
}

/**
 * The snapshot with the edges of AppGraphs as their Prometheus servers have them now, where the policy goes by traffic; without
 * edges, and why, where a server cannot tell. Rejects only with what is not the server's fault.
 */
export async function withTraffic(
  spec: RebalancePolicySpec,
  snapshot: ClusterSnapshot,
  servers: UsageServers,
  signal: AbortSignal,
): Promise<ClusterSnapshot> {
  const { appGraphs } = snapshot;
  if (appGraphs === undefined || !goesByTraffic(spec)) {
    return snapshot;
  }
  const learnt = await runConcurrently(appGraphs, MOST_QUERIES, signal, async (graph, own) =>
    graph.query === undefined ? graph : learn(graph, graph.query, snapshot, servers, own),
  );
  return { ...snapshot, appGraphs: learnt };
}

function goesByTraffic({ strategy }: RebalancePolicySpec): boolean {
  return STRATEGY_TRAITS[strategy.type].improves === 'Traffic';
}

async function learn(
  graph: AppGraphInfo,
  { server: name, promql }: TrafficQuery,
  snapshot: ClusterSnapshot,
  servers: UsageServers,
  signal: AbortSignal,
): Promise<AppGraphInfo> {
  const server = servers.get(name);
  if (server === undefined) {
    return withoutTraffic(graph, 'UnknownServer', `it is not known here: add --prometheus ${name}=URL`);
  }
  try {
    return learnEdges(graph, await server.traffic(promql, signal), snapshot);
  } catch (error) {
    if (error instanceof UsageError) {
      return withoutTraffic(graph, 'ServerFailed', error.message);
    }
    throw error;
  }
}
