import type { LedgerMode, ServiceClass, ServiceLedger, ServiceTimes } from '../model/service-level.ts';
import { type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import { availabilityOf, instanceTimesAt, minus, NO_TIMES, timesAt, timesOver, totalOf } from './times.ts';

/** What a request got over some time, which is what it is judged by. */
export interface ServiceAccount {
  /** Of the whole request, in the way of its mode. */
  readonly times: ServiceTimes;
  /** Of each replica by itself; only mode Independent asks for them. */
  readonly instances: readonly ServiceTimes[];
}

/** Nothing was observed yet. */
export const NO_SERVICE: ServiceAccount = { times: NO_TIMES, instances: [] };

/**
 * A of a request (algorithms.md 5), in [0, 1]: the share of its time that was useful, in mode Independent that of its worst
 * replica, as it is fulfilled when all of them are. `undefined` while nothing was observed.
 */
export function availabilityByMode({ times, instances }: ServiceAccount, mode: LedgerMode): number | undefined {
  if (mode !== 'Independent') {
    return availabilityOf(times);
  }
  const known = instances.flatMap((each) => availabilityOf(each) ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** What a ledger comes to at `now`, since the admission of its request. */
export function accountAt(ledger: ServiceLedger, mode: LedgerMode, now: EpochSeconds): ServiceAccount {
  return {
    times: timesAt(ledger, mode, now),
    instances: ledger.instances.map((instance) => instanceTimesAt(instance, now)),
  };
}

/**
 * What a ledger comes to in the window of its class, which ends now. A ledger does not know what single replicas got within
 * the window, so each is taken to have got the same share of it as of all its time.
 */
export function accountOver(
  ledger: ServiceLedger,
  { mode, window }: Pick<ServiceClass, 'mode' | 'window'>,
  now: EpochSeconds,
): ServiceAccount {
  const { instances } = accountAt(ledger, mode, now);
  return {
    times: timesOver(ledger, mode, now, window),
    instances: instances.map((times) => scaledTo(times, window)),
  };
}

function scaledTo(times: ServiceTimes, most: Seconds): ServiceTimes {
  const share = Math.min(1, most / totalOf(times));
  return totalOf(times) === 0
    ? times
    : {
        useful: seconds(share * times.useful),
        discarded: seconds(share * times.discarded),
        pending: seconds(share * times.pending),
      };
}

/** What was added to an account between two instants. */
export function accountSince(later: ServiceAccount, earlier: ServiceAccount): ServiceAccount {
  return {
    times: minus(later.times, earlier.times),
    instances: later.instances.map((times, place) => minus(times, earlier.instances[place] ?? NO_TIMES)),
  };
}
