import type { ConditionReason } from '../api/v1alpha1/conditions.ts';
import type { MoveStatus, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { isBudgeted, isDisruption, kindOf } from '../model/move.ts';
import type { NodeInfo } from '../model/node.ts';
import type { EvictionAnswer, StoredPolicy } from '../ports.ts';
import type { JournalEntry, PlannedMove } from './move.ts';

/** Share of a plan's moves that may fail before the rest is aborted. */
export const MAX_FAILED_SHARE = 0.2;
/** Share of the nodes that may be NotReady before a plan is aborted. */
export const MAX_NOT_READY_SHARE = 0.1;

/**
 * What a stop rule keeps from beginning: everything, all that evicts, what counts against the limits of budgets, or what may take a
 * pod away that runs. A pod whose node has failed does not, nor one that has failed, and an admission evicts nobody.
 */
export type StoppedMoves = 'All' | 'Evictions' | 'Budgeted' | 'Disruptions';

/** Why moves of a plan do not begin. */
export interface StopReason {
  readonly reason: ConditionReason;
  readonly message: string;
  readonly stops: StoppedMoves;
}

/** Which further moves of `plan` may not begin (execution.md, stop rules), and why, or undefined. `policy` is undefined when deleted. */
export function stopReason(
  plan: RebalancePlan,
  policy: StoredPolicy | undefined,
  nodes: readonly NodeInfo[],
): StopReason | undefined {
  return policyStop(plan, policy) ?? failureStop(plan.status?.moves ?? []) ?? healthStop(nodes);
}

/** Why no further pod may be evicted after this answer to an eviction, of any pod; undefined when others may. */
export function answerStop(answer: EvictionAnswer): StopReason | undefined {
  return answer.kind === 'Forbidden'
    ? { reason: 'EvictionForbidden', message: answer.message, stops: 'Evictions' }
    : undefined;
}

/** The planned moves of a journal that a stop keeps from beginning, and those that need one of these first. */
export function stoppedMoves(journal: readonly JournalEntry[], stops: StoppedMoves): readonly JournalEntry[] {
  const planned = journal.filter(({ run }) => run.phase === 'Planned');
  const stopped = new Set<number>();
  for (const { index, move } of planned) {
    if (isStopped(move, stops) || (move.after ?? []).some((need) => stopped.has(need))) {
      stopped.add(index);
    }
  }
  return planned.filter(({ index }) => stopped.has(index));
}

/** Whether a stop keeps this move from beginning. */
export function isStopped(move: PlannedMove, stops: StoppedMoves): boolean {
  switch (stops) {
    case 'All':
      return true;
    case 'Evictions':
      return kindOf(move) !== 'Admission';
    case 'Budgeted':
      return isBudgeted(move);
    case 'Disruptions':
      return isDisruption(move);
    default:
      return stops satisfies never;
  }
}

function policyStop(plan: RebalancePlan, policy: StoredPolicy | undefined): StopReason | undefined {
  const { name, uid, generation } = plan.spec.policy;
  if (policy === undefined || policy.policy.metadata.uid !== uid) {
    return { reason: 'PolicyChanged', message: `policy ${name} was deleted`, stops: 'All' };
  }
  if (policy.policy.spec.suspend) {
    return { reason: 'Suspended', message: `policy ${name} is suspended`, stops: 'All' };
  }
  return policy.policy.metadata.generation === generation
    ? undefined
    : { reason: 'PolicyChanged', message: `policy ${name} was edited after the plan was made`, stops: 'All' };
}

function failureStop(moves: readonly MoveStatus[]): StopReason | undefined {
  const failed = moves.filter(({ phase }) => phase === 'Failed').length;
  return failed > 0 && failed >= MAX_FAILED_SHARE * moves.length
    ? { reason: 'TooManyFailures', message: `${failed} of ${moves.length} moves failed`, stops: 'Evictions' }
    : undefined;
}

/**
 * Why no running pod is evicted while so many nodes are not Ready; undefined while enough are. Pods of failed nodes are still
 * replaced, until most nodes have failed (see massFailure).
 */
export function healthStop(nodes: readonly NodeInfo[]): StopReason | undefined {
  const notReady = nodes.filter(({ ready }) => !ready).length;
  const message = `${notReady} of ${nodes.length} nodes are not Ready`;
  return notReady > MAX_NOT_READY_SHARE * nodes.length
    ? { reason: 'ClusterUnhealthy', message, stops: 'Disruptions' }
    : undefined;
}
