import type { MovePhase, MoveStatus } from '../api/v1alpha1/rebalance-plan.ts';
import { formatInstant, parseInstant } from '../model/instant.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import type { Advanced, MoveEffect } from './advance.ts';
import { assertLegal } from './transitions.ts';

/** The run in its final phase, with what came of it; a hint that may be there is to go. */
export function finish(run: MoveStatus, phase: MovePhase, why: string, now: EpochSeconds): Advanced {
  const { notBefore: _, ...rest } = run;
  const next = enter({ ...rest, outcome: clip(why), finishedAt: formatInstant(now) }, run.phase, phase);
  return { run: next, effects: hintEffects(run.phase) };
}

/** A hint may stand from the intent on. */
export function hintEffects(phase: MovePhase): readonly MoveEffect[] {
  return phase === 'Planned' ? [] : ['RemoveHint'];
}

/** The run in its next phase. Throws for a transition that the table does not have. */
export function enter(run: MoveStatus, from: MovePhase, to: MovePhase): MoveStatus {
  assertLegal(from, to);
  return { ...run, phase: to };
}

/** Seconds since the intent by the API server's clock; 0 without one. */
export function sinceStart(run: MoveStatus, serverTime: EpochSeconds): Seconds {
  return run.startedAt === undefined ? seconds(0) : elapsed(parseInstant(run.startedAt), serverTime);
}

/** The text, cut to what the API takes. */
export function clip(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 499)}…`;
}
