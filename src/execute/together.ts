import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { isDisruption } from '../model/move.ts';
import { entries, withRuns } from './journal.ts';
import type { JournalEntry, PlannedMove } from './move.ts';
import { isStopped, type StopReason } from './stop-rules.ts';

/** Why these moves may not begin together beside all that is under way; `undefined` when they may. */
export type StopRule = (next: readonly PlannedMove[]) => StopReason | undefined;

/** The next move of a plan that takes a pod away which runs; none when no such move is left to begin. */
export function nextDisruption(plan: RebalancePlan): readonly PlannedMove[] {
  const next = entries(plan).find(({ move, run }) => run.phase === 'Planned' && isDisruption(move));
  return next === undefined ? [] : [next.move];
}

/** Those of `ready` that a rule lets begin together, each beside those before it. */
export function allowedTogether(ready: readonly JournalEntry[], rule: StopRule | undefined): readonly JournalEntry[] {
  const allowed: JournalEntry[] = [];
  for (const entry of ready) {
    const stop = rule?.([...allowed, entry].map(({ move }) => move));
    if (stop === undefined || !isStopped(entry.move, stop.stops)) {
      allowed.push(entry);
    }
  }
  return allowed;
}

/** All plans, as they stood before these intents of one of them were stored. */
export function withoutIntents(
  plans: readonly RebalancePlan[],
  plan: RebalancePlan,
  intents: readonly JournalEntry[],
): readonly RebalancePlan[] {
  const planned = intents.map(({ index, run }) => [index, { ...run, phase: 'Planned' }] as const);
  const before = { ...plan, status: withRuns(plan, new Map(planned)) };
  return plans.map((other) => (other.metadata.name === plan.metadata.name ? before : other));
}
