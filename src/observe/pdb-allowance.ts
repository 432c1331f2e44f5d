import type { PodInfo } from '../model/pod.ts';
import { matches } from '../model/selector.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import type { BudgetHealth, IntOrPercent, ProjectedPdb } from './project/pdb.ts';

/** Disruptions that a budget with these pods allows (updatePdbStatus). 0 where the disruption controller could not tell. */
export function disruptionsAllowed(health: BudgetHealth | undefined): number {
  return Math.max(0, health === undefined ? 0 : health.healthy - health.needed);
}

/**
 * Whether the eviction API lets a pod go that is not Ready, whatever the budget allows otherwise (registry/core/pod eviction): always
 * with AlwaysAllow, and with IfHealthyBudget, the default, while as many others are healthy as have to be.
 */
export function allowsUnready(
  { alwaysAllowsUnready }: Pick<ProjectedPdb, 'alwaysAllowsUnready'>,
  health: BudgetHealth | undefined,
): boolean {
  return alwaysAllowsUnready || (health !== undefined && health.needed > 0 && health.healthy >= health.needed);
}

/**
 * What a budget without a status has and asks for: what the disruption controller would write for these pods and controllers
 * (updatePdbStatus); `undefined` where it could not tell, as when a pod's controller is not known.
 */
export function budgetHealth(
  pdb: ProjectedPdb,
  podsOfNamespace: readonly PodInfo[],
  workloads: ReadonlyMap<string, WorkloadInfo>,
): BudgetHealth | undefined {
  const { selector } = pdb;
  const pods = selector === undefined ? [] : podsOfNamespace.filter(({ labels }) => matches(selector, labels));
  const expected = expectedPods(pdb, pods, workloads);
  if (expected === undefined || expected.count <= 0) {
    return undefined;
  }
  const healthy = pods.filter(({ ready, terminating }) => ready && !terminating).length;
  return { healthy, needed: expected.healthy };
}

interface Expected {
  readonly count: number;
  /** Pods that must stay healthy. */
  readonly healthy: number;
}

/** getExpectedPodCount; a PDB that limits nothing expects no pods and so allows nothing. */
function expectedPods(
  { minAvailable, maxUnavailable }: ProjectedPdb,
  pods: readonly PodInfo[],
  workloads: ReadonlyMap<string, WorkloadInfo>,
): Expected | undefined {
  if (maxUnavailable !== undefined) {
    const scale = expectedScale(pods, workloads);
    return scale === undefined
      ? undefined
      : { count: scale, healthy: Math.max(0, scale - scaled(maxUnavailable, scale)) };
  }
  if (minAvailable === undefined) {
    return undefined;
  }
  if ('count' in minAvailable) {
    return { count: pods.length, healthy: minAvailable.count };
  }
  const scale = expectedScale(pods, workloads);
  return scale === undefined ? undefined : { count: scale, healthy: scaled(minAvailable, scale) };
}

/** getExpectedScale: the replicas of all controllers of these pods; undefined when one of them is unknown or has no scale. */
function expectedScale(pods: readonly PodInfo[], workloads: ReadonlyMap<string, WorkloadInfo>): number | undefined {
  const scales = new Map<string, number>();
  for (const { owner } of pods) {
    if (owner === undefined) {
      continue;
    }
    const controller = scaleController(owner.uid, workloads);
    if (controller?.replicas === undefined || controller.kind === 'Job') {
      return undefined;
    }
    scales.set(controller.uid, controller.replicas);
  }
  return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
}

/** The Deployment above a ReplicaSet where it is known, else the controller itself. */
function scaleController(uid: string, workloads: ReadonlyMap<string, WorkloadInfo>): WorkloadInfo | undefined {
  const controller = workloads.get(uid);
  const above = controller?.kind === 'ReplicaSet' ? controller.owner : undefined;
  return (above === undefined ? undefined : workloads.get(above.uid)) ?? controller;
}

/** intstr.GetScaledValueFromIntOrPercent, rounded up. */
function scaled(limit: IntOrPercent, total: number): number {
  return 'count' in limit ? limit.count : Math.ceil((limit.percent * total) / 100);
}
