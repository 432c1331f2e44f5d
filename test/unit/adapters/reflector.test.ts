import { afterEach, describe, expect, it, vi } from 'vitest';
import { Reflector } from '../../../src/adapters/kubernetes/reflector.ts';
import { SILENCE_LIMIT } from '../../../src/adapters/kubernetes/watch.ts';
import { seconds } from '../../../src/model/units.ts';
import type { Part } from '../../../src/observe/kind-table.ts';
import { nameForPeople } from '../../../src/observe/project/metadata.ts';
import { answer, unreachable } from '../../support/fake-watch-server.ts';
import { type ReflectedServer, reflect } from '../../support/reflected.ts';

const started: ReflectedServer[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
});

function reflected(...args: Parameters<typeof reflect>): ReflectedServer {
  const made = reflect(...args);
  started.push(made);
  return made;
}

/** A reflector that has listed and watches since five seconds. */
async function watching(): Promise<ReflectedServer> {
  const made = reflected();
  await made.clock.advance(5);
  made.server.asked.splice(0);
  return made;
}

describe('a reflector', () => {
  it('lists page by page, watches from there, and says so once', async () => {
    const { clock, server, held, stored, changes, reflector } = reflected();
    expect(reflector.age).toBeUndefined();
    await clock.advance(1);
    expect(server.asked).toEqual(['list', 'next page', 'watch from 5']);
    expect(held()).toEqual(stored());
    expect(changes()).toBe(1);
  });

  it('follows creations, updates, deletions and objects that are made anew', async () => {
    const { clock, server, held, stored, changes } = await watching();
    server.put('e');
    server.put('a', { changed: true });
    server.remove('b');
    server.remove('c');
    server.put('c');
    await clock.advance(0);
    expect(held()).toEqual(stored());
    expect(held()).toContain('c uid-6 10');
    expect(changes()).toBe(6);
    expect(server.asked).toEqual([]);
  });

  it('tells of each object that a watch says was deleted, even one that it never heard of', async () => {
    const { clock, server, removals } = await watching();
    server.remove('b');
    server.put('e');
    server.remove('e');
    await clock.advance(0);
    expect(removals).toEqual(['b', 'e']);
  });

  it('goes on where bookmarks have brought it, without a list, when the server ends the watch', async () => {
    const { clock, server } = reflected(undefined, () => 0.9);
    await clock.advance(5);
    server.asked.splice(0);
    server.compact();
    await clock.advance(60);
    server.end();
    await clock.advance(1);
    expect(server.asked).toEqual(['watch from 6']);
  });

  it.each([0, 0.5, 0.99])(
    'has the server end a watch before its silence would look like death, at random %d',
    async (random) => {
      const { clock, server, failures } = reflected(undefined, () => random);
      await clock.advance(5);
      server.asked.splice(0);
      await clock.advance(SILENCE_LIMIT - 10);
      expect(server.asked.length).toBeGreaterThan(0);
      expect(server.asked.filter((asked) => !asked.startsWith('watch'))).toEqual([]);
      expect(failures).toEqual([]);
    },
  );

  it('goes on where it was, and is current, when something on the way cuts each watch long before its end', async () => {
    const { clock, server, held, stored, reflector } = await watching();
    for (let cut = 0; cut < 20; cut += 1) {
      server.put(`new-${cut}`);
      await clock.advance(10);
      server.end();
      await clock.advance(3);
      expect(reflector.age).toBe(0);
    }
    expect(server.asked.filter((asked) => !asked.startsWith('watch'))).toEqual([]);
    expect(held()).toEqual(stored());
  });

  it.each<[string, (made: ReflectedServer) => void]>([
    ['a reset', ({ server }) => server.reset()],
    ['a stream that breaks off in an event', ({ server }) => server.truncate()],
    ['an error event', ({ server }) => server.fail(500)],
    ['an overloaded server', ({ server }) => server.fail(429)],
  ])('goes on from the last event, without a list, after %s', async (_, hurt) => {
    const made = await watching();
    made.server.put('e');
    await made.clock.advance(0);
    hurt(made);
    made.server.put('f');
    await made.clock.advance(1);
    expect(made.server.asked).toEqual(['watch from 6']);
    expect(made.held()).toEqual(made.stored());
    expect(made.failures).toHaveLength(1);
  });

  it.each<[string, (made: ReflectedServer) => void]>([
    [
      '410 as status',
      ({ server }) => {
        server.compact();
        server.end();
      },
    ],
    ['410 in the stream', ({ server }) => server.fail(410)],
    [
      'a version from before a restored backup',
      ({ server }) =>
        server.say(
          JSON.stringify({
            type: 'ERROR',
            object: { kind: 'Status', code: 504, details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
          }),
        ),
    ],
    ['something that is no event', ({ server }) => server.say('hello')],
    ['an event of an unknown type', ({ server }) => server.say('{"type":"CHANGED","object":{}}')],
  ])('lists anew, and applies the difference, after %s', async (_, hurt) => {
    const made = await watching();
    hurt(made);
    made.server.remove('a');
    made.server.remove('b');
    made.server.put('b');
    await made.clock.advance(1);
    expect(made.server.asked.filter((asked) => asked === 'list')).toHaveLength(1);
    expect(made.held()).toEqual(made.stored());
    expect(made.reflector.trouble).toBeUndefined();
  });

  it('does not wait after the first gap, and backs off when there is one after the other', async () => {
    const { clock, server, failures } = await watching();
    server.compact();
    server.refuse(answer(410));
    server.end();
    await clock.advance(0.3);
    expect(server.asked).toEqual(['watch from 5', 'list', 'next page', 'watch from 6']);
    for (let round = 0; round < 20; round += 1) {
      server.refuse(answer(410), answer(410), answer(410), answer(410), answer(410));
    }
    server.asked.splice(0);
    server.end();
    await clock.advance(60);
    expect(server.asked.length).toBeLessThan(50);
    expect(failures.length).toBeLessThan(20);
  });

  it.each<[string, () => Error]>([
    ['the server cannot be reached', unreachable],
    ['something breaks on this side', () => new Error('out of memory')],
  ])(
    'backs off from 0.5 s to 30 s with full jitter while %s, and begins anew when all is well again',
    async (_, fail) => {
      const { clock, server } = reflected();
      const times: number[] = [];
      server.refuse(...Array.from({ length: 9 }, fail));
      for (let tick = 0; tick < 800 && server.asked.length < 10; tick += 1) {
        await clock.advance(tick === 0 ? 0 : 0.25);
        times.push(...server.asked.slice(times.length).map(() => tick / 4));
      }
      const waits = times.slice(1, 9).map((time, index) => time - (times[index] ?? Number.NaN));
      expect(waits).toEqual([0.25, 0.5, 1, 2, 4, 8, 15, 15]);
    },
  );

  it.each([
    [20, 20],
    [86_400, 60],
  ])('waits when the server asks for %s s, at most a minute', async (asked, waited) => {
    const { clock, server } = await watching();
    server.refuse(answer(429, asked));
    server.end();
    await clock.advance(waited - 0.1);
    expect(server.asked).toEqual(['watch from 5']);
    await clock.advance(0.5);
    expect(server.asked).toEqual(['watch from 5', 'watch from 5']);
  });

  it('does not flood a server that ends every watch at once', async () => {
    const { clock, server } = await watching();
    for (let round = 0; round < 100; round += 1) {
      server.put('a', { round });
      server.end();
      await clock.advance(0.1);
    }
    expect(server.asked.length).toBeLessThan(50);
  });

  it('takes a watch for dead that is silent for 90 s, and goes on from its last event', async () => {
    const made = await watching();
    made.server.stall();
    made.server.put('e');
    await made.clock.advance(84);
    expect(made.server.asked).toEqual([]);
    await made.clock.advance(2);
    expect(made.server.asked).toEqual(['watch from 5']);
    expect(made.failures).toMatchObject([{ kind: 'Timeout', message: expect.stringContaining('silent for 90 s') }]);
    expect(made.held()).toEqual(made.stored());
  });

  it('ignores events that come twice, late or in another order', async () => {
    const { clock, server, held, stored } = await watching();
    server.delayNext();
    server.put('e');
    server.put('f');
    server.put('e', { changed: true });
    server.remove('f');
    server.repeat(4);
    server.repeat(3);
    await clock.advance(0);
    expect(held()).toEqual(stored());
    server.end();
    await clock.advance(1);
    expect(server.asked).toEqual(['watch from 9']);
  });

  it('goes on at once after a watch of a second, and backs off after a shorter one', async () => {
    const { clock, server } = await watching();
    server.end();
    await clock.advance(1);
    server.end();
    await clock.advance(0);
    expect(server.asked).toEqual(['watch from 5', 'watch from 5']);
    await clock.advance(0.9);
    server.end();
    await clock.advance(0.2);
    expect(server.asked).toHaveLength(2);
    await clock.advance(0.1);
    expect(server.asked).toHaveLength(3);
  });

  it('waits no longer the next time when a watch has lasted in between, though nothing came by it', async () => {
    const { clock, server, reflector } = await watching();
    for (let round = 1; round <= 6; round += 1) {
      server.reset();
      await clock.advance(0.2);
      expect([server.asked.length, reflector.trouble]).toEqual([round - 1, 'the connection broke']);
      await clock.advance(1.8);
      expect(server.asked).toHaveLength(round);
    }
    server.end();
    await clock.advance(0);
    expect(reflector.trouble).toBeUndefined();
  });

  it('goes on from where an event was, whatever its version looks like, unless it has none', async () => {
    const { clock, server, reflector } = await watching();
    const event = (metadata: object) => JSON.stringify({ type: 'ADDED', object: { metadata, spec: {} } });
    server.say(`${event({ name: 'x', uid: 'x' })}\n`);
    await clock.advance(0);
    expect(reflector.position).toBe('5');
    server.say(`${event({ name: 'y', uid: 'y', resourceVersion: 'seven' })}\n`);
    await clock.advance(0);
    expect(reflector.position).toBe('seven');
    server.end();
    await clock.advance(0);
    expect(server.asked).toEqual(['watch from seven']);
  });

  it('has no position before the first list, and none once it is distrusted', async () => {
    const { clock, reflector } = reflected();
    expect(reflector.position).toBeUndefined();
    await clock.advance(1);
    expect(reflector.position).toBe('5');
    reflector.distrust('it is wrong');
    expect(reflector.position).toBeUndefined();
  });

  it('lists anew at once, which is no failure, when all that was written must be seen', async () => {
    const { clock, server, reflector, failures, changes } = await watching();
    const before = changes();
    reflector.renew();
    expect([reflector.position, reflector.age]).toEqual([undefined, undefined]);
    await clock.advance(0);
    expect(server.asked).toEqual(['list', 'next page', 'watch from 5']);
    expect([reflector.position, reflector.age, failures, reflector.trouble]).toEqual(['5', 0, [], undefined]);
    expect(changes()).toBe(before + 1);
  });

  it('lists anew after a watch that the server takes for invalid', async () => {
    const { clock, server, failures } = await watching();
    server.refuse(answer(422));
    server.end();
    await clock.advance(0.3);
    expect(server.asked).toEqual(['watch from 5', 'list', 'next page', 'watch from 5']);
    expect(failures).toHaveLength(1);
  });

  it('takes no list that does not say of when it is', async () => {
    const { clock, server, reflector, failures } = reflected();
    const { open } = server.client;
    const list = vi.spyOn(server.client, 'open');
    list.mockImplementationOnce(async (_, __, consume) => {
      const chunks = (async function* () {
        yield Buffer.from('{"kind":"List","metadata":{},"items":[]}');
      })();
      return await consume({ chunks, serverTime: clock.now() });
    });
    list.mockImplementation(open);
    await clock.advance(0);
    expect([reflector.age, reflector.position]).toEqual([undefined, undefined]);
    expect(failures.map(String)).toEqual([expect.stringContaining('list of things has no resourceVersion')]);
    await clock.advance(1);
    expect(reflector.entries.size).toBe(4);
  });

  it.each([
    ['whole objects', false, [undefined, undefined, undefined]],
    [
      'their metadata alone',
      true,
      [
        'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
        'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
        'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      ],
    ],
  ])('asks for %s', async (_, metadataOnly, expected) => {
    const { clock, server, stop } = reflected();
    await stop();
    const target = { group: '', version: 'v1', resource: 'things' };
    const open = vi.spyOn(server.client, 'open');
    const reflection = new Reflector(server.client, { target, metadataOnly }).handle({
      read: () => undefined,
      changed: () => undefined,
      failed: () => undefined,
      drifted: () => undefined,
    });
    const controller = new AbortController();
    const running = reflection.run(controller.signal);
    await clock.advance(1);
    expect(open.mock.calls.map(([request]) => request.accept)).toEqual(expected);
    controller.abort();
    await running;
  });

  it('asks for nothing when it was stopped before', async () => {
    const { clock, server, shared } = reflected([]);
    await clock.advance(1);
    server.asked.splice(0);
    const quiet = { read: () => 0, changed: () => undefined, failed: () => undefined, drifted: () => undefined };
    await shared.handle(quiet).run(AbortSignal.abort());
    await clock.advance(1);
    expect(server.asked).toEqual([]);
  });

  it('survives a listener that throws', async () => {
    const { clock, server, reflector, failures } = await watching();
    failures.push = () => {
      throw new Error('mine');
    };
    server.put('x');
    await clock.advance(0);
    expect(reflector.entries.size).toBe(5);
  });

  it('that is distrusted lists anew, and has no age until then', async () => {
    const { clock, server, held, stored, reflector, failures } = await watching();
    server.dropNext();
    server.remove('a');
    reflector.distrust('a is gone');
    expect(reflector.age).toBeUndefined();
    await clock.advance(0);
    expect(held()).toEqual(stored());
    expect(reflector.age).toBe(0);
    expect(server.asked).toEqual(['list', 'watch from 6']);
    expect(failures.map(String)).toEqual([expect.stringContaining('a is gone')]);
  });

  it('ends while it watches, lists or waits', async () => {
    const made = await watching();
    await made.stop();
    expect(made.failures).toEqual([]);
    const waiting = reflected();
    waiting.server.refuse(unreachable());
    await waiting.clock.advance(0.1);
    await waiting.stop();
    const early = reflected();
    await early.stop();
    expect(early.failures).toEqual([]);
  });
});

/** One more handler of the same reflector, and what it heard. */
function another({ shared }: ReflectedServer, part?: Part) {
  const heard: string[] = [];
  const reflection = shared.handle<unknown>({
    part,
    read: (object) => object,
    removed: (object) => heard.push(`removed ${nameForPeople(object)}`),
    changed: ({ added, updated, removed }) => heard.push(`+${added} ~${updated} -${removed}`),
    failed: () => heard.push('failed'),
    drifted: () => heard.push('drifted'),
  });
  const controller = new AbortController();
  const running = reflection.run(controller.signal);
  const leave = async () => {
    controller.abort();
    await running;
  };
  return { reflection, heard, leave, names: () => [...reflection.entries.keys()] };
}

describe('several handlers of one reflector', () => {
  it('share one watch; one that joins late has all objects after a list, of which the others hear nothing', async () => {
    const made = await watching();
    const before = made.changes();
    const late = another(made);
    expect(late.reflection.age).toBeUndefined();
    await made.clock.advance(1);
    expect(made.server.asked).toEqual(['list', 'next page', 'watch from 5']);
    expect(late.names()).toEqual(['a', 'b', 'c', 'd']);
    expect([late.heard, late.reflection.age]).toEqual([['+4 ~0 -0'], made.reflector.age]);
    expect([made.changes(), made.failures]).toEqual([before, []]);
    made.server.put('e');
    made.server.remove('a');
    await made.clock.advance(0);
    expect(late.heard.slice(1)).toEqual(['+1 ~0 -0', 'removed a', '+0 ~0 -1']);
    expect(made.held()).toEqual(made.stored());
    await late.leave();
  });

  it('are listed for when one joins while a list is under way', async () => {
    const made = reflected();
    const second = another(made);
    await made.clock.advance(0);
    const third = another(made);
    await made.clock.advance(1);
    expect(made.server.asked.filter((asked) => asked === 'list').length).toBeLessThanOrEqual(2);
    expect([second.names(), third.names()]).toEqual(
      [made.held(), made.held()].map((held) => held.map(([name]) => name)),
    );
    await Promise.all([second.leave(), third.leave()]);
  });

  it('leave one by one; after the last nothing is asked, and one that comes back begins with a list', async () => {
    const made = await watching();
    const second = another(made);
    await made.clock.advance(1);
    await made.stop();
    made.server.put('e');
    await made.clock.advance(1);
    expect(second.names()).toContain('e');
    expect(made.reflector.entries.has('e')).toBe(false);
    await second.leave();
    // To be stopped is no trouble.
    expect([second.reflection.trouble, second.heard]).toEqual([undefined, ['+4 ~0 -0', '+1 ~0 -0']]);
    made.server.asked.splice(0);
    await made.clock.advance(700);
    expect(made.server.asked).toEqual([]);
    const third = another(made);
    await made.clock.advance(1);
    expect(made.server.asked[0]).toBe('list');
    expect(third.names()).toContain('e');
    await third.leave();
  });

  it('each keep the part that they want: what leaves it counts as deleted', async () => {
    const made = await watching();
    const has = (object: unknown) => (object as { readonly spec: { readonly done?: boolean } }).spec.done !== true;
    made.server.put('a', { done: true });
    const part = another(made, { fieldSelector: 'done!=true', has });
    await made.clock.advance(1);
    expect(part.names()).toEqual(['b', 'c', 'd']);
    made.server.put('b', { done: true });
    made.server.put('e', { done: true });
    await made.clock.advance(0);
    expect(part.names()).toEqual(['c', 'd']);
    expect(part.heard).toEqual(['+3 ~0 -0', '+0 ~0 -1']);
    expect(made.held()).toEqual(made.stored());
    await part.leave();
  });

  it('are distrusted together', async () => {
    const made = await watching();
    const second = another(made);
    await made.clock.advance(5);
    made.reflector.distrust('a is gone');
    expect(second.reflection.age).toBeUndefined();
    await made.clock.advance(5);
    expect(second.reflection.age).toBe(0);
    await second.leave();
  });
});

describe('an audit', () => {
  it('finds after an hour what the watch did not tell, and puts it right', async () => {
    const made = await watching();
    made.server.dropNext();
    made.server.put('ghost');
    made.server.dropNext();
    made.server.remove('a');
    await made.clock.advance(3500);
    expect(made.held()).not.toEqual(made.stored());
    await made.clock.advance(700);
    expect(made.held()).toEqual(made.stored());
    expect(made.drifts).toEqual([{ added: 1, updated: 0, removed: 1 }]);
    expect(made.server.asked.filter((asked) => asked.startsWith('list'))).toEqual(['list at 7']);
  });

  /** What is asked when the server ends the watch this long after the last time. */
  async function askedAfter({ clock, server }: ReflectedServer, span: number) {
    await clock.advance(span);
    server.asked.splice(0);
    server.end();
    await clock.advance(0);
    return [...server.asked];
  }

  it('is due an hour after the list, and an hour after the last audit', async () => {
    const made = reflected(['a']);
    await made.clock.advance(0);
    expect(await askedAfter(made, 3599)).toEqual(['watch from 2']);
    expect(await askedAfter(made, 1)).toEqual(['list at 2', 'watch from 2']);
    expect(await askedAfter(made, 3599)).toEqual(['watch from 2']);
    expect(await askedAfter(made, 1)).toEqual(['list at 2', 'watch from 2']);
  });

  it('that failed is due ten minutes later, and is no trouble of the watch', async () => {
    const made = reflected(['a']);
    await made.clock.advance(0);
    await askedAfter(made, 3599);
    made.server.refuse(answer(403));
    expect(await askedAfter(made, 1)).toEqual(['list at 2', 'watch from 2']);
    expect([made.failures.length, made.reflector.trouble]).toEqual([1, undefined]);
    expect(await askedAfter(made, 599)).toEqual(['watch from 2']);
    expect(await askedAfter(made, 1)).toEqual(['list at 2', 'watch from 2']);
    expect(made.failures).toHaveLength(1);
  });

  it('at a version that the server forgets becomes a list at once, without a watch from there', async () => {
    const made = reflected(['a']);
    await made.clock.advance(0);
    await askedAfter(made, 3599);
    made.server.compact();
    const asked = await askedAfter(made, 1);
    expect(asked[0]).toBe('list at 2');
    expect(asked.filter((each) => each !== 'list at 2')).toEqual(['list', 'watch from 3']);
  });

  it('tells handlers of nothing when nothing differs', async () => {
    const made = reflected(['a']);
    await made.clock.advance(0);
    const before = made.changes();
    await askedAfter(made, 3599);
    expect(await askedAfter(made, 1)).toEqual(['list at 2', 'watch from 2']);
    expect([made.drifts, made.changes()]).toEqual([[], before]);
    made.server.dropNext();
    made.server.remove('a');
    await askedAfter(made, 3599);
    expect(await askedAfter(made, 1)).toEqual(['list at 3', 'watch from 3']);
    expect([made.drifts, made.changes()]).toEqual([[{ added: 0, updated: 0, removed: 1 }], before + 1]);
  });

  it('takes nothing for drift that changes while it lists', async () => {
    const { clock, server, drifts, held, stored } = await watching();
    for (let minute = 0; minute < 150; minute += 1) {
      server.put(`n-${minute}`);
      server.remove(`n-${minute - 3}`);
      await clock.advance(60);
    }
    expect(server.asked.filter((asked) => asked.startsWith('list at'))).toHaveLength(2);
    expect(drifts).toEqual([]);
    expect(held()).toEqual(stored());
  });

  it('that fails is tried again later, and the watch goes on', async () => {
    const { clock, server, failures } = reflected(undefined, () => 0.3);
    await clock.advance(3630);
    server.asked.splice(0);
    server.refuse(answer(503));
    await clock.advance(20);
    expect(server.asked).toEqual(['list at 5', 'watch from 5']);
    expect(failures).toHaveLength(1);
    await clock.advance(700);
    expect(server.asked.slice(2).filter((asked) => !asked.startsWith('watch'))).toEqual(['list at 5', 'next page']);
    expect(server.asked.at(-1)).toBe('watch from 5');
  });

  it('at a version that the server has forgotten becomes a list', async () => {
    const { clock, server, held, stored, drifts } = reflected(undefined, () => 0.3);
    await clock.advance(3700);
    server.reset();
    server.compact();
    server.remove('a');
    await clock.advance(2);
    expect(server.asked.filter((asked) => asked === 'list')).toHaveLength(2);
    expect([held(), drifts]).toEqual([stored(), []]);
  });
});

describe('the content is', () => {
  it('current as long as the watch is open, however quiet the cluster is', async () => {
    const { clock, reflector } = await watching();
    for (let minute = 0; minute < 120; minute += 1) {
      await clock.advance(60);
      expect(reflector.age).toBeLessThan(1);
    }
  });

  it('as old as the break of the watch', async () => {
    const { clock, server, reflector } = await watching();
    await clock.advance(40);
    server.refuse(...Array.from({ length: 50 }, unreachable));
    server.reset();
    await clock.advance(100);
    expect(reflector.age).toBe(100);
    expect(reflector.trouble).toBe('the connection broke');
  });

  it('as old as the last sign of life of a watch that fell silent', async () => {
    const { clock, server, reflector } = await watching();
    await clock.advance(56);
    server.stall();
    server.refuse(...Array.from({ length: 50 }, unreachable));
    await clock.advance(88);
    expect(reflector.age).toBe(0);
    await clock.advance(4);
    expect(reflector.age).toBe(93);
  });

  it('as old as before until a new watch has had two seconds to catch up', async () => {
    const { clock, server, reflector } = await watching();
    server.refuse(answer(429, 30));
    server.reset();
    await clock.advance(31.5);
    expect(server.asked).toHaveLength(2);
    expect(reflector.age).toBe(31.5);
    await clock.advance(1);
    expect(reflector.age).toBe(0);
  });
});

describe('synced', () => {
  it('resolves when the first list is in, and ever after', async () => {
    const { clock, reflector } = reflected();
    const { signal } = new AbortController();
    const synced = reflector.synced(seconds(5), signal);
    await clock.advance(0);
    await expect(synced).resolves.toBeUndefined();
    await expect(reflector.synced(seconds(0), signal)).resolves.toBeUndefined();
  });

  it('rejects at the deadline, with the resource and the last failure', async () => {
    const { clock, server, reflector } = reflected();
    server.refuse(...Array.from({ length: 50 }, () => answer(403)));
    const synced = expect(reflector.synced(seconds(20), new AbortController().signal)).rejects.toThrow(
      /^things could not be listed within 20 s: may not list things: code 403/,
    );
    await clock.advance(20);
    await synced;
  });

  it('rejects when it is aborted', async () => {
    const { clock, server, reflector } = reflected();
    server.refuse(...Array.from({ length: 50 }, unreachable));
    const controller = new AbortController();
    const synced = expect(reflector.synced(seconds(20), controller.signal)).rejects.toThrow('enough');
    await clock.advance(1);
    controller.abort(new Error('enough'));
    await synced;
  });
});
