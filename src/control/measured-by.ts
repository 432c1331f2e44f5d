import type { RebalancePolicySpec } from '../api/v1alpha1/rebalance-policy.ts';
import type { FieldProblem } from '../api/validate.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { resolveOptions } from '../plan/options.ts';
import { type ClusterReader, UsageError, type UsageRequest, type UsageServer, type UsageServers } from '../ports.ts';

/** The reader whose usage is what `spec.load.source` asks for: that of a Prometheus server instead of the Metrics API's. */
export function readerFor(spec: RebalancePolicySpec, reader: ClusterReader, servers: UsageServers): ClusterReader {
  const { source, prometheus } = spec.load;
  if (source !== 'Prometheus' || prometheus === undefined) {
    return reader;
  }
  const server = servers.get(prometheus.server);
  return server === undefined
    ? blind(reader, prometheus.server)
    : measured(reader, prometheus.server, server, requestOf(spec));
}

/** What is wrong with the server that a policy names, if anything. */
export function serverProblems({ load }: RebalancePolicySpec, servers: UsageServers): readonly FieldProblem[] {
  const name = load.prometheus?.server;
  if (name === undefined || servers.has(name)) {
    return [];
  }
  const known = [...servers.keys()].join(', ');
  const advice = `${known === '' ? '' : `write ${known}, or `}start the operator with --prometheus ${name}=URL`;
  return [
    {
      path: ['spec', 'load', 'prometheus', 'server'],
      message: `is "${name}", which is no server that is known here: ${advice}`,
    },
  ];
}

function requestOf(spec: RebalancePolicySpec): UsageRequest {
  const { load } = resolveOptions(spec);
  return {
    resources: load.resources.map(({ name }) => name),
    window: load.maxAge,
    queries: spec.load.prometheus?.queries ?? {},
  };
}

/** No usage: the planner says what it makes of that. */
function blind(reader: ClusterReader, name: string): ClusterReader {
  const usageProblem = `no Prometheus server ${name} is known here`;
  return {
    ...reader,
    snapshot: async (signal) => ({ ...(await reader.snapshot(signal, { usage: false })), usageProblem }),
    measured: async (signal) => ({ ...(await reader.placements(signal)), usageProblem }),
    nodeUsage: async () => undefined,
  };
}

function measured(reader: ClusterReader, name: string, server: UsageServer, request: UsageRequest): ClusterReader {
  const withUsage = async (snapshot: ClusterSnapshot, signal: AbortSignal): Promise<ClusterSnapshot> => {
    try {
      const [nodes, pods] = await Promise.all([server.nodes(request, signal), server.pods(request, signal)]);
      return { ...snapshot, usage: { nodes, pods } };
    } catch (error) {
      return { ...snapshot, usage: undefined, usageProblem: `Prometheus server ${name}: ${messageOf(error)}` };
    }
  };
  return {
    ...reader,
    snapshot: async (signal) => withUsage(await reader.snapshot(signal, { usage: false }), signal),
    measured: async (signal) => withUsage(await reader.placements(signal), signal),
    nodeUsage: async (signal) => {
      try {
        const nodes = await server.nodes(request, signal);
        const [sample] = nodes.values();
        return sample === undefined ? undefined : { nodes, serverTime: sample.timestamp };
      } catch (error) {
        if (error instanceof UsageError) {
          return undefined; // nothing is known at the moment
        }
        throw error;
      }
    },
  };
}

/** Rethrows what is not the server's fault. */
function messageOf(error: unknown): string {
  if (error instanceof UsageError) {
    return error.message;
  }
  throw error;
}
