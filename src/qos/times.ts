import type { InstanceLedger, LedgerMode, ServiceLedger, ServiceTimes } from '../model/service-level.ts';
import { after, type EpochSeconds, elapsed, epochSeconds, type Seconds, seconds } from '../model/units.ts';

/** No service, none lost. */
export const NO_TIMES: ServiceTimes = { useful: seconds(0), discarded: seconds(0), pending: seconds(0) };

/** e + d + p: instance-seconds since admission. */
export function totalOf({ useful, discarded, pending }: ServiceTimes): Seconds {
  return seconds(useful + discarded + pending);
}

/** A = e / (e + d + p), the share of the time that was useful, in [0, 1]; `undefined` while nothing was observed (algorithms.md 5). */
export function availabilityOf(times: ServiceTimes): number | undefined {
  const total = totalOf(times);
  return total > 0 ? times.useful / total : undefined;
}

/**
 * What a request has got up to `now`, in instance-seconds: its counters, and since `asOf` what its running and waiting
 * instances add. Exact, since times are linear between two changes. In mode Concurrent time is useful only while no
 * instance waits. Before `asOf` it is what was counted at `asOf`.
 */
export function timesAt(ledger: ServiceLedger, mode: LedgerMode, now: EpochSeconds): ServiceTimes {
  const span = Math.max(0, elapsed(ledger.asOf, now));
  const { times, running, waiting } = ledger;
  const isWasted = mode === 'Concurrent' && waiting > 0;
  return {
    useful: seconds(times.useful + (isWasted ? 0 : running * span)),
    discarded: times.discarded,
    pending: seconds(times.pending + (isWasted ? running + waiting : waiting) * span),
  };
}

/** What one instance has got up to `now`. */
export function instanceTimesAt(instance: InstanceLedger, now: EpochSeconds): ServiceTimes {
  const span = Math.max(0, elapsed(instance.since, now));
  return {
    useful: seconds(instance.useful + (instance.running ? span : 0)),
    discarded: instance.discarded,
    pending: seconds(instance.pending + (instance.running ? 0 : span)),
  };
}

/**
 * What a request has got in the `window` before `now`, or since its admission when that is later. Between two checkpoints
 * times are taken to have grown evenly.
 */
export function timesOver(ledger: ServiceLedger, mode: LedgerMode, now: EpochSeconds, window: Seconds): ServiceTimes {
  const begin = Math.max(ledger.admittedAt, after(now, seconds(-window)));
  return minus(timesAt(ledger, mode, now), timesUpTo(ledger, mode, begin, now));
}

interface Point extends ServiceTimes {
  readonly at: number;
}

function timesUpTo(ledger: ServiceLedger, mode: LedgerMode, instant: number, now: EpochSeconds): ServiceTimes {
  const end = epochSeconds(Math.max(now, ledger.asOf));
  let before: Point = { at: ledger.admittedAt, ...NO_TIMES };
  for (const point of pointsOf(ledger, mode, end)) {
    if (point.at >= instant) {
      return between(before, point, instant);
    }
    before = point;
  }
  return before;
}

function pointsOf(ledger: ServiceLedger, mode: LedgerMode, end: EpochSeconds): readonly Point[] {
  const { checkpoints, asOf, times } = ledger;
  return [...checkpoints, { at: asOf, ...times }, { at: end, ...timesAt(ledger, mode, end) }];
}

function between(left: Point, right: Point, instant: number): ServiceTimes {
  const share = right.at > left.at ? Math.max(0, (instant - left.at) / (right.at - left.at)) : 1;
  const at = (from: number, to: number): Seconds => seconds(from + (to - from) * share);
  return {
    useful: at(left.useful, right.useful),
    discarded: at(left.discarded, right.discarded),
    pending: at(left.pending, right.pending),
  };
}

/**
 * What was added between two instants. Useful time that was lost in between was none, also what was counted before: so the
 * three add up to the time that passed.
 */
export function minus(later: ServiceTimes, earlier: ServiceTimes): ServiceTimes {
  const difference = (to: number, from: number): Seconds => seconds(Math.max(0, to - from));
  return {
    useful: difference(later.useful, earlier.useful),
    discarded: difference(later.discarded + Math.min(0, later.useful - earlier.useful), earlier.discarded),
    pending: difference(later.pending, earlier.pending),
  };
}

/**
 * `times` after `span` more in which `running` instances ran and `waiting` waited. In mode Concurrent nothing is useful
 * while one waits (T 7.2). In every mode the three grow by span x instances together.
 */
export function grown(
  { useful, discarded, pending }: ServiceTimes,
  mode: LedgerMode,
  running: number,
  waiting: number,
  span: Seconds,
): ServiceTimes {
  const serving = mode === 'Concurrent' && waiting > 0 ? 0 : running;
  return {
    useful: seconds(useful + serving * span),
    discarded,
    pending: seconds(pending + (running + waiting - serving) * span),
  };
}

/** `times` after run time that was useful so far turned out to be lost. */
export function withoutRun({ useful, discarded, pending }: ServiceTimes, lost: Seconds): ServiceTimes {
  return { useful: seconds(useful - lost), discarded: seconds(discarded + lost), pending };
}
