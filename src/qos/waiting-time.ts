import type { ServiceClass, ServiceLedger } from '../model/service-level.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import { prospectOf, type Replica } from './time-to-violate.ts';
import { timesOver } from './times.ts';

/** How much longer than until now a young request is trusted to live, at most: this share of its window. */
const CREDIT = 1 / 4;

/**
 * Seconds that one replica can still do without running, from now on, so that its request keeps its SLO over the window of its
 * class: what the SLO lets it lose, `(1 - O) x window x instances`, less what it lost in the window that ends now, less
 * `alpha`, the time that its start will take. A running replica is taken to stop now. Infinite for best effort and while
 * enough others run; never positive for SLO 1. Nobody knows how long a request will live: one that is younger than its window
 * may lose as much as if it lived twice as long as it has, and no longer than a quarter of the window more.
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
  const { times, wanted, contributing } = prospectOf(ledger, mode, replica, now);
  const recent = mode === 'Independent' ? times : timesOver(ledger, mode, now, window);
  const stopped = mode === 'Task' && replica.running ? times.discarded - ledger.times.discarded : 0;
  const age = Math.max(0, elapsed(ledger.admittedAt, now));
  const horizon = Math.min(window, 2 * age, age + CREDIT * window);
  const left = (1 - slo) * horizon * wanted - (recent.discarded + recent.pending + stopped);
  const isSafe = left >= 0 && wanted * slo <= contributing;
  return seconds(isSafe ? Number.POSITIVE_INFINITY : left / Math.max(1, wanted - contributing) - alpha);
}

/** What a single instance may lose over the whole window. */
export function waitingBudget({ slo, window }: Pick<ServiceClass, 'slo' | 'window'>): Seconds {
  return seconds((1 - slo) * window);
}
