import type { LedgerMode, ServiceTimes } from '../model/service-level.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import { checkpointsThrough } from './ledger-checkpoints.ts';
import type { PodEnd, PodRecord } from './ledger-record.ts';
import type { KeptInstance, KeptLedger, LeftPod, MeasuredStarts } from './ledger-state.ts';
import type { PodEvent } from './pod-events.ts';
import { startTimeOf } from './startup.ts';
import { grown, NO_TIMES, withoutRun } from './times.ts';

/** What events are entered under. */
export interface LedgerTerms {
  readonly mode: LedgerMode;
  /** Of the class. */
  readonly window: Seconds;
  /** Replicas that are wanted now. */
  readonly desired: number;
  /** UIDs of pods that were evicted on behalf of other requests. */
  readonly preempted: ReadonlySet<string>;
}

/** A ledger while events are entered into it. */
export interface LedgerDraft {
  readonly terms: LedgerTerms;
  /** See `applyPodEvents`. */
  readonly dropped: ReadonlySet<string>;
  /** Pods of the events, by UID. */
  readonly records: ReadonlyMap<string, PodRecord>;
  /** Pods without an instance, as the surge of a rollout is, by UID. */
  readonly spares: Map<string, Spare>;
  slots: Slot[];
  /** Those without a pod, the one that has been free for the longest time first. */
  freed: Slot[];
  asOf: EpochSeconds;
  times: ServiceTimes;
  checkpoints: KeptLedger['checkpoints'];
  preemptions: number;
  overhead: number;
  starts: KeptLedger['starts'];
  isChanged: boolean;
}

/** An instance of a draft. */
export type Slot = { -readonly [Key in keyof Omit<KeptInstance, 'since'>]: KeptInstance[Key] } & {
  /** What freed it, while it has no pod. */
  freedBy: string | undefined;
};

interface Spare {
  readonly pod: PodRecord;
  running: boolean;
}

/** The ledger before its next events. What frees an instance and is in `dropped` ends it. */
export function openDraft(
  ledger: KeptLedger,
  events: readonly PodEvent[],
  terms: LedgerTerms,
  dropped: ReadonlySet<string>,
): LedgerDraft {
  const { asOf, times, checkpoints, preemptions, starts, overhead } = ledger;
  const slots = openSlots(ledger, terms.mode).filter(({ freedBy }) => freedBy === undefined || !dropped.has(freedBy));
  const draft: LedgerDraft = {
    terms,
    dropped,
    records: new Map(events.map(({ pod }) => [pod.uid, pod])),
    spares: new Map(),
    slots,
    freed: slots.filter(({ pod }) => pod === undefined).sort(byLeft),
    asOf,
    times,
    checkpoints,
    preemptions,
    overhead,
    starts,
    isChanged: slots.length < ledger.instances.length,
  };
  notePreemptions(draft);
  return draft;
}

/** Pods that were not known to be preempted when they left. */
function notePreemptions(draft: LedgerDraft): void {
  for (const slot of draft.slots) {
    if (slot.left?.preempted === false && draft.terms.preempted.has(slot.left.pod)) {
      slot.left = { ...slot.left, preempted: true };
      draft.preemptions += 1;
      draft.isChanged = true;
    }
  }
}

/** Enters one event. */
export function enterEvent(draft: LedgerDraft, event: PodEvent): void {
  switch (event.kind) {
    case 'Created':
      create(draft, event);
      break;
    case 'Ready':
      change(draft, event, event.ready);
      break;
    case 'Ended':
      end(draft, event, event.how);
      break;
    default:
      event satisfies never;
  }
}

/** The ledger with all that was entered into its draft; the very same one when nothing has changed. */
export function closeDraft(ledger: KeptLedger, draft: LedgerDraft): KeptLedger {
  if (!draft.isChanged) {
    return ledger;
  }
  const { asOf, times, checkpoints, preemptions, starts, overhead, slots } = draft;
  const instances = slots.map(({ freedBy: _, ...slot }): KeptInstance => ({ ...slot, since: asOf }));
  const changed = { asOf, times, checkpoints, preemptions, starts, overhead: seconds(overhead) };
  return {
    ...ledger,
    ...changed,
    ...countOf(instances),
    startup: { hot: startTimeOf(starts.hot), cold: startTimeOf(starts.cold) },
  };
}

