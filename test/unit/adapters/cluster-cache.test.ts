import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ApiRequest, OpenAnswer } from '../../../src/adapters/kubernetes/client.ts';
import { createClusterCache } from '../../../src/adapters/kubernetes/cluster-cache.ts';
import type { Diff } from '../../../src/adapters/kubernetes/object-table.ts';
import { RESOURCES } from '../../../src/adapters/kubernetes/resource.ts';
import { createSharedReflectors } from '../../../src/adapters/kubernetes/shared-reflectors.ts';
import { SCHEDULING_GATE } from '../../../src/model/gate.ts';
import { seconds } from '../../../src/model/units.ts';
import { clientOf, NEVER } from '../../contract/fake-api-server.ts';
import { aRawNode, aRawPod, aRawReplicaSet, type Raw } from '../../support/builders/raw.ts';
import { answer, type FakeWatchServer, fakeWatchServer, unreachable } from '../../support/fake-watch-server.ts';
import { type TestClock, testClock } from '../../support/test-clock.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

type Told = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Caches of a cluster in memory whose watches are open since so many seconds, or not yet; each resource has a server of its own. */
async function cached(watched = 5) {
  const clock: TestClock = testClock();
  const servers = new Map<string, FakeWatchServer>();
  const of = (resource: string, group = ''): FakeWatchServer => {
    const key = `${group}/${resource}`;
    const known = servers.get(key) ?? fakeWatchServer(clock);
    servers.set(key, known);
    return known;
  };
  /** What is read alone, by name; what is not here is not there. */
  const live = new Map<string, Raw>();
  const open = async <Value>(
    request: ApiRequest,
    signal: AbortSignal,
    consume: (opened: OpenAnswer) => Promise<Value>,
  ): Promise<Value> => {
    const { verb, target } = request;
    if (verb !== 'get') {
      return await of(target.resource, target.group).client.open(request, signal, consume);
    }
    const object = live.get(target.name ?? '');
    if (object === undefined) {
      throw answer(404);
    }
    const chunks = (async function* () {
      yield Buffer.from(JSON.stringify(object));
    })();
    return await consume({ chunks, serverTime: clock.now() });
  };
  const client = Object.assign(clientOf('http://127.0.0.1:1', { clock, attempts: 1 }), { open });
  const failures: string[] = [];
  const drifts: (readonly [string, Diff])[] = [];
  const cache = createClusterCache(client, createSharedReflectors(client), {
    failed: (resource, error) => failures.push(`${resource}: ${error}`),
    drifted: (resource, diff) => drifts.push([resource, diff]),
  });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  cleanups.push(async () => {
    stop.abort();
    await running;
    await client.close();
  });
  if (watched > 0) {
    await clock.advance(watched);
  }
  let version = 100;
  /** A watch tells of these objects, one after the other. */
  const tell = async (type: Told, ...objects: readonly Raw[]): Promise<void> => {
    for (const object of objects) {
      version += 1;
      const metadata = { ...(object['metadata'] as Raw), resourceVersion: String(version) };
      const { group, resource } = RESOURCES[object['kind'] as keyof typeof RESOURCES];
      of(resource, group).say(`${JSON.stringify({ type, object: { ...object, metadata } })}\n`);
    }
    await clock.advance(0);
  };
  return { cache, clock, of, live, failures, drifts, tell };
}

const notReady = { conditions: [{ type: 'Ready', status: 'False' }] };

