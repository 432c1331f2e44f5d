import {
  listNodeMetrics,
  listNodes,
  listPodMetrics,
  listPods,
  milliCpuOf,
  qualifiedName,
  usedMilliCpu,
} from './cluster-state.ts';
import type { ControlPlane } from './start.ts';

/** CPU load of every node by name: measured usage over allocatable, 0 for a node without metrics. */
export async function nodeLoads(cp: ControlPlane): Promise<ReadonlyMap<string, number>> {
  const [nodes, metrics] = await Promise.all([listNodes(cp), listNodeMetrics(cp)]);
  const used = new Map(metrics.map((entry) => [entry.metadata.name, usedMilliCpu(entry)]));
  return new Map(
    nodes.map(({ metadata, status }) => {
      return [metadata.name, (used.get(metadata.name) ?? 0) / milliCpuOf(status.allocatable.cpu)];
    }),
  );
}

/** Population standard deviation; 0 for no values. */
export function standardDeviation(values: readonly number[]): number {
  if (values.length === 0) {
    return 0;
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

/**
 * What of the metrics is missing or not yet true, or undefined: every running pod has PodMetrics, every node with such
 * a pod has NodeMetrics, and each node's usage is that of its pods. The last takes a scrape longer: the first value of
 * a node may be an average over a time when its pods were not there yet.
 */
export async function missingMetrics(cp: ControlPlane): Promise<string | undefined> {
  const [pods, nodeMetrics, podMetrics] = await Promise.all([listPods(cp), listNodeMetrics(cp), listPodMetrics(cp)]);
  const running = pods.filter((pod) => pod.status.phase === 'Running' && pod.metadata.deletionTimestamp === undefined);
  const podUsage = new Map(podMetrics.map((entry) => [qualifiedName(entry), usedMilliCpu(entry)]));
  const without = running.filter((pod) => !podUsage.has(qualifiedName(pod)));
  if (without.length > 0) {
    return `${without.length} of ${running.length} running pods have no metrics`;
  }
  const expected = new Map<string, number>();
  for (const pod of running) {
    const node = pod.spec.nodeName ?? '';
    expected.set(node, (expected.get(node) ?? 0) + (podUsage.get(qualifiedName(pod)) ?? 0));
  }
  const nodeUsage = new Map(nodeMetrics.map((entry) => [entry.metadata.name, usedMilliCpu(entry)]));
  const unsettled = [...expected].filter(([node, sum]) => !isNear(nodeUsage.get(node), sum)).map(([node]) => node);
  return unsettled.length > 0 ? `the metrics of ${unsettled.join(', ')} do not yet show all pods` : undefined;
}

/** Within 5 % or 10 millicores. */
function isNear(measured: number | undefined, expected: number): boolean {
  return measured !== undefined && Math.abs(measured - expected) <= Math.max(10, 0.05 * expected);
}
