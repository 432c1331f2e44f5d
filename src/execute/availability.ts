import type { NodeInfo } from '../model/node.ts';
import type { PodInfo } from '../model/pod.ts';
import { type EpochSeconds, elapsed, type Seconds } from '../model/units.ts';
import type { WorkloadInfo } from '../model/workload.ts';

/** Whether a pod has been Ready for `minReady` (the available replicas of a ReplicaSet: podutils.IsPodAvailable). */
export function isAvailable({ ready, readySince }: PodInfo, minReady: Seconds, now: EpochSeconds): boolean {
  return ready && (readySince === undefined || elapsed(readySince, now) >= minReady);
}

/**
 * Why no pod of a controller may leave now, `undefined` when one may: it has unavailable pods already, or fewer than it
 * should have. Unavailable and moving pods count together, and one is the limit (execution.md, answers). `pods` are all of
 * its pods, live; what is terminating is going, and counts as missing as long as nothing stands in its place.
 */
export function shortfall(owner: WorkloadInfo, pods: readonly PodInfo[], now: EpochSeconds): string | undefined {
  const staying = pods.filter(({ phase, terminating }) => !terminating && phase !== 'Failed' && phase !== 'Succeeded');
  const available = staying.filter((pod) => isAvailable(pod, owner.minReadySeconds, now)).length;
  // Pods of a Job end; only controllers that report replicas have as many as they ask for.
  const wanted = owner.rollout === undefined ? staying.length : (owner.replicas ?? staying.length);
  return available >= wanted
    ? undefined
    : `${owner.kind} ${owner.name} has ${available} of ${wanted} pods available, and no other pod moves before all are`;
}

/**
 * Why a pod that was to leave an overloaded node stays, `undefined` when it need not: it has become Ready since the plan was
 * made, at `plannedAt`. It was not then, or has been down meanwhile, so what it can afford is for another plan to say.
 */
export function recovery({ ready, readySince }: PodInfo, plannedAt: EpochSeconds): string | undefined {
  return ready && readySince !== undefined && readySince > plannedAt
    ? 'the pod has become Ready since the plan was made'
    : undefined;
}

/** Why a pod that was to leave a failed node stays, `undefined` when it need not: the node or the pod is Ready again. */
export function comebackOf({ ready, nodeName }: PodInfo, node: NodeInfo | undefined): string | undefined {
  if (node?.ready === true) {
    return `its node ${nodeName} is Ready again`;
  }
  return ready ? 'the pod is Ready again' : undefined;
}
