import type { MovePhase, MoveStatus } from '../api/v1alpha1/rebalance-plan.ts';
import { formatInstant, parseInstant } from '../model/instant.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import type { Advanced, MoveEffect } from './move.ts';

/**
 * Every legal transition of a move (execution.md, the journal).
 *
 * Planned: nothing was sent. Intent: written before the eviction is sent. Evicting: the eviction was accepted, or its
 * answer was lost; it counts as spent. AwaitingReplacement: the pod is going. Verifying: its replacement exists.
 * A preemption and a removal end Vacated, as soon as their pod is gone. An admission has an intent, too,
 * and is over as soon as its pod is bound.
 */
export const TRANSITIONS = {
  Planned: ['Planned', 'Intent', 'Skipped', 'Aborted'],
  Intent: [
    'Evicting',
    'AwaitingReplacement',
    'Verifying',
    'Planned',
    'Landed',
    'Missed',
    'Skipped',
    'Aborted',
    'Failed',
  ],
  Evicting: ['Evicting', 'AwaitingReplacement', 'Planned', 'Skipped'],
  AwaitingReplacement: ['Verifying', 'Vacated', 'Failed'],
  Verifying: ['Verifying', 'AwaitingReplacement', 'Landed', 'Missed', 'Failed'],
  Vacated: [],
  Landed: [],
  Missed: [],
  Failed: [],
  Skipped: [],
  Aborted: [],
} as const satisfies Record<MovePhase, readonly MovePhase[]>;

/** Phases of a move whose pod was not evicted, or not by it. */
export const NOT_EVICTED: ReadonlySet<MovePhase> = new Set(['Planned', 'Skipped', 'Aborted']);

/** Whether a move has come to its end. */
export function isFinal(phase: MovePhase): boolean {
  return TRANSITIONS[phase].length === 0;
}

/** Whether a move counts against maxConcurrent: its eviction may have been sent and its replacement is not Ready yet. */
export function isInFlight(phase: MovePhase): boolean {
  return phase !== 'Planned' && !isFinal(phase);
}

/** Throws for a transition that the table does not have: a bug, never a state of the cluster. */
export function assertLegal(from: MovePhase, to: MovePhase): void {
  const legal: readonly MovePhase[] = TRANSITIONS[from];
  if (!legal.includes(to)) {
    throw new Error(`a move cannot go from ${from} to ${to}`);
  }
}

/** The run in its final phase, with what came of it; a hint that may be there is to go. */
export function finish(run: MoveStatus, phase: MovePhase, why: string, now: EpochSeconds): Advanced {
  const { notBefore: _, ...rest } = run;
  const next = enter({ ...rest, outcome: clip(why), finishedAt: formatInstant(now) }, run.phase, phase);
  return { run: next, effects: hintEffects(run) };
}

/** A hint may stand from the intent until its replacement is bound. */
export function hintEffects({ phase, replacement }: MoveStatus): readonly MoveEffect[] {
  return phase === 'Planned' || replacement?.node !== undefined ? [] : ['RemoveHint'];
}

/** The run in its next phase, without what no phase after it reads. Throws for a transition that the table does not have. */
export function enter(run: MoveStatus, from: MovePhase, to: MovePhase): MoveStatus {
  assertLegal(from, to);
  const { sentAt, siblings, waitingFor, goneAt, ...rest } = run;
  return {
    ...rest,
    ...(sentAt !== undefined && to === 'Evicting' ? { sentAt } : {}),
    ...(waitingFor !== undefined && to === 'AwaitingReplacement' ? { waitingFor } : {}),
    ...(goneAt !== undefined && isInFlight(to) ? { goneAt } : {}),
    ...(siblings !== undefined && isInFlight(to) ? { siblings } : {}),
    phase: to,
  };
}

/** Seconds since the intent by the API server's clock; 0 without one. */
export function sinceStart(run: MoveStatus, serverTime: EpochSeconds): Seconds {
  return run.startedAt === undefined ? seconds(0) : elapsed(parseInstant(run.startedAt), serverTime);
}

/** Seconds since a replacement could be made: since the intent, or since the pod was gone that the move has waited for. */
export function sinceReplaceable({ goneAt, ...run }: MoveStatus, serverTime: EpochSeconds): Seconds {
  return goneAt === undefined ? sinceStart(run, serverTime) : elapsed(parseInstant(goneAt), serverTime);
}

/** The text, cut to what the API takes. */
export function clip(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 499)}…`;
}
