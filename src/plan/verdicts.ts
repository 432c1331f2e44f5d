import type { NodeInfo } from '../model/node.ts';
import { type PodInfo, podKey } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { refusalsOf } from './filters/index.ts';
import type { Refusal } from './filters/refusal.ts';
import { roomOf } from './room.ts';

/** What the filters say to one pod on one node. */
export interface NodeVerdict {
  readonly node: string;
  /** One per filter that refuses, in the scheduler's order. Empty: the pod fits. */
  readonly refusals: readonly Refusal[];
}

/**
 * Verdicts of all filters, with every other pod where the snapshot has it. A pod that runs counts on its own node no
 * longer, as if it had been evicted; so a pod can be asked for whether it is pending or bound.
 */
export function verdictsIn(snapshot: ClusterSnapshot): (pod: PodInfo, node: NodeInfo) => NodeVerdict {
  const podsByNode = Map.groupBy(snapshot.pods, ({ nodeName }) => nodeName ?? '');
  return (pod, node) => {
    const others = (podsByNode.get(node.name) ?? []).filter((other) => podKey(other) !== podKey(pod));
    const pinnedNode = snapshot.workloads.get(pod.owner?.uid ?? '')?.pinnedNode;
    const subject = { constraints: pod.constraints, pinnedNode };
    return { node: node.name, refusals: refusalsOf(subject, node, roomOf(node, others)) };
  };
}
