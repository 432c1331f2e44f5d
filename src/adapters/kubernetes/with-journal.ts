import { isDeepStrictEqual } from 'node:util';
import type { MoveJournal, MoveJournalSpec } from '../../api/v1alpha1/move-journal.ts';
import type { MoveStatus, RebalancePlan, RebalancePlanStatus } from '../../api/v1alpha1/rebalance-plan.ts';

/** Whether the plan says that this is its journal. One that it does not name is empty, or that of a plan which is gone. */
export function isJournalOf(journal: MoveJournal, { status }: RebalancePlan): boolean {
  return status?.journal !== undefined && status.journal.uid === journal.metadata.uid;
}

/** Whether the journal goes on from a later status than this one: what was taken out of it since is missing here. */
export function isBehind({ status }: RebalancePlan, { spec }: MoveJournal): boolean {
  return spec.base > (status?.journal?.sequence ?? 0);
}

/** The plan with what its journal has and its status does not say yet; as it is where that is nothing (execution.md, the journal). */
export function withJournal(plan: RebalancePlan, journal: MoveJournal | undefined): RebalancePlan {
  if (journal === undefined || !isJournalOf(journal, plan) || !isAhead(journal, plan)) {
    return plan;
  }
  const { stopped, summary } = journal.spec;
  return {
    ...plan,
    status: {
      ...plan.status,
      moves: replaced(plan.status?.moves ?? [], journal.spec.moves),
      ...(stopped === undefined ? {} : { stopped }),
      ...(summary === undefined ? {} : { summary }),
    },
  };
}

/** What a journal has to say so that the plan stands as `status` says; only moves are in it. */
export function journalSpec(
  plan: RebalancePlan,
  { spec }: MoveJournal,
  { moves = [], stopped, summary }: RebalancePlanStatus,
): MoveJournalSpec {
  const before = new Map(plan.status?.moves?.map((run) => [run.podUID, run]));
  return {
    sequence: spec.sequence + 1,
    base: plan.status?.journal?.sequence ?? 0,
    moves: moves.filter((run) => !isSame(run, before.get(run.podUID))),
    ...(stopped === undefined ? {} : { stopped }),
    ...(summary === undefined ? {} : { summary }),
  };
}

/** Whether a journal can say all that differs. */
export function differsInMovesOnly(before: RebalancePlanStatus, after: RebalancePlanStatus): boolean {
  return isDeepStrictEqual(withoutMoves(before), withoutMoves(after));
}

function withoutMoves({ moves, stopped, summary, journal, ...rest }: RebalancePlanStatus): unknown {
  return rest;
}

function isAhead({ spec }: MoveJournal, { status }: RebalancePlan): boolean {
  return spec.sequence > (status?.journal?.sequence ?? 0);
}

function replaced(moves: readonly MoveStatus[], changed: readonly MoveStatus[]): MoveStatus[] {
  const left = new Map(changed.map((run) => [run.podUID, run]));
  const known = moves.map((run) => {
    const newer = left.get(run.podUID) ?? run;
    left.delete(run.podUID);
    // A version of the operator that knows no journals has written the plan alone, perhaps: what has ended stays so.
    return run.finishedAt === undefined ? newer : run;
  });
  return [...known, ...left.values()];
}

function isSame(run: MoveStatus, before: MoveStatus | undefined): boolean {
  return run === before || isDeepStrictEqual(run, before);
}
