import { isDeepStrictEqual } from 'node:util';
import type { NodeInfo } from '../model/node.ts';
import type { PodInfo } from '../model/pod.ts';
import type { ProjectedPdb } from './project/pdb.ts';

/** What the scheduler's filters read of a node (kube-scheduler's events Add and Update of Node). */
const OF_NODES = ['ready', 'unschedulable', 'terminating', 'taints', 'labels', 'allocatable'] as const;

/** Whether a node may take other pods than before: it has become Ready, was uncordoned, lost a taint, or the reverse. */
export function nodeTakesOthers(before: NodeInfo, after: NodeInfo): boolean {
  return OF_NODES.some((field) => !isDeepStrictEqual(before[field], after[field]));
}

/** Whether a pod that stays where it is leaves other room than before, or asks for other room: it has failed, was resized or relabelled. */
export function podChangesRoom(before: PodInfo, after: PodInfo): boolean {
  const hasFailed = before.phase !== 'Failed' && after.phase === 'Failed';
  return (
    hasFailed ||
    !isDeepStrictEqual(before.constraints, after.constraints) ||
    !isDeepStrictEqual(before.labels, after.labels)
  );
}

type Allowance = Pick<ProjectedPdb, 'disruptionsAllowed'>;

/** Whether a budget lets pods go that it kept: one that waits may get the room of those. */
export function budgetOpens(before: Allowance, after: Allowance): boolean {
  return before.disruptionsAllowed === 0 && after.disruptionsAllowed !== 0;
}
