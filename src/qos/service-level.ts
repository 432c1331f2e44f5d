import type { ServiceClass, ServiceLedger } from '../model/service-level.ts';
import { type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import { preemptionOverhead } from './overhead.ts';
import { expectedStartup } from './startup.ts';
import { qosMetric } from './time-to-violate.ts';
import { availabilityOf, instanceTimesAt, timesAt, timesOver } from './times.ts';

/** What a request has got of what it was promised, at one instant. */
export interface ServiceLevel {
  /** Since admission, in [0, 1]; in mode Independent that of its worst replica. `undefined` while nothing was observed. */
  readonly availability: number | undefined;
  /** Over the class's window, or since admission when that is later; of all replicas together. */
  readonly availabilityOverWindow: number | undefined;
  /** The least Q of its replicas (see qosMetric); infinite without any. */
  readonly timeToViolate: Seconds;
  /** Share of its time that it lost to preemptions, in [0, 1]. */
  readonly preemptionOverhead: number;
}

/** Extrapolates a ledger to `now`. */
export function serviceLevelAt(ledger: ServiceLedger, serviceClass: ServiceClass, now: EpochSeconds): ServiceLevel {
  const { mode, window } = serviceClass;
  const times = timesAt(ledger, mode, now);
  return {
    availability: mode === 'Independent' ? leastAvailability(ledger, now) : availabilityOf(times),
    availabilityOverWindow: availabilityOf(timesOver(ledger, mode, now, window)),
    timeToViolate: leastMetric(ledger, serviceClass, now),
    preemptionOverhead: preemptionOverhead(ledger, times),
  };
}

function leastAvailability({ instances }: ServiceLedger, now: EpochSeconds): number | undefined {
  const known = instances.flatMap((instance) => availabilityOf(instanceTimesAt(instance, now)) ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
}

function leastMetric(ledger: ServiceLedger, serviceClass: ServiceClass, now: EpochSeconds): Seconds {
  const alpha = expectedStartup(ledger, serviceClass);
  let least = Number.POSITIVE_INFINITY;
  for (const instance of ledger.instances) {
    least = Math.min(least, qosMetric(ledger, serviceClass, { running: instance.running, instance }, now, alpha));
  }
  return seconds(least);
}
