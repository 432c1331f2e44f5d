import { Cron } from 'croner';
import { type EpochSeconds, elapsed, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import type { RunTiming } from './options.ts';

/**
 * How long it is at most from `now` until the policy runs again. Infinite where its cron expression never comes again.
 * Throws for an expression or a zone that cannot be evaluated.
 */
export function latestPeriod(runs: RunTiming, now: EpochSeconds): Seconds {
  if ('interval' in runs) {
    return runs.interval;
  }
  const cron = new Cron(runs.schedule, { mode: '5-part', timezone: runs.timeZone });
  const next = cron.nextRun(new Date(now * 1000));
  return next === null ? seconds(Number.POSITIVE_INFINITY) : elapsed(now, epochSeconds(next.getTime() / 1000));
}
