import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorKind } from '../../../src/adapters/kubernetes/api-error.ts';
import {
  createCircuitBreaker,
  createFlowControl,
  createTokenBucket,
} from '../../../src/adapters/kubernetes/flow-control.ts';
import { testClock } from '../../support/test-clock.ts';

const forever = new AbortController().signal;
const answers = async () => 'an answer';
const failing = (kind: ApiErrorKind) => () => Promise.reject(new ApiError(kind, `it is ${kind}`));

/** One call is let through to try, and no other until it is answered. */
async function expectOneTry(breaker: ReturnType<typeof createCircuitBreaker>): Promise<void> {
  const held = Promise.withResolvers<string>();
  const probe = breaker.guard(() => held.promise);
  await expect(breaker.guard(answers)).rejects.toThrow('left alone for a while');
  held.resolve('back');
  expect(await probe).toBe('back');
}

describe('a token bucket', () => {
  it('lets a burst go at once, then keeps to its rate, in order', async () => {
    const clock = testClock();
    const bucket = createTokenBucket({ perSecond: 2, burst: 3 }, clock);
    const gone: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      void bucket.take(forever).then(() => gone.push(`${index} at ${clock.monotonic()} s`));
    }
    await clock.advance(10);
    expect(gone).toEqual(['0 at 0 s', '1 at 0 s', '2 at 0 s', '3 at 0.5 s', '4 at 1 s', '5 at 1.5 s', '6 at 2 s']);
  });

  it('is full again after a rest, and never fuller', async () => {
    const clock = testClock();
    const bucket = createTokenBucket({ perSecond: 2, burst: 3 }, clock);
    await Promise.all([bucket.take(forever), bucket.take(forever), bucket.take(forever)]);
    await clock.advance(3_600);
    let gone = 0;
    for (let index = 0; index < 5; index += 1) {
      void bucket.take(forever).then(() => {
        gone += 1;
      });
    }
    await clock.advance(0);
    expect(gone).toBe(3);
  });

  it('takes nothing for who gives up waiting', async () => {
    const clock = testClock();
    const bucket = createTokenBucket({ perSecond: 1, burst: 1 }, clock);
    await bucket.take(forever);
    const stop = new AbortController();
    const given = expect(bucket.take(stop.signal)).rejects.toThrow('no longer');
    stop.abort(new Error('no longer'));
    await given;
    let gone = false;
    void bucket.take(forever).then(() => {
      gone = true;
    });
    await clock.advance(1);
    expect(gone).toBe(true);
  });
});

