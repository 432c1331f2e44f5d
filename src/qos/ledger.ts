import { MAX_INSTANCES } from '../api/v1alpha1/qos-ledger.ts';
import { type EpochSeconds, elapsed, epochSeconds, seconds } from '../model/units.ts';
import { checkpointsThrough } from './ledger-checkpoints.ts';
import { closeDraft, countOf, enterEvent, type LedgerTerms, newSlot, openDraft } from './ledger-draft.ts';
import type { Promised, RequestRecord } from './ledger-record.ts';
import type { KeptInstance, KeptLedger } from './ledger-state.ts';
import { type PodEvent, podEventsSince } from './pod-events.ts';
import { grown, NO_TIMES } from './times.ts';

/**
 * The next state of a request's ledger, from what the API server records of it; the very same ledger when nothing but time
 * has gone on. `undefined` begins a new one, at the creation of the workload, or of the class where that is younger. A
 * ledger that had ended is taken up again; the time in between counts as nothing. `preempted` are UIDs of pods that were
 * evicted on behalf of others. Useful, discarded and pending time come to wall time x instances, whatever is missing from
 * the record.
 */
export function carryOn(
  kept: KeptLedger | undefined,
  promised: Promised,
  record: RequestRecord,
  preempted: ReadonlySet<string>,
  clock: EpochSeconds,
): KeptLedger {
  const known = takenUp(kept, promised, record, clock);
  const now = present(known, record, clock);
  const { terms } = promised;
  const { desired, message } = bounded(record, now);
  const bookTerms = { mode: terms.mode, window: terms.window, desired, preempted };
  const entered = enter(known, record, now, bookTerms);
  const missing = desired - entered.ledger.instances.length;
  const isNew = kept === undefined && record.pods.length === 0;
  // A Job makes its next pod when it has seen the last one end: until then there is no instance.
  const isLate = record.owner.kind !== 'Job' && missing > 0;
  const since = isNew ? known.asOf : now;
  const ledger = isLate ? withEmptyInstances(entered, missing, since, bookTerms) : entered.ledger;
  return ledger.message === message ? ledger : { ...ledger, message };
}

/**
 * The ledger after its workload has gone, or lost its class: its instances are counted until their pods were asked to go,
 * and those whose pods are still there until `clock`, which becomes `endedAt`.
 */
export function endLedger(
  kept: KeptLedger,
  promised: Promised | undefined,
  record: RequestRecord,
  message: string,
  clock: EpochSeconds,
): KeptLedger {
  if (kept.endedAt !== undefined) {
    return kept.message === message ? kept : { ...kept, message };
  }
  const now = present(kept, record, clock);
  const { mode, window } = promised?.terms ?? { mode: 'Aggregated', window: seconds(0) };
  const terms = { mode, window, desired: 0, preempted: new Set<string>() };
  const { ledger } = enter(kept, record, now, terms);
  const settled = ledger.instances.length === 0 ? ledger : settle(ledger, now, terms);
  return { ...settled, ...countOf([]), endedAt: now, message };
}

/** How far the record may be ahead of the clock, in seconds: that is the API server's as far as its answers tell. */
const SKEW = 5;

/** The instant of a look: never before what was counted, nor, within bounds, before what is on record. */
function present({ asOf }: KeptLedger, { pods }: RequestRecord, clock: EpochSeconds): EpochSeconds {
  const recorded = pods
    .flatMap(({ createdAt, marks, end }) => [createdAt, marks.at(-1)?.since ?? createdAt, end?.at ?? createdAt])
    .filter((at) => at <= clock + SKEW);
  return epochSeconds(Math.floor(recorded.reduce((latest, at) => Math.max(latest, at), Math.max(asOf, clock))));
}

/** Twice, where replicas are not wanted any more: the second time they end when their last pods do. */
function enter(ledger: KeptLedger, record: RequestRecord, now: EpochSeconds, terms: LedgerTerms): AppliedEvents {
  const events = podEventsSince(ledger, record, now);
  const entered = applyPodEvents(ledger, events, terms, new Set());
  const surplus = entered.ledger.instances.length - terms.desired;
  const dropped = surplus <= 0 ? [] : entered.free.slice(-surplus);
  return dropped.length === 0 ? entered : applyPodEvents(ledger, events, terms, new Set(dropped));
}

function bounded(
  { desired, pods }: RequestRecord,
  now: EpochSeconds,
): { readonly desired: number; readonly message: string | undefined } {
  const wanted = desired ?? pods.filter(({ end }) => end === undefined || (end.at ?? now) > now).length;
  const message =
    wanted > MAX_INSTANCES ? `counts ${MAX_INSTANCES} of ${wanted} replicas: a ledger holds no more` : undefined;
  return { desired: Math.min(wanted, MAX_INSTANCES), message };
}

function takenUp(
  kept: KeptLedger | undefined,
  { terms, createdAt }: Promised,
  record: RequestRecord,
  clock: EpochSeconds,
): KeptLedger {
  const began = Math.min(Math.floor(clock), Math.max(record.createdAt, createdAt));
  if (kept === undefined) {
    return newLedger(record, terms.name, epochSeconds(began));
  }
  const current = { ...kept, owner: record.owner, className: terms.name };
  if (kept.endedAt !== undefined) {
    // The same workload had lost its class, and nobody records when it got one again.
    const again = kept.owner.uid === record.owner.uid ? Math.floor(clock) : began;
    return { ...current, endedAt: undefined, asOf: epochSeconds(Math.max(kept.asOf, again)) };
  }
  const isSame = kept.owner.uid === record.owner.uid && kept.className === terms.name;
  return isSame ? kept : current;
}

function newLedger({ namespace, owner }: RequestRecord, className: string, at: EpochSeconds): KeptLedger {
  return {
    namespace,
    owner,
    className,
    admittedAt: at,
    asOf: at,
    times: NO_TIMES,
    running: 0,
    waiting: 0,
    instances: [],
    checkpoints: [],
    preemptions: 0,
    overhead: seconds(0),
    starts: { hot: undefined, cold: undefined },
    startup: { hot: undefined, cold: undefined },
    endedAt: undefined,
    message: undefined,
  };
}

/** A ledger after some events. */
interface AppliedEvents {
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
function applyPodEvents(
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
function withEmptyInstances(
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
