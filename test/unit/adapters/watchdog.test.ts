import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { startWatchdog } from '../../../src/adapters/kubernetes/watchdog.ts';
import { seconds } from '../../../src/model/units.ts';
import { testClock } from '../../support/test-clock.ts';

describe('a watchdog', () => {
  it('leaves nothing at the signal that it has followed', async () => {
    const stop = new AbortController();
    const watchdog = startWatchdog(testClock(), 'the watch of pods', seconds(30), stop.signal);
    expect(getEventListeners(stop.signal, 'abort')).not.toEqual([]);
    await watchdog.stop();
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    expect(watchdog.signal.aborted).toBe(false);
  });

  it('ends with the reason of the signal, and not at all once it is stopped', async () => {
    const stop = new AbortController();
    const watchdog = startWatchdog(testClock(), 'the watch of pods', seconds(30), stop.signal);
    stop.abort(new Error('the lease is lost'));
    expect(watchdog.signal.reason).toEqual(new Error('the lease is lost'));
    await watchdog.stop();
  });

  it('ends after a silence, which begins anew with each sign of life', async () => {
    const clock = testClock();
    const watchdog = startWatchdog(clock, 'the watch of pods', seconds(30), new AbortController().signal);
    await clock.advance(29);
    watchdog.heard(seconds(90));
    await clock.advance(89);
    expect(watchdog.signal.aborted).toBe(false);
    await clock.advance(2);
    expect(watchdog.signal.reason).toMatchObject({
      kind: 'Timeout',
      message: 'the watch of pods has been silent for 90 s: the connection counts as dead',
    });
    await watchdog.stop();
  });
});
