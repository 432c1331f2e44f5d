import { isDeepStrictEqual } from 'node:util';
import { compareVersions } from '../model/resource-version.ts';
import { type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import type { LeaseRecord, StoredLease } from '../ports.ts';

/** The times of an election (client-go, tools/leaderelection, LeaderElectionConfig). */
export interface LeaseTimes {
  /** How long candidates wait after the last change that they saw. */
  readonly duration: Seconds;
  /** How long the leader may act after the last renewal that went through, counted from when it was sent. */
  readonly renewDeadline: Seconds;
  /** Time between two attempts. */
  readonly retryPeriod: Seconds;
  /** Time until the answer to one request. */
  readonly requestDeadline: Seconds;
  /** A request that somebody waits for is sent once more when there is no answer after this time. */
  readonly hedgeAfter: Seconds;
}

/**
 * client-go's proportions: 15, 10 and 2 s for its default of 15 s. A request is given up after two retry periods, so that one that
 * hangs leaves time for two more before the renew deadline.
 */
export function leaseTimes(duration: Seconds): LeaseTimes {
  const retryPeriod = seconds((duration * 2) / 15);
  return {
    duration,
    renewDeadline: seconds((duration * 10) / 15),
    retryPeriod,
    requestDeadline: seconds(2 * retryPeriod),
    hedgeAfter: seconds(retryPeriod / 2),
  };
}

/** client-go's JitterFactor: an attempt is put off by up to this many retry periods. */
const JITTER_FACTOR = 1.2;

/** Time until the next attempt of a replica that may be competing for the lease: one to 2.2 retry periods. */
export function jitteredRetry({ retryPeriod }: LeaseTimes, random: () => number): Seconds {
  return seconds(retryPeriod * (1 + JITTER_FACTOR * random()));
}

/** A record, and since when it has been seen unchanged, on the observer's monotonic clock. */
export interface Observation {
  readonly record: LeaseRecord;
  readonly since: Seconds;
}

/** What is known after reading `record` at `now`. The holder's own times only show that something has changed. */
export function observe(known: Observation | undefined, record: LeaseRecord, now: Seconds): Observation {
  return known !== undefined && isDeepStrictEqual(known.record, record) ? known : { record, since: now };
}

/** When the observer may take the lease over if it sees no change until then, on its monotonic clock. */
export function expiryOf({ record, since }: Observation): Seconds {
  return seconds(since + record.duration);
}

/** Whether `identity` may write itself into the lease: it is its own, free, or not renewed for its whole duration. */
export function isFree(seen: Observation, identity: string, now: Seconds): boolean {
  const { holder } = seen.record;
  return holder === '' || holder === identity || expiryOf(seen) <= now;
}

/**
 * The record with which `identity` takes the lease after `previous`, or renews it when it has it already; `previous` is
 * undefined for a Lease that was never there.
 */
export function claim(
  previous: LeaseRecord | undefined,
  identity: string,
  { duration }: LeaseTimes,
  now: EpochSeconds,
): LeaseRecord {
  const taken = { holder: identity, duration, renewedAt: now };
  if (previous === undefined) {
    return { ...taken, acquiredAt: now, transitions: 0 };
  }
  return previous.holder === identity
    ? { ...taken, acquiredAt: previous.acquiredAt, transitions: previous.transitions }
    : { ...taken, acquiredAt: now, transitions: previous.transitions + 1 };
}

/** The record that the next candidate may take at once: no holder, and the shortest duration that the API allows. */
export function released({ transitions }: LeaseRecord, now: EpochSeconds): LeaseRecord {
  return { holder: '', duration: seconds(1), acquiredAt: now, renewedAt: now, transitions };
}

/** Whether a Lease was written before another one, which may be of another name; false where their resourceVersions cannot be compared. */
export function isOlder(lease: StoredLease, than: StoredLease): boolean {
  const [own = '', other = ''] = [lease, than].map(({ metadata }) => String(metadata['resourceVersion'] ?? ''));
  return (compareVersions(own, other) ?? 0) < 0;
}
