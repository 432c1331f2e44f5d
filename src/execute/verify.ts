import type { MovePhase, MoveStatus } from '../api/v1alpha1/rebalance-plan.ts';
import { formatInstant, parseInstant } from '../model/instant.ts';
import { isDisruption, kindOf } from '../model/move.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import type { Deletion } from '../ports.ts';
import type { Advanced, MoveEffect, Observation, PlannedMove, Replacement } from './move.ts';
import { clip, enter, finish, hintEffects, sinceReplaceable, sinceStart } from './transitions.ts';

/** A replacement that is not Ready after this long has failed. */
export const REPLACEMENT_DEADLINE: Seconds = seconds(600);
/** A deletion that takes no longer is not reported. */
const SILENT_WAIT: Seconds = seconds(60);
/** How long the scheduler may refuse an admitted pod, which is tied to its node: what makes room there is under way. */
export const ADMISSION_PATIENCE: Seconds = seconds(60);
/** How long it may refuse a replacement that is kept to its planned node and its alternatives, before it is released. */
export const STUCK_PATIENCE: Seconds = seconds(30);

/**
 * The next state of a move whose pod is going and that has no replacement yet. A preemption and a removal need none: they are over when
 * the pod is gone, and so is a move whose controller was scaled down, rolled out or deleted meanwhile and makes none.
 */
export function awaitReplacement(before: MoveStatus, seen: Observation, move: PlannedMove): Advanced {
  const run = withWait(before, seen);
  const kind = kindOf(move);
  if (kind === 'Preemption' || kind === 'Removal') {
    return awaitGone(run, seen, kind);
  }
  if (seen.replacement !== undefined) {
    const next = enter({ ...run, replacement: record(seen.replacement) }, run.phase, 'Verifying');
    return { run: next, effects: foundEffects(run, seen.replacement) };
  }
  // On a node that has failed no kubelet ends a pod: there its controller makes another one at once, or none.
  const isReplaceable = seen.pod === 'Gone' || (kind === 'Failover' && seen.pod === 'Terminating');
  if (isReplaceable && !seen.awaited) {
    return finish(run, 'Vacated', 'left its node, and its controller wants no pod in its place', seen.serverTime);
  }
  return isReplaceable && sinceReplaceable(run, seen.serverTime) > REPLACEMENT_DEADLINE
    ? finish(charged(run, seen.serverTime, move), 'Failed', 'its controller created no replacement', seen.serverTime)
    : { run, effects: [] };
}

function awaitGone(run: MoveStatus, { pod, serverTime }: Observation, kind: 'Preemption' | 'Removal'): Advanced {
  const outcome = kind === 'Removal' ? 'removed' : 'left its node';
  return pod === 'Gone' ? finish(run, 'Vacated', outcome, serverTime) : { run, effects: [] };
}

/**
 * A pod that was evicted may take its grace period, or wait for a finalizer, as long as it likes: it cannot be taken back. Until it is
 * gone the move stays in flight, and says what it waits for.
 */
function withWait(run: MoveStatus, { pod, deletion, serverTime }: Observation): MoveStatus {
  const { waitingFor, ...rest } = run;
  if (pod === 'Gone') {
    return waitingFor === undefined ? run : { ...rest, goneAt: formatInstant(serverTime) };
  }
  const isLong = pod === 'Terminating' && sinceStart(run, serverTime) > SILENT_WAIT;
  const reason = isLong
    ? clip(`the deletion of its pod began at ${run.startedAt}${keeping(deletion, serverTime)}`)
    : waitingFor;
  return reason === waitingFor || reason === undefined ? run : { ...rest, waitingFor: reason };
}

function keeping(deletion: Deletion | undefined, now: EpochSeconds): string {
  if (deletion === undefined || deletion.due > now || deletion.finalizers.length === 0) {
    return deletion === undefined ? '' : `: its grace period ends at ${formatInstant(deletion.due)}`;
  }
  return `: it waits for its finalizers (${deletion.finalizers.join(', ')})`;
}

/**
 * The next state of a move whose replacement is known, or of an admission, whose pod is its own replacement. A move from node
 * to node lasts until the replacement serves again; an admission until its pod is bound, since nobody else waits for it to
 * start. Both end by the clock of the API server, by which they also began: ours may jump meanwhile.
 */
