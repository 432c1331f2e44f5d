import type { MoveStatus, RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { entries } from '../../src/execute/journal.ts';
import type { JournalEntry } from '../../src/execute/move.ts';
import { isInFlight } from '../../src/execute/transitions.ts';
import { isTakenBack } from './last-runs.ts';
import { keyOf } from './plan-log.ts';

/** A try of a move. */
export interface Try {
  /** The resourceVersion with which its intent was stored. */
  readonly version: number;
  /** When it was stored that nobody was evicted by it, in seconds since the epoch; undefined while it was not. */
  readonly takenBackAt?: number;
}

/** The tries of all moves, as they were stored. */
export interface Tries {
  /** Follows a plan from how it stood `before` to how it was stored then; returns the moves that began. */
  follow(plan: RebalancePlan, before: RebalancePlan | undefined, stored: Stored): readonly JournalEntry[];
  /** Undefined where that try was never in flight. */
  of(plan: RebalancePlan, run: MoveStatus): Try | undefined;
}

interface Stored {
  readonly version: number;
  /** Seconds since the epoch. */
  readonly at: number;
}

/** No plan is known yet. */
export function createTries(): Tries {
  const tries = new Map<string, Try>();
  return {
    follow: (plan, before, { version, at }) => {
      for (const run of takenBack(plan, before)) {
        const key = keyOfTry(plan, run);
        const known = tries.get(key);
        tries.set(key, { version, ...known, takenBackAt: at });
      }
      const begun = begunMoves(plan, before);
      for (const { run } of begun) {
        tries.set(keyOfTry(plan, run), { version });
      }
      return begun;
    },
    of: (plan, run) => tries.get(keyOfTry(plan, run)),
  };
}

function keyOfTry(plan: RebalancePlan, { podUID, attempt }: MoveStatus): string {
  return `${keyOf(plan)} ${podUID} ${attempt}`;
}

/** Tries that were in flight before and have evicted nobody. */
function takenBack(plan: RebalancePlan, before: RebalancePlan | undefined): readonly MoveStatus[] {
  return (before?.status?.moves ?? []).filter(({ phase, attempt }, index) => {
    const run = plan.status?.moves?.[index];
    return isInFlight(phase) && isTakenBack(run, attempt);
  });
}

/**
 * Moves that are in flight and were not before. Every time that a move is taken back is one try more, and what it is then may be stored
 * with its next intent only.
 */
function begunMoves(plan: RebalancePlan, before: RebalancePlan | undefined): readonly JournalEntry[] {
  return entries(plan).filter(({ index, run }) => {
    const old = before?.status?.moves?.[index];
    const isAnew = !isInFlight(old?.phase ?? 'Planned') || old?.attempt !== run.attempt;
    return isInFlight(run.phase) && isAnew;
  });
}
