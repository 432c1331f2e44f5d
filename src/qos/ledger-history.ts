import type { EpochSeconds } from '../model/units.ts';
import type { PodEnd, PodRecord, ReadyMark } from './ledger-record.ts';

/** One version of a pod, as the API server had it. */
export interface PodSighting {
  readonly uid: string;
  readonly createdAt: EpochSeconds;
  readonly scheduledAt: EpochSeconds | undefined;
  /** `undefined` before it has a condition Ready. */
  readonly mark: ReadyMark | undefined;
  readonly end: PodEnd | undefined;
  /** Whether its node has the image; `undefined` when it has no node yet, or was started already. */
  readonly hot: boolean | undefined;
}

/** States of Ready that are remembered of one pod: a ledger has counted the others long before. */
const MOST_MARKS = 16;

/** What is known of a pod after one more of its versions was seen. Versions come in order; any may have been missed. */
export function withSighting(known: PodRecord | undefined, seen: PodSighting): PodRecord {
  const { uid, createdAt, scheduledAt, mark, end, hot } = seen;
  return {
    uid,
    createdAt,
    scheduledAt: scheduledAt ?? known?.scheduledAt,
    marks: withMark(known?.marks ?? [], mark),
    end: known?.end?.at === undefined ? end : known.end,
    missedAt: undefined,
    hot: known?.hot ?? hot,
  };
}

/** The pod after it was found to be gone: when it went, `at`, or some time before, `undefined`. */
export function withoutTrace(known: PodRecord, at: EpochSeconds | undefined): PodRecord {
  return known.end === undefined ? { ...known, end: { at: undefined, how: 'Deleted' }, missedAt: at } : known;
}

function withMark(marks: PodRecord['marks'], mark: ReadyMark | undefined): PodRecord['marks'] {
  const last = marks.at(-1);
  if (mark === undefined) {
    return marks;
  }
  if (last?.ready === mark.ready && last.since === mark.since) {
    return [...marks.slice(0, -1), mark];
  }
  return [...marks, mark].slice(-MOST_MARKS);
}
