import { type EpochSeconds, elapsed, seconds } from '../model/units.ts';
import { checkpointsThrough } from './ledger-checkpoints.ts';
import { closeDraft, countOf, enterEvent, type LedgerTerms, newSlot, openDraft } from './ledger-draft.ts';
import type { KeptInstance, KeptLedger } from './ledger-state.ts';
import type { PodEvent } from './pod-events.ts';
import { grown } from './times.ts';

/** A ledger after some events. */
export interface AppliedEvents {
  /** The very ledger that was opened when nothing has changed. */
  readonly ledger: KeptLedger;
  /** What freed the instances that have no pod now, the one that was freed last at the end; see `applyPodEvents`. */
  readonly free: readonly string[];
}

/**
 * Enters events into a ledger. An instance is a place that pods take one after the other: a new pod takes the one that has
 * been free for the longest time, or a new one while fewer are there than wanted; else it is a spare, as the surge of a
 * rollout is, and takes the next that is free. Time is counted up to each change of an instance, so that useful, discarded
 * and pending time come to exactly wall time x instances; `asOf` becomes the instant of the last one.
 *
 * An instance ends when its pod has succeeded, and when what frees it is in `dropped`: the UID of its last pod, or
 * `#INDEX` where it had none when the ledger was opened. So those who scale down take no time with them.
 */
export function applyPodEvents(
  ledger: KeptLedger,
  events: readonly PodEvent[],
  terms: LedgerTerms,
  dropped: ReadonlySet<string>,
): AppliedEvents {
  const draft = openDraft(ledger, events, terms, dropped);
  for (const event of events) {
    enterEvent(draft, event);
  }
  return { ledger: closeDraft(ledger, draft), free: draft.freed.flatMap(({ freedBy }) => freedBy ?? []) };
}

/** The ledger with `count` more instances, which have waited since `at`: nobody has made pods for them. */
export function withEmptyInstances(
  { ledger }: AppliedEvents,
  count: number,
  at: EpochSeconds,
  terms: LedgerTerms,
): KeptLedger {
  if (count <= 0) {
    return ledger;
  }
  const settled = settle(ledger, at, terms);
  const added = Array.from({ length: count }, (): KeptInstance => {
    const { freedBy: _, ...slot } = newSlot(undefined);
    return { ...slot, since: settled.asOf };
  });
  return { ...settled, ...countOf([...settled.instances, ...added]) };
}

/** The ledger counted up to `at`, as if something had happened then. */
export function settle(ledger: KeptLedger, at: EpochSeconds, { mode, window }: LedgerTerms): KeptLedger {
  const span = elapsed(ledger.asOf, at);
  const before = ledger.times;
  const times = grown(before, mode, ledger.running, ledger.waiting, span);
  const instances = ledger.instances.map((instance): KeptInstance => {
    const grownTimes = grown(instance, 'Aggregated', Number(instance.running), Number(!instance.running), span);
    const attempt = seconds(instance.attempt + (mode === 'Task' && instance.running ? span : 0));
    return { ...instance, ...grownTimes, attempt, since: at };
  });
  const checkpoints = checkpointsThrough(
    ledger.checkpoints,
    { from: ledger.asOf, to: at, before, after: times },
    window,
  );
  return { ...ledger, asOf: at, times, instances, checkpoints };
}
