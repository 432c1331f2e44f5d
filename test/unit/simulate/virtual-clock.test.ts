import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import { drive, NOON, testClock } from '../../support/test-clock.ts';

const forever = new AbortController().signal;

describe('the virtual clock', () => {
  it('lets the cluster come first at an instant, then those who slept until it', async () => {
    const clock = testClock();
    const seen: string[] = [];
    const sleeping = clock.sleep(seconds(5), forever).then(() => seen.push('sleeper'));
    clock.at(NOON + 5, () => seen.push('cluster'));
    expect(clock.next()).toBe(5);
    await clock.advance(5);
    await sleeping;
    expect(seen).toEqual(['cluster', 'sleeper']);
    expect(clock.next()).toBe(Number.POSITIVE_INFINITY);
  });

  it('goes as far as work takes, and no further', async () => {
    const clock = testClock();
    clock.at(NOON + 30, () => undefined);
    await drive(
      clock,
      clock.sleep(seconds(3), forever).then(() => clock.sleep(seconds(4), forever)),
    );
    expect(clock.now()).toBe(NOON + 7);
  });

  it('says so when work waits for what never comes', async () => {
    await expect(drive(testClock(), new Promise(() => undefined))).rejects.toThrow('nothing is due any more');
  });
});
