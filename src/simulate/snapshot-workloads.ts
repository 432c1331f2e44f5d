import { type PodInfo, podKey } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { seconds } from '../model/units.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import { classOf } from '../qos/class-of.ts';
import type { InstanceUsage, WorkloadSpec } from './scenario.ts';
import { constant } from './trace.ts';

/**
 * The pods of a snapshot as workloads of a scenario, with what their samples say they use, or else what they request. Pods of
 * a controller that the snapshot does not have, or of none, or bound to their node by a DaemonSet, are not made again.
 */
export function snapshotWorkloads(snapshot: ClusterSnapshot): readonly WorkloadSpec[] {
  const byOwner = Map.groupBy(snapshot.pods, (pod) => pod.owner?.uid ?? pod.uid);
  return [...byOwner].flatMap(([uid, pods]) => {
    const [template] = pods;
    return template === undefined ? [] : [standing(snapshot, uid, template, pods)];
  });
}

function standing(snapshot: ClusterSnapshot, uid: string, first: PodInfo, pods: readonly PodInfo[]): WorkloadSpec {
  const known = snapshot.workloads.get(uid);
  const template: PodInfo = {
    ...(pods.find(({ terminating }) => !terminating) ?? first),
    nodeName: undefined,
    nominatedNode: undefined,
    phase: 'Pending',
    ready: false,
    readySince: undefined,
    terminating: false,
    waiting: { gated: known?.gated === true, pinnedTo: undefined, unschedulable: false },
  };
  const staying = pods.filter(({ terminating }) => !terminating);
  return {
    info: { ...(known ?? stranger(uid, first)), replicas: known?.replicas ?? staying.length },
    recreates: known !== undefined && known.kind !== 'DaemonSet',
    template,
    standing: [...staying, ...pods.filter(({ terminating }) => terminating)],
    arrivesAt: 0,
    endsAfter: undefined,
    runTime: undefined,
    usage: staying.length === 0 ? [usageOf(snapshot, first)] : staying.map((pod) => usageOf(snapshot, pod)),
    requests: undefined,
    className: classOf(template, snapshot.serviceLevels, snapshot.namespaces)?.name,
  };
}

function usageOf({ usage }: ClusterSnapshot, pod: PodInfo): InstanceUsage {
  const sample = usage?.pods.get(podKey(pod)) ?? pod.constraints.requests;
  return { cpu: constant(sample.cpu), memory: constant(sample.memory) };
}

/** A controller of which nothing is known, or a pod that stands for itself. */
function stranger(uid: string, { namespace, name, owner, createdAt }: PodInfo): WorkloadInfo {
  return {
    kind: owner?.kind ?? 'Pod',
    namespace,
    name: owner?.name ?? name,
    uid,
    owner: undefined,
    replicas: undefined,
    minReadySeconds: seconds(0),
    pinnedNode: undefined,
    gated: false,
    toleratesDisruption: false,
    replacesTerminating: false,
    rollout: undefined,
    changedAt: createdAt,
  };
}
