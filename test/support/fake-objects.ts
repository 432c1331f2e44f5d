import type { NodeInfo } from '../../src/model/node.ts';
import type { WorkloadInfo } from '../../src/model/workload.ts';
import { aNode as buildNode, aWorkload as buildWorkload, type NodeFields, TEN_CORES } from './builders.ts';

export { aMove, aPlan } from './builders/plan.ts';
export { aPolicy } from './builders/policy.ts';
export { aPodOf as aPod } from './builders.ts';

/** A node of ten cores. */
export function aNode(name: string, fields: NodeFields = {}): NodeInfo {
  return buildNode(name, { ...TEN_CORES, ...fields });
}

/** A ReplicaSet of three. */
export function aWorkload(name: string, fields: Partial<WorkloadInfo> = {}): WorkloadInfo {
  return buildWorkload(name, { replicas: 3, ...fields });
}
