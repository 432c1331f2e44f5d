import { type EpochSeconds, epochSeconds, seconds } from '../model/units.ts';
import type { Clock } from '../ports.ts';
import type { EventQueue } from './event-queue.ts';

/** Rounds at one instant after which time is taken to stand still: whoever runs there wakes itself for ever. */
const MOST_ROUNDS = 100_000;

/** Time for processes that wait on promises, over a cluster that moves by an event queue. */
export interface VirtualClock extends Clock {
  /**
   * Performs all that is due until `instant`, that instant included. At each instant the cluster comes first; then those who
   * slept until it go on, and what they wait for settles before time moves. Rejects when time stands still.
   */
  readonly run: (instant: number) => Promise<void>;
  /** The next instant at which something is due; infinite without one. */
  readonly next: () => number;
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** A clock that shows `start` while the queue is at 0. */
export function createVirtualClock(queue: EventQueue, start: EpochSeconds): VirtualClock {
  const sleepers = new Set<Sleeper>();
  let isSettled = false;

  const nextSleeper = (): number => {
    let next = Number.POSITIVE_INFINITY;
    for (const { due } of sleepers) {
      next = Math.min(next, due);
    }
    return next;
  };
  const next = (): number => Math.min(queue.next(), nextSleeper());
  const wakeUntil = (instant: number): void => {
    for (const sleeper of sleepers) {
      if (sleeper.due <= instant) {
        sleeper.wake();
      }
    }
  };
  const settle = async (): Promise<void> => {
    if (!isSettled) {
      isSettled = true;
      await settled();
    }
  };

  return {
    now: () => epochSeconds(start + queue.now()),
    monotonic: () => seconds(queue.now()),
    sleep: (span, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const leave = (): void => {
          sleepers.delete(sleeper);
          signal.removeEventListener('abort', abort);
          isSettled = false;
        };
        const abort = (): void => {
          leave();
          reject(signal.reason);
        };
        const wake = (): void => {
          leave();
          resolve();
        };
        const sleeper: Sleeper = { due: queue.now() + Math.max(0, span), wake };
        signal.addEventListener('abort', abort, { once: true });
        sleepers.add(sleeper);
      }),
    async run(instant) {
      let rounds = 0;
      isSettled = false;
      await settle();
      for (let due = next(); due <= instant; due = next()) {
        rounds = due > queue.now() ? 0 : rounds + 1;
        if (rounds > MOST_ROUNDS) {
          throw new Error(`time stands still at ${queue.now()} s: something wakes itself without end`);
        }
        queue.run(due);
        wakeUntil(due);
        await settle();
      }
      queue.run(instant);
    },
    next,
  };
}

/** Resolves when promises that are resolved already have run their course. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
