import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCachedObjects, newer } from '../../../src/adapters/kubernetes/cached-objects.ts';
import { Reflector } from '../../../src/adapters/kubernetes/reflector.ts';
import { ConflictError, StaleCacheError } from '../../../src/ports.ts';
import { fakeWatchServer, type Stored, unreachable } from '../../support/fake-watch-server.ts';
import { testClock } from '../../support/test-clock.ts';

const stopping: (() => Promise<void>)[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(stopping.splice(0).map((stop) => stop()));
});

/** Objects of which others write some; `version` is what the server has come to. */
function cached() {
  const clock = testClock();
  const server = fakeWatchServer(clock);
  const target = { group: 'evenkeel.dev', version: 'v1alpha1', resource: 'things' };
  const reflector = new Reflector(server.client, { target, metadataOnly: false });
  const objects = createCachedObjects<Stored>(
    reflector,
    (body) => body as Stored,
    () => undefined,
  );
  const controller = new AbortController();
  const running = objects.run(controller.signal);
  stopping.push(async () => {
    controller.abort();
    await running;
  });
  const stored = (name: string): Stored => server.objects.get(name) ?? expect.fail(`no ${name}`);
  /** Stores an object as somebody else would. Returns its version. */
  const put = (name: string): string => {
    server.put(name);
    return stored(name).metadata.resourceVersion;
  };
  const write = (name: string): Promise<Stored> =>
    objects.write({ metadata: { name } }, async () => {
      server.put(name);
      return stored(name);
    });
  const names = async () => (await objects.list(controller.signal)).map(({ metadata }) => metadata.name);
  return { clock, server, objects, put, write, names, signal: controller.signal };
}

/** Whether a promise has come to something, and to what. */
function watched(promise: Promise<void>) {
  const state: { outcome: unknown } = { outcome: undefined };
  promise.then(
    () => {
      state.outcome = 'seen';
    },
    (error: unknown) => {
      state.outcome = error;
    },
  );
  return state;
}

describe('the version of the newest write', () => {
  it('is empty before the first one, and that of the newest of this process after', async () => {
    const { clock, objects, put, write } = cached();
    await clock.advance(5);
    put('of-another');
    await clock.advance(0);
    expect(objects.written).toBe('');
    const first = await write('first');
    expect(objects.written).toBe(first.metadata.resourceVersion);
    put('of-another');
    const second = await write('second');
    expect(objects.written).toBe(second.metadata.resourceVersion);
  });

  it('does not go back when answers overtake each other, and stays when a write fails', async () => {
    const { clock, objects, write, server } = cached();
    await clock.advance(5);
    const early = await write('first');
    const late = await write('second');
    await objects.write({ metadata: { name: 'first' } }, async () => early);
    expect(objects.written).toBe(late.metadata.resourceVersion);
    const fails = async (): Promise<Stored> => {
      server.put('third');
      throw new ConflictError('newer');
    };
    await expect(objects.write({ metadata: { name: 'third' } }, fails)).rejects.toThrow(ConflictError);
    expect(objects.written).toBe(late.metadata.resourceVersion);
  });

  it.each([
    ['', '', ''],
    ['', '7', '7'],
    ['7', '', '7'],
    ['9', '10', '10'],
    ['10', '9', '10'],
    ['7', '7', '7'],
  ])('of %j and %j is %j', (left, right, expected) => {
    expect(newer(left, right)).toBe(expected);
  });
});

describe('a list of cached objects', () => {
  it('lacks what was removed here before the watch has told so, and has what was made anew under its name', async () => {
    const { clock, server, objects, put, names } = cached();
    put('first');
    put('second');
    await clock.advance(5);
    server.stall();
    await objects.remove('first', async () => server.remove('first'));
    expect(await names()).toEqual(['second']);
    put('first');
    objects.renew();
    await clock.advance(5);
    expect(await names()).toEqual(['first', 'second']);
  });

  it('is refused when each watch has ended at once for a minute, and says why where something has failed', async () => {
    const { clock, server, names } = cached();
    const endWatches = async (span: number) => {
      for (let second = 0; second < span; second += 1) {
        server.end();
        await clock.advance(1);
      }
    };
    await clock.advance(5);
    await endWatches(60);
    expect(await names()).toEqual([]);
    await endWatches(5);
    await expect(names()).rejects.toThrow(/ have been cut off for 6\d s$/);
    server.refuse(...Array.from({ length: 20 }, unreachable));
    await endWatches(30);
    await expect(names()).rejects.toThrow(/ have been cut off for 9\d s \(the connection broke\)$/);
  });
});

