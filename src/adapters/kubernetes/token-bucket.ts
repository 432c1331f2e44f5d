import { type Seconds, seconds } from '../../model/units.ts';
import type { Clock } from '../../ports.ts';

/** How many requests a bucket lets through. */
export interface RateLimit {
  /** Requests a second in the long run. */
  readonly perSecond: number;
  /** Requests at once after a rest. */
  readonly burst: number;
}

/** Keeps requests within a rate. */
export interface TokenBucket {
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
