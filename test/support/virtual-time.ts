import { epochSeconds, type Seconds, seconds } from '../../src/model/units.ts';
import type { Clock } from '../../src/ports.ts';
import { createEventQueue, type EventQueue } from '../../src/simulate/event-queue.ts';
import { settled } from '../../src/simulate/virtual-clock.ts';
import { NOON } from './test-clock.ts';

/** The simulator's event queue with processes that wait on promises, and whose clocks may differ. */
export interface VirtualTime {
  readonly queue: EventQueue;
  /** Seconds since the start. */
  now(): number;
  /** Calls `action` at an instant, after what was asked for earlier at the same one. */
  at(instant: number, action: () => void): void;
  /** A process whose monotonic clock runs at `rate` of true time. */
  process(rate?: number): VirtualProcess;
  /**
   * Performs what is due until `instant`, one by one, letting promises settle after each; then calls `check`, and
   * `rest` when nothing more is due at that instant.
   */
  run(instant: number, check?: () => void, rest?: () => void): Promise<void>;
}

/** A process that can be stopped as by SIGSTOP: its clock goes on, and what was to wake it waits. */
export interface VirtualProcess {
  readonly clock: Clock;
  paused(): boolean;
  pause(): void;
  /** What has gathered meanwhile comes in its order, or in the opposite one: a real event loop promises neither. */
  resume(reversed: boolean): void;
  /** Calls `action` at an instant, or when the process is resumed after it. */
  wake(instant: number, action: () => void): void;
}

/** Time at its start. */
export function virtualTime(): VirtualTime {
  const queue = createEventQueue();
  return {
    queue,
    now: queue.now,
    at: queue.at,
    process: (rate = 1) => virtualProcess(queue, rate),
    async run(instant, check = () => undefined, rest = () => undefined) {
      await settled();
      while (queue.next() <= instant) {
        queue.step();
        await settled();
        check();
        if (queue.next() > queue.now()) {
          rest();
        }
      }
      queue.run(instant);
    },
  };
}

function virtualProcess({ now, at }: EventQueue, rate: number): VirtualProcess {
  let paused = false;
  let waiting: (() => void)[] = [];
  const wake = (instant: number, action: () => void): void => {
    at(instant, () => {
      if (paused) {
        waiting.push(action);
      } else {
        action();
      }
    });
  };
  const sleep = (span: Seconds, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const give = (): void => reject(signal.reason);
      signal.addEventListener('abort', give, { once: true });
      wake(now() + Math.max(0, span) / rate, () => {
        signal.removeEventListener('abort', give);
        resolve();
      });
    });
  return {
    clock: { now: () => epochSeconds(NOON + now()), monotonic: () => seconds(1000 + now() * rate), sleep },
    paused: () => paused,
    pause: () => {
      paused = true;
    },
    resume(reversed) {
      const missed = reversed ? waiting.reverse() : waiting;
      paused = false;
      waiting = [];
      for (const action of missed) {
        wake(now(), action);
      }
    },
    wake,
  };
}
