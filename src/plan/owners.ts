import type { OwnerRef } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import { at, type IndexTable, itemAt, type OwnerIndex, type PodIndex } from './indices.ts';
import type { PodKinds } from './pod-kinds.ts';

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
  readonly ofPod: IndexTable<PodIndex, OwnerIndex>;
}

/** The controller of a pod; `undefined` without one. */
export function ownerOf({ list, ofPod }: Owners, pod: PodIndex): Owner | undefined {
  const owner = at(ofPod, pod);
  return owner < 0 ? undefined : itemAt(list, owner);
}

/** Indexes the controllers of the pods by uid. */
export function indexOwners({ list: kinds, ofPod: kindOf }: PodKinds, workloads: ClusterSnapshot['workloads']): Owners {
  const places = new Map<string, number>();
  const refs: OwnerRef[] = [];
  const ofKind = Int32Array.from(kinds, ({ owner }) => {
    if (owner === undefined) {
      return -1;
    }
    const place = places.get(owner.uid) ?? refs.push(owner) - 1;
    places.set(owner.uid, place);
    return place;
  });
  const ofPod = kindOf.map((kind) => at(ofKind, kind));
  const counts = new Int32Array(refs.length);
  for (const owner of ofPod) {
    if (owner >= 0) {
      counts[owner] = at(counts, owner) + 1;
    }
  }
  const list = refs.map((ref, place): Owner => {
    const workload = workloads.get(ref.uid);
    const top = controllerAbove(workload, workloads);
    return { ref, workload, top, replicas: workload?.replicas ?? at(counts, place) };
  });
  return { list, ofPod };
}

/** The controller above a workload, such as the Deployment of a ReplicaSet, as far as the snapshot knows it. */
export function controllerAbove(
  workload: WorkloadInfo | undefined,
  workloads: ClusterSnapshot['workloads'],
): WorkloadInfo | undefined {
  return workload?.owner === undefined ? undefined : workloads.get(workload.owner.uid);
}
