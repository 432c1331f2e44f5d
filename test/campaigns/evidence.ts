import type { MoveStatus, RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { type AuditEvent, acceptedEvictions } from '../control-plane/audit.ts';

/** What audit log and plans say of the promises that hold whatever happens: each list is to be empty. */
export interface Evidence {
  readonly plans: number;
  readonly evictions: number;
  /** Pod UIDs. */
  readonly evictedTwice: readonly string[];
  /** UIDs of pods that were evicted though no plan names them. */
  readonly unexplained: readonly string[];
  /** Plans with more moves under way than `maxConcurrent`, as `name: moves`. */
  readonly overBudget: readonly string[];
  /** Names of plans that have not ended. */
  readonly unfinished: readonly string[];
}

/** Judges by the audit log and by every plan that was seen. */
export function evidenceOf(
  audit: readonly AuditEvent[],
  plans: readonly RebalancePlan[],
  maxConcurrent: number,
): Evidence {
  const moves = plans.flatMap(({ status }) => status?.moves ?? []);
  return {
    plans: plans.length,
    evictions: moves.filter(({ startedAt }) => startedAt !== undefined).length,
    evictedTwice: evictedTwice(audit),
    unexplained: unexplained(audit, plans).map(({ uidPrecondition }) => uidPrecondition ?? ''),
    overBudget: plans
      .filter((plan) => mostInFlight(plan) > maxConcurrent)
      .map((plan) => `${plan.metadata.name}: ${mostInFlight(plan)}`),
    unfinished: plans.filter((plan) => !hasEnded(plan)).map(({ metadata }) => metadata.name),
  };
}

/** Pod UIDs whose eviction the API server accepted more than once. */
function evictedTwice(audit: readonly AuditEvent[]): readonly string[] {
  const uids = acceptedEvictions(audit).map(({ uidPrecondition }) => uidPrecondition ?? '');
  return [...new Set(uids.filter((uid, place) => uids.indexOf(uid) !== place))];
}

/** Evictions that no plan tells of. */
function unexplained(audit: readonly AuditEvent[], plans: readonly RebalancePlan[]): readonly AuditEvent[] {
  const planned = new Set(plans.flatMap(({ spec }) => spec.moves.map(({ pod }) => pod.uid)));
  return acceptedEvictions(audit).filter(({ uidPrecondition }) => !planned.has(uidPrecondition ?? ''));
}

/** Most moves of one plan that were under way at the same time, by the API server's clock in whole seconds. */
function mostInFlight({ status }: RebalancePlan): number {
  const moves = (status?.moves ?? []).filter(({ startedAt }) => startedAt !== undefined);
  return moves.reduce((most, { startedAt = '' }) => Math.max(most, moves.filter(isUnderWay(startedAt)).length), 0);
}

/** A second counts as under way when the move neither began nor ended in a later or earlier one. */
function isUnderWay(instant: string): (move: MoveStatus) => boolean {
  return ({ startedAt = '', finishedAt = '9' }) => startedAt <= instant && instant < finishedAt;
}

const ENDED = ['Completed', 'Aborted', 'Superseded'];

/** Whether nothing more will happen to the plan. */
export function hasEnded({ status }: RebalancePlan): boolean {
  return ENDED.includes(status?.phase ?? '');
}

/** Moves that landed elsewhere than where the plan said, though they are said to have landed there. */
export function strayMoves({ spec, status }: RebalancePlan): readonly MoveStatus[] {
  return (status?.moves ?? []).filter(
    ({ phase, replacement }, place) => phase === 'Landed' && replacement?.node !== spec.moves[place]?.to,
  );
}
