import { leaseTimes } from '../../src/control/lease.ts';
import { seconds } from '../../src/model/units.ts';
import type { Gap } from './gaps.ts';
import type { Leaders } from './leaders.ts';
import type { RequestTimes } from './request-times.ts';

/** How long policies, or the rest, were without a leader. The list is to be empty. Instants of gaps are of `performance.now()`. */
export interface Vacancies {
  /** Times without a leader. */
  readonly vacancies: number;
  /** Seconds of the longest one, whatever happened in it. */
  readonly longestVacancy: number;
  /** Seconds of the longest one since the last replica ended that could have taken over, or since the first that could had joined. */
  readonly longestAdoption: number;
  /**
   * Times without a leader in which the last renewal of a killed replica reached the API server only after its end (fault LateWrite, or an
   * event that was seen a little later): what is allowed counts from then.
   */
  readonly renewedLate: number;
  /** Seconds within which 99 % of requests to the API server were answered while replicas were killed. */
  readonly slowestRequest: number;
  /** Those in which that took longer than a lease, two retries, and the requests that the next leader sends. */
  readonly vacantTooLong: readonly string[];
}

/** Requests of a replica that takes over, one after the other: a read, and a write. */
const REQUESTS = 2;
/** A replica without the others' share waits up to that many retry periods for each retry (client-go's jitter). */
const JITTER = 2.2;
/** Milliseconds before a time without a leader in which a watch may have begun that lags in it. */
const WATCHED_BEFORE = 30_000;

/**
 * Judges times without a leader: a lease and two retries are allowed, and the time of two requests, each as long as the slowest that
 * was measured in that very time, since all of it runs on one busy machine. Where one replica leads everything (`shared` is false), retries are
 * jittered. `faultsIn` tells what happened to requests for Leases between two instants, for those that were too long.
 */
export function judgeVacancies(
  gaps: readonly Gap[],
  requests: Pick<RequestTimes, 'longest' | 'quantile'>,
  { shared, lease }: Pick<Leaders, 'shared' | 'lease'>,
  faultsIn: (from: number, to: number) => readonly string[] = () => [],
): Vacancies {
  const { duration, retryPeriod } = leaseTimes(seconds(lease));
  const allowed = 1000 * (duration + 2 * retryPeriod * (shared ? 1 : JITTER));
  const tooLong = gaps.flatMap((gap) => {
    const { name, from, to, since } = gap;
    const limit = allowed + REQUESTS * requests.longest(since, to);
    return to - since <= limit
      ? []
      : [
          `${name} at ${timeOf(from)}: ${inSeconds(to - since)} s, allowed are ${inSeconds(limit)} s (${inSeconds(to - from)} s in all, ${endOf(gap)})${told(faultsIn(from - WATCHED_BEFORE, to))}`,
        ];
  });
  return {
    vacancies: gaps.length,
    longestVacancy: inSeconds(Math.max(0, ...gaps.map(({ from, to }) => to - from))),
    longestAdoption: inSeconds(Math.max(0, ...gaps.map(({ since, to }) => to - since))),
    renewedLate: gaps.filter(({ isRenewedLate }) => isRenewedLate).length,
    slowestRequest: inSeconds(requests.quantile(0.99)),
    vacantTooLong: tooLong,
  };
}

function told(faults: readonly string[]): string {
  return faults.length === 0 ? '' : `; since ${WATCHED_BEFORE / 1000} s before it: ${faults.join(', ')}`;
}

function endOf({ from, nextJoined }: Gap): string {
  if (nextJoined === undefined) {
    return 'and nobody leads it yet';
  }
  const when = nextJoined > from ? `${inSeconds(nextJoined - from)} s after it began` : 'before it began';
  return `ended by a replica that had joined ${when}`;
}

/** The instant of `performance.now()` as logs of operators have it. */
function timeOf(instant: number): string {
  return new Date(performance.timeOrigin + instant).toISOString();
}

function inSeconds(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}
