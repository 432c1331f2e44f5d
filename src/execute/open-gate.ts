import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { kindOf } from '../model/move.ts';
import type { PodInfo, PodRef } from '../model/pod.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import type { ClusterReader, GateAction, GateOpening, Gates } from '../ports.ts';
import { choosePlacements } from '../steer/choose-placements.ts';
import { withCommitments } from './commitments.ts';
import { targetObstacle } from './live-check.ts';
import type { JournalEntry } from './move.ts';

/**
 * Whether the replacements of a plan's moves are let through our gate to their planned nodes. Those of a strategy
 * that admits waiting pods always are: by gates it says who runs where, however others are steered.
 */
function opensToTarget({ spec, status }: RebalancePlan): boolean {
  return STRATEGY_TRAITS[spec.strategy].admitsWaitingPods || status?.steering === 'Gate';
}

/** Where a pod at the gate is to go, and what becomes of it when it cannot. */
export type GateWish =
  /** Wherever the scheduler likes. */
  | { readonly kind: 'Anywhere' }
  /** To this node alone; or it stays at the gate for another plan: the operator alone decides which pod goes where. */
  | { readonly kind: 'Admit'; readonly node: string }
  /** To this node, or to an alternative should its room be taken meanwhile; else wherever the scheduler likes. */
  | { readonly kind: 'Replace'; readonly node: string; readonly fallbacks: readonly string[] };

/**
 * Where the pod of a move is to go; a replacement that found no room on its planned node once is kept to no node any more. That of
 * a pod whose node has failed waits for its turn like an admission.
 */
export function gateWish(plan: RebalancePlan, { move, run }: JournalEntry): GateWish {
  const { to: node, fallbacks = [] } = move;
  if (node === undefined) {
    return { kind: 'Anywhere' };
  }
  const kind = kindOf(move);
  if (kind === 'Admission') {
    return { kind: 'Admit', node };
  }
  if (!opensToTarget(plan) || run.miss !== undefined) {
    return { kind: 'Anywhere' };
  }
  return kind === 'Failover' ? { kind: 'Admit', node } : { kind: 'Replace', node, fallbacks };
}

/** What came of a pod at the gate. */
export interface Admitted {
  /** `undefined` when it had gone, or was let through already. */
  readonly action: GateAction | undefined;
  /** Why it was not let through to its planned node. */
  readonly obstacle: string | undefined;
}

interface OpenGatePorts {
  readonly reader: ClusterReader;
  readonly gates: Gates;
}

/**
 * Lets a pod through our gate as wished, if it can run on its planned node now by the scheduler's filters: what is kept to a
 * node that cannot take it would wait without end. `inFlight` are the other moves that are under way. Rejects with ApiError.
 */
export async function openGate(
  ref: PodRef,
  wish: GateWish,
  inFlight: readonly JournalEntry[],
  { reader, gates }: OpenGatePorts,
  signal: AbortSignal,
): Promise<Admitted> {
  const { pod } = await reader.pod(ref, signal);
  if (pod?.uid !== ref.uid || pod.waiting?.gated !== true) {
    return { action: undefined, obstacle: undefined };
  }
  const owner = pod.owner === undefined ? undefined : await reader.workload(pod.namespace, pod.owner, signal);
  const obstacle =
    wish.kind === 'Anywhere' ? undefined : await targetObstacle(pod, owner, wish.node, inFlight, reader, signal);
  if (obstacle !== undefined && wish.kind === 'Admit') {
    return { action: undefined, obstacle };
  }
  const opening = obstacle === undefined ? await openingFor(pod, wish, inFlight, reader, signal) : ANYWHERE;
  const answer = await gates.open(ref, opening, signal);
  if (answer !== 'Done') {
    return { action: undefined, obstacle: undefined };
  }
  return { action: opening.kind === 'Anywhere' ? 'OpenedToAny' : 'OpenedToTarget', obstacle };
}

const ANYWHERE: GateOpening = { kind: 'Anywhere' };

async function openingFor(
  pod: PodInfo,
  wish: GateWish,
  inFlight: readonly JournalEntry[],
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<GateOpening> {
  switch (wish.kind) {
    case 'Anywhere':
      return ANYWHERE;
    case 'Admit':
      return { kind: 'Pinned', node: wish.node };
    case 'Replace': {
      const snapshot = await reader.placements(signal);
      const others = snapshot.pods.filter(({ uid }) => uid !== pod.uid);
      const pods = [...withCommitments(others, inFlight), pod];
      const { node: target, fallbacks } = wish;
      const placement = choosePlacements({ ...snapshot, pods }, [{ uid: pod.uid, target, fallbacks }], 'Always').get(
        pod.uid,
      );
      return placement?.alternatives === undefined ? { kind: 'Pinned', node: target } : { kind: 'Steered', placement };
    }
    default:
      return wish satisfies never;
  }
}
