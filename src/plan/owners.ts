import type { OwnerRef, PodInfo } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { WorkloadInfo } from '../model/workload.ts';

/** A controller and what the snapshot knows of it. */
export interface Owner {
  readonly ref: OwnerRef;
  /** `undefined`: its kind is unknown, or the file does not hold it. */
  readonly workload: WorkloadInfo | undefined;
  /** The controller above it, such as the Deployment of a ReplicaSet, as far as the snapshot knows it. */
  readonly top: WorkloadInfo | undefined;
  /** Desired replicas; where its kind has none or it is unknown, its pods in the snapshot. */
  readonly replicas: number;
}

/** The controllers of the pods. */
export interface Owners {
  readonly list: readonly Owner[];
  /** Place in `list` by place of the pod; -1 without a controller. */
  readonly ofPod: Int32Array;
}

/** Indexes the controllers of `pods` by uid. */
export function indexOwners(pods: readonly PodInfo[], workloads: ClusterSnapshot['workloads']): Owners {
  const places = new Map<string, number>();
  const ofPod = new Int32Array(pods.length).fill(-1);
  const refs: OwnerRef[] = [];
  const counts: number[] = [];
  pods.forEach(({ owner }, index) => {
    if (owner === undefined) {
      return;
    }
    let place = places.get(owner.uid);
    if (place === undefined) {
      place = refs.push(owner) - 1;
      places.set(owner.uid, place);
    }
    ofPod[index] = place;
    counts[place] = (counts[place] ?? 0) + 1;
  });
  const list = refs.map((ref, place): Owner => {
    const workload = workloads.get(ref.uid);
    const top = workloads.get(workload?.owner?.uid ?? '');
    return { ref, workload, top, replicas: workload?.replicas ?? counts[place] ?? 0 };
  });
  return { list, ofPod };
}