describe('caches of a cluster', () => {
  it('are trusted for a minute after the last sign of life, and no longer; it is said which are not, and why', async () => {
    const { cache, clock, of, tell } = await cached();
    await tell('ADDED', aRawNode('b'), aRawNode('a'));
    of('nodes').refuse(...Array.from({ length: 50 }, unreachable));
    of('nodes').reset();
    await clock.advance(60);
    expect((await cache.reader.nodes(NEVER)).map(({ name }) => name)).toEqual(['a', 'b']);
    expect((await cache.reader.placements(NEVER)).nodes).toHaveLength(2);
    await clock.advance(0.6);
    const stale = 'the cluster is not known well enough: nodes cut off for 61 s (the connection broke)';
    await expect(cache.reader.nodes(NEVER)).rejects.toThrow(stale);
    await expect(cache.reader.snapshot(NEVER)).rejects.toThrow(stale);
    // Nothing is listed for it either.
    expect(of('qosledgers', 'evenkeel.dev').asked).toEqual([]);
    await expect(cache.reader.placements(NEVER)).rejects.toThrow(stale);
    await expect(cache.reader.measured(NEVER)).rejects.toThrow(stale);
  });

  it('are not known well enough before they are listed, all of them', async () => {
    const { cache } = await cached(0);
    await expect(cache.reader.placements(NEVER)).rejects.toThrow(
      /^the cluster is not known well enough: pods not listed yet; nodes not listed yet; .*[a-z] not listed yet$/,
    );
    expect(new Set(cache.states().map(({ age }) => age))).toEqual(new Set([undefined]));
  });

  it('that are not needed for usage do not keep it from being read', async () => {
    const { cache, clock, of, tell } = await cached();
    await tell('ADDED', aRawNode('a'), aRawPod('web-1'), aRawReplicaSet('web'));
    of('replicasets', 'apps').refuse(...Array.from({ length: 50 }, unreachable));
    of('replicasets', 'apps').reset();
    await clock.advance(61);
    const { nodes, pods } = await cache.reader.measured(NEVER);
    expect([nodes.length, pods.length]).toEqual([1, 1]);
    await expect(cache.reader.placements(NEVER)).rejects.toThrow('replicasets cut off for 61 s');
  });

  it('tell which of them drifted or failed', async () => {
    const { clock, of, drifts, failures } = await cached();
    of('nodes').dropNext();
    of('nodes').put('ghost');
    of('pods').fail(500);
    await clock.advance(3700);
    expect(drifts).toEqual([['nodes', { added: 1, updated: 0, removed: 0 }]]);
    expect(failures).toEqual([expect.stringMatching(/^pods: ApiError/)]);
  });

  it('keep an object that cannot be read as a problem of snapshots, and no node of it', async () => {
    const { cache, tell, failures } = await cached();
    await tell('ADDED', aRawNode('a'), aRawNode('b', { spec: { unschedulable: 'perhaps' } }));
    expect((await cache.reader.nodes(NEVER)).map(({ name }) => name)).toEqual(['a']);
    expect((await cache.reader.placements(NEVER)).problems).toEqual([expect.stringContaining('Node b: ')]);
    expect(cache.states().find(({ resource }) => resource === 'nodes')?.objects).toBe(2);
    expect(failures).toEqual([]);
  });
});

