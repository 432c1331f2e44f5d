import { podKey } from '../model/pod.ts';
import type { ClusterSnapshot, UsageSample, UsageSamples } from '../model/snapshot.ts';
import { milliCpu } from '../model/units.ts';

/**
 * Usage in which the CPU that a node uses is `loads` of it, a share of what it can give, whatever that is a measure of (its
 * pressure, what is stolen from it). Each pod there counts for as much of that as it uses of the CPU that is used on its node;
 * what is left is the node's own. A node that `loads` does not name has no sample, and its pods have none.
 */
export function withNodeLoads(
  usage: UsageSamples,
  loads: ReadonlyMap<string, number>,
  { nodes, pods }: Pick<ClusterSnapshot, 'nodes' | 'pods'>,
): UsageSamples {
  const sums = new Map<string, number>();
  for (const pod of pods) {
    const { cpu } = usage.pods.get(podKey(pod)) ?? { cpu: 0 };
    sums.set(pod.nodeName ?? '', (sums.get(pod.nodeName ?? '') ?? 0) + cpu);
  }
  const loaded = new Map<string, UsageSample>();
  const factors = new Map<string, number>();
  for (const { name, allocatable } of nodes) {
    const [sample, load] = [usage.nodes.get(name), loads.get(name)];
    if (sample !== undefined && load !== undefined) {
      const used = Math.max(sample.cpu, sums.get(name) ?? 0);
      loaded.set(name, { ...sample, cpu: milliCpu(load * allocatable.cpu) });
      factors.set(name, used > 0 ? (load * allocatable.cpu) / used : 0);
    }
  }
  const shares = pods.flatMap((pod) => {
    const [sample, factor] = [usage.pods.get(podKey(pod)), factors.get(pod.nodeName ?? '')];
    return sample === undefined || factor === undefined
      ? []
      : [[podKey(pod), { ...sample, cpu: milliCpu(sample.cpu * factor) }] as const];
  });
  return { nodes: loaded, pods: new Map(shares) };
}