describe('a circuit breaker', () => {
  const broken = async (breaker: ReturnType<typeof createCircuitBreaker>, times: number, kind: ApiErrorKind) => {
    for (let index = 0; index < times; index += 1) {
      await expect(breaker.guard(failing(kind))).rejects.toThrow(`it is ${kind}`);
    }
  };

  it.each<ApiErrorKind>(['Unreachable', 'Timeout', 'ServerError'])('opens after five in a row of %s', async (kind) => {
    const breaker = createCircuitBreaker('it', { clock: testClock(), random: () => 0.99 });
    await broken(breaker, 5, kind);
    const refused = await breaker.guard(answers).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind, unsent: true, retryAfter: expect.closeTo(0.495) });
    expect(refused).toMatchObject({
      message: `it failed 5 times in a row and is left alone for a while: it is ${kind}`,
    });
  });

  it('takes every answer for a sign of life', async () => {
    const breaker = createCircuitBreaker('it', { clock: testClock(), random: () => 0.99 });
    for (const kind of ['NotFound', 'Conflict', 'TooManyRequests', 'Forbidden'] as const) {
      await broken(breaker, 4, 'Timeout');
      await broken(breaker, 1, kind);
    }
    await expect(breaker.guard(answers)).resolves.toBe('an answer');
  });

  it('stays closed while answers come between fewer than five failures in a row', async () => {
    const breaker = createCircuitBreaker('it', { clock: testClock(), random: () => 0.99 });
    for (let round = 0; round < 3; round += 1) {
      await broken(breaker, 4, 'Timeout');
      await expect(breaker.guard(answers)).resolves.toBe('an answer');
    }
  });

  it('lets one call at a time through to try already after the first five failures', async () => {
    const clock = testClock();
    const breaker = createCircuitBreaker('it', { clock, random: () => 0.99 });
    await broken(breaker, 5, 'Timeout');
    await clock.advance(0.5);
    await expectOneTry(breaker);
  });

  it('lets a call through at the moment to which it was put off, and not before', async () => {
    const clock = testClock();
    const breaker = createCircuitBreaker('it', { clock, random: () => 0.5 });
    await broken(breaker, 5, 'Timeout');
    await clock.advance(0.125);
    await expect(breaker.guard(answers)).rejects.toMatchObject({ retryAfter: 0.125 });
    await clock.advance(0.125);
    await expect(breaker.guard(answers)).resolves.toBe('an answer');
  });

  it('says when to come back, a tenth of a second at least, with status and reason of the last failure', async () => {
    const clock = testClock();
    const breaker = createCircuitBreaker('it', { clock, random: () => 0.5 });
    const cause = new ApiError('ServerError', 'it is down', { status: 503, reason: 'ServiceUnavailable' });
    for (let index = 0; index < 5; index += 1) {
      await expect(breaker.guard(() => Promise.reject(cause))).rejects.toBe(cause);
    }
    await clock.advance(0.2);
    const refusal = { kind: 'ServerError', status: 503, reason: 'ServiceUnavailable', unsent: true, cause };
    await expect(breaker.guard(answers)).rejects.toMatchObject({ ...refusal, retryAfter: 0.1 });
    await clock.advance(0.05);
    const held = Promise.withResolvers<string>();
    const probe = breaker.guard(() => held.promise);
    await expect(breaker.guard(answers)).rejects.toMatchObject({ ...refusal, retryAfter: 0.1 });
    held.resolve('back');
    await probe;
  });

  it('counts anew once a call that was let through has succeeded', async () => {
    const clock = testClock();
    const breaker = createCircuitBreaker('it', { clock, random: () => 0.5 });
    await broken(breaker, 5, 'Timeout');
    await clock.advance(1);
    await expect(breaker.guard(answers)).resolves.toBe('an answer');
    await broken(breaker, 4, 'Timeout');
    await expect(breaker.guard(answers)).resolves.toBe('an answer');
  });

  it('tries again after a call that was let through and broken off', async () => {
    const clock = testClock();
    const breaker = createCircuitBreaker('it', { clock, random: () => 0.5 });
    await broken(breaker, 5, 'Timeout');
    await clock.advance(1);
    await expect(breaker.guard(() => Promise.reject(new Error('aborted')))).rejects.toThrow('aborted');
    await expectOneTry(breaker);
  });

  it('does not count what the caller has broken off', async () => {
    const breaker = createCircuitBreaker('it', { clock: testClock(), random: () => 0.99 });
    for (let index = 0; index < 10; index += 1) {
      await expect(breaker.guard(() => Promise.reject(new Error('aborted')))).rejects.toThrow('aborted');
    }
    await expect(breaker.guard(answers)).resolves.toBe('an answer');
  });

  it('lets one call at a time through to try, waits longer after each that fails, up to 30 s, and closes with the first answer', async () => {
    const clock = testClock();
    const breaker = createCircuitBreaker('it', { clock, random: () => 0.999 });
    await broken(breaker, 5, 'Timeout');
    const waits: number[] = [];
    for (let probe = 0; probe < 8; probe += 1) {
      const refused = await breaker.guard(answers).catch((error: ApiError) => error);
      waits.push(Math.round(((refused as ApiError).retryAfter ?? 0) * 10) / 10);
      await clock.advance(((refused as ApiError).retryAfter ?? 0) + 0.001);
      await broken(breaker, 1, 'Timeout');
    }
    expect(waits).toEqual([0.5, 1, 2, 4, 8, 16, 30, 30]);
    await clock.advance(30);
    await expectOneTry(breaker);
    await expect(breaker.guard(answers)).resolves.toBe('an answer');
  });
});

describe('the valve of a client', () => {
  it('has a bucket for reads and one for changes, of all API groups together', async () => {
    const clock = testClock();
    const limits = { reads: { perSecond: 1, burst: 1 }, changes: { perSecond: 0.5, burst: 2 } };
    const valve = createFlowControl(limits, { clock, random: () => 0.99 });
    const gone: string[] = [];
    for (const group of ['', 'apps', 'policy', 'batch']) {
      for (const isChange of [false, true]) {
        const call = async () => void gone.push(`${isChange ? 'change' : 'read'} ${group} at ${clock.monotonic()} s`);
        void valve.pass(group, isChange, forever, call);
      }
    }
    await clock.advance(10);
    expect(gone.toSorted()).toEqual([
      'change  at 0 s',
      'change apps at 0 s',
      'change batch at 4 s',
      'change policy at 2 s',
      'read  at 0 s',
      'read apps at 1 s',
      'read batch at 3 s',
      'read policy at 2 s',
    ]);
  });

  it('leaves an API group alone after five failures, and says which', async () => {
    const limits = { reads: { perSecond: 1, burst: 9 }, changes: { perSecond: 1, burst: 9 } };
    const valve = createFlowControl(limits, { clock: testClock(), random: () => 0.99 });
    for (let index = 0; index < 5; index += 1) {
      await expect(valve.pass('apps', index % 2 === 0, forever, failing('Timeout'))).rejects.toThrow('it is Timeout');
    }
    await expect(valve.pass('apps', false, forever, answers)).rejects.toThrow(
      'API group "apps" failed 5 times in a row and is left alone for a while: it is Timeout',
    );
    await expect(valve.pass('batch', false, forever, answers)).resolves.toBe('an answer');
  });

  it('has a circuit for each API group, and keeps no change waiting behind reads', async () => {
    const clock = testClock();
    const limits = { reads: { perSecond: 1, burst: 5 }, changes: { perSecond: 1, burst: 1 } };
    const valve = createFlowControl(limits, { clock, random: () => 0.99 });
    for (let index = 0; index < 5; index += 1) {
      await expect(valve.pass('metrics.k8s.io', false, forever, failing('ServerError'))).rejects.toThrow('ServerError');
    }
    await expect(valve.pass('', true, forever, answers)).resolves.toBe('an answer');
    const later = valve.pass('metrics.k8s.io', false, forever, answers);
    const tried = expect(later).resolves.toBe('an answer');
    await clock.advance(1);
    await tried;
  });
});
