import { type Seconds, seconds } from '../../model/units.ts';
import type { Clock } from '../../ports.ts';
import { ApiError } from './api-error.ts';

/** Ends an answer that has fallen silent, which no deadline for the whole of a long one would notice in time. */
export interface Watchdog {
  /** Aborted with an ApiError (Timeout) after a silence, or with the reason of the signal that this one follows. */
  readonly signal: AbortSignal;
  /** The connection is alive; it may be silent for `limit` from now on. */
  heard(limit: Seconds): void;
  /** Ends its timer; resolves when that is gone. */
  stop(): Promise<void>;
}

/**
 * Starts one that takes `limit` of silence at first. `what` begins the message, as in `the watch of pods`. Throws the signal's
 * reason when that is aborted already.
 */
export function startWatchdog(clock: Clock, what: string, limit: Seconds, signal: AbortSignal): Watchdog {
  signal.throwIfAborted();
  const bite = new AbortController();
  const stopped = new AbortController();
  const follow = () => bite.abort(signal.reason);
  signal.addEventListener('abort', follow, { once: true });
  let patience = limit;
  let due = clock.monotonic() + limit;

  async function guard(): Promise<void> {
    for (let left = limit; left > 0; left = seconds(due - clock.monotonic())) {
      await clock.sleep(left, stopped.signal);
    }
    bite.abort(new ApiError('Timeout', `${what} has been silent for ${patience} s: the connection counts as dead`));
  }

  const guarding = guard().catch((error: unknown) => {
    if (!stopped.signal.aborted) {
      bite.abort(error);
    }
  });
  return {
    signal: bite.signal,
    heard(next) {
      patience = next;
      due = clock.monotonic() + next;
    },
    async stop() {
      signal.removeEventListener('abort', follow);
      stopped.abort();
      await guarding;
    },
  };
}
