import { afterEach, describe, expect, it } from 'vitest';
import type { ReadingClient } from '../../src/adapters/kubernetes/list.ts';
import { RESOURCES } from '../../src/adapters/kubernetes/resource.ts';
import { createServiceRecords } from '../../src/adapters/kubernetes/service-records.ts';
import { createSharedReflectors } from '../../src/adapters/kubernetes/shared-reflectors.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { StaleCacheError } from '../../src/ports.ts';
import { aRawPod, aRawReplicaSet, type Raw } from '../support/builders/raw.ts';
import { answer, type FakeWatchServer, fakeWatchServer, unreachable } from '../support/fake-watch-server.ts';
import { NOON, testClock } from '../support/test-clock.ts';
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

  /** Records of the workload web, which has two pods. */
  async function ofWeb() {
    const made = recorded();
    made.classes.put('gold', GOLD);
    await made.clock.advance(5);
    let version = 100;
    const tell = async (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Raw): Promise<void> => {
      version += 1;
      const metadata = { ...(object['metadata'] as Raw), resourceVersion: String(version) };
      const { resource } = RESOURCES[object['kind'] as keyof typeof RESOURCES];
      made.of(resource).say(`${JSON.stringify({ type, object: { ...object, metadata } })}\n`);
      await made.clock.advance(0);
    };
    const labels = { 'evenkeel.dev/service-class': 'gold' };
    await tell('ADDED', aRawReplicaSet('web', { spec: { template: { metadata: { labels } } } }));
    await tell('ADDED', aRawPod('web-1'));
    await tell('ADDED', aRawPod('web-2'));
    /** Pods as ledgers would have them, each with how it ended. */
    const pods = () =>
      (made.records.view()?.requests ?? [])
        .flatMap(({ record }) => record.pods)
        .map(({ uid, end }) => (end === undefined ? uid : `${uid} ${end.how}`));
    return { ...made, tell, pods };
  }

  it('tell of pods that are gone, however they went', async () => {
    const { tell, pods, unreadable } = await ofWeb();
    expect(pods()).toEqual(['pod-web-1', 'pod-web-2']);
    await tell('DELETED', aRawPod('web-1'));
    expect(pods()).toEqual(['pod-web-1 Deleted', 'pod-web-2']);
    // It can be read no more.
    await tell('MODIFIED', aRawPod('web-2', { spec: { nodeName: 7 } }));
    expect(pods()).toEqual(['pod-web-1 Deleted', 'pod-web-2 Deleted']);
    expect(unreadable).toEqual([expect.stringMatching(/^pods shop\/web-2: spec.nodeName/)]);
  });

  it('say since which second a pod is missed', async () => {
    const { clock, tell, records } = await ofWeb();
    await clock.advance(0.7);
    await tell('DELETED', aRawPod('web-1'));
    const seen = records.view()?.requests.flatMap(({ record }) => record.pods.map(({ missedAt }) => missedAt));
    expect(seen).toEqual([NOON + 5, undefined]);
  });

  it('have the last state of a pod that was deleted, and nothing of one without a UID', async () => {
    const { tell, pods, failures } = await ofWeb();
    await tell('DELETED', aRawPod('web-1', { status: { phase: 'Succeeded' } }));
    await tell('DELETED', aRawPod('web-9', { metadata: { uid: 9 } }));
    expect(pods()).toEqual(['pod-web-1 Succeeded', 'pod-web-2']);
    expect(failures).toEqual([]);
  });

  it.each([
    ['have a pod for fifteen minutes after it went', 900, ['pod-web-1 Deleted', 'pod-web-2']],
    ['have a pod no longer than that', 901, ['pod-web-2']],
  ])('%s while a replica waits to lead', async (_, later, expected) => {
    const { clock, tell, pods } = await ofWeb();
    // Times are of whole seconds.
    await clock.advance(0.5);
    await tell('DELETED', aRawPod('web-1'));
    await clock.advance(later);
    await tell('MODIFIED', aRawPod('web-2'));
    expect(pods()).toEqual(expected);
  });

  it('are looked through once a minute for what has gone long ago', async () => {
    const { clock, tell, pods } = await ofWeb();
    await tell('DELETED', aRawPod('web-1'));
    await clock.advance(850);
    await tell('MODIFIED', aRawPod('web-2'));
    await clock.advance(59.9);
    await tell('MODIFIED', aRawPod('web-2'));
    expect(pods()).toContain('pod-web-1 Deleted');
    await clock.advance(0.1);
    await tell('MODIFIED', aRawPod('web-2'));
    expect(pods()).toEqual(['pod-web-2']);
  });

  it('keep all that has gone for the one who follows', async () => {
    const made = await ofWeb();
    follower(made);
    await made.tell('DELETED', aRawPod('web-1'));
    await made.clock.advance(2000);
    await made.tell('MODIFIED', aRawPod('web-2'));
    expect(made.pods()).toEqual(['pod-web-1 Deleted', 'pod-web-2']);
  });

  it('are not known well enough once pods or workloads have been cut off for more than a minute', async () => {
    const { clock, of, records } = await ofWeb();
    for (const resource of ['pods', 'replicasets']) {
      of(resource).refuse(...Array.from({ length: 50 }, unreachable));
      of(resource).reset();
    }
    await clock.advance(60);
    expect(records.view()?.requests).toHaveLength(1);
    await clock.advance(0.5);
    expect(() => records.view()).toThrow(
      'workloads are not known well enough: pods (the connection broke); replicasets (the connection broke)',
    );
  });

  it('are told of again when one stops to follow that another has taken over from', async () => {
    const made = await ofWeb();
    const { heard, stop } = follower(made);
    const before = heard.length;
    await made.tell('DELETED', aRawPod('web-1'));
    expect(heard.length).toBeGreaterThan(before);
    stop();
    const after = heard.length;
    await made.tell('DELETED', aRawPod('web-2'));
    expect(heard).toHaveLength(after);
    await made.clock.advance(2000);
    await made.tell('MODIFIED', aRawReplicaSet('other'));
    expect(made.pods()).toEqual([]);
  });
});
