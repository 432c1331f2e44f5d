import { type EpochSeconds, epochSeconds } from '../../src/model/units.ts';
import { createEventQueue, type EventQueue } from '../../src/simulate/event-queue.ts';
import { createVirtualClock, type VirtualClock } from '../../src/simulate/virtual-clock.ts';

/** 2026-01-01T12:00:00Z: where the clocks of tests start. */
export const NOON: EpochSeconds = epochSeconds(Date.parse('2026-01-01T12:00:00Z') / 1000);

/** The simulator's clock, moved by a test. */
export interface TestClock extends VirtualClock {
  readonly queue: EventQueue;
  /** Calls `action` when the time has come, before those who sleep until then go on. Infinity means never. */
  at(instant: number, action: () => void): void;
  /** Lets everything run that can, then moves time on by `span` seconds. */
  advance(span: number): Promise<void>;
}

/** A clock at NOON. */
export function testClock(): TestClock {
  const queue = createEventQueue();
  const clock = createVirtualClock(queue, NOON);
  return {
    ...clock,
    queue,
    at: (instant, action) => queue.at(instant - NOON, action),
    advance: (span) => clock.run(queue.now() + span),
  };
}

/** Moves time on until `work` settles, and no further. */
export async function drive<Result>(clock: VirtualClock, work: Promise<Result>): Promise<Result> {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  work.then(settle, settle);
  await clock.run(clock.monotonic());
  while (!isSettled) {
    const next = clock.next();
    if (next === Number.POSITIVE_INFINITY) {
      throw new Error('what is waited for never comes: nothing is due any more');
    }
    await clock.run(next);
  }
  return await work;
}
