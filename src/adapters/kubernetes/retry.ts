import { type Seconds, seconds } from '../../model/units.ts';
import type { Clock } from '../../ports.ts';
import { type ApiError, type ApiErrorKind, isApiError } from './api-error.ts';

const FIRST_DELAY = 0.5;
const LONGEST_DELAY = 30;
/** Longest wait, in seconds, that counts as brief. */
const BRIEF = 2;

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
 * Runs a request that may arrive more than once without harm, up to `attempts` times while it fails for a reason that may
 * pass, with full jitter in between, or as long as the server asked to wait. When it asked for more than 30 s, or after the
 * last attempt, the failure is the caller's. `mayPass` tells which reasons those are.
 */
export async function retry<Value>(
  attempts: number,
  { clock, random }: BackOff,
  signal: AbortSignal,
  run: () => Promise<Value>,
  mayPass: (error: unknown) => error is ApiError = isPassing,
): Promise<Value> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await run();
    } catch (error) {
      if (!mayPass(error) || failures + 1 >= attempts || (error.retryAfter ?? 0) > LONGEST_DELAY) {
        throw error;
      }
      await clock.sleep(seconds(Math.max(jitteredDelay(failures, random), error.retryAfter ?? 0)), signal);
    }
  }
}

/**
 * Whether the same request may well succeed within moments: the server answered, or the connection broke, and it asks for no
 * long wait.
 */
export function isBrief(error: unknown): error is ApiError {
  return isPassing(error) && error.kind !== 'Timeout' && (error.retryAfter ?? 0) <= BRIEF;
}

/** Whether the same request may well succeed later. */
export function isPassing(error: unknown): error is ApiError {
  return isApiError(error) && PASSING.has(error.kind);
}
