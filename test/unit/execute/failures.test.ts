import { describe, expect, it } from 'vitest';
import { createFailures } from '../../../src/execute/failures.ts';
import { ConflictError, StaleCacheError } from '../../../src/ports.ts';

function failing(error: Error): () => Promise<never> {
  return () => Promise.reject(error);
}

describe('what fails for single objects', () => {
  it('is remembered by their names, and thrown together in the end', async () => {
    const failures = createFailures(new AbortController().signal);
    expect(await failures.attempt('one', async () => 1)).toBe(1);
    failures.throwIfAny();
    expect(await failures.attempt('two', failing(new Error('no right')))).toBeUndefined();
    expect(failures.throwIfAny).toThrow(/^two: no right$/);
    expect(await failures.attempt('three', failing(new Error('no room')))).toBeUndefined();
    expect(failures.throwIfAny).toThrow('two: no right (and 1 more)');
  });

  it.each([new ConflictError('somebody else wrote first'), new StaleCacheError('the caches are behind')])(
    'is not what is about everything: $name',
    async (error) => {
      const failures = createFailures(new AbortController().signal);
      await expect(failures.attempt('one', failing(error))).rejects.toBe(error);
      failures.throwIfAny();
    },
  );

  it('is nothing once the work is aborted', async () => {
    const stop = new AbortController();
    const failures = createFailures(stop.signal);
    stop.abort(new Error('the lease is lost'));
    await expect(failures.attempt('one', failing(new Error('cut off')))).rejects.toThrow('the lease is lost');
    failures.throwIfAny();
  });
});
