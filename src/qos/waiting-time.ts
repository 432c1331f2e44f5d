import type { ServiceClass, ServiceLedger, ServiceTimes } from '../model/service-level.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import { prospectOf, type Replica, timeToViolate } from './time-to-violate.ts';
import { minus, timesAt, timesOver, totalOf } from './times.ts';

/** The largest share of what a request may lose in a window that its arrears use up. */
const ARREARS_SHARE = 1 / 4;

/**
 * Seconds that one replica can still do without running, from now on, so that its request keeps its SLO over the window of its
 * class: what the SLO lets it lose, `(1 - O) x window x instances`, less what it lost in the window that ends now, less
 * `alpha`, the time that its start will take. A running replica is taken to stop now. Infinite for best effort and while
 * enough others run; never positive for SLO 1. Below the SLO it is the recoverability, as since admission (T 3.6).
 *
 * A request younger than its window may not lose all that yet, but only what keeps its SLO since its admission (T 7.2). An
 * older one has arrears if it lost more than its SLO allows before the window. They count as lost within the window: otherwise
 * the same requests could be short in every window. They are limited, so that a request is not urgent for long after an outage.
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
  const whole = mode === 'Independent' ? times : timesAt(ledger, mode, now);
  const recent = mode === 'Independent' ? times : timesOver(ledger, mode, now, window);
  const stopped = mode === 'Task' && replica.running ? times.discarded - ledger.times.discarded : 0;
  const bearable = (1 - slo) * window * wanted;
  const arrears = Math.min(ARREARS_SHARE * bearable, excessOf(minus(whole, recent), slo));
  const left = bearable - lostIn(recent) - stopped - arrears;
  const withinWindow = left < 0 ? left / slo : timeToLose(left, wanted * slo <= contributing, wanted - contributing);
  const sinceAdmission = age < window ? timeToViolate(prospect, slo) : Number.POSITIVE_INFINITY;
  return seconds(Math.min(withinWindow, sinceAdmission) - alpha);
}

/** How long until so many instances that wait have lost this; infinite while enough others run. */
function timeToLose(left: number, isSafe: boolean, waiting: number): number {
  return isSafe ? Number.POSITIVE_INFINITY : left / Math.max(1, waiting);
}

/** What was lost in excess of what the SLO allows. */
function excessOf(times: ServiceTimes, slo: number): number {
  return Math.max(0, lostIn(times) - (1 - slo) * totalOf(times));
}

function lostIn({ discarded, pending }: ServiceTimes): number {
  return discarded + pending;
}

/**
 * How long a single instance of this age can do without running when it has lost nothing so far: what its SLO lets it lose in
 * the window, or since its admission. 0 for SLO 1.
 */
export function waitingAllowance({ slo, window }: Pick<ServiceClass, 'slo' | 'window'>, age: Seconds): Seconds {
  return seconds((1 - slo) * (slo > 0 ? Math.min(window, Math.max(0, age) / slo) : window));
}
