import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorKind } from '../../../src/adapters/kubernetes/api-error.ts';
import { formatMicroTime } from '../../../src/adapters/kubernetes/events.ts';
import { replacingPatch } from '../../../src/adapters/kubernetes/merge-patch.ts';
import { isBrief, isPassing, jitteredDelay, retry } from '../../../src/adapters/kubernetes/retry.ts';
import { systemClock } from '../../../src/adapters/system-clock.ts';
import { runConcurrently } from '../../../src/model/concurrent.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { drive, testClock } from '../../support/test-clock.ts';

/** RFC 7386. */
function applyPatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    return patch;
  }
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const result = new Map<string, unknown>(Object.entries(base));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      result.delete(key);
    } else {
      result.set(key, applyPatch(result.get(key), value));
    }
  }
  return Object.fromEntries(result);
}

describe('replacingPatch', () => {
  it('turns any status into any other', () => {
    const status = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom('a', 1, true, [], [{ a: 1 }]),
        fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('value')),
      ),
    })).value;
    const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), status);
    fc.assert(
      fc.property(object, object, (previous, next) => {
        expect(applyPatch(previous, replacingPatch(previous, next))).toEqual(next);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes undefined for absent', () => {
    expect(replacingPatch({ a: 1, b: 2 }, { a: undefined, b: { c: undefined } })).toEqual({ a: null, b: {} });
  });
});

describe('formatMicroTime', () => {
  it('has six decimals', () => {
    expect(formatMicroTime(epochSeconds(1_767_225_600))).toBe('2026-01-01T00:00:00.000000Z');
    expect(formatMicroTime(epochSeconds(1_767_225_600.25))).toBe('2026-01-01T00:00:00.250000Z');
    // What is less than a microsecond is dropped.
    expect(formatMicroTime(epochSeconds(0.750_000_5))).toBe('1970-01-01T00:00:00.750000Z');
  });
});

describe('jitteredDelay', () => {
  it('lies between nothing and half a second doubled per failure, at most thirty seconds', () => {
    const most = [0, 1, 2, 6, 7, 1000].map((failures) => jitteredDelay(failures, () => 0.999_999));
    expect(most.map((delay) => Math.round(delay * 10) / 10)).toEqual([0.5, 1, 2, 30, 30, 30]);
    expect(jitteredDelay(5, () => 0)).toBe(0);
  });
});

describe('a request that is repeated', () => {
  /** What becomes of a request that fails so, one error after the other, and then succeeds; and when it was sent. */
  async function repeated(attempts: number, ...errors: readonly Error[]) {
    const clock = testClock();
    const sent: number[] = [];
    const run = async () => {
      const error = errors[sent.length];
      sent.push(clock.monotonic());
      if (error !== undefined) {
        throw error;
      }
      return 'an answer';
    };
    const { signal } = new AbortController();
    const outcome = await drive(clock, retry(attempts, { clock, random: () => 0.5 }, signal, run)).catch(
      (error: unknown) => error,
    );
    return { outcome, sent };
  }
  const failure = (kind: ApiErrorKind, retryAfter?: number) =>
    new ApiError(kind, `it is ${kind}`, retryAfter === undefined ? {} : { retryAfter: seconds(retryAfter) });

  it('is sent so many times while its failure may pass, ever later', async () => {
    const [first, second, third] = [failure('Timeout'), failure('ServerError'), failure('Unreachable')];
    expect(await repeated(1, first)).toEqual({ outcome: first, sent: [0] });
    expect(await repeated(3, first, second)).toEqual({ outcome: 'an answer', sent: [0, 0.25, 0.75] });
    expect(await repeated(3, first, second, third)).toEqual({ outcome: third, sent: [0, 0.25, 0.75] });
  });

  it('waits as long as the server asks where that is longer, up to half a minute', async () => {
    expect(await repeated(2, failure('TooManyRequests', 0))).toEqual({ outcome: 'an answer', sent: [0, 0.25] });
    expect(await repeated(2, failure('TooManyRequests', 7))).toEqual({ outcome: 'an answer', sent: [0, 7] });
    expect(await repeated(2, failure('TooManyRequests', 30))).toEqual({ outcome: 'an answer', sent: [0, 30] });
    const long = failure('TooManyRequests', 31);
    expect(await repeated(2, long)).toEqual({ outcome: long, sent: [0] });
  });

  it('is sent once where its failure does not pass', async () => {
    for (const error of [failure('Conflict'), new Error('a bug')]) {
      expect(await repeated(3, error)).toEqual({ outcome: error, sent: [0] });
    }
  });

  it.each<[ApiErrorKind, boolean, boolean]>([
    ['Unreachable', true, true],
    ['Timeout', true, false],
    ['TooManyRequests', true, true],
    ['ServerError', true, true],
    ['BadAnswer', true, true],
    ['Credentials', false, false],
    ['Unauthorized', false, false],
    ['Forbidden', false, false],
    ['NotFound', false, false],
    ['NotServed', false, false],
    ['Conflict', false, false],
    ['AlreadyExists', false, false],
    ['Expired', false, false],
    ['Invalid', false, false],
  ])('has a failure that passes with %s: %s, within moments: %s', (kind, passing, brief) => {
    expect([isPassing(failure(kind)), isBrief(failure(kind))]).toEqual([passing, brief]);
  });

  it('has a failure that passes within moments as long as no more than two seconds are asked for', () => {
    expect([0, 2, 2.5].map((wait) => isBrief(failure('TooManyRequests', wait)))).toEqual([true, true, false]);
    expect([isPassing(new Error('a bug')), isBrief(new Error('a bug'))]).toEqual([false, false]);
  });
});

describe('runConcurrently', () => {
  it('keeps the order and the limit', async () => {
    let running = 0;
    let most = 0;
    const results = await runConcurrently([3, 1, 2, 0], 2, new AbortController().signal, async (item) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, item));
      running -= 1;
      return item * 10;
    });
    expect([results, most]).toEqual([[30, 10, 20, 0], 2]);
  });

  it('aborts the others when one fails', async () => {
    const aborted: number[] = [];
    const work = async (item: number, signal: AbortSignal) => {
      if (item === 0) {
        throw new Error('broken');
      }
      await systemClock.sleep(seconds(60), signal).catch(() => aborted.push(item));
    };
    await expect(runConcurrently([1, 0, 2], 3, new AbortController().signal, work)).rejects.toThrow('broken');
    await new Promise((resolve) => setImmediate(resolve));
    expect(aborted).toEqual([1, 2]);
  });
});

describe('systemClock', () => {
  it('sleeps, and wakes with the reason of the signal', async () => {
    const begun = systemClock.monotonic();
    await systemClock.sleep(seconds(0.02), new AbortController().signal);
    expect(systemClock.monotonic() - begun).toBeGreaterThan(0.01);
    await expect(systemClock.sleep(seconds(60), AbortSignal.timeout(1))).rejects.toThrow('timeout');
    await expect(systemClock.sleep(seconds(60), AbortSignal.abort(new Error('no')))).rejects.toThrow('no');
  });
});
