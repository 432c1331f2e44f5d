import type { MoveStatus } from '../api/v1alpha1/rebalance-plan.ts';
import { formatInstant } from '../model/instant.ts';
import { kindOf } from '../model/move.ts';
import { after, type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import { type Advanced, LONGEST_REST, type MoveEvent, type Observation, type PlannedMove } from './move.ts';
import { clip, enter, finish, hintEffects, isFinal } from './transitions.ts';
import { awaitReplacement, verify } from './verify.ts';

/**
 * This long after its answer was given up, an eviction of a pod that still runs has had no effect and will have none. By our
 * own monotonic clock: what two API servers say may be further apart than that.
 */
export const ANSWER_GRACE: Seconds = seconds(15);
/** Tries, refused or without effect, before the move is skipped: no move is tried without end. */
export const MAX_ATTEMPTS = 5;
const FIRST_BACKOFF = 10;
/** 10, 40, 160 and 600 s: five tries take in the whole range for a refusal that may pass (execution.md, answers). */
const BUDGET_FACTOR = 4;
/** 10, 20, 40 and 80 s: a server that gives no answer to a dry run mostly does so soon. */
const SILENCE_FACTOR = 2;

/**
 * The next state of one move, and the effects to perform once it is stored. Pure.
 * Events that mean nothing in a phase leave it as it is. A preemption ends as soon as its pod is gone: its replacement waits
 * at the gate for a plan of its own. So does a removal, which has none. An admission evicts nothing: its pod is let through the gate, and seen to its node.
 */
export function advance(run: MoveStatus, event: MoveEvent, move: PlannedMove, now: EpochSeconds): Advanced {
  if (isFinal(run.phase)) {
    return { run, effects: [] };
  }
  switch (event.kind) {
    case 'Begin':
      return run.phase === 'Planned' ? begin(run, event, move) : { run, effects: [] };
    case 'Answer':
      return answered(run, event, now);
    case 'Observed':
      return observed(run, event, move, now);
    case 'Hold':
      return isUnsent(run) ? refused(run, event.why, BUDGET_FACTOR, now) : { run, effects: [] };
    case 'Skip':
      return isUnsent(run) ? finish(run, 'Skipped', event.why, now) : { run, effects: [] };
    case 'Abort':
      return isUnsent(run) ? finish(run, 'Aborted', event.why, now) : { run, effects: [] };
    default:
      return event satisfies never;
  }
}

/** Whether the eviction is known not to have been sent. */
function isUnsent({ phase }: MoveStatus): boolean {
  return phase === 'Planned' || phase === 'Intent';
}

function begin(
  run: MoveStatus,
  { serverTime, leaderEpoch, siblings }: MoveEvent & { readonly kind: 'Begin' },
  move: PlannedMove,
): Advanced {
  const { notBefore: _, leaderEpoch: __, ...rest } = run;
  const given = {
    ...(leaderEpoch === undefined ? {} : { leaderEpoch }),
    ...(siblings === undefined ? {} : { siblings }),
  };
  const next = enter({ ...rest, ...given, startedAt: formatInstant(serverTime) }, run.phase, 'Intent');
  const kind = kindOf(move);
  switch (kind) {
    case 'Transfer':
    case 'Failover':
    case 'Preemption':
    case 'Removal':
      return { run: next, effects: ['Evict'] };
    case 'Admission':
      return { run: { ...next, replacement: { name: move.pod.name, uid: move.pod.uid } }, effects: ['OpenGate'] };
    default:
      return kind satisfies never;
  }
}

function answered(
  before: MoveStatus,
  { answer, at, siblings }: MoveEvent & { readonly kind: 'Answer' },
  now: EpochSeconds,
): Advanced {
  if (!isUnsent(before)) {
    return { run: before, effects: [] };
  }
  const run = siblings === undefined ? before : { ...before, siblings };
  switch (answer.kind) {
    case 'Accepted':
      return run.phase === 'Intent'
        ? spent({ ...run, startedAt: formatInstant(at) }, undefined, at)
        : { run, effects: [] };
    case 'Ambiguous':
      return run.phase === 'Intent'
        ? spent(run, answer.message, at)
        : refused(run, answer.message, SILENCE_FACTOR, now);
    case 'Gone':
      return finish(run, 'Skipped', 'the pod was gone before it was evicted', now);
    case 'Refused':
      return finish(run, 'Skipped', answer.message, now);
    case 'Forbidden':
      return finish(run, 'Aborted', answer.message, now);
    case 'TryLater':
      return tryAgain(run, seconds(Math.max(answer.retryAfter, backOff(run, BUDGET_FACTOR))), answer.message, now);
    case 'RefusedByBudget':
      return refused(run, answer.message, BUDGET_FACTOR, now);
    default:
      return answer satisfies never;
  }
}

/** The eviction counts as spent. `at` is the latest time, by the API server's clock, at which it may have been sent. */
function spent(run: MoveStatus, problem: string | undefined, at: EpochSeconds): Advanced {
  const { outcome: _, ...rest } = run;
  const outcome = problem === undefined ? {} : { outcome: clip(problem) };
  return { run: enter({ ...rest, ...outcome, sentAt: formatInstant(at) }, run.phase, 'Evicting'), effects: [] };
}

function refused(run: MoveStatus, message: string, factor: number, now: EpochSeconds): Advanced {
  return tryAgain(run, backOff(run, factor), message, now);
}

function backOff({ attempt }: MoveStatus, factor: number): Seconds {
  return seconds(FIRST_BACKOFF * factor ** attempt);
}

/** One try more is spent; after the last one the move is given up. */
function tryAgain(run: MoveStatus, wait: Seconds, why: string, now: EpochSeconds): Advanced {
  const attempt = run.attempt + 1;
  return attempt >= MAX_ATTEMPTS
    ? finish({ ...run, attempt }, 'Skipped', `refused ${attempt} times: ${why}`, now)
    : retry(run, attempt, wait, why, now);
}

function retry(run: MoveStatus, attempt: number, wait: Seconds, why: string, now: EpochSeconds): Advanced {
  const notBefore = formatInstant(after(now, seconds(Math.min(LONGEST_REST, wait))));
  const next = enter({ ...run, attempt, notBefore, outcome: clip(why) }, run.phase, 'Planned');
  return { run: next, effects: hintEffects(run) };
}

function observed(run: MoveStatus, seen: Observation, move: PlannedMove, now: EpochSeconds): Advanced {
  switch (run.phase) {
    case 'Intent':
      return kindOf(move) === 'Admission' ? verify(run, seen, move) : resolveEviction(run, seen, now);
    case 'Evicting':
      return resolveEviction(run, seen, now);
    case 'AwaitingReplacement':
      return awaitReplacement(run, seen, move);
    case 'Verifying':
      return verify(run, seen, move);
    default:
      return { run, effects: [] };
  }
}

/**
 * Looking at the pod settles what a lost answer left open. So it does after a crash between the intent and the answer, whose
 * eviction may have been sent at any time until now.
 */
function resolveEviction(run: MoveStatus, seen: Observation, now: EpochSeconds): Advanced {
  const { outcome, ...rest } = run;
  const { sentAt } = run;
  if (seen.pod !== 'Running') {
    return { run: enter(rest, run.phase, 'AwaitingReplacement'), effects: [] };
  }
  if (run.phase === 'Intent' || sentAt === undefined) {
    return spent(run, 'the previous leader recorded no answer to the eviction', seen.serverTime);
  }
  const why = `the eviction did not reach the pod${outcome === undefined ? '' : `: ${outcome}`}`;
  return seen.withoutEffect <= ANSWER_GRACE ? { run, effects: [] } : tryAgain(run, seconds(0), why, now);
}
