import { describe, expect, it } from 'vitest';
import { Attempts } from '../../../../src/control/shards/attempts.ts';
import { seconds } from '../../../../src/model/units.ts';

const NEVER = new AbortController().signal;

function attempts() {
  const failures: unknown[] = [];
  const options = { clock: { monotonic: () => seconds(100) }, rest: seconds(2), ended: () => undefined };
  return { tried: new Attempts({ ...options, failed: (error) => failures.push(error) }), failures };
}

describe('attempts', () => {
  it.each<[string, 'run' | 'begin']>([
    ['waited for', 'run'],
    ['begun', 'begin'],
  ])('are idle once what was %s has ended, and not before', async (_, how) => {
    const { tried } = attempts();
    const { promise, resolve } = Promise.withResolvers<void>();
    void tried[how](['uid-1'], () => promise, NEVER);
    let isIdle = false;
    const idle = tried.idle().then(() => {
      isIdle = true;
    });
    await new Promise(setImmediate);
    expect(isIdle).toBe(false);
    resolve();
    await idle;
    expect(isIdle).toBe(true);
  });

  it('are idle when nothing was begun, and when all of it has failed', async () => {
    const { tried, failures } = attempts();
    await tried.idle();
    void tried.run(['uid-1'], async () => Promise.reject(new Error('no')), NEVER);
    await tried.idle();
    expect([failures.length, tried.restOf('uid-1', seconds(100)), tried.restOf('uid-2', seconds(100))]).toEqual([
      1, 2, 0,
    ]);
  });
});
