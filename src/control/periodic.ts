import { type Seconds, seconds } from '../model/units.ts';
import type { Clock } from '../ports.ts';

/** Why a wait ends early; a reason of its own saves one with a stack trace. */
const WOKEN = 'woken';

/** Wakes a loop early. */
export interface Waker {
  wake(): void;
  /** Resolves after `span`, as soon as it is woken, or when aborted. */
  wait(span: Seconds, clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void>;
}

/** A waker. A call while nothing waits ends the next wait at once. */
export function createWaker(): Waker {
  let waking = new AbortController();
  return {
    wake: () => waking.abort(WOKEN),
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

/** Resolves when the signal is aborted, at once if it is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    } else {
      signal.addEventListener('abort', () => resolve(), { once: true });
    }
  });
}

/** Time until what failed is tried again. */
export const FAILED_WAIT: Seconds = seconds(5);

/**
 * Resolves to the time until the work is due again. A failure is counted by `runFailed` and reported to `failed`, and the work is
 * tried again in FAILED_WAIT. After an abort it is not reported.
 */
export async function withBackOff(
  work: () => Promise<Seconds>,
  failed: (error: unknown) => void,
  { runFailed }: { readonly runFailed: () => void },
  signal: AbortSignal,
): Promise<Seconds> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) {
      runFailed();
      failed(error);
    }
    return FAILED_WAIT;
  }
}