describe('a pod that a live read finds otherwise than the cache has it', () => {
  const ref = { namespace: 'shop', name: 'web-1' };

  /** The cache has web-1, and a live read finds nothing. */
  async function doubted() {
    const made = await cached();
    await made.tell('ADDED', aRawPod('web-1'));
    await made.cache.reader.pod(ref, NEVER);
    const read = async (pod?: Raw) => {
      made.live.clear();
      if (pod !== undefined) {
        made.live.set('web-1', pod);
      }
      await made.cache.reader.pod(ref, NEVER);
    };
    const isTrusted = () =>
      made.cache.reader.placements(NEVER).then(
        () => true,
        () => false,
      );
    return { ...made, read, isTrusted };
  }

  it('is given five seconds to come by the watch; then pods are listed anew, and it is said why', async () => {
    const { clock, cache, isTrusted, failures } = await doubted();
    await clock.advance(4.9);
    expect(await isTrusted()).toBe(true);
    await clock.advance(0.1);
    await expect(cache.reader.placements(NEVER)).rejects.toThrow('pods not listed yet');
    await clock.advance(5);
    expect(await isTrusted()).toBe(true);
    expect(failures).toEqual([expect.stringContaining('the watch has missed that pod shop/web-1 has changed')]);
    expect((await cache.reader.placements(NEVER)).pods).toEqual([]);
  });

  it('is given no more time by another look that finds the same', async () => {
    const { clock, read, isTrusted } = await doubted();
    await clock.advance(3);
    await read();
    await clock.advance(2);
    expect(await isTrusted()).toBe(false);
  });

  it('is in no doubt any more once both agree again', async () => {
    const { clock, read, isTrusted, tell } = await doubted();
    await read(aRawPod('web-1'));
    await clock.advance(30);
    expect(await isTrusted()).toBe(true);
    // A pod that the cache has in another state, which another live read confirms.
    await read(aRawPod('web-1', { status: { phase: 'Failed' } }));
    await tell('MODIFIED', aRawPod('web-1', { status: { phase: 'Failed' } }));
    await clock.advance(30);
    expect(await isTrusted()).toBe(true);
  });

  it('begins anew with five seconds when the watch has told of something else meanwhile', async () => {
    const { clock, read, isTrusted, tell } = await doubted();
    await clock.advance(3);
    await tell('MODIFIED', aRawPod('web-1', { metadata: { labels: { app: 'shop' } } }));
    await read();
    await clock.advance(4);
    expect(await isTrusted()).toBe(true);
    await clock.advance(1);
    expect(await isTrusted()).toBe(false);
  });

  it('is no sign of anything where the cache has no such pod yet', async () => {
    const { clock, live, cache, isTrusted } = await doubted();
    live.set('web-2', aRawPod('web-2'));
    await cache.reader.pod({ namespace: 'shop', name: 'web-2' }, NEVER);
    await cache.reader.pod({ namespace: 'shop', name: 'web-3' }, NEVER);
    live.set('web-1', aRawPod('web-1'));
    await cache.reader.pod(ref, NEVER);
    await clock.advance(30);
    expect(await isTrusted()).toBe(true);
  });

  it('leaves the caches not synced until pods are listed, and it is said why they cannot be', async () => {
    const { clock, cache, of } = await doubted();
    await clock.advance(5);
    of('pods').refuse(...Array.from({ length: 50 }, unreachable));
    await expect(cache.reader.placements(NEVER)).rejects.toThrow('pods not listed yet');
    const synced = expect(cache.synced(seconds(1), NEVER)).rejects.toThrow(
      'pods could not be listed within 1 s: the connection broke',
    );
    await clock.advance(1);
    await synced;
  });

  it('counts once for all that is in doubt, since all pods are listed anew', async () => {
    const { clock, cache, tell, of, isTrusted } = await doubted();
    await tell('ADDED', aRawPod('web-2'));
    await cache.reader.pod({ namespace: 'shop', name: 'web-2' }, NEVER);
    await clock.advance(5);
    expect(await isTrusted()).toBe(false);
    await clock.advance(5);
    expect(await isTrusted()).toBe(true);
    expect(of('pods').asked.filter((asked) => asked === 'list')).toHaveLength(2);
  });
});

describe('pods at our gate', () => {
  const atGate = (name: string): Raw =>
    aRawPod(name, {
      spec: { nodeName: undefined, schedulingGates: [{ name: SCHEDULING_GATE }] },
      status: { phase: 'Pending', conditions: [] },
    });

  it('are told of when they come, to the last one who asked, and neither when they change nor with others', async () => {
    const { cache, tell } = await cached();
    const [before, arrived] = [vi.fn<() => void>(), vi.fn<() => void>()];
    await tell('ADDED', atGate('early'));
    cache.onArrival(before);
    cache.onArrival(arrived);
    await tell('ADDED', aRawPod('web-1'));
    await tell('MODIFIED', atGate('early'));
    // It has not come anew with the pod that is told of next.
    await tell('ADDED', aRawPod('web-2'));
    expect(arrived).not.toHaveBeenCalled();
    await tell('ADDED', atGate('held'));
    expect([arrived.mock.calls.length, before.mock.calls.length]).toEqual([1, 0]);
    await tell('DELETED', atGate('held'));
    expect(arrived).toHaveBeenCalledOnce();
  });
});

