import type { MovePhase, RebalancePlanStatus } from '../api/v1alpha1/rebalance-plan.ts';
import { formatInstant } from '../model/instant.ts';
import { kindOf, type MoveKind } from '../model/move.ts';
import { describeMisses } from '../steer/explain-miss.ts';
import { movedApplications, partlyMoved } from './applications.ts';
import { entries } from './journal.ts';
import type { JournalEntry } from './move.ts';
import { planFields } from './move-log.ts';
import type { Recorder } from './recorder.ts';
import { isFinal } from './transitions.ts';

/**
 * Ends the plan when all of its moves have ended: with a result for people, what became of applications, and an event where a rule has
 * stopped it. Rejects with ConflictError and ApiError.
 */
export async function finishIfDone(recorder: Recorder): Promise<void> {
  const { plan, ports, signal } = recorder;
  const all = entries(plan);
  if (all.some(({ run }) => !isFinal(run.phase))) {
    return;
  }
  const isStopped = plan.status?.stopped !== undefined;
  const aborted = all.find(({ run }) => run.phase === 'Aborted')?.run;
  const applications = movedApplications(all);
  const result = (isStopped && aborted !== undefined ? plan.status?.message : aborted?.outcome) ?? resultOf(all);
  const inPart = partlyMoved(applications);
  const message = inPart === '' ? result : `${result}; moved in part: ${inPart}`;
  const finishedAt = formatInstant(ports.clock.now());
  // Moves that ended before they began, and no rule has stopped the plan: they gave way to a later one.
  const phase = aborted === undefined ? 'Completed' : isStopped ? 'Aborted' : 'Superseded';
  const grouped = applications.length === 0 ? {} : { applications: [...applications] };
  const status: RebalancePlanStatus = { ...plan.status, phase, message, finishedAt, ...grouped };
  recorder.plan = await ports.plans.writeStatus(plan, status, signal);
  ports.log('plan finished', { ...planFields(plan), phase, result: message });
  if (phase === 'Aborted') {
    const { name, uid } = plan.spec.policy;
    const note = `plan ${plan.metadata.name} was stopped: ${message}`;
    const regarding = { kind: 'RebalancePolicy', name, uid } as const;
    await ports.events.send({ type: 'Warning', reason: 'PlanAborted', note, regarding }, signal);
  }
}

/** `3 of 4 replacements landed as planned`, and what became of preemptions and removals. */
function resultOf(all: readonly JournalEntry[]): string {
  const isOf = (kind: MoveKind) => (entry: JournalEntry) => kindOf(entry.move) === kind;
  const [preemptions, removals] = [all.filter(isOf('Preemption')), all.filter(isOf('Removal'))];
  const count = (entries: readonly JournalEntry[], phase: MovePhase): number =>
    entries.filter(({ run }) => run.phase === phase).length;
  const placed = all.length - preemptions.length - removals.length;
  const misses = describeMisses(all.map(({ run }) => run));
  const landing = `${count(all, 'Landed')} of ${placed} replacements landed as planned${misses === '' ? '' : ` (missed: ${misses})`}`;
  const left = `${count(preemptions, 'Vacated')} of ${preemptions.length} preempted pods left`;
  const removed = `${count(removals, 'Vacated')} of ${removals.length} failed pods removed`;
  return [
    ...(placed === 0 && removals.length > 0 ? [] : [landing]),
    ...(preemptions.length === 0 ? [] : [left]),
    ...(removals.length === 0 ? [] : [removed]),
  ].join(', ');
}
