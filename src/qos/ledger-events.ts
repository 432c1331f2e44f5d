import type { LedgerMode } from '../model/service-level.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import { checkpointsThrough } from './ledger-checkpoints.ts';
import type { PodEnd, PodRecord } from './ledger-record.ts';
import type { KeptInstance, KeptLedger, LeftPod, StartMean } from './ledger-state.ts';
import type { PodEvent } from './pod-events.ts';
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

/** A ledger after some events. */
export interface AppliedEvents {
  /** The very ledger that was opened when nothing has changed. */
  readonly ledger: KeptLedger;
  /** What freed the instances that have no pod now, the one that was freed last at the end; see `applyPodEvents`. */
  readonly free: readonly string[];
}

type Slot = { -readonly [Key in keyof Omit<KeptInstance, 'since'>]: KeptInstance[Key] } & {
  /** What freed it, while it has no pod. */
  freedBy: string | undefined;
};

interface Spare {
  readonly pod: PodRecord;
  running: boolean;
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
  { mode, window, desired, preempted }: LedgerTerms,
  dropped: ReadonlySet<string>,
): AppliedEvents {
  let { asOf, times, checkpoints, preemptions, starts } = ledger;
  let overhead: number = ledger.overhead;
  let isChanged = false;
  let slots: Slot[] = openSlots(ledger, mode).filter(({ freedBy }) => freedBy === undefined || !dropped.has(freedBy));
  isChanged ||= slots.length < ledger.instances.length;
  let freed = slots.filter(({ pod }) => pod === undefined).sort(byLeft);
  const spares = new Map<string, Spare>();

  function advance(to: EpochSeconds): void {
    const span = elapsed(asOf, to);
    const before = times;
    const running = slots.filter((slot) => slot.running).length;
    times = grown(before, mode, running, slots.length - running, span);
    checkpoints = checkpointsThrough(checkpoints, { from: asOf, to, before, after: times }, window);
    for (const slot of slots) {
      if (slot.running) {
        slot.useful = seconds(slot.useful + span);
        slot.attempt = mode === 'Task' ? seconds(slot.attempt + span) : seconds(0);
      } else {
        slot.pending = seconds(slot.pending + span);
      }
    }
    asOf = to;
    isChanged = true;
  }

  function fill(slot: Slot, pod: string, running: boolean): void {
    freed = freed.filter((other) => other !== slot);
    slot.pod = pod;
    slot.freedBy = undefined;
    slot.running = running;
    slot.left = running ? undefined : slot.left;
  }

  function create({ at, pod }: PodEvent): void {
    const [slot] = freed;
    if (slot !== undefined) {
      advance(at);
      fill(slot, pod.uid, false);
    } else if (slots.length < desired) {
      advance(at);
      slots.push(newSlot(pod.uid));
    } else {
      spares.set(pod.uid, { pod, running: false });
    }
  }

  function change({ at, pod }: PodEvent, ready: boolean): void {
    const slot = slots.find((each) => each.pod === pod.uid);
    const spare = spares.get(pod.uid);
    if (ready) {
      noteStart(pod, slot, at);
    }
    if (slot !== undefined && slot.running !== ready) {
      advance(at);
      slot.running = ready;
      slot.left = ready ? undefined : slot.left;
    } else if (spare !== undefined) {
      spare.running = ready;
    }
    exchange(at);
  }

  function noteStart(pod: PodRecord, slot: Slot | undefined, at: EpochSeconds): void {
    const start = startOf(pod, slot?.left, at);
    overhead += slot?.left?.preempted === true ? start : 0;
    starts = learn(starts, pod, start, at);
  }

  /** As many run as can: a spare that does stands in for a pod that does not. What a Task has done stays with its pod. */
  function exchange(at: EpochSeconds): void {
    const spare = [...spares.values()].find(({ running }) => running);
    const slot = slots.find((each) => !each.running);
    if (mode === 'Task' || spare === undefined || slot?.pod === undefined) {
      return;
    }
    advance(at);
    spares.delete(spare.pod.uid);
    const idle = records.get(slot.pod);
    if (idle !== undefined) {
      spares.set(idle.uid, { pod: idle, running: false });
    }
    fill(slot, spare.pod.uid, true);
  }

  function end({ at, pod }: PodEvent, how: PodEnd['how']): void {
    const slot = slots.find((each) => each.pod === pod.uid);
    spares.delete(pod.uid);
    if (slot === undefined) {
      return;
    }
    advance(at);
    const isPreempted = how === 'Deleted' && preempted.has(pod.uid);
    preemptions += isPreempted ? 1 : 0;
    if (how !== 'Succeeded') {
      times = withoutRun(times, slot.attempt);
      Object.assign(slot, withoutRun(slot, slot.attempt));
    }
    if (how === 'Succeeded' || dropped.has(pod.uid)) {
      slots = slots.filter((other) => other !== slot);
      return;
    }
    slot.left = { pod: pod.uid, at, preempted: isPreempted };
    Object.assign(slot, { pod: undefined, freedBy: pod.uid, running: false, attempt: seconds(0) });
    freed.push(slot);
    const heir = [...spares.values()].sort((left, right) => Number(right.running) - Number(left.running))[0];
    if (heir !== undefined) {
      spares.delete(heir.pod.uid);
      fill(slot, heir.pod.uid, heir.running);
    }
  }

  const records = new Map(events.map(({ pod }) => [pod.uid, pod]));
  for (const slot of slots) {
    if (slot.left?.preempted === false && preempted.has(slot.left.pod)) {
      slot.left = { ...slot.left, preempted: true };
      preemptions += 1;
      isChanged = true;
    }
  }
  for (const event of events) {
    switch (event.kind) {
      case 'Created':
        create(event);
        break;
      case 'Ready':
        change(event, event.ready);
        break;
      case 'Ended':
        end(event, event.how);
        break;
      default:
        event satisfies never;
    }
  }
  const free = freed.flatMap(({ freedBy }) => freedBy ?? []);
  if (!isChanged) {
    return { ledger, free };
  }
  const instances = slots.map(({ freedBy: _, ...slot }): KeptInstance => ({ ...slot, since: asOf }));
  const changed = { asOf, times, checkpoints, preemptions, starts, overhead: seconds(overhead) };
  return { ledger: { ...ledger, ...changed, ...countOf(instances), startup: meansOf(starts) }, free };
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

/** Instances with how many of them run. */
export function countOf(instances: readonly KeptInstance[]): Pick<KeptLedger, 'instances' | 'running' | 'waiting'> {
  const running = instances.filter((instance) => instance.running).length;
  return { instances, running, waiting: instances.length - running };
}

function meansOf({ hot, cold }: KeptLedger['starts']): KeptLedger['startup'] {
  return {
    hot: hot === undefined ? undefined : seconds(hot.total / hot.count),
    cold: cold === undefined ? undefined : seconds(cold.total / cold.count),
  };
}

function openSlots({ instances }: KeptLedger, mode: LedgerMode): Slot[] {
  return instances.map(({ since: _, ...instance }, index) => ({
    ...instance,
    attempt: mode === 'Task' ? instance.attempt : seconds(0),
    freedBy: instance.pod === undefined ? (instance.left?.pod ?? `#${index}`) : undefined,
  }));
}

function newSlot(pod: string | undefined): Slot {
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

function withStart(mean: StartMean | undefined, start: Seconds): StartMean {
  const { count, total } = mean ?? { count: 0, total: 0 };
  const old = count < MOST_STARTS ? { count, total } : { count: count / 2, total: Math.round(total / 2) };
  return { count: old.count + 1, total: seconds(old.total + start) };
}
