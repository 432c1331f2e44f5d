import type { ServiceClass, ServiceLedger } from '../model/service-level.ts';
import { type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import { accountAt, availabilityByMode } from './service-account.ts';
import { expectedStartup } from './startup.ts';
import { qosMetric } from './time-to-violate.ts';
import { availabilityOf, timesOver } from './times.ts';

/** The share of its time in which a request was served, at one instant; `undefined` while nothing was observed. */
export interface Availability {
  /** Since admission, in [0, 1]; in mode Independent that of its worst replica. */
  readonly availability: number | undefined;
  /** Over the class's window, or since admission when that is later; of all replicas together. */
  readonly availabilityOverWindow: number | undefined;
}

/** What a request has got of what it was promised, at one instant. */
interface ServiceLevel extends Availability {
  /** The least Q of its replicas (see qosMetric); infinite without any. */
  readonly timeToViolate: Seconds;
}

/** Extrapolates a ledger to `now`. */
export function serviceLevelAt(ledger: ServiceLedger, serviceClass: ServiceClass, now: EpochSeconds): ServiceLevel {
  return { ...availabilityAt(ledger, serviceClass, now), timeToViolate: leastMetric(ledger, serviceClass, now) };
}

/** The same without the time to violate. */
export function availabilityAt(
  ledger: ServiceLedger,
  { mode, window }: Pick<ServiceClass, 'mode' | 'window'>,
  now: EpochSeconds,
): Availability {
  return {
    availability: availabilityByMode(accountAt(ledger, mode, now), mode),
    availabilityOverWindow: availabilityOf(timesOver(ledger, mode, now, window)),
  };
}

function leastMetric(ledger: ServiceLedger, serviceClass: ServiceClass, now: EpochSeconds): Seconds {
  let least = Number.POSITIVE_INFINITY;
  for (const instance of ledger.instances) {
    const alpha = expectedStartup(ledger, serviceClass, instance);
    least = Math.min(least, qosMetric(ledger, serviceClass, { running: instance.running, instance }, now, alpha));
  }
  return seconds(least);
}