/** Counts time up to a change of an instance. */
function advance(draft: LedgerDraft, to: EpochSeconds): void {
  const { asOf, slots, times: before, terms } = draft;
  const span = elapsed(asOf, to);
  const running = slots.filter((slot) => slot.running).length;
  draft.times = grown(before, terms.mode, running, slots.length - running, span);
  const part = { from: asOf, to, before, after: draft.times };
  draft.checkpoints = checkpointsThrough(draft.checkpoints, part, terms.window);
  for (const slot of slots) {
    if (slot.running) {
      slot.useful = seconds(slot.useful + span);
      slot.attempt = terms.mode === 'Task' ? seconds(slot.attempt + span) : seconds(0);
    } else {
      slot.pending = seconds(slot.pending + span);
    }
  }
  draft.asOf = to;
  draft.isChanged = true;
}

function fill(draft: LedgerDraft, slot: Slot, pod: string, running: boolean): void {
  draft.freed = draft.freed.filter((other) => other !== slot);
  slot.pod = pod;
  slot.freedBy = undefined;
  slot.running = running;
  slot.left = running ? undefined : slot.left;
}

function create(draft: LedgerDraft, { at, pod }: PodEvent): void {
  const [slot] = draft.freed;
  if (slot !== undefined) {
    advance(draft, at);
    fill(draft, slot, pod.uid, false);
  } else if (draft.slots.length < draft.terms.desired) {
    advance(draft, at);
    draft.slots.push(newSlot(pod.uid));
  } else {
    draft.spares.set(pod.uid, { pod, running: false });
  }
}

function change(draft: LedgerDraft, { at, pod }: PodEvent, ready: boolean): void {
  const slot = draft.slots.find((each) => each.pod === pod.uid);
  const spare = draft.spares.get(pod.uid);
  if (ready) {
    noteStart(draft, pod, slot, at);
  }
  if (slot !== undefined && slot.running !== ready) {
    advance(draft, at);
    slot.running = ready;
    slot.left = ready ? undefined : slot.left;
  } else if (spare !== undefined) {
    spare.running = ready;
  }
  exchange(draft, at);
}

function noteStart(draft: LedgerDraft, pod: PodRecord, slot: Slot | undefined, at: EpochSeconds): void {
  const start = startOf(pod, slot?.left, at);
  draft.overhead += slot?.left?.preempted === true ? start : 0;
  draft.starts = learn(draft.starts, pod, start, at);
}

/** As many run as can: a spare that does stands in for a pod that does not. What a Task has done stays with its pod. */
function exchange(draft: LedgerDraft, at: EpochSeconds): void {
  const { spares, slots, terms, records } = draft;
  const spare = [...spares.values()].find(({ running }) => running);
  const slot = slots.find((each) => !each.running);
  if (terms.mode === 'Task' || spare === undefined || slot?.pod === undefined) {
    return;
  }
  advance(draft, at);
  spares.delete(spare.pod.uid);
  const idle = records.get(slot.pod);
  if (idle !== undefined) {
    spares.set(idle.uid, { pod: idle, running: false });
  }
  fill(draft, slot, spare.pod.uid, true);
}

