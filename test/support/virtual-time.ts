import { epochSeconds, type Seconds, seconds } from '../../src/model/units.ts';
import type { Clock } from '../../src/ports.ts';
import { NOON } from './fake-clock.ts';

/** Time for several processes at once: nothing moves it but `run`. Unlike on a FakeClock, any number may sleep. */
export interface VirtualTime {
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

interface Due {
  readonly instant: number;
  readonly action: () => void;
}

/** Time at its start. */
export function virtualTime(): VirtualTime {
  let time = 0;
  let queue: readonly Due[] = [];
  const at = (instant: number, action: () => void): void => {
    const due = { instant: Math.max(instant, time), action };
    const place = queue.findIndex((each) => each.instant > due.instant);
    queue = place < 0 ? [...queue, due] : [...queue.slice(0, place), due, ...queue.slice(place)];
  };
  return {
    now: () => time,
    at,
    process: (rate = 1) => virtualProcess(() => time, at, rate),
    async run(instant, check = () => undefined, rest = () => undefined) {
      await settled();
      for (let [next, ...later] = queue; next !== undefined && next.instant <= instant; [next, ...later] = queue) {
        queue = later;
        time = next.instant;
        next.action();
        await settled();
        check();
        if ((queue[0]?.instant ?? Number.POSITIVE_INFINITY) > time) {
          rest();
        }
      }
      time = instant;
    },
  };
}

/** Promises that are resolved already have run their course by then. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function virtualProcess(now: () => number, at: VirtualTime['at'], rate: number): VirtualProcess {
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
