import type { MovePhase } from '../api/v1alpha1/rebalance-plan.ts';
import { parseInstant } from '../model/instant.ts';
import { kindOf } from '../model/move.ts';
import { elapsed, seconds } from '../model/units.ts';
import type { EventRecord } from '../ports.ts';
import { describeOutcome } from './journal.ts';
import type { JournalEntry } from './move.ts';
import { reasonOf } from './move-log.ts';
import type { Recorder } from './recorder.ts';

const END_EVENTS: Partial<Record<MovePhase, EventRecord['reason']>> = {
  Landed: 'MoveLanded',
  Missed: 'MoveMissed',
  Failed: 'MoveFailed',
  Skipped: 'MoveSkipped',
};

/** Tells metrics, and events where people should know, of a move that has ended. */
export async function reportEnd(recorder: Recorder, entry: JournalEntry): Promise<void> {
  const { plan, ports } = recorder;
  const { run } = entry;
  const started = run.startedAt === undefined ? undefined : parseInstant(run.startedAt);
  const duration = started === undefined ? undefined : elapsed(started, ports.clock.now());
  const { strategy } = plan.spec;
  const unavailable = run.unavailableSeconds === undefined ? undefined : seconds(run.unavailableSeconds);
  ports.telemetry.moveEnded({
    strategy,
    result: run.phase,
    reason: reasonOf(entry.move),
    duration,
    unavailable,
  });
  if (run.phase === 'Landed' || run.phase === 'Missed') {
    ports.telemetry.steered({ mode: plan.status?.steering ?? 'None', landed: run.phase === 'Landed' });
  }
  const reason = END_EVENTS[run.phase];
  if (reason !== undefined) {
    await notify(recorder, entry, reason);
  }
}

/** Sends the event about a move with what it was for, or what became of it. */
export async function notify(
  { plan, ports, signal }: Recorder,
  entry: JournalEntry,
  reason: EventRecord['reason'],
): Promise<void> {
  const { move, run } = entry;
  const by = `(plan ${plan.metadata.name})`;
  const note =
    reason === 'MoveStarted'
      ? `evicted from ${move.from} ${purpose(move)} ${by}: ${move.reason}`
      : `${describeMove(move)} ${by}: ${describeOutcome(run)}`;
  const type = reason === 'MoveStarted' || reason === 'MoveLanded' ? 'Normal' : 'Warning';
  await ports.events.send({ type, reason, note, regarding: { kind: 'Pod', ...move.pod } }, signal);
}

function purpose(move: JournalEntry['move']): string {
  switch (kindOf(move)) {
    case 'Preemption':
      return 'so that another pod gets its room';
    case 'Removal':
      return 'since it has failed';
    default:
      return `so that its replacement runs on ${move.to}`;
  }
}

function describeMove(move: JournalEntry['move']): string {
  const kind = kindOf(move);
  switch (kind) {
    case 'Transfer':
      return `move from ${move.from} to ${move.to}`;
    case 'Failover':
      return `move from ${move.from}, which has failed, to ${move.to}`;
    case 'Preemption':
      return `preemption on ${move.from}`;
    case 'Admission':
      return `admission to ${move.to}`;
    case 'Removal':
      return `removal from ${move.from}`;
    default:
      return kind satisfies never;
  }
}
