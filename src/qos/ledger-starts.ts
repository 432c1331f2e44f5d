import { type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import type { PodRecord } from './ledger-record.ts';
import type { KeptLedger, LeftPod, StartMean } from './ledger-state.ts';

/** Mean start-up times by what was measured. */
export function meansOf({ hot, cold }: KeptLedger['starts']): KeptLedger['startup'] {
  return {
    hot: hot === undefined ? undefined : seconds(hot.total / hot.count),
    cold: cold === undefined ? undefined : seconds(cold.total / cold.count),
  };
}

/** A start that takes longer has failed, or was none: the pod had been Ready before it was first seen. */
const LONGEST_START = 600;
/** Starts in the mean: beyond, older ones count half, so that it follows an image that has grown. */
const MOST_STARTS = 64;

/**
 * How long a pod took to be Ready `at` last: from the end of the one before it to its creation, which is the time of its
 * controller, and from its binding to Ready. What it waited in between, at a gate or for room, is no part of starting.
 */
export function startOf({ createdAt, scheduledAt }: PodRecord, left: LeftPod | undefined, at: EpochSeconds): Seconds {
  const making = left === undefined ? 0 : Math.max(0, createdAt - left.at);
  return seconds(making + Math.max(0, at - Math.max(createdAt, scheduledAt ?? createdAt)));
}

/** The measured starts with this one, if it was seen from its beginning and is the first of its pod. */
export function learn(
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
