import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { PodRef } from '../model/pod.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import type { ClusterReader, GateAction, Gates } from '../ports.ts';
import { targetObstacle } from './live-check.ts';

/**
 * Whether the replacements of a plan's moves are let through our gate to their planned nodes. Those of a strategy
 * that admits waiting pods always are: by gates it says who runs where, however others are steered.
 */
export function opensToTarget({ spec, status }: RebalancePlan): boolean {
  return STRATEGY_TRAITS[spec.strategy].admitsWaitingPods || status?.steering === 'Gate';
}

/** What came of a replacement at the gate. */
export interface Admitted {
  /** `undefined` when it had gone, or was let through already. */
  readonly action: GateAction | undefined;
  /** Why it was not tied to its planned node. */
  readonly obstacle: string | undefined;
}

/**
 * Lets a pod through our gate: to `target` alone, if it can run there now by the scheduler's filters. Otherwise it goes to
 * wherever the scheduler likes, since what is tied to a node that cannot take it would wait for ever, or stays at the gate
 * for another plan, when nobody but the operator is to decide who goes where. Rejects with ApiError.
 */
export async function openGate(
  ref: PodRef,
  target: string | undefined,
  otherwise: 'GoAnywhere' | 'Stay',
  { reader, gates }: { readonly reader: ClusterReader; readonly gates: Gates },
  signal: AbortSignal,
): Promise<Admitted> {
  const { pod } = await reader.pod(ref, signal);
  if (pod?.uid !== ref.uid || pod.waiting?.gated !== true) {
    return { action: undefined, obstacle: undefined };
  }
  const owner = pod.owner === undefined ? undefined : await reader.workload(pod.namespace, pod.owner, signal);
  const obstacle = target === undefined ? undefined : await targetObstacle(pod, owner, target, reader, signal);
  if (obstacle !== undefined && otherwise === 'Stay') {
    return { action: undefined, obstacle };
  }
  const node = obstacle === undefined ? target : undefined;
  const answer = await gates.open(ref, node, signal);
  if (answer !== 'Done') {
    return { action: undefined, obstacle: undefined };
  }
  return { action: node === undefined ? 'OpenedToAny' : 'OpenedToTarget', obstacle };
}
