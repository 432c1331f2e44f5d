import { type Seconds, seconds } from '../model/units.ts';
import type { Clock, Log } from '../ports.ts';

/** Why a wait ends early; a reason of its own saves one with a stack trace. */
const RUNG = 'rung';

/** Wakes a loop early. */
export interface Waker {
  ring(): void;
  /** Resolves after `span`, as soon as it was rung, or when aborted. */
  wait(span: Seconds, clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void>;
}

/** A bell that was not rung yet. What is rung while nobody waits is heard by the next who does. */
export function createWaker(): Waker {
  let waking = new AbortController();
  return {
    ring: () => waking.abort(RUNG),
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

/** Who hears of a failure. */
interface FailurePorts {
  readonly log: Log;
  /** Counts it. */
  readonly runFailed: () => void;
}

/** Time until what failed is tried again. */
export const FAILED_WAIT: Seconds = seconds(5);

/**
 * Resolves to the time until the work is due again. A failure is counted and logged as `message`, and what failed is tried
 * again in FAILED_WAIT; once aborted it is no news.
 */
export async function withBackOff(
  work: () => Promise<Seconds>,
  message: string,
  { log, runFailed }: FailurePorts,
  signal: AbortSignal,
): Promise<Seconds> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) {
      runFailed();
      log.error({ err: error }, message);
    }
    return FAILED_WAIT;
  }
}
