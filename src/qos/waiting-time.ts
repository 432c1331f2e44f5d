import type { ServiceClass, ServiceLedger } from '../model/service-level.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import { prospectOf, type Replica, timeToViolate } from './time-to-violate.ts';
import { timesOver } from './times.ts';

/**
 * How long requests are taken to live, which nobody knows: no longer than they must wait now (`NoLonger`), so that the SLO
 * holds whenever one ends; or for the window of their class (`WholeWindow`), which takes fewer evictions.
 */
export type Trust = 'NoLonger' | 'WholeWindow';

/** A young request is not trusted to live longer than until now by more than this share of its window. */
const CREDIT = 1 / 4;

/**
 * Seconds that one replica can still do without running, from now on, so that its request keeps its SLO over the window of its
 * class: what the SLO lets it lose, `(1 - O) x window x instances`, less what it lost in the window that ends now, less
 * `alpha`, the time that its start will take. A running replica is taken to stop now. Infinite for best effort and while
 * enough others run; never positive for SLO 1.
 *
 * A request younger than its window may not lose all that yet: with trust `NoLonger` what it can wait until its SLO is
 * violated since its admission (T 7.2); with `WholeWindow` as if it lived twice as long as it has, or a quarter of the window
 * longer, whichever is less.
 */
export function waitingTime(
  ledger: ServiceLedger,
  { mode, slo, window }: Pick<ServiceClass, 'mode' | 'slo' | 'window'>,
  replica: Replica,
  now: EpochSeconds,
  alpha: Seconds,
  trust: Trust,
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
  const within = (horizon: number): number => {
    const left = (1 - slo) * horizon * wanted - lost;
    const isSafe = left >= 0 && wanted * slo <= contributing;
    return isSafe ? Number.POSITIVE_INFINITY : left / Math.max(1, wanted - contributing);
  };
  const longest =
    trust === 'WholeWindow'
      ? within(Math.min(window, 2 * age, age + CREDIT * window))
      : Math.min(within(window), age < window ? timeToViolate(prospect, slo) : Number.POSITIVE_INFINITY);
  return seconds(longest - alpha);
}

/** What a single instance may lose over the whole window. */
export function waitingBudget({ slo, window }: Pick<ServiceClass, 'slo' | 'window'>): Seconds {
  return seconds((1 - slo) * window);
}