describe('catching up with what others have written', () => {
  it('is done at once for nothing, and for what has been seen', async () => {
    const { clock, objects, put, signal } = cached();
    await clock.advance(5);
    const version = put('first');
    await clock.advance(0);
    await objects.caughtUp('', signal);
    await objects.caughtUp(version, signal);
    await objects.caughtUp('1', signal);
  });

  it('waits until the watch has come as far, and then the object is there', async () => {
    const { clock, server, objects, put, names, signal } = cached();
    await clock.advance(5);
    server.delayNext();
    const version = put('first');
    const state = watched(objects.caughtUp(version, signal));
    await clock.advance(3);
    expect(state.outcome).toBeUndefined();
    put('second');
    await clock.advance(0);
    expect(state.outcome).toBe('seen');
    expect(await names()).toContain('second');
  });

  it('is done when a newer object has come: versions are of all objects', async () => {
    const { clock, objects, put, signal } = cached();
    await clock.advance(5);
    const version = String(Number(put('first')) + 2);
    const state = watched(objects.caughtUp(version, signal));
    await clock.advance(0);
    expect(state.outcome).toBeUndefined();
    put('second');
    await clock.advance(0);
    expect(state.outcome).toBeUndefined();
    put('third');
    await clock.advance(0);
    expect(state.outcome).toBe('seen');
  });

  it('waits for the first list', async () => {
    const { clock, objects, put, signal } = cached();
    const version = put('first');
    const state = watched(objects.caughtUp(version, signal));
    expect(state.outcome).toBeUndefined();
    await clock.advance(5);
    expect(state.outcome).toBe('seen');
  });

  it('waits for the list that was asked for anew, which has all that was written before', async () => {
    const { clock, server, objects, put, names, signal } = cached();
    await clock.advance(5);
    server.stall();
    const version = put('first');
    const state = watched(objects.caughtUp(version, signal));
    await clock.advance(3);
    expect(state.outcome).toBeUndefined();
    objects.renew();
    await clock.advance(3);
    expect(state.outcome).toBe('seen');
    expect(await names()).toEqual(['first']);
  });

  it('fails after half a minute', async () => {
    const { clock, server, objects, put, signal } = cached();
    await clock.advance(5);
    server.stall();
    const version = put('first');
    const state = watched(objects.caughtUp(version, signal));
    await clock.advance(0);
    await vi.advanceTimersByTimeAsync(29_900);
    expect(state.outcome).toBeUndefined();
    await vi.advanceTimersByTimeAsync(200);
    expect(state.outcome).toBeInstanceOf(StaleCacheError);
    expect(String(state.outcome)).toContain(`have not come to version ${version} in 30 s`);
  });

  it('fails for a version that cannot be compared', async () => {
    const { clock, objects, signal } = cached();
    await clock.advance(5);
    const state = watched(objects.caughtUp('abc', signal));
    await clock.advance(0);
    await vi.advanceTimersByTimeAsync(30_100);
    expect(state.outcome).toBeInstanceOf(StaleCacheError);
  });

  it('ends when aborted, and leaves no timer', async () => {
    const { clock, server, objects, put } = cached();
    await clock.advance(5);
    server.stall();
    const stop = new AbortController();
    const before = vi.getTimerCount();
    const state = watched(objects.caughtUp(put('first'), stop.signal));
    await clock.advance(0);
    expect(vi.getTimerCount()).toBe(before + 1);
    stop.abort(new Error('stopped'));
    await clock.advance(0);
    expect(String(state.outcome)).toContain('stopped');
    expect(vi.getTimerCount()).toBe(before);
  });
});