export function verify(run: MoveStatus, seen: Observation, move: PlannedMove): Advanced {
  const { replacement, serverTime } = seen;
  if (replacement === undefined) {
    return withoutReplacement(run, seen, move);
  }
  const next = { ...run, replacement: record(replacement), ...missOf(run, replacement) };
  // By what was on record: a replacement that is seen bound for the first time still has its hint.
  const end = (last: MoveStatus, phase: MovePhase, why: string): Advanced => ({
    ...finish(last, phase, why, serverTime),
    effects: hintEffects(run),
  });
  if (replacement.node !== undefined && (replacement.available || kindOf(move) === 'Admission')) {
    const served = charged(next, replacement.readySince ?? serverTime, move);
    return replacement.node === move.to
      ? end(withoutMiss(served), 'Landed', `runs on ${move.to}`)
      : end(served, 'Missed', `runs on ${replacement.node} instead of ${move.to}`);
  }
  const failure = failureOf(run, replacement, seen, move);
  if (failure !== undefined) {
    return end(charged(next, serverTime, move), 'Failed', failure);
  }
  if (kindOf(move) !== 'Admission' && isStuck(replacement)) {
    return { run: enter(next, run.phase, 'Verifying'), effects: ['RemoveHint', 'Release'] };
  }
  const isKnown = run.replacement?.uid === replacement.uid && run.replacement.node === replacement.node;
  return isKnown && run.phase === 'Verifying'
    ? { run, effects: gateEffects(replacement) }
    : { run: enter(next, run.phase, 'Verifying'), effects: foundEffects(run, replacement) };
}

function withoutReplacement(run: MoveStatus, { serverTime }: Observation, move: PlannedMove): Advanced {
  if (kindOf(move) === 'Admission') {
    return finish(run, 'Failed', 'the pod was gone before it ran', serverTime);
  }
  const { replacement: _, ...rest } = run;
  return { run: enter(rest, run.phase, 'AwaitingReplacement'), effects: [] };
}

/** Why the replacement will not come to serve; `undefined` while it may. */
function failureOf(
  run: MoveStatus,
  { name, node, waiting }: Replacement,
  { serverTime }: Observation,
  move: PlannedMove,
): string | undefined {
  const kind = kindOf(move);
  const who = `${kind === 'Admission' ? 'pod' : 'replacement'} ${name}`;
  const underWay = sinceReplaceable(run, serverTime);
  const isLate = (kind === 'Admission' || kind === 'Failover') && underWay > ADMISSION_PATIENCE;
  if (isLate && waiting?.pinnedTo !== undefined && waiting.unschedulable) {
    return `${who} found no room on ${waiting.pinnedTo} for ${ADMISSION_PATIENCE} s`;
  }
  if (isLate && waiting?.gated === true) {
    return `${move.to} could not take it for ${ADMISSION_PATIENCE} s: it waits at the gate for another plan`;
  }
  if (underWay > REPLACEMENT_DEADLINE) {
    const where = node === undefined ? 'was never bound to a node' : `is not Ready on ${node}`;
    return `${who} ${where} after ${REPLACEMENT_DEADLINE} s`;
  }
  return undefined;
}

/**
 * Whether a pod waits in vain for its planned node and its alternatives. It is removed, and its controller makes another one,
 * which is kept to none.
 */
export function isStuck({ waiting, age }: Pick<Replacement, 'waiting' | 'age'>): boolean {
  return waiting?.pinnedTo !== undefined && waiting.unschedulable && age > STUCK_PATIENCE;
}

function missOf(run: MoveStatus, { miss }: Replacement): Pick<MoveStatus, 'miss'> {
  return run.miss !== undefined || miss === undefined ? {} : { miss: { ...miss, message: clip(miss.message) } };
}

function withoutMiss({ miss: _, ...run }: MoveStatus): MoveStatus {
  return run;
}

/** What takes no pod away that runs costs no service. */
function charged(run: MoveStatus, until: EpochSeconds, move: PlannedMove): MoveStatus {
  return isDisruption(move) ? lost(run, until) : run;
}

/**
 * The run with what it cost: seconds without the pod, by the API server's clock; at most a day, as the API has it. Where the answer
 * to the eviction was lost they count from the intent, which is too much rather than too little.
 */
function lost(run: MoveStatus, until: EpochSeconds): MoveStatus {
  const unavailable = run.startedAt === undefined ? 0 : elapsed(parseInstant(run.startedAt), until);
  return { ...run, unavailableSeconds: Math.min(86_400, Math.max(0, Math.round(unavailable))) };
}

/** A hint has done its work as soon as the replacement is bound. */
function foundEffects(run: MoveStatus, replacement: Replacement): readonly MoveEffect[] {
  const isBound = replacement.node !== undefined && run.replacement?.node === undefined;
  return isBound ? ['RemoveHint'] : gateEffects(replacement);
}

/** A replacement at the gate is let through whenever it is seen there, so that no crash in between can leave it. */
function gateEffects({ waiting }: Replacement): readonly MoveEffect[] {
  return waiting?.gated === true ? ['OpenGate'] : [];
}

function record({ name, uid, node }: Replacement): NonNullable<MoveStatus['replacement']> {
  return { name, uid, ...(node === undefined ? {} : { node }) };
}
