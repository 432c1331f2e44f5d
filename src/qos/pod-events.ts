import { type EpochSeconds, epochSeconds } from '../model/units.ts';
import type { PodEnd, PodRecord, ReadyMark, RequestRecord } from './ledger-record.ts';
import type { KeptLedger } from './ledger-state.ts';

/** A change in the life of a pod, between the `asOf` of a ledger and now. */
export type PodEvent =
  | { readonly kind: 'Created'; readonly at: EpochSeconds; readonly pod: PodRecord }
  | { readonly kind: 'Ready'; readonly at: EpochSeconds; readonly pod: PodRecord; readonly ready: boolean }
  | { readonly kind: 'Ended'; readonly at: EpochSeconds; readonly pod: PodRecord; readonly how: PodEnd['how'] };

/**
 * What happened to the pods of a request since `ledger.asOf`, in order. Nothing is before `asOf`, up to which time is
 * counted, and nothing is after `now`: the instants come from several clocks (kubelets, controllers, the API server). Within
 * a second those who were there before come first, so that who is made in it finds their places free.
 */
export function podEventsSince(ledger: KeptLedger, record: RequestRecord, now: EpochSeconds): readonly PodEvent[] {
  const held = heldPods(ledger);
  const pods = [...record.pods, ...lostPods(ledger, record, held)].sort(byAge);
  const ends = endsOf(pods, held, ledger.asOf, record, now);
  const events = pods
    .filter((pod) => isOpen(pod, held, ledger.asOf))
    .flatMap((pod) => eventsOf(pod, held.get(pod.uid), ends.get(pod.uid), ledger.asOf, now));
  const born = new Map(events.flatMap(({ kind, at, pod }) => (kind === 'Created' ? [[pod, at] as const] : [])));
  const isNew = ({ at, pod }: PodEvent): number => Number(born.get(pod) === at);
  return events.sort((left, right) => left.at - right.at || isNew(left) - isNew(right));
}

/** Pods that are incarnations now, by UID, and whether they run. */
function heldPods({ instances }: KeptLedger): ReadonlyMap<string, boolean> {
  return new Map(instances.flatMap(({ pod, running }) => (pod === undefined ? [] : [[pod, running] as const])));
}

/**
 * Whether the ledger may not have counted the pod to its end yet. One that is gone without a trace, and was there before, was
 * counted, or a spare. A life within the second of `asOf` takes no time, but tells whose replacement came when.
 */
function isOpen(pod: PodRecord, held: ReadonlyMap<string, boolean>, asOf: EpochSeconds): boolean {
  const { uid, createdAt, end, missedAt } = pod;
  return held.has(uid) || end === undefined || (end.at ?? missedAt ?? createdAt) > asOf || createdAt >= asOf;
}

/** Pods of the ledger that are gone without a trace. */
function lostPods(
  { asOf }: KeptLedger,
  { pods }: RequestRecord,
  held: ReadonlyMap<string, boolean>,
): readonly PodRecord[] {
  const uids = new Set(pods.map(({ uid }) => uid));
  return [...held.keys()].filter((uid) => !uids.has(uid)).map((uid) => lostPod(uid, asOf));
}

function lostPod(uid: string, asOf: EpochSeconds): PodRecord {
  const end = { at: undefined, how: 'Deleted' } as const;
  return { uid, createdAt: asOf, scheduledAt: undefined, marks: [], end, missedAt: undefined, hot: undefined };
}

function byAge(left: PodRecord, right: PodRecord): number {
  return left.createdAt - right.createdAt || (left.uid < right.uid ? -1 : 1);
}

/**
 * When each pod ended. One that is gone without a trace ended when it was missed; where nobody was there to miss it, its
 * controller keeps a record: the creation of its replacement, which follows at once. Without one it has only just gone.
 */
