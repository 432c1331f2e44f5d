import { compareText } from '../../model/compare-text.ts';
import type { OwnerRef, PodInfo } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import type { PolicyOptions } from '../options.ts';
import { inquire, type PodStanding } from './inquiry.ts';

/** A controller of pods, directly or through another one, such as a Deployment through its ReplicaSets. */
export interface WorkloadRef {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Why the pods of a workload stay or go. */
export interface WorkloadExplanation {
  readonly workload: WorkloadRef;
  /** Desired replicas; `undefined` where the kind has none, or the snapshot does not hold the workload. */
  readonly replicas: number | undefined;
  /** By name; behind them failed pods that the policy would remove. */
  readonly pods: readonly PodStanding[];
}

/** Longest chain of controllers that is followed, in case owner references form a circle. */
const MOST_CONTROLLERS = 8;

/** Every workload that the snapshot holds or that a pod names, by namespace and name. */
export function workloadsIn(snapshot: ClusterSnapshot): readonly WorkloadRef[] {
  const named = podsIn(snapshot).flatMap((pod) =>
    controllersOf(pod, snapshot).map(({ kind, name }) => ({ kind, namespace: pod.namespace, name })),
  );
  const held = [...snapshot.workloads.values()].map(({ kind, namespace, name }) => ({ kind, namespace, name }));
  const distinct = new Map([...named, ...held].map((each) => [`${each.namespace}/${each.name} ${each.kind}`, each]));
  return [...distinct].sort(([left], [right]) => compareText(left, right)).map(([, workload]) => workload);
}

/** Explains the pods of a workload; none when it has no pods. */
export function explainWorkload(
  snapshot: ClusterSnapshot,
  options: PolicyOptions,
  workload: WorkloadRef,
): WorkloadExplanation {
  const { planningInput, standingOf, failed } = inquire(snapshot, options);
  const isOfWorkload = (pod: PodInfo): boolean =>
    pod.namespace === workload.namespace &&
    controllersOf(pod, snapshot).some(({ kind, name }) => kind === workload.kind && name === workload.name);
  const own = new Set(podsIn(snapshot).flatMap((pod) => (isOfWorkload(pod) ? [pod.uid] : [])));
  const running = planningInput.pods.flatMap(({ uid }, place) => (own.has(uid) ? [standingOf(place)] : []));
  const known = [...snapshot.workloads.values()].find(
    ({ kind, namespace, name }) => kind === workload.kind && namespace === workload.namespace && name === workload.name,
  );
  return {
    workload,
    replicas: known?.replicas,
    pods: [
      ...running.sort((left, right) => compareText(left.pod.name, right.pod.name)),
      ...failed.filter(({ pod }) => own.has(pod.uid)),
    ],
  };
}

function podsIn({ pods, failedPods = [] }: ClusterSnapshot): readonly PodInfo[] {
  return [...pods, ...failedPods];
}

/** Its controller, the controller of that, and so on. */
function controllersOf({ owner }: PodInfo, { workloads }: ClusterSnapshot): readonly OwnerRef[] {
  const chain: OwnerRef[] = [];
  for (let next = owner; next !== undefined && chain.length < MOST_CONTROLLERS; ) {
    chain.push(next);
    next = workloads.get(next.uid)?.owner;
  }
  return chain;
}
