import type { MoveStatus, RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { NOT_EVICTED } from '../../src/execute/transitions.ts';
import { type AuditEvent, acceptedEvictions } from '../control-plane/audit.ts';
import { hasEnded, type PlanLog } from './plan-log.ts';

/** What audit log and plans say of the promises that hold whatever happens: each list is to be empty. */
export interface Evidence {
  readonly plans: number;
  readonly evictions: number;
  /** Pod UIDs. */
  readonly evictedTwice: readonly string[];
  /** UIDs of pods that were evicted though no plan names them. */
  readonly unexplained: readonly string[];
  /** UIDs of pods that were evicted though every plan that names them says that they were not. */
  readonly disowned: readonly string[];
  /** Plans with more moves in flight than `maxConcurrent` in any state that was stored, as `name: moves`. */
  readonly overBudget: readonly string[];
  /** Names of plans that have not ended. */
  readonly unfinished: readonly string[];
}

/** Judges by the audit log and by every plan that was seen. */
export function evidenceOf(audit: readonly AuditEvent[], log: PlanLog, maxConcurrent: number): Evidence {
  const plans = log.all();
  const moves = plans.flatMap(({ status }) => status?.moves ?? []);
  return {
    plans: plans.length,
    evictions: moves.filter(({ startedAt }) => startedAt !== undefined).length,
    evictedTwice: evictedTwice(audit),
    unexplained: unexplained(audit, plans).map(({ uidPrecondition }) => uidPrecondition ?? ''),
    disowned: disowned(audit, moves),
    overBudget: plans
      .filter((plan) => log.mostInFlight(plan) > maxConcurrent)
      .map((plan) => `${plan.metadata.name}: ${log.mostInFlight(plan)}`),
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

/** Pods that were evicted and that no plan owns up to. */
function disowned(audit: readonly AuditEvent[], moves: readonly MoveStatus[]): readonly string[] {
  const owned = new Set(moves.filter(({ phase }) => !NOT_EVICTED.has(phase)).map(({ podUID }) => podUID));
  const named = new Set(moves.map(({ podUID }) => podUID));
  return acceptedEvictions(audit)
    .map(({ uidPrecondition }) => uidPrecondition ?? '')
    .filter((uid) => named.has(uid) && !owned.has(uid));
}

/** Moves that landed elsewhere than where the plan said, though they are said to have landed there. */
export function strayMoves({ spec, status }: RebalancePlan): readonly MoveStatus[] {
  return (status?.moves ?? []).filter(
    ({ phase, replacement }, place) => phase === 'Landed' && replacement?.node !== spec.moves[place]?.to,
  );
}