function end(draft: LedgerDraft, { at, pod }: PodEvent, how: PodEnd['how']): void {
  const slot = draft.slots.find((each) => each.pod === pod.uid);
  draft.spares.delete(pod.uid);
  if (slot === undefined) {
    return;
  }
  advance(draft, at);
  const isPreempted = how === 'Deleted' && draft.terms.preempted.has(pod.uid);
  draft.preemptions += isPreempted ? 1 : 0;
  if (how !== 'Succeeded') {
    draft.times = withoutRun(draft.times, slot.attempt);
    Object.assign(slot, withoutRun(slot, slot.attempt));
  }
  if (how === 'Succeeded' || draft.dropped.has(pod.uid)) {
    draft.slots = draft.slots.filter((other) => other !== slot);
    return;
  }
  slot.left = { pod: pod.uid, at, preempted: isPreempted };
  Object.assign(slot, { pod: undefined, freedBy: pod.uid, running: false, attempt: seconds(0) });
  draft.freed.push(slot);
  inherit(draft, slot);
}

/** A spare takes the place that was freed, one that runs first. */
function inherit(draft: LedgerDraft, slot: Slot): void {
  const { spares } = draft;
  const heir = [...spares.values()].sort((left, right) => Number(right.running) - Number(left.running))[0];
  if (heir !== undefined) {
    spares.delete(heir.pod.uid);
    fill(draft, slot, heir.pod.uid, heir.running);
  }
}

/** Instances with how many of them run. */
export function countOf(instances: readonly KeptInstance[]): Pick<KeptLedger, 'instances' | 'running' | 'waiting'> {
  const running = instances.filter((instance) => instance.running).length;
  return { instances, running, waiting: instances.length - running };
}

function openSlots({ instances }: KeptLedger, mode: LedgerMode): Slot[] {
  return instances.map(({ since: _, ...instance }, index) => ({
    ...instance,
    attempt: mode === 'Task' ? instance.attempt : seconds(0),
    freedBy: instance.pod === undefined ? (instance.left?.pod ?? `#${index}`) : undefined,
  }));
}

/** An instance that has got nothing yet. */
export function newSlot(pod: string | undefined): Slot {
  return { ...NO_TIMES, pod, running: false, attempt: seconds(0), left: undefined, freedBy: undefined };
}

/** The one that has been free for the longest time first; one that never had a pod comes last. */
function byLeft(first: Slot, second: Slot): number {
  return (first.left?.at ?? Number.POSITIVE_INFINITY) - (second.left?.at ?? Number.POSITIVE_INFINITY) || 0;
}

/** A start that takes longer has failed, or was none: the pod had been Ready before it was first seen. */
const LONGEST_START = 600;
/** Starts in the mean: beyond, older ones count half, so that it follows an image that has grown. */
const MOST_STARTS = 64;

/**
 * How long a pod took to be Ready `at` last: from the end of the one before it to its creation, which is the time of its
 * controller, and from its binding to Ready. What it waited in between, at a gate or for room, is no part of starting.
 */
function startOf({ createdAt, scheduledAt }: PodRecord, left: LeftPod | undefined, at: EpochSeconds): Seconds {
  const making = left === undefined ? 0 : Math.max(0, createdAt - left.at);
  return seconds(making + Math.max(0, at - Math.max(createdAt, scheduledAt ?? createdAt)));
}

/** The measured starts with this one, if it was seen from its beginning and is the first of its pod. */
function learn(
  starts: KeptLedger['starts'],
  { hot, marks }: PodRecord,
  start: Seconds,
  at: EpochSeconds,
): KeptLedger['starts'] {
  const isFirst = !marks.some(({ ready, since }) => ready && since < at);
  if (hot === undefined || !isFirst || start > LONGEST_START) {
    return starts;
  }
  return hot ? { ...starts, hot: withStart(starts.hot, start) } : { ...starts, cold: withStart(starts.cold, start) };
}

function withStart(measured: MeasuredStarts | undefined, start: Seconds): MeasuredStarts {
  const all = measured ?? { count: 0, total: seconds(0), squares: 0 };
  const { count, total, squares } = all.count < MOST_STARTS ? all : halved(all);
  return { count: count + 1, total: seconds(total + start), squares: squares + start ** 2 };
}

function halved({ count, total, squares }: MeasuredStarts): MeasuredStarts {
  return { count: count / 2, total: seconds(Math.round(total / 2)), squares: Math.round(squares / 2) };
}
