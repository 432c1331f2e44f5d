import type { FieldProblem } from '../api/json-schema.ts';
import type { RebalancePolicySpec } from '../api/v1alpha1/rebalance-policy.ts';
import { isMeasured } from '../model/resources.ts';
import type { ClusterSnapshot, UsageSample } from '../model/snapshot.ts';
import { withNodeLoads } from '../plan/node-loads.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import { type ClusterReader, UsageError, type UsageRequest, type UsageServer, type UsageServers } from '../ports.ts';
import { learningReader } from './traffic-source.ts';

/**
 * The reader that measures what a policy asks for: usage as `spec.load.source` says, that of a Prometheus server instead of the
 * Metrics API's, and the traffic that AppGraphs learn, where the policy goes by that.
 */
export function readerFor(spec: RebalancePolicySpec, reader: ClusterReader, servers: UsageServers): ClusterReader {
  return learningReader(spec, usageReader(spec, reader, servers), servers);
}

function usageReader(spec: RebalancePolicySpec, reader: ClusterReader, servers: UsageServers): ClusterReader {
  if (spec.load.source !== 'Prometheus') {
    return reader;
  }
  const { server, request } = sourceOf(spec, servers);
  return {
    ...reader,
    snapshot: async (signal) => withUsage(spec, await reader.snapshot(signal, { usage: false }), servers, signal),
    measured: async (signal) => withUsage(spec, await reader.placements(signal), servers, signal),
    nodeUsage: async (signal) => {
      const nodes = await orProblem(
        async () => (await server?.nodes(request, signal)) ?? new Map<string, UsageSample>(),
      );
      if (typeof nodes === 'string') {
        return undefined; // nothing is known at the moment
      }
      const [sample] = nodes.values();
      return sample === undefined ? undefined : { nodes, serverTime: sample.timestamp };
    },
  };
}

/**
 * The snapshot with usage as the Prometheus server has it that `spec` names; without any, and why, where that cannot be asked.
 * As it is for another source of load. Rejects only with what is not the server's fault.
 */
export async function withUsage(
  spec: RebalancePolicySpec,
  snapshot: ClusterSnapshot,
  servers: UsageServers,
  signal: AbortSignal,
): Promise<ClusterSnapshot> {
  if (spec.load.source !== 'Prometheus') {
    return snapshot;
  }
  const { name, server, request } = sourceOf(spec, servers);
  if (server === undefined) {
    return { ...snapshot, usage: undefined, usageProblem: `no Prometheus server ${name} is known here` };
  }
  const usage = await orProblem(async () => {
    const promql = spec.load.prometheus?.queries?.node;
    const [nodes, pods, loads] = await Promise.all([
      server.nodes(request, signal),
      server.pods(request, signal),
      promql === undefined ? undefined : server.nodeLoads(promql, request.window, signal),
    ]);
    return loads === undefined ? { nodes, pods } : withNodeLoads({ nodes, pods }, loads, snapshot);
  });
  return typeof usage === 'string'
    ? { ...snapshot, usage: undefined, usageProblem: `Prometheus server ${name}: ${usage}` }
    : { ...snapshot, usage };
}

/** What is wrong with the server that a policy names, if anything. `how` says how one is named to this process. */
export function serverProblems(
  { load }: RebalancePolicySpec,
  servers: UsageServers,
  how: string,
): readonly FieldProblem[] {
  const name = load.prometheus?.server;
  if (name === undefined || servers.has(name)) {
    return [];
  }
  const known = [...servers.keys()].join(', ');
  const advice = `${known === '' ? '' : `write ${known}, or `}${how} --prometheus ${name}=URL`;
  return [
    {
      path: ['spec', 'load', 'prometheus', 'server'],
      message: `is "${name}", which is no server that is known here: ${advice}`,
    },
  ];
}

interface UsageSource {
  readonly name: string;
  readonly server: UsageServer | undefined;
  readonly request: UsageRequest;
}

function sourceOf(spec: RebalancePolicySpec, servers: UsageServers): UsageSource {
  const { load } = resolveOptions(spec);
  const name = spec.load.prometheus?.server ?? '';
  const resources = load.resources.map((resource) => resource.name).filter(isMeasured);
  const { node: _, ...queries } = spec.load.prometheus?.queries ?? {};
  const request = { resources, window: load.maxAge, queries };
  return { name, server: servers.get(name), request };
}

/** What a server gives, or why it gives nothing. */
async function orProblem<Value extends object>(ask: () => Promise<Value>): Promise<Value | string> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof UsageError) {
      return error.message;
    }
    throw error;
  }
}
