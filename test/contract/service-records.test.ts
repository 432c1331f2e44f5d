import { afterEach, describe, expect, it } from 'vitest';
import type { ReadingClient } from '../../src/adapters/kubernetes/list.ts';
import { createServiceRecords } from '../../src/adapters/kubernetes/service-records.ts';
import { createSharedReflectors } from '../../src/adapters/kubernetes/shared-reflectors.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { StaleCacheError } from '../../src/ports.ts';
import { answer, type FakeWatchServer, fakeWatchServer, unreachable } from '../support/fake-watch-server.ts';
import { testClock } from '../support/test-clock.ts';
import { clientOf, type FakeApiServer, json, listOf, silence, startFakeApiServer } from './fake-api-server.ts';

let server: FakeApiServer | undefined;
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
  await server?.stop();
  server = undefined;
});

const LISTENER = { failed: () => undefined, unreadable: () => undefined };

describe('watches of what ledgers are kept by', () => {
  it('are not begun when they were stopped before', async () => {
    server = await startFakeApiServer();
    const client = clientOf(server.url);
    await createServiceRecords(createSharedReflectors(client), systemClock, LISTENER).watch(AbortSignal.abort());
    expect(server.seen).toEqual([]);
    await client.close();
  });

  it('end when they are stopped, classes or none', async () => {
    server = await startFakeApiServer(json(listOf([])), silence());
    const client = clientOf(server.url);
    const stop = new AbortController();
    const records = createServiceRecords(createSharedReflectors(client), systemClock, LISTENER);
    records.follow(() => stop.abort(), stop.signal);
    await records.watch(stop.signal);
    expect(server.seen[0]?.path).toBe('/apis/evenkeel.dev/v1alpha1/serviceclasses');
    await client.close();
  });
});

describe('what ledgers are kept by', () => {
  const GOLD = { slo: '0.9', importance: 1 };

  /** Records of a cluster in memory, whose resources each have a server of their own; nothing runs until the clock moves. */
  function recorded() {
    const clock = testClock();
    const servers = new Map<string, FakeWatchServer>();
    const of = (resource: string): FakeWatchServer => {
      const known = servers.get(resource) ?? fakeWatchServer(clock);
      servers.set(resource, known);
      return known;
    };
    const classes = of('serviceclasses');
    const client: ReadingClient = {
      options: classes.client.options,
      open: (request, signal, consume) => of(request.target.resource).client.open(request, signal, consume),
    };
    const failures: string[] = [];
    const unreadable: string[] = [];
    const records = createServiceRecords(createSharedReflectors(client), clock, {
      failed: (resource, error) => void failures.push(`${resource}: ${error}`),
      unreadable: (problem) => void unreadable.push(problem),
    });
    const stop = new AbortController();
    const running = records.watch(stop.signal);
    cleanups.push(async () => {
      stop.abort();
      await running;
    });
    const asked = () => [...servers].filter(([, each]) => each.asked.length > 0).map(([resource]) => resource);
    return { clock, of, classes, records, failures, unreadable, asked };
  }

  /** Someone who follows, and how often there was something to hear. */
  function follower({ records }: ReturnType<typeof recorded>) {
    const stop = new AbortController();
    const heard: string[] = [];
    records.follow(() => void heard.push('changed'), stop.signal);
    return { heard, stop: () => stop.abort() };
  }

  it('are told to the one who follows last, whether or not the one before has stopped', async () => {
    const made = recorded();
    await made.clock.advance(1);
    const first = follower(made);
    const second = follower(made);
    expect([first.heard.length, second.heard.length]).toEqual([1, 1]);
    first.stop();
    made.classes.put('gold', GOLD);
    await made.clock.advance(1);
    expect(first.heard).toHaveLength(1);
    const before = second.heard.length;
    expect(before).toBeGreaterThan(1);
    second.stop();
    made.classes.put('gold', { ...GOLD, importance: 2 });
    await made.clock.advance(1);
    expect(second.heard).toHaveLength(before);
  });

  it('are told to nobody before all that is needed is known', async () => {
    const made = recorded();
    const { heard } = follower(made);
    expect(heard).toEqual([]);
    made.of('pods').refuse(unreachable());
    made.classes.put('gold', GOLD);
    await made.clock.advance(0);
    expect(heard).toEqual([]);
    await made.clock.advance(1);
    expect(heard.length).toBeGreaterThan(0);
    expect(made.records.view()?.classes.get('gold')?.terms.importance).toBe(1);
  });

  it('are classes alone until there is one, and then workloads, pods, nodes and namespaces', async () => {
    const { clock, classes, asked, records } = recorded();
    await clock.advance(1);
    expect(asked()).toEqual(['serviceclasses']);
    expect(records.view()).toMatchObject({ requests: [], problems: [] });
    classes.put('gold', GOLD);
    await clock.advance(1);
    expect(asked()).toEqual(expect.arrayContaining(['nodes', 'namespaces', 'pods', 'deployments', 'jobs']));
  });

  it.each([404, 403])('are nothing, which is no failure, where classes are answered with %i', async (code) => {
    const { clock, classes, records, failures } = recorded();
    classes.refuse(answer(code), answer(code));
    await clock.advance(0.1);
    expect([records.view(), failures]).toEqual([undefined, []]);
    await clock.advance(60);
    expect(records.view()).toMatchObject({ requests: [] });
  });

  it('are not known well enough before the first list, and it is said what fails', async () => {
    const { clock, classes, records, failures } = recorded();
    expect(() => records.view()).toThrow(
      new StaleCacheError('workloads are not known well enough: serviceclasses.evenkeel.dev'),
    );
    classes.refuse(answer(500));
    await clock.advance(0.1);
    expect(failures).toEqual([expect.stringMatching(/^serviceclasses: ApiError: .*code 500/)]);
    expect(() => records.view()).toThrow(
      'workloads are not known well enough: serviceclasses.evenkeel.dev (list things: code 500 (500))',
    );
  });

  it('are trusted for a minute after the last sign of life, and no longer', async () => {
    const { clock, classes, records } = recorded();
    await clock.advance(10);
    classes.refuse(...Array.from({ length: 50 }, unreachable));
    classes.reset();
    await clock.advance(59);
    expect(records.view()).toMatchObject({ requests: [] });
    await clock.advance(1.5);
    expect(() => records.view()).toThrow('serviceclasses.evenkeel.dev (the connection broke)');
  });

  it('are told apart from what cannot be read, which is said', async () => {
    const { clock, classes, of, records, unreadable, failures } = recorded();
    classes.put('gold', GOLD);
    classes.put('worse', { slo: '7' });
    of('namespaces').put('shop');
    await clock.advance(1);
    expect([...(records.view()?.classes.keys() ?? [])]).toEqual(['gold']);
    expect(unreadable).toEqual([expect.stringContaining('serviceclasses worse: ')]);
    expect(failures).toEqual([]);
  });
});
