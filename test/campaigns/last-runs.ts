import type { MoveStatus, RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { entries } from '../../src/execute/journal.ts';
import { NOT_EVICTED } from '../../src/execute/transitions.ts';
import { parseInstant } from '../../src/model/instant.ts';

/** All plans by name, as they stood last. */
export type LastPlans = ReadonlyMap<string, RebalancePlan>;

/** How the move of a pod stood last; undefined where its plan is not known. */
export function lastRun(ends: LastPlans, plan: string, podUID: string): MoveStatus | undefined {
  const end = ends.get(plan);
  return end && entries(end).find(({ run }) => run.podUID === podUID)?.run;
}

/** Whether a try has evicted nobody: every time that a move goes back is one try more. */
export function isTakenBack(last: MoveStatus | undefined, attempt: number | undefined): boolean {
  return last !== undefined && (NOT_EVICTED.has(last.phase) || last.attempt !== attempt);
}

/** Whether a move had ended at an instant, in seconds since the epoch: the operator knows that a little before it stores it. */
export function hadEnded(last: MoveStatus | undefined, at: number): boolean {
  return last?.finishedAt !== undefined && parseInstant(last.finishedAt) <= at;
}
