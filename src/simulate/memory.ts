import type { Cluster } from './cluster.ts';
import type { SimulatedPod } from './world.ts';

/** A working set after a span of time. */
interface WorkingSet {
  /** Bytes at the end. */
  readonly bytes: number;
  /** Bytes times seconds over the span. */
  readonly area: number;
}

/**
 * How the working set of a container grows in `span` seconds from `from` bytes, while it wants `wanted` bytes: by the share
 * 1 - 1/e of what is missing in every `fill` seconds. It never shrinks: a process that is idle keeps its heap and its caches.
 */
export function grownWorkingSet(from: number, wanted: number, span: number, fill: number): WorkingSet {
  if (from >= wanted) {
    return { bytes: from, area: from * span };
  }
  const missing = wanted - from;
  const left = Math.exp(-span / fill);
  return { bytes: wanted - missing * left, area: wanted * span - missing * fill * (1 - left) };
}

/**
 * What a node without memory does to its pods, at the end of a window: its kubelet evicts them until the rest fits, those
 * beyond their requests first, then by priority, then those furthest beyond their requests (kubelet rankMemoryPressure). Their
 * controllers make others at once, which start with an empty working set. Returns the number of evictions.
 */
export function relieveMemory(cluster: Cluster, workingSets: ReadonlyMap<SimulatedPod, number>): number {
  const byNode = Map.groupBy(workingSets, ([pod]) => pod.info.nodeName ?? '');
  let evictions = 0;
  for (const [name, { info }] of cluster.world.nodes) {
    const pods = (byNode.get(name) ?? []).map(([pod, bytes]) => ({ pod, bytes, beyond: bytes - requestOf(pod) }));
    let used = pods.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { pod, bytes } of pods.toSorted(byEvictionRank)) {
      if (used <= info.allocatable.memory) {
        break;
      }
      used -= bytes;
      evictions += 1;
      cluster.terminate(pod);
    }
  }
  return evictions;
}

interface Candidate {
  readonly pod: SimulatedPod;
  readonly bytes: number;
  readonly beyond: number;
}

function byEvictionRank(left: Candidate, right: Candidate): number {
  return (
    Number(right.beyond > 0) - Number(left.beyond > 0) ||
    left.pod.info.priority - right.pod.info.priority ||
    right.beyond - left.beyond ||
    left.pod.sequence - right.pod.sequence
  );
}

function requestOf({ info }: SimulatedPod): number {
  return info.constraints.requests.memory;
}
