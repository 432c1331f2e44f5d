import { describe, expect, it } from 'vitest';
import { createFirstLooks } from '../../../src/execute/first-looks.ts';
import { testClock } from '../../support/test-clock.ts';

describe('how long an eviction has been looked at', () => {
  it('counts from the first look at it, for each pod by itself', async () => {
    const clock = testClock();
    await clock.advance(100);
    const looks = createFirstLooks(clock);
    expect(looks.since('one', 'noon')).toBe(0);
    await clock.advance(4);
    expect([looks.since('one', 'noon'), looks.since('two', 'noon')]).toEqual([4, 0]);
    await clock.advance(3);
    expect([looks.since('one', 'noon'), looks.since('two', 'noon')]).toEqual([7, 3]);
  });

  it('counts anew for another eviction of the same pod', async () => {
    const clock = testClock();
    const looks = createFirstLooks(clock);
    looks.since('one', 'noon');
    await clock.advance(4);
    expect(looks.since('one', 'later')).toBe(0);
    await clock.advance(2);
    expect(looks.since('one', 'later')).toBe(2);
  });

  it('is forgotten of one pod and of no other', async () => {
    const clock = testClock();
    const looks = createFirstLooks(clock);
    looks.since('one', 'noon');
    looks.since('two', 'noon');
    await clock.advance(4);
    looks.forget('one');
    expect([looks.since('one', 'noon'), looks.since('two', 'noon')]).toEqual([0, 4]);
  });
});
