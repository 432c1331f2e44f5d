import { type EpochSeconds, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import type { Clock } from '../ports.ts';

/** The API server's clock, as far as its answers tell. */
export interface ServerClock extends Clock {
  /** An answer said that it is `time` there, in whole seconds. */
  heard(time: EpochSeconds): void;
}

/** How far the server may be from what was reckoned before it is believed: its Date is cut to seconds, and answers take a while. */
const TOLERANCE: Seconds = seconds(2);

/**
 * Wall-clock time by the API server: what it last said, and what `own` has counted on its monotonic clock since. All instants
 * of the journal are then of one clock, whoever leads, and a jump of this machine's clock moves none of them (execution.md,
 * clock jump). Before the first answer it is the time of `own`.
 */
export function createServerClock(own: Clock): ServerClock {
  let anchor: { readonly time: EpochSeconds; readonly at: Seconds } | undefined;

  function now(): EpochSeconds {
    return anchor === undefined ? own.now() : epochSeconds(anchor.time + own.monotonic() - anchor.at);
  }

  return {
    now,
    monotonic: own.monotonic,
    sleep: own.sleep,
    heard(time) {
      if (anchor === undefined || Math.abs(time - now()) > TOLERANCE) {
        anchor = { time, at: own.monotonic() };
      }
    },
  };
}
