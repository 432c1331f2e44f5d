import type { NodeInfo } from '../../model/node.ts';
import type { Refusal, Subject } from './refusal.ts';

/**
 * kube-scheduler's NodeName: a pod whose spec names a node runs there or nowhere. Every bound pod names its node, so
 * what counts is the template of its workload, from which the replacement is made.
 */
export function nodeName({ pinnedNode }: Subject, node: NodeInfo): Refusal | undefined {
  return pinnedNode === undefined || pinnedNode === node.name ? undefined : { filter: 'NodeName', pinnedNode };
}
