import { type Seconds, seconds } from '../../model/units.ts';
import type { Clock } from '../../ports.ts';
import { type ApiError, type ApiErrorKind, isApiError } from './api-error.ts';

const FIRST_DELAY = 0.5;
const LONGEST_DELAY = 30;

const PASSING: ReadonlySet<ApiErrorKind> = new Set([
  'Unreachable',
  'Timeout',
  'TooManyRequests',
  'ServerError',
  'BadAnswer',
]);

/** What back-off needs from outside. */
export interface BackOff {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Full jitter: between nothing and 0.5 s doubled `failures` times, at most 30 s. */
export function jitteredDelay(failures: number, random: () => number): Seconds {
  return seconds(random() * Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(failures, 16)));
}

/**
 * Runs a read up to `attempts` times while it fails for a reason that may pass, with full jitter in between, or as long as
 * the server asked to wait. When it asked for more than 30 s, or after the last attempt, the failure is the caller's.
 */
export async function retryRead<Value>(
  attempts: number,
  { clock, random }: BackOff,
  signal: AbortSignal,
  run: () => Promise<Value>,
): Promise<Value> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isPassing(error) || failures + 1 >= attempts || (error.retryAfter ?? 0) > LONGEST_DELAY) {
        throw error;
      }
      await clock.sleep(seconds(Math.max(jitteredDelay(failures, random), error.retryAfter ?? 0)), signal);
    }
  }
}

/** Whether the same request may well succeed later. */
export function isPassing(error: unknown): error is ApiError {
  return isApiError(error) && PASSING.has(error.kind);
}
