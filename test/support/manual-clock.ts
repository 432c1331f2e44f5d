import { epochSeconds, seconds } from '../../src/model/units.ts';
import type { Clock } from '../../src/ports.ts';
import { NOON } from './fake-clock.ts';

/** A clock for things that run at the same time: sleepers wake in order when a test moves time on. */
export interface ManualClock extends Clock {
  /** Lets everything run that can, then moves time on by `span` seconds, sleeper by sleeper. */
  advance(span: number): Promise<void>;
}

interface Sleeper {
  readonly due: number;
  wake(): void;
}

/** A clock at NOON. */
export function manualClock(): ManualClock {
  let time = 0;
  const sleepers = new Set<Sleeper>();

  function nextBefore(until: number): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of sleepers) {
      if (sleeper.due <= until && (next === undefined || sleeper.due < next.due)) {
        next = sleeper;
      }
    }
    return next;
  }

  return {
    now: () => epochSeconds(NOON + time),
    monotonic: () => seconds(time),
    sleep: (span, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const abort = (): void => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        };
        const sleeper: Sleeper = {
          due: time + Math.max(0, span),
          wake() {
            sleepers.delete(sleeper);
            signal.removeEventListener('abort', abort);
            resolve();
          },
        };
        signal.addEventListener('abort', abort, { once: true });
        sleepers.add(sleeper);
      }),
    async advance(span) {
      const until = time + span;
      await settle();
      for (let next = nextBefore(until); next !== undefined; next = nextBefore(until)) {
        time = next.due;
        next.wake();
        await settle();
      }
      time = until;
    },
  };
}

/** Lets all promises run that wait for nothing but each other. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
