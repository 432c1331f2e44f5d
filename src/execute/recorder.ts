import type { MoveStatus, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { advance } from './advance.ts';
import type { ExecutorPorts } from './executor-ports.ts';
import type { Failures } from './failures.ts';
import { entries, withRuns } from './journal.ts';
import type { JournalEntry, MoveEffect, MoveEvent } from './move.ts';
import { logMove, planFields } from './move-log.ts';
import type { StopReason } from './stop-rules.ts';

/** Moves that are looked at concurrently. */
export const LOOKS_AT_A_TIME = 10;

/** One step of a plan. */
export interface Recorder {
  /** With its journal, as it is noted. */
  plan: RebalancePlan;
  readonly ports: ExecutorPorts;
  readonly signal: AbortSignal;
  readonly failures: Failures;
}

/** A move whose journal has moved on, and what has to be done now that this is stored. */
export interface Pending {
  readonly entry: JournalEntry;
  readonly effects: readonly MoveEffect[];
  /** The journal before the event. */
  readonly before: MoveStatus;
}

/**
 * Applies events to the journal, which is stored at once where something depends on it that a crash must not undo. Resolves with the moves
 * that the events are about. Rejects with ConflictError and ApiError.
 */
export async function record(recorder: Recorder, events: ReadonlyMap<number, MoveEvent>): Promise<readonly Pending[]> {
  const { plans, clock } = recorder.ports;
  const now = clock.now();
  const pending: Pending[] = [];
  const changed = new Map<number, MoveStatus>();
  for (const entry of entries(recorder.plan)) {
    const event = events.get(entry.index);
    if (event === undefined) {
      continue;
    }
    const { run, effects } = advance(entry.run, event, entry.move, now);
    if (run !== entry.run) {
      changed.set(entry.index, run);
    }
    if (run.phase !== 'Evicting') {
      recorder.ports.firstLooks.forget(run.podUID);
    }
    pending.push({ entry: { ...entry, run }, effects, before: entry.run });
  }
  if (changed.size > 0) {
    const write = pending.some(isStoredFirst) ? plans.writeStatus : plans.noteStatus;
    recorder.plan = await write(recorder.plan, withRuns(recorder.plan, changed), recorder.signal);
  }
  for (const { entry, before } of pending) {
    logMove(recorder.ports.log, recorder.plan, entry, before);
  }
  return pending;
}

/** Intents, the end of a plan that was stopped, and why a pod is taken away that looking at the cluster would not tell again. */
function isStoredFirst({ entry: { run }, before, effects }: Pending): boolean {
  const isDecided = run.phase === 'Intent' || run.phase === 'Aborted';
  return (isDecided && run.phase !== before.phase) || effects.includes('Release');
}

/** Notes in the plan that a rule has stopped it: stored with what is recorded next. */
export function noteStop(recorder: Recorder, { reason, message }: StopReason): void {
  if (recorder.plan.status?.stopped !== reason) {
    recorder.ports.log('plan stopped', { ...planFields(recorder.plan), stopped: reason, result: message });
  }
  recorder.plan = { ...recorder.plan, status: { ...recorder.plan.status, stopped: reason, message } };
}
