import { setTimeout as delay } from 'node:timers/promises';
import { epochSeconds, seconds } from '../model/units.ts';
import type { Clock } from '../ports.ts';

/** The machine's clocks. Sleeping keeps the process alive. */
export const systemClock: Clock = {
  now: () => epochSeconds(Date.now() / 1000),
  monotonic: () => seconds(performance.now() / 1000),
  async sleep(span, signal) {
    signal.throwIfAborted();
    try {
      await delay(Math.max(0, span) * 1000, undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  },
};
