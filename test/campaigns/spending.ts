import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import type { JournalEntry } from '../../src/execute/move.ts';
import { withoutIntents } from '../../src/execute/together.ts';
import { isDisruption } from '../../src/model/move.ts';
import type { PastMove } from '../../src/model/past-move.ts';
import { epochSeconds, seconds } from '../../src/model/units.ts';
import { pastMovesOf } from '../../src/observe/project/past-moves.ts';
import { lostService } from '../../src/plan/budgets/overhead.ts';
import { NO_PODS, startupTimes } from '../../src/plan/startup.ts';
import { hadEnded, isTakenBack, type LastPlans, lastRun } from './last-runs.ts';

/** Pod-seconds of service that moves of all policies may have cost in the seconds of `window` before one begins. */
export interface OverheadLimit {
  readonly limit: number;
  readonly window: number;
}

/** Moves of a plan that began together, and what was stored by then. */
export interface SpendingIntents {
  readonly plan: RebalancePlan;
  readonly begun: readonly JournalEntry[];
  readonly overhead: OverheadLimit;
  /** When a watch has brought it; seconds since the epoch. */
  readonly at: number;
  /** Moves of all plans. */
  readonly past: readonly PastMove[];
  /** How often each of them had been tried, by plan and pod. */
  readonly tries: ReadonlyMap<string, number>;
}

/** Seconds between the decision to begin a move and the time when a watch has brought it, at most. */
const DELAY = 3;

/** Moves of `plan` that have `begun` together; `plans` are all that may count within a window. */
export function spendingIntents(
  plan: RebalancePlan,
  begun: readonly JournalEntry[],
  overhead: OverheadLimit,
  plans: readonly RebalancePlan[],
  at: number,
): SpendingIntents {
  const tries = plans.flatMap(({ metadata: { name }, status }) =>
    (status?.moves ?? []).map(({ podUID, attempt }) => [`${name} ${podUID}`, attempt] as const),
  );
  return { plan, begun, overhead, at, past: pastMovesOf(withoutIntents(plans, plan, begun)), tries: new Map(tries) };
}

/**
 * The moves that began though too little service was left, and whose pods were evicted; `ends` are all plans as they stood last. An
 * intent whose write takes effect only after the operator has given it up is not acted on.
 */
export function overspent(intents: readonly SpendingIntents[], ends: LastPlans): readonly string[] {
  return intents.flatMap((intent) => {
    const excess = excessOf(intent, ends);
    return excess === undefined
      ? []
      : intent.begun.flatMap(({ index, run }) => {
          const last = lastRun(ends, intent.plan.metadata.name, run.podUID);
          return isTakenBack(last, run.attempt) ? [] : `${excess}; move ${index} is ${last?.phase} in the end`;
        });
  });
}

function excessOf(
  { plan, begun, overhead: { limit, window }, at, ...stored }: SpendingIntents,
  ends: LastPlans,
): string | undefined {
  const past = knownBy(at, stored, ends);
  const startup = startupTimes(past, NO_PODS);
  const costs = begun.map(({ move }) => (isDisruption(move) ? Number(move.cost ?? startup.of(move.owner.uid)) : 0));
  const cost = costs.reduce((sum, each) => sum + each, 0);
  const instants = Array.from({ length: DELAY + 1 }, (_, delay) => epochSeconds(at - delay));
  const lost = Math.min(...instants.map((now) => lostService(past, startup, seconds(window), now)));
  return lost + cost > limit
    ? `${plan.metadata.name}: ${lost.toFixed(0)} s were lost and what begins costs ${cost.toFixed(0)} s of ${limit} s`
    : undefined;
}

/**
 * The moves as the operator may have known them: it notes what has become of a move, and stores that a little later. So one that had
 * ended counts as it ended, and one that was taken back, whenever that was, does not count.
 */
function knownBy(
  at: number,
  { past, tries }: Pick<SpendingIntents, 'past' | 'tries'>,
  ends: LastPlans,
): readonly PastMove[] {
  return past.flatMap((move) => {
    const last = lastRun(ends, move.plan, move.pod.uid);
    if (isTakenBack(last, tries.get(`${move.plan} ${move.pod.uid}`))) {
      return [];
    }
    const end = hadEnded(last, at) ? ends.get(move.plan) : undefined;
    return pastMovesOf(end === undefined ? [] : [end]).find(({ pod }) => pod.uid === move.pod.uid) ?? move;
  });
}
