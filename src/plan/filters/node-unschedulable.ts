import type { NodeInfo, Taint } from '../../model/node.ts';
import type { Refusal, Subject } from './refusal.ts';
import { tolerates } from './taint-toleration.ts';

const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };

/**
 * kube-scheduler's NodeUnschedulable: a cordoned node takes no pod, unless the pod tolerates
 * `node.kubernetes.io/unschedulable`.
 */
export function nodeUnschedulable({ constraints }: Subject, node: NodeInfo): Refusal | undefined {
  if (!node.unschedulable || constraints.tolerations.some((toleration) => tolerates(toleration, UNSCHEDULABLE))) {
    return undefined;
  }
  return { filter: 'NodeUnschedulable' };
}
