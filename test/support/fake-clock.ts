import { type EpochSeconds, epochSeconds, type Seconds, seconds } from '../../src/model/units.ts';
import type { Clock } from '../../src/ports.ts';

/** 2026-01-01T12:00:00Z: where fake clocks start. */
export const NOON: EpochSeconds = epochSeconds(Date.parse('2026-01-01T12:00:00Z') / 1000);

/** More sleeps than any test needs; a loop that never ends fails instead of hanging. */
const MOST_SLEEPS = 2_000;

/** A clock that only moves when told, or when somebody sleeps. */
export interface FakeClock extends Clock {
  /** Calls `action` when the time has come; at once for an instant that has passed. Infinity means never. */
  at(instant: number, action: () => void): void;
  /** Moves time on, action by action. */
  advance(span: number): void;
}

interface Due {
  readonly instant: number;
  readonly action: () => void;
}

/** A clock at NOON. */
export function fakeClock(): FakeClock {
  let time: number = NOON;
  let sleeps = 0;
  let queue: readonly Due[] = [];
  const runNext = (until: number): boolean => {
    const [next, ...rest] = queue;
    if (next === undefined || next.instant > until) {
      return false;
    }
    queue = rest;
    time = Math.max(time, next.instant);
    next.action();
    return true;
  };
  const clock: FakeClock = {
    now: () => epochSeconds(time),
    monotonic: () => seconds(time - NOON),
    at(instant, action) {
      if (instant <= time) {
        action();
      } else {
        queue = [...queue, { instant, action }].sort((a, b) => a.instant - b.instant);
      }
    },
    advance(span) {
      const until = time + span;
      while (runNext(until)) {}
      time = until;
    },
    async sleep(span: Seconds, signal: AbortSignal) {
      sleeps += 1;
      if (sleeps > MOST_SLEEPS) {
        throw new Error('a fake clock was slept on without end');
      }
      signal.throwIfAborted();
      const until = time + Math.max(0, span);
      while (runNext(until)) {
        signal.throwIfAborted();
      }
      time = until;
    },
  };
  return clock;
}
