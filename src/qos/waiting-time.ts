import type { ServiceClass, ServiceLedger } from '../model/service-level.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import { prospectOf, type Replica, timeToViolate } from './time-to-violate.ts';
import { timesOver } from './times.ts';

/**
 * Seconds that one replica can still do without running, from now on, so that its request keeps its SLO over the window of its
 * class: what the SLO lets it lose, `(1 - O) x window x instances`, less what it lost in the window that ends now, less
 * `alpha`, the time that its start will take. A running replica is taken to stop now. Infinite for best effort and while
 * enough others run; never positive for SLO 1.
 *
 * A request younger than its window may not lose all that yet, but only what keeps its SLO since its admission (T 7.2).
 */
export function waitingTime(
  ledger: ServiceLedger,
  { mode, slo, window }: Pick<ServiceClass, 'mode' | 'slo' | 'window'>,
  replica: Replica,
  now: EpochSeconds,
  alpha: Seconds,
): Seconds {
  if (slo <= 0) {
    return seconds(Number.POSITIVE_INFINITY);
  }
  const prospect = prospectOf(ledger, mode, replica, now);
  const { times, wanted, contributing } = prospect;
  const age = Math.max(0, elapsed(ledger.admittedAt, now));
  const recent = mode === 'Independent' ? times : timesOver(ledger, mode, now, window);
  const stopped = mode === 'Task' && replica.running ? times.discarded - ledger.times.discarded : 0;
  const lost = recent.discarded + recent.pending + stopped;
  const left = (1 - slo) * window * wanted - lost;
  const isSafe = left >= 0 && wanted * slo <= contributing;
  const withinWindow = isSafe ? Number.POSITIVE_INFINITY : left / Math.max(1, wanted - contributing);
  const sinceAdmission = age < window ? timeToViolate(prospect, slo) : Number.POSITIVE_INFINITY;
  return seconds(Math.min(withinWindow, sinceAdmission) - alpha);
}

/**
 * How long a single instance of this age can do without running when it has lost nothing so far: what its SLO lets it lose in
 * the window, or since its admission. 0 for SLO 1.
 */
export function waitingAllowance({ slo, window }: Pick<ServiceClass, 'slo' | 'window'>, age: Seconds): Seconds {
  return seconds((1 - slo) * (slo > 0 ? Math.min(window, Math.max(0, age) / slo) : window));
}
