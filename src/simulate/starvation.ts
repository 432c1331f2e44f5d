import type { UsageSample } from '../model/snapshot.ts';
import type { Cluster } from './cluster.ts';
import type { NodeUse } from './meter.ts';
import { keyOf } from './world.ts';

/**
 * What a node without enough CPU does to its pods, at the end of a window: those that used more than they request get less
 * than they want (cgroup cpu.weight follows the requests), and their readiness probes time out. They are Ready again after a
 * window in which their node had enough.
 */
export function starvePods(
  cluster: Cluster,
  use: ReadonlyMap<string, NodeUse>,
  samples: ReadonlyMap<string, UsageSample>,
): void {
  for (const pod of cluster.world.pods.filter(cluster.world.isBusy)) {
    const { nodeName = '', constraints } = pod.info;
    const isFull = (use.get(nodeName)?.cpu ?? 0) >= 1;
    const isGreedy = (samples.get(keyOf(pod))?.cpu ?? 0) > constraints.requests.cpu;
    if (pod.starved !== (isFull && (isGreedy || pod.starved))) {
      cluster.starve(pod, !pod.starved);
    }
  }
}