function endsOf(
  pods: readonly PodRecord[],
  held: ReadonlyMap<string, boolean>,
  asOf: EpochSeconds,
  { completedAt }: RequestRecord,
  now: EpochSeconds,
): ReadonlyMap<string, PodEnd & { readonly at: EpochSeconds }> {
  const ends = new Map<string, PodEnd & { readonly at: EpochSeconds }>();
  let heirs = pods.filter(({ uid, createdAt }) => !held.has(uid) && createdAt >= asOf);
  const inherit = (pod: PodRecord, from: EpochSeconds): PodRecord | undefined => {
    const heir = heirs.find((other) => other !== pod && other.createdAt >= from);
    heirs = heirs.filter((other) => other !== heir);
    return heir;
  };
  const open = pods.filter((pod) => isOpen(pod, held, asOf));
  const known = open.flatMap((pod) => {
    const at = pod.end?.at ?? pod.missedAt;
    return pod.end === undefined || at === undefined ? [] : [{ pod, how: pod.end.how, at }];
  });
  for (const { pod, how, at } of known.sort((left, right) => left.at - right.at)) {
    ends.set(pod.uid, { at, how });
    inherit(pod, at);
  }
  for (const pod of open.filter(({ uid, end }) => end !== undefined && !ends.has(uid))) {
    const at = inherit(pod, epochSeconds(Math.max(asOf, lastSignOf(pod))))?.createdAt ?? now;
    ends.set(pod.uid, completedAt === undefined ? { at, how: 'Deleted' } : { at: completedAt, how: 'Succeeded' });
  }
  return ends;
}

/** The last instant of which something is on record about the pod. */
function lastSignOf({ createdAt, marks }: PodRecord): EpochSeconds {
  return epochSeconds(Math.max(createdAt, marks.at(-1)?.since ?? createdAt));
}

function eventsOf(
  pod: PodRecord,
  running: boolean | undefined,
  end: (PodEnd & { readonly at: EpochSeconds }) | undefined,
  asOf: EpochSeconds,
  now: EpochSeconds,
): readonly PodEvent[] {
  const begin = clamp(pod.createdAt, asOf, now);
  const last = end === undefined ? now : clamp(end.at, begin, now);
  const created: readonly PodEvent[] = running === undefined ? [{ kind: 'Created', at: begin, pod }] : [];
  // What a kubelet ahead of the API server says of the future has happened by now; what it says after the end is of no account.
  const marks = end === undefined ? pod.marks : pod.marks.filter(({ since }) => since <= last);
  const changes = readinessSince(marks, running ?? false, begin, last);
  const ready = changes.map((change): PodEvent => ({ kind: 'Ready', pod, ...change }));
  const ended: readonly PodEvent[] = end === undefined ? [] : [{ kind: 'Ended', at: last, pod, how: end.how }];
  return [...created, ...ready, ...ended];
}

interface Change {
  readonly at: EpochSeconds;
  readonly ready: boolean;
}

/**
 * The changes of readiness between `from`, at which it was `known`, and `until`. Where two marks in a row say the same with
 * different instants, the change between them was missed: the containers say when they stopped or started, and where they
 * do not, nobody knows, and it is taken to have lasted no time.
 */
function readinessSince(
  marks: readonly ReadyMark[],
  known: boolean,
  from: EpochSeconds,
  until: EpochSeconds,
): readonly Change[] {
  const changes: Change[] = [];
  let last: Change = { at: from, ready: known };
  const change = (next: Change): void => {
    if (next.ready !== last.ready) {
      changes.push(next);
    }
    last = next;
  };
  const settled = marks.findLast(({ since }) => since <= from);
  if (settled !== undefined) {
    change({ at: from, ready: settled.ready });
  }
  for (const { ready, since, startedAt, stoppedAt } of marks) {
    if (since <= from) {
      continue;
    }
    const missed = ready ? stoppedAt : startedAt;
    if (ready === last.ready && missed !== undefined && missed < since) {
      change({ at: clamp(missed, last.at, since), ready: !ready });
    }
    change({ at: clamp(since, last.at, until), ready });
  }
  return changes;
}

function clamp(instant: EpochSeconds, least: EpochSeconds, most: EpochSeconds): EpochSeconds {
  return epochSeconds(Math.max(least, Math.min(most, Math.floor(instant))));
}
