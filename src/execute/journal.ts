import type { MoveStatus, RebalancePlan, RebalancePlanStatus } from '../api/v1alpha1/rebalance-plan.ts';
import { oncePer } from '../model/once-per.ts';
import type { Elsewhere, JournalEntry } from './move.ts';
import { isFinal, isInFlight } from './transitions.ts';

/** The journal before anything was done: every move Planned. */
export function openJournal(plan: RebalancePlan): readonly MoveStatus[] {
  return plan.spec.moves.map(({ pod }) => ({ podUID: pod.uid, phase: 'Planned', attempt: 0 }));
}

/** Moves with their entries, in the order of the plan. A move without an entry is Planned. */
export function entries(plan: RebalancePlan): readonly JournalEntry[] {
  return plan.status?.finishedAt === undefined ? openEntries(plan) : joinEntries(plan);
}

/** Not of plans that have ended: hundreds of them are kept, and nobody asks for their moves again and again. */
const openEntries = oncePer(joinEntries);

function joinEntries(plan: RebalancePlan): readonly JournalEntry[] {
  const runs = new Map((plan.status?.moves ?? []).map((run) => [run.podUID, run]));
  return plan.spec.moves.map((move, index) => ({
    index,
    move,
    run: runs.get(move.pod.uid) ?? { podUID: move.pod.uid, phase: 'Planned', attempt: 0 },
  }));
}

/** Moves of the plan that may have an eviction or a hint outstanding; none once it has ended. */
export const movesInFlight = oncePer((plan: RebalancePlan): readonly JournalEntry[] =>
  plan.status?.finishedAt === undefined ? entries(plan).filter(({ run }) => isInFlight(run.phase)) : NONE,
);

const NONE: readonly JournalEntry[] = [];

/** The plan's status with some entries replaced and the summary counted again. */
export function withRuns(plan: RebalancePlan, changed: ReadonlyMap<number, MoveStatus>): RebalancePlanStatus {
  const moves = entries(plan).map(({ index, run }) => changed.get(index) ?? run);
  return { ...plan.status, moves, summary: summarize(moves) };
}

/** What came of a move, for people, and why it missed its node. */
export function describeOutcome({ outcome, phase, miss }: MoveStatus): string {
  return `${outcome ?? phase}${phase === 'Missed' && miss !== undefined ? ` (${miss.reason}: ${miss.message})` : ''}`;
}

/** Counts for status.summary. */
export function summarize(moves: readonly MoveStatus[]): NonNullable<RebalancePlanStatus['summary']> {
  return {
    total: moves.length,
    done: moves.filter(({ phase }) => isFinal(phase)).length,
    landed: moves.filter(({ phase }) => phase === 'Landed').length,
  };
}

/** What plans other than `plan` have in flight. */
export function inFlightElsewhere({ metadata, spec }: RebalancePlan, plans: readonly RebalancePlan[]): Elsewhere {
  const others = plans.filter((other) => other.metadata.name !== metadata.name);
  return {
    ofPolicy: others.filter((other) => other.spec.policy.name === spec.policy.name).flatMap(movesInFlight),
    ofOthers: others.filter((other) => other.spec.policy.name !== spec.policy.name).flatMap(movesInFlight),
  };
}

/** Pod UIDs whose move may have an eviction or a hint outstanding. */
export function podsInFlight(plans: readonly RebalancePlan[]): ReadonlySet<string> {
  return new Set(plans.flatMap(movesInFlight).map(({ run }) => run.podUID));
}
