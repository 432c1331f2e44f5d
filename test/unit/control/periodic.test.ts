import { describe, expect, it } from 'vitest';
import { aborted, createWaker, FAILED_WAIT, withBackOff } from '../../../src/control/periodic.ts';
import { seconds } from '../../../src/model/units.ts';
import { drive, NOON, testClock } from '../../support/test-clock.ts';

const forever = new AbortController().signal;

describe('a wait', () => {
  it('lasts its span where nothing wakes it', async () => {
    const clock = testClock();
    await drive(clock, createWaker().wait(seconds(7), clock, forever));
    expect(clock.now() - NOON).toBe(7);
  });

  it('ends as soon as it is woken, and the next one does not', async () => {
    const clock = testClock();
    const waker = createWaker();
    clock.at(NOON + 3, waker.wake);
    await drive(clock, waker.wait(seconds(7), clock, forever));
    expect(clock.now() - NOON).toBe(3);
    await drive(clock, waker.wait(seconds(7), clock, forever));
    expect(clock.now() - NOON).toBe(10);
  });

  it('ends at once where it was woken before, however often, and the next one does not', async () => {
    const clock = testClock();
    const waker = createWaker();
    waker.wake();
    waker.wake();
    await drive(clock, waker.wait(seconds(7), clock, forever));
    expect(clock.now() - NOON).toBe(0);
    await drive(clock, waker.wait(seconds(7), clock, forever));
    expect(clock.now() - NOON).toBe(7);
  });

  it('ends when it is aborted, and begins no more then', async () => {
    const clock = testClock();
    const waker = createWaker();
    const stop = new AbortController();
    clock.at(NOON + 3, () => stop.abort(new Error('stopped')));
    await drive(clock, waker.wait(seconds(7), clock, stop.signal));
    await drive(clock, waker.wait(seconds(7), clock, stop.signal));
    expect(clock.now() - NOON).toBe(3);
  });

  it('fails where the clock does, for no reason of its own', async () => {
    const sleep = async (): Promise<never> => Promise.reject(new Error('no clock'));
    await expect(createWaker().wait(seconds(7), { sleep }, forever)).rejects.toThrow('no clock');
  });
});

describe('aborted', () => {
  it('resolves when the signal is aborted, at once where it is already, and not before', async () => {
    const stop = new AbortController();
    let isOver = false;
    const over = aborted(stop.signal).then(() => {
      isOver = true;
    });
    await Promise.resolve();
    expect(isOver).toBe(false);
    stop.abort();
    await over;
    await aborted(stop.signal);
    expect(isOver).toBe(true);
  });
});

describe('work that may fail', () => {
  /** The wait after work, and what was counted and reported of its failure. */
  async function tried(work: () => Promise<ReturnType<typeof seconds>>, signal = forever) {
    let failures = 0;
    const reported: unknown[] = [];
    const counted = {
      runFailed: () => {
        failures += 1;
      },
    };
    const wait = await withBackOff(work, (error) => void reported.push(error), counted, signal);
    return { wait, failures, reported };
  }

  it('is due again when it says, where it does not', async () => {
    expect(await tried(async () => seconds(7))).toEqual({ wait: 7, failures: 0, reported: [] });
  });

  it('is counted, reported and tried again in five seconds, where it does', async () => {
    const error = new Error('503');
    expect(await tried(() => Promise.reject(error))).toEqual({ wait: 5, failures: 1, reported: [error] });
    expect(FAILED_WAIT).toBe(5);
  });

  it('is neither counted nor reported where it was aborted', async () => {
    const failing = () => Promise.reject(new Error('aborted'));
    expect(await tried(failing, AbortSignal.abort())).toEqual({ wait: 5, failures: 0, reported: [] });
  });
});
