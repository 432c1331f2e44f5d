import { type Seconds, seconds } from '../../model/units.ts';
import { ApiError, isApiError } from './api-error.ts';
import { type BackOff, jitteredDelay } from './retry.ts';

/** Failures in a row after which a server is left alone for a while. */
const THRESHOLD = 5;

/** Stops calls to a server that does not answer, so that nobody waits out one deadline after the other. */
export interface CircuitBreaker {
  /**
   * Runs a call while the circuit is closed. While it is open rejects at once with an ApiError of the kind and status of the
   * last failure, which was not sent and says when to come back; then one call at a time is let through to try.
   */
  guard<Value>(call: () => Promise<Value>): Promise<Value>;
}

/**
 * Opens after five failures in a row, for 0.5 s doubled with each further failure up to 30 s, with full jitter; closes with
 * the first answer. Failures are no connection, no answer in time and 5xx; everything else shows that the server is well.
 */
export function createCircuitBreaker(what: string, { clock, random }: BackOff): CircuitBreaker {
  let failures = 0;
  let last: ApiError | undefined;
  let openUntil: Seconds | undefined;
  let probing = false;

  function refuse(): void {
    const left = (openUntil ?? 0) - clock.monotonic();
    if (last !== undefined && failures >= THRESHOLD && (left > 0 || probing)) {
      const message = `${what} failed ${failures} times in a row and is left alone for a while: ${last.message}`;
      const { kind, status, reason } = last;
      const retryAfter = seconds(Math.max(0.1, left));
      throw new ApiError(kind, message, { cause: last, status, reason, unsent: true, retryAfter });
    }
  }

  function failed(error: ApiError): void {
    failures += 1;
    last = error;
    if (failures >= THRESHOLD) {
      openUntil = seconds(clock.monotonic() + jitteredDelay(failures - THRESHOLD, random));
    }
  }

  return {
    async guard(call) {
      refuse();
      const isProbe = failures >= THRESHOLD;
      probing ||= isProbe;
      try {
        const value = await call();
        failures = 0;
        return value;
      } catch (error) {
        if (isOutage(error)) {
          failed(error);
        } else if (isApiError(error)) {
          failures = 0;
        }
        throw error;
      } finally {
        if (isProbe) {
          probing = false;
        }
      }
    },
  };
}

function isOutage(error: unknown): error is ApiError {
  return isApiError(error, 'Unreachable', 'Timeout', 'ServerError');
}
