import { describe, expect, it } from 'vitest';
import { createServerClock } from '../../../src/adapters/server-clock.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { NOON, testClock } from '../../support/test-clock.ts';

describe('the clock of the API server', () => {
  it('is ours until the server has said something', () => {
    expect(createServerClock(testClock()).now()).toBe(NOON);
  });

  it('goes on from what the server said, whatever becomes of our wall clock', async () => {
    const own = testClock();
    let jump = 0;
    const clock = createServerClock({ ...own, now: () => epochSeconds(own.now() + jump) });
    clock.heard(epochSeconds(NOON + 500));
    await own.advance(60);
    expect(clock.now()).toBe(NOON + 560);
    jump = -7_200;
    expect(clock.now()).toBe(NOON + 560);
    jump = 86_400;
    await own.advance(1);
    expect(clock.now()).toBe(NOON + 561);
  });

  it('does not go back and forth with seconds that were cut off, and follows the server when it was set', async () => {
    const own = testClock();
    const clock = createServerClock(own);
    clock.heard(NOON);
    await own.advance(1.9);
    clock.heard(epochSeconds(NOON + 1));
    expect(clock.now()).toBe(NOON + 1.9);
    clock.heard(epochSeconds(NOON + 3_600));
    expect(clock.now()).toBe(NOON + 3_600);
  });

  it('catches up after the machine was asleep, during which no monotonic clock counts', async () => {
    const own = testClock();
    const clock = createServerClock(own);
    clock.heard(NOON);
    clock.heard(epochSeconds(NOON + 28_800));
    await own.advance(5);
    expect(clock.now()).toBe(NOON + 28_805);
  });
});