describe('what came and went in caches', () => {
  /** What a watch's events count for. */
  async function counted(before: readonly Raw[], type: Told, ...objects: readonly Raw[]) {
    const { cache, tell } = await cached();
    await tell('ADDED', ...before);
    const { room, requests } = cache.turnover();
    await tell(type, ...objects);
    const now = cache.turnover();
    return [now.room - room, now.requests - requests];
  }
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c', namespace: 'shop', uid: 'c' },
  };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid: 'ns' } };

  it.each<[string, Raw, readonly [room: number, requests: number]]>([
    ['a pod takes room', aRawPod('web-1'), [1, 0]],
    ['a node is room for those that want some', aRawNode('a'), [1, 1]],
    ['a workload wants room', aRawReplicaSet('web'), [0, 1]],
    ['storage decides about room', { ...claim, spec: {} }, [1, 0]],
    ['a namespace is neither', namespace, [0, 0]],
  ])('%s, when it comes and when it goes', async (_, object, expected) => {
    expect(await counted([], 'ADDED', object)).toEqual(expected);
    expect(await counted([object], 'DELETED', object)).toEqual(expected);
  });

  it.each<[string, Raw, Raw, readonly [room: number, requests: number]]>([
    ['a pod that stays as it is', aRawPod('web-1'), aRawPod('web-1'), [0, 0]],
    ['a pod that fails', aRawPod('web-1'), aRawPod('web-1', { status: { phase: 'Failed' } }), [1, 0]],
    ['a node that stays as it is', aRawNode('a'), aRawNode('a'), [0, 0]],
    ['a node that is not Ready any more', aRawNode('a'), aRawNode('a', { status: notReady }), [1, 1]],
    ['a workload that is scaled', aRawReplicaSet('web'), aRawReplicaSet('web', { spec: { replicas: 9 } }), [0, 0]],
    ['storage, whatever it says', { ...claim, spec: {} }, { ...claim, spec: {} }, [1, 0]],
    ['a pod that can be read at last', aRawPod('web-1', { spec: { nodeName: 7 } }), aRawPod('web-1'), [1, 0]],
    ['a pod that can be read no more', aRawPod('web-1'), aRawPod('web-1', { spec: { nodeName: 7 } }), [0, 0]],
  ])('has %s', async (_, before, after, expected) => {
    expect(await counted([before], 'MODIFIED', after)).toEqual(expected);
  });

  it('names pods that are down with a node that is not Ready, and none that have failed or can be read no more', async () => {
    const { cache, tell } = await cached();
    await tell('ADDED', aRawNode('a', { status: notReady }), aRawNode('b'));
    await tell(
      'ADDED',
      aRawPod('down', { status: notReady }),
      aRawPod('up'),
      aRawPod('failed', { status: { ...notReady, phase: 'Failed' } }),
      aRawPod('elsewhere', { spec: { nodeName: 'b' }, status: notReady }),
      aRawPod('broken', { spec: { nodeName: 7 }, status: notReady }),
    );
    expect(cache.turnover().stranded).toEqual(['pod-down']);
    await tell('MODIFIED', aRawNode('a'));
    expect(cache.turnover().stranded).toEqual([]);
  });
});

it('caches are synced once all are filled, in time', async () => {
  const { cache, clock } = await cached();
  const synced = expect(cache.synced(seconds(1), NEVER)).resolves.toBeUndefined();
  await clock.advance(1);
  await synced;
  expect(cache.states().map(({ age }) => age)).toEqual(cache.states().map(() => 0));
});
