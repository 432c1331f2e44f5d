import type { MovePhase, MoveStatus, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { FieldsOf } from '../log-lines.ts';
import { kindOf, type MoveKind } from '../model/move.ts';
import { type PodRef, podKey } from '../model/pod.ts';
import type { Log, MoveReason } from '../ports.ts';
import { describeOutcome } from './journal.ts';
import type { JournalEntry, PlannedMove } from './move.ts';
import { isFinal } from './transitions.ts';

/** A plan and its policy, as log lines name them. */
export function planFields({ metadata, spec }: Pick<RebalancePlan, 'metadata' | 'spec'>): {
  readonly policy: string;
  readonly plan: string;
} {
  return { policy: spec.policy.name, plan: metadata.name };
}

/** A pod, as log lines name it. */
export function podFields(pod: PodRef): { readonly pod: string; readonly podUID: string } {
  return { pod: podKey(pod), podUID: pod.uid };
}

/** What a move is for, as metrics and log lines say it. */
export function reasonOf(move: PlannedMove): MoveReason {
  return REASONS[kindOf(move)];
}

const REASONS = {
  Transfer: 'Balance',
  Failover: 'Failover',
  Preemption: 'Preemption',
  Admission: 'Admission',
  Removal: 'Removal',
} as const satisfies Record<MoveKind, MoveReason>;

/**
 * Logs what has become of a move, `before` its last event and now: an eviction, a refusal, its end. Steps in between are not logged.
 */
export function logMove(log: Log, plan: RebalancePlan, { move, run }: JournalEntry, before: MoveStatus): void {
  const line = lineOf(before, run);
  if (line === undefined) {
    return;
  }
  const { from, to, pod } = move;
  const reason = reasonOf(move);
  const fields = { ...planFields(plan), ...podFields(pod), from, to, reason, result: describeOutcome(run) };
  switch (line) {
    case 'pod evicted':
      log(line, { ...fields, result: run.phase === 'Evicting' ? ACCEPTED : SEEN, why: move.reason });
      break;
    case 'eviction unanswered':
      log(line, { ...fields, why: move.reason });
      break;
    case 'move postponed':
      log(line, { ...fields, attempt: run.attempt, notBefore: run.notBefore });
      break;
    case 'move landed':
    case 'move missed':
    case 'move failed':
      log(line, { ...fields, ...servedFields(pod, run) });
      break;
    default:
      log(line, fields);
  }
}

const ACCEPTED = 'the API server accepted the eviction';
const SEEN = 'the eviction had no answer, and the pod is gone or terminating';

function servedFields(
  { namespace }: PodRef,
  { replacement, unavailableSeconds }: MoveStatus,
): Pick<FieldsOf<'move landed'>, 'replacement' | 'unavailableSeconds'> {
  const name = replacement?.name;
  return { replacement: name === undefined ? undefined : podKey({ namespace, name }), unavailableSeconds };
}

const ENDS = {
  Landed: 'move landed',
  Missed: 'move missed',
  Vacated: 'move vacated',
  Skipped: 'move skipped',
  Aborted: 'move aborted',
  Failed: 'move failed',
} as const satisfies Partial<Record<MovePhase, string>>;

type MoveLine = (typeof ENDS)[keyof typeof ENDS] | 'pod evicted' | 'eviction unanswered' | 'move postponed';

/** An eviction is reported once: when its answer came, or was lost, and then when its pod was seen to go. */
function lineOf(before: MoveStatus, run: MoveStatus): MoveLine | undefined {
  if (before.phase !== run.phase && isEnd(run.phase)) {
    return ENDS[run.phase];
  }
  if (run.attempt > before.attempt) {
    return 'move postponed';
  }
  if (before.phase === 'Intent' && run.phase === 'Evicting') {
    return run.outcome === undefined ? 'pod evicted' : 'eviction unanswered';
  }
  const wasOpen = before.phase === 'Intent' || (before.phase === 'Evicting' && before.outcome !== undefined);
  return wasOpen && run.phase === 'AwaitingReplacement' ? 'pod evicted' : undefined;
}

function isEnd(phase: MovePhase): phase is keyof typeof ENDS {
  return isFinal(phase);
}

/** For messages about failures. */
export function nameOf({ move: { pod } }: JournalEntry): string {
  return `move of ${pod.namespace}/${pod.name}`;
}
