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

  it('keep their shards busy until they have ended, however that was, and tell so then', async () => {
    let ended = 0;
    const tried = new Attempts({
      clock: { monotonic: () => seconds(100) },
      rest: seconds(2),
      failed: () => undefined,
      ended: () => {
        ended += 1;
      },
    });
    const busy = () => ['uid-1', 'uid-2', 'uid-3'].map((shard) => tried.isBusy(shard));
    const { promise, reject } = Promise.withResolvers<void>();
    tried.begin(['uid-1', 'uid-2'], () => promise, NEVER);
    expect([busy(), ended]).toEqual([[true, true, false], 0]);
    reject(new Error('no'));
    await tried.idle();
    await new Promise(setImmediate);
    expect([busy(), ended]).toEqual([[false, false, false], 1]);
    expect(tried.restOf('uid-2', seconds(100.5))).toBe(1.5);
    expect(tried.restOf('uid-2', seconds(103))).toBeLessThanOrEqual(0);
  });

  it('that an abort ends have not failed', async () => {
    const { tried, failures } = attempts();
    const stop = new AbortController();
    const run = tried.run(['uid-1'], async () => Promise.reject(new Error('cut off')), stop.signal);
    stop.abort();
    await run;
    expect([failures, tried.restOf('uid-1', seconds(100))]).toEqual([[], 0]);
  });
});
