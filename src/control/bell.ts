import type { Seconds } from '../model/units.ts';
import type { Clock } from '../ports.ts';

/** Wakes a loop early. */
export interface Bell {
  ring(): void;
  /** Resolves after `span`, as soon as it was rung, or when aborted. */
  wait(span: Seconds, clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void>;
}

/** A bell that was not rung yet. What is rung while nobody waits is heard by the next who does. */
export function createBell(): Bell {
  let waking = new AbortController();
  return {
    ring: () => waking.abort(),
    async wait(span, clock, signal) {
      const { signal: woken } = waking;
      await clock.sleep(span, AbortSignal.any([signal, woken])).catch((error: unknown) => {
        if (!signal.aborted && !woken.aborted) {
          throw error;
        }
      });
      waking = new AbortController();
    },
  };
}
