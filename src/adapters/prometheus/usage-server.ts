import { DEFAULT_QUERIES } from '../../api/v1alpha1/rebalance-policy.ts';
import { TRAFFIC_LABELS } from '../../api/v1alpha1/traffic-queries.ts';
import type { MeasuredResource } from '../../model/resources.ts';
import type { UsageSample } from '../../model/snapshot.ts';
import { bytes, epochSeconds, milliCpu, type Seconds } from '../../model/units.ts';
import { UsageError, type UsageRequest, type UsageServer } from '../../ports.ts';
import { createInstantQuery, type InstantQuery, type PrometheusAddress, type VectorSample } from './query.ts';

/** Load, and traffic between workloads, as a Prometheus server knows them. */
export function createUsageServer(address: PrometheusAddress): UsageServer {
  return usageServer(createInstantQuery(address));
}

const QUERY_NAMES = {
  nodes: { cpu: 'nodeCPU', memory: 'nodeMemory' },
  pods: { cpu: 'podCPU', memory: 'podMemory' },
} as const;

/** The same over any instant query. */
export function usageServer(query: InstantQuery): UsageServer {
  const read = async (
    of: keyof typeof QUERY_NAMES,
    request: UsageRequest,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, UsageSample>> => {
    const columns = await Promise.all(
      request.resources.map(async (resource) => {
        const name = QUERY_NAMES[of][resource];
        const promql = overWindow(request.queries[name] ?? DEFAULT_QUERIES[name], request.window);
        return { resource, name, samples: await query(promql, signal) };
      }),
    );
    return joined(columns, of === 'nodes' ? nodeOf : podOf, request.window);
  };
  return {
    nodes: (request, signal) => read('nodes', request, signal),
    nodeLoads: async (promql, window, signal) => {
      const samples = await query(overWindow(promql, window), signal);
      return new Map([...byKey('node', samples, nodeOf)].map(([node, { value }]) => [node, value]));
    },
    traffic: async (promql, signal) =>
      (await query(promql, signal)).map(({ labels, value }) => ({
        source: textOf(labels[TRAFFIC_LABELS.source]),
        destination: textOf(labels[TRAFFIC_LABELS.destination]),
        bandwidth: value,
      })),
    pods: (request, signal) => read('pods', request, signal),
  };
}

/** To Prometheus, an empty label is none. */
function textOf(label: unknown): string | undefined {
  return typeof label === 'string' && label !== '' ? label : undefined;
}

function overWindow(promql: string, window: Seconds): string {
  return promql.replaceAll('$window', `${window}s`);
}

interface Column {
  readonly resource: MeasuredResource;
  readonly name: string;
  readonly samples: readonly VectorSample[];
}

/**
 * One sample for each key with what all columns say of it. What is not asked for is 0; what is asked for and missing is NaN,
 * which the metrics gate refuses.
 */
function joined(
  columns: readonly Column[],
  keyOf: (sample: VectorSample, name: string) => string,
  window: Seconds,
): ReadonlyMap<string, UsageSample> {
  const asked = new Set(columns.map(({ resource }) => resource));
  const unknown = (resource: MeasuredResource): number => (asked.has(resource) ? Number.NaN : 0);
  const found = new Map<string, { cpu: number; memory: number; timestamp: number }>();
  for (const { resource, name, samples } of columns) {
    for (const [key, sample] of byKey(name, samples, keyOf)) {
      const row = found.get(key) ?? { cpu: unknown('cpu'), memory: unknown('memory'), timestamp: sample.timestamp };
      row[resource] = sample.value;
      found.set(key, row);
    }
  }
  return new Map([...found].map(([key, row]) => [key, toSample(row, window)]));
}

/** Two series with one key are a mistake of the query: which one would count? */
function byKey(
  name: string,
  samples: readonly VectorSample[],
  keyOf: (sample: VectorSample, name: string) => string,
): ReadonlyMap<string, VectorSample> {
  const found = new Map<string, VectorSample>();
  for (const sample of samples) {
    const key = keyOf(sample, name);
    if (found.has(key)) {
      throw new UsageError(`query ${name} gives two series for ${key}: sum them by the labels that it is to have`);
    }
    found.set(key, sample);
  }
  return found;
}

/** Cores become millicores. */
function toSample(
  { cpu, memory, timestamp }: { cpu: number; memory: number; timestamp: number },
  window: Seconds,
): UsageSample {
  return { cpu: milliCpu(cpu * 1000), memory: bytes(memory), timestamp: epochSeconds(timestamp), window };
}

function nodeOf({ labels }: VectorSample, name: string): string {
  return labelOf(labels, 'node', name);
}

function podOf({ labels }: VectorSample, name: string): string {
  return `${labelOf(labels, 'namespace', name)}/${labelOf(labels, 'pod', name)}`;
}

function labelOf(labels: VectorSample['labels'], label: string, name: string): string {
  const value = labels[label];
  if (typeof value !== 'string' || value === '') {
    throw new UsageError(
      `query ${name} gives a series without the label ${label}: write load.prometheus.queries.${name} with "sum by (${label === 'node' ? 'node' : 'namespace, pod'}) (...)"`,
    );
  }
  return value;
}
