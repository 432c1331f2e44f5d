import type { NodeInfo } from './node.ts';
import type { PodInfo } from './pod.ts';

/** Kinds that replace a pod while it is still terminating, unless a Job says otherwise (WorkloadInfo.replacesTerminating). */
export const REPLACING_KINDS: ReadonlySet<string> = new Set(['ReplicaSet', 'ReplicationController', 'Job']);

/** Names of the nodes that are not Ready. */
export function failedNodes(nodes: readonly NodeInfo[]): ReadonlySet<string> {
  return new Set(nodes.flatMap(({ name, ready }) => (ready ? [] : [name])));
}

/**
 * Whether a pod is down with its node: the node is not Ready, and the node controller has marked the pod not Ready, too. It
 * would run elsewhere if it were deleted, since its controller need not wait until it is gone.
 */
export function isStranded(
  { nodeName, ready, terminating, owner }: Pick<PodInfo, 'nodeName' | 'ready' | 'terminating' | 'owner'>,
  failed: ReadonlySet<string>,
): boolean {
  const isReplaced = owner !== undefined && REPLACING_KINDS.has(owner.kind);
  return nodeName !== undefined && failed.has(nodeName) && !ready && !terminating && isReplaced;
}
