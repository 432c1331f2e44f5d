import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { validatePolicy } from '../../src/api/validate.ts';
import type { NodeInfo } from '../../src/model/node.ts';
import type { OwnerRef, PodInfo } from '../../src/model/pod.ts';
import { epochSeconds } from '../../src/model/units.ts';
import type { WorkloadInfo } from '../../src/model/workload.ts';
import { aNode as buildNode, aPod as buildPod, aWorkload as buildWorkload } from './builders.ts';
import { NOON } from './fake-clock.ts';

type PlannedMove = RebalancePlan['spec']['moves'][number];

/** A Ready node with 10 cores, 32 GiB and 20 pod slots. */
export function aNode(name: string, changes: Partial<NodeInfo> = {}): NodeInfo {
  const allocatable = { cpu: 10_000, memory: 32 * 2 ** 30, ephemeralStorage: 0, pods: 20 };
  return { ...buildNode(name, { allocatable, createdAt: epochSeconds(NOON - 86_400) }), ...changes };
}

/** A ReplicaSet of three. */
export function aWorkload(name: string, changes: Partial<WorkloadInfo> = {}): WorkloadInfo {
  return buildWorkload(name, { replicas: 3, changedAt: epochSeconds(NOON - 86_400), ...changes });
}

/** The owner reference that pods of a workload carry. */
export function ownerOf({ kind, name, uid }: WorkloadInfo): OwnerRef {
  return { kind, name, uid };
}

/** A pod of `workload` that has run on `nodeName` for an hour and requests `cpu` millicores. */
export function aPod(workload: WorkloadInfo, name: string, nodeName: string, cpu = 500): PodInfo {
  return buildPod(name, {
    namespace: workload.namespace,
    uid: `uid-${name}`,
    labels: { app: workload.name },
    owner: ownerOf(workload),
    nodeName,
    readySince: epochSeconds(NOON - 3_500),
    createdAt: epochSeconds(NOON - 3_600),
    constraints: { requests: { cpu } },
  });
}

/** A policy with defaults filled in, generation 1. */
export function aPolicy(name: string, spec: Readonly<Record<string, unknown>> = {}): RebalancePolicy {
  const metadata = { name, uid: `uid-${name}`, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };
  return validatePolicy({ apiVersion: 'evenkeel.dev/v1alpha1', kind: 'RebalancePolicy', metadata, spec }).value;
}

/** The move of a pod to `to`. */
export function aMove({ namespace, name, uid, owner, nodeName }: PodInfo, to: string): PlannedMove {
  return {
    pod: { namespace, name, uid },
    owner: { kind: owner?.kind ?? '', name: owner?.name ?? '', uid: owner?.uid ?? '' },
    from: nodeName ?? '',
    to,
    load: '0.05',
    gain: '0.05',
    reason: 'a test wants it so',
  };
}

/** The pod goes back to the queue, so that another gets its room. */
export function aPreemption(pod: PodInfo): PlannedMove {
  const { to: _, ...rest } = aMove(pod, '');
  return rest;
}

/** A pod at our gate is let through to `to`, once the moves at `after` have left their nodes. */
export function anAdmission(pod: PodInfo, to: string, after: readonly number[] = []): PlannedMove {
  const { from: _, ...rest } = aMove(pod, to);
  return { ...rest, after: [...after] };
}

/** A plan of `policy` in phase Executing, nothing done yet. */
export function aPlan(
  policy: RebalancePolicy,
  moves: readonly PlannedMove[],
  status: NonNullable<RebalancePlan['status']> = {},
): RebalancePlan {
  const { name, uid = '', generation = 0 } = policy.metadata;
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'RebalancePlan',
    metadata: { name: `${name}-0123456789` },
    spec: {
      policy: { name, uid, generation },
      strategy: 'RefineLB',
      takenAt: '2026-01-01T11:59:00Z',
      outcome: 'Moves',
      message: 'moves',
      hash: '0123456789abcdef',
      approved: false,
      moves: [...moves],
      rejections: [],
      rejectionCounts: {},
    },
    status: { phase: 'Executing', ...status },
  };
}
