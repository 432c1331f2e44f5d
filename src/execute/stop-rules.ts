import type { ConditionReason } from '../api/v1alpha1/conditions.ts';
import type { MoveStatus, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { NodeInfo } from '../model/node.ts';
import type { EvictionAnswer, StoredPolicy } from '../ports.ts';

/** Share of a plan's moves that may fail before the rest is aborted. */
export const MAX_FAILED_SHARE = 0.2;
/** Share of the nodes that may be NotReady before a plan is aborted. */
export const MAX_NOT_READY_SHARE = 0.1;

/** Why a plan has to stop. */
export interface StopReason {
  readonly reason: ConditionReason;
  readonly message: string;
}

/** Why no further move of `plan` may begin (execution.md, stop rules), or undefined. `policy` is undefined when deleted. */
export function stopReason(
  plan: RebalancePlan,
  policy: StoredPolicy | undefined,
  nodes: readonly NodeInfo[],
): StopReason | undefined {
  return policyStop(plan, policy) ?? failureStop(plan.status?.moves ?? []) ?? healthStop(nodes);
}

/** Why the plan has to stop after this answer to an eviction, of any pod; undefined when it need not. */
export function answerStop(answer: EvictionAnswer): StopReason | undefined {
  return answer.kind === 'Forbidden' ? { reason: 'EvictionForbidden', message: answer.message } : undefined;
}

function policyStop(plan: RebalancePlan, policy: StoredPolicy | undefined): StopReason | undefined {
  const { name, uid, generation } = plan.spec.policy;
  if (policy === undefined || policy.policy.metadata.uid !== uid) {
    return { reason: 'PolicyChanged', message: `policy ${name} was deleted` };
  }
  if (policy.policy.spec.suspend) {
    return { reason: 'Suspended', message: `policy ${name} is suspended` };
  }
  return policy.policy.metadata.generation === generation
    ? undefined
    : { reason: 'PolicyChanged', message: `policy ${name} was edited after the plan was made` };
}

function failureStop(moves: readonly MoveStatus[]): StopReason | undefined {
  const failed = moves.filter(({ phase }) => phase === 'Failed').length;
  return failed > 0 && failed >= MAX_FAILED_SHARE * moves.length
    ? { reason: 'TooManyFailures', message: `${failed} of ${moves.length} moves failed` }
    : undefined;
}

function healthStop(nodes: readonly NodeInfo[]): StopReason | undefined {
  const notReady = nodes.filter(({ ready }) => !ready).length;
  return notReady > MAX_NOT_READY_SHARE * nodes.length
    ? { reason: 'ClusterUnhealthy', message: `${notReady} of ${nodes.length} nodes are not Ready` }
    : undefined;
}
