import type { NodeInfo } from '../../model/node.ts';
import { itemAt, type PodIndex } from '../indices.ts';
import { type MassFailure, massFailure } from '../mass-failure.ts';
import type { Reason } from '../plan.ts';
import type { PlanningInput } from '../planning-input.ts';
import type { ServicePositions } from './service-position.ts';

/** Pods that are down with their nodes, by place. */
export interface StrandedPods {
  /** Those that wait for a node like pods at the gate. */
  readonly claimants: readonly PodIndex[];
  /** Why the others stay. */
  readonly stays: ReadonlyMap<PodIndex, Reason>;
}

/**
 * An instance whose host has failed is queued again at once (T 3.4): what was promised to it is lost while it stays. Without a
 * promise nothing is known to be lost: the pod is left to the node controller, which deletes it after its tolerationSeconds.
 *
 * Its eviction takes service from nobody, so budgets that protect service, `maxOverhead`, `perNode` and the like, are not asked,
 * and nothing is spent of them: those who make room for it count as for any other that waits. A PodDisruptionBudget is the API
 * server's to answer.
 */
export function strandedPods(
  { snapshot: { nodes }, pods, stranded }: PlanningInput,
  standings: ServicePositions,
): StrandedPods {
  const failures = massFailures(nodes);
  const claimants: PodIndex[] = [];
  const stays = new Map<PodIndex, Reason>();
  for (const pod of stranded) {
    const node = itemAt(pods, pod).nodeName ?? '';
    const failure = failures(node);
    if (standings.of(pod) === undefined) {
      continue;
    }
    if (failure === undefined) {
      claimants.push(pod);
    } else {
      stays.set(pod, staysOn(node, failure));
    }
  }
  return { claimants, stays };
}

/** Judged once for each node. */
function massFailures(nodes: readonly NodeInfo[]): (name: string) => MassFailure | undefined {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const known = new Map<string, MassFailure | undefined>();
  return (name) => {
    const node = byName.get(name);
    if (node !== undefined && !known.has(name)) {
      known.set(name, massFailure(nodes, node));
    }
    return known.get(name);
  };
}

function staysOn(node: string, { message, notReady, nodes }: MassFailure): Reason {
  return { code: 'TooManyNodesFailed', message: `stays on ${node}: ${message}`, numbers: { notReady, nodes } };
}
