import { type Seconds, seconds } from '../../model/units.ts';
import type { Clock } from '../../ports.ts';
import { ApiError, isApiError } from './api-error.ts';
import { type BackOff, jitteredDelay } from './retry.ts';

/** What every call passes on its way to the server (execution.md, failure model: token buckets, circuit breaker). */
export interface FlowControl {
  /**
   * Runs a call to an API group when its bucket and the circuit of the group allow. Rejects with what the call does, with an
   * ApiError that was not sent, or with the signal's reason.
   */
  pass<Value>(group: string, isChange: boolean, signal: AbortSignal, call: () => Promise<Value>): Promise<Value>;
}

/**
 * One bucket for reads and one for changes, so that no list keeps an intent waiting; one circuit for each API group, since
 * some are served by others than the API server (metrics.k8s.io) and fail without it.
 */
export function createFlowControl({ reads, changes }: RequestLimits, backOff: BackOff): FlowControl {
  const buckets = {
    reads: createTokenBucket(reads, backOff.clock),
    changes: createTokenBucket(changes, backOff.clock),
  };
  const circuits = new Map<string, CircuitBreaker>();
  const circuitOf = (group: string): CircuitBreaker => {
    const known = circuits.get(group) ?? createCircuitBreaker(`API group ${JSON.stringify(group)}`, backOff);
    circuits.set(group, known);
    return known;
  };
  return {
    async pass(group, isChange, signal, call) {
      await (isChange ? buckets.changes : buckets.reads).take(signal);
      return await circuitOf(group).guard(call);
    },
  };
}

/** How many requests a bucket lets through. */
export interface RateLimit {
  /** Requests a second in the long run. */
  readonly perSecond: number;
  /** Requests at once after a rest. */
  readonly burst: number;
}

/** Keeps requests within a rate. */
interface TokenBucket {
  /** Resolves when the request may go: at once, or in the order in which it was asked for. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void>;
}

/** A full bucket (client-go, util/flowcontrol, tokenBucketRateLimiter), on the monotonic clock. */
export function createTokenBucket(
  { perSecond, burst }: RateLimit,
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
): TokenBucket {
  let tokens = burst;
  let filledAt: Seconds | undefined;

  function refill(): void {
    const now = clock.monotonic();
    tokens = Math.min(burst, tokens + (now - (filledAt ?? now)) * perSecond);
    filledAt = now;
  }

  return {
    async take(signal) {
      refill();
      tokens -= 1;
      if (tokens >= 0) {
        return;
      }
      try {
        await clock.sleep(seconds(-tokens / perSecond), signal);
      } catch (error) {
        // Whoever gives up makes room for those behind.
        tokens += 1;
        throw error;
      }
    },
  };
}

/** Failures in a row after which a server is left alone for a while. */
const THRESHOLD = 5;

/** Stops calls to a server that does not answer, so that nobody waits out one deadline after the other. */
interface CircuitBreaker {
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

/** How many calls a client sends; watches are not counted, since they back off by themselves. */
export interface RequestLimits {
  readonly reads: RateLimit;
  readonly changes: RateLimit;
}
