import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type CacheListener,
  type ClusterCache,
  createClusterCache,
} from '../../src/adapters/kubernetes/cluster-cache.ts';
import { createClusterReader } from '../../src/adapters/kubernetes/cluster-reader.ts';
import { pathOf, RESOURCES } from '../../src/adapters/kubernetes/resource.ts';
import { createServiceRecords } from '../../src/adapters/kubernetes/service-records.ts';
import { createSharedReflectors } from '../../src/adapters/kubernetes/shared-reflectors.ts';
import { LISTED_SOURCES, METRICS_SOURCES, WATCHED_SOURCES } from '../../src/adapters/kubernetes/snapshot-sources.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { SCHEDULING_GATE } from '../../src/model/gate.ts';
import { epochSeconds, seconds } from '../../src/model/units.ts';
import { plan } from '../../src/plan/planner.ts';
import type { Clock, PlanStore } from '../../src/ports.ts';
import { someOptions } from '../support/builders/options.ts';
import { aMove, aPlan } from '../support/builders/plan.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { aRawNode, aRawPod, aRawReplicaSet, type Raw } from '../support/builders/raw.ts';
import { aPodOf, aWorkload } from '../support/builders.ts';
import { RAW_OTHERS, rawPods } from '../unit/adapters/raw-objects.ts';
import { clientOf, type Handler, json, listOf, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

const SOURCES = [...WATCHED_SOURCES, ...LISTED_SOURCES];
const PATHS: ReadonlyMap<unknown, string> = new Map(SOURCES.map(({ kind, target }) => [kind, pathOf(target)]));
const DATE = { date: 'Thu, 01 Jan 2026 10:00:30 GMT' };

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

async function soon(goal: string, missing: () => Promise<string | undefined>): Promise<void> {
  await vi.waitFor(async () => expect(await missing(), goal).toBeUndefined(), { timeout: 100_000, interval: 20 });
}

type Watcher = (line: string) => void;
type Change = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Raw) => void;

const EXPIRED = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } };

/** An API server that keeps objects of all kinds, lists them and tells changes to those who watch. */
async function startWorld(objects: readonly Raw[], overrides: Readonly<Record<string, Handler>> = {}) {
  /** Lists of these paths have a second page, which waits. */
  const held = new Map<string, Promise<void>>();
  const stored = new Map<string, Map<string, Raw>>();
  const watchers = new Map<string, Set<Watcher>>();
  let revision = 100;
  let isDropped = false;

  function change(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Raw): void {
    revision += 1;
    const path = PATHS.get(object['kind']) ?? '';
    const meta = (object['metadata'] ?? {}) as Raw;
    const changed = { ...object, metadata: { ...meta, resourceVersion: String(revision) } };
    const name = `${meta['namespace']}/${meta['name']}`;
    const all = stored.get(path) ?? new Map<string, Raw>();
    stored.set(path, all);
    all.delete(name);
    if (type !== 'DELETED') {
      all.set(name, changed);
    }
    for (const tell of isDropped ? [] : (watchers.get(path) ?? [])) {
      tell(JSON.stringify({ type, object: changed }));
    }
    isDropped = false;
  }

  function dropNext(): void {
    isDropped = true;
  }

  const answer: Handler = (seen, response, socket) => {
    const override = overrides[seen.path];
    if (override !== undefined) {
      override(seen, response, socket);
    } else if (seen.query.has('watch')) {
      response.writeHead(200).flushHeaders();
      const tell: Watcher = (line) => void response.write(`${line}\n`);
      watchers.set(seen.path, (watchers.get(seen.path) ?? new Set()).add(tell));
      response.on('close', () => watchers.get(seen.path)?.delete(tell));
    } else {
      const isSecond = seen.query.has('continue');
      const items = isSecond ? [] : [...(stored.get(seen.path)?.values() ?? [])];
      const more = held.has(seen.path) && !isSecond ? { continue: 'second page' } : {};
      const page = json(listOf(items, { resourceVersion: String(revision), ...more }), 200, DATE);
      void (isSecond ? held.get(seen.path) : Promise.resolve())?.then(() => page(seen, response, socket));
    }
  };

  /** Has a path listed anew; the list comes to its end when the returned function is called. */
  async function listHalf(path: string): Promise<() => void> {
    const rest = Promise.withResolvers<void>();
    held.set(path, rest.promise);
    for (const tell of watchers.get(path) ?? []) {
      tell(JSON.stringify(EXPIRED));
    }
    const isAsked = () => server.seen.some((seen) => seen.path === path && seen.query.has('continue'));
    await soon('the second page', async () => (isAsked() ? undefined : 'not asked for'));
    return rest.resolve;
  }

  for (const object of objects) {
    change('ADDED', object);
  }
  const server = await startFakeApiServer(answer);
  cleanups.push(() => server.stop());
  const open = () => [...watchers].flatMap(([path, { size }]) => Array<string>(size).fill(path));
  return {
    server,
    change,
    dropNext,
    listHalf,
    open,
    watching: () => [...watchers.values()].filter(({ size }) => size > 0).length,
  };
}

/** A cache of such a server, all of its watches open, and the reader that lists. */
async function startCache(
  objects: readonly Raw[],
  overrides: Readonly<Record<string, Handler>> = {},
  clock: Clock = systemClock,
  plans?: Pick<PlanStore, 'list'>,
) {
  const world = await startWorld(objects, overrides);
  const client = clientOf(world.server.url, { clock, attempts: 1 });
  const failures: string[] = [];
  const listener: CacheListener = {
    failed: (resource, error) => failures.push(`${resource}: ${error instanceof Error ? error.message : error}`),
    drifted: () => undefined,
  };
  const reflectors = createSharedReflectors(client);
  const cache = createClusterCache(client, reflectors, listener, plans);
  const controller = new AbortController();
  const running = cache.run(controller.signal);
  cleanups.push(async () => {
    controller.abort();
    await running;
    await client.close();
  });
  return { ...world, cache, reflectors, failures, lister: createClusterReader(client) };
}

async function synced(...args: Parameters<typeof startCache>) {
  const started = await startCache(...args);
  await started.cache.synced(seconds(20), NEVER);
  await soon('watches', async () => (started.watching() === WATCHED_SOURCES.length ? undefined : 'too few'));
  return started;
}

const usage = (kind: string, name: string, cpu: string): Raw => ({
  apiVersion: 'metrics.k8s.io/v1beta1',
  kind,
  metadata: { name, ...(kind === 'PodMetrics' ? { namespace: 'shop' } : {}) },
  timestamp: '2026-01-01T10:00:20Z',
  window: '15s',
  ...(kind === 'PodMetrics' ? { containers: [{ usage: { cpu, memory: '1Gi' } }] } : { usage: { cpu, memory: '1Gi' } }),
});

/** Six pods on node `a`, none on `b`, and everything else that a snapshot is made from. */
const CLUSTER: readonly Raw[] = [
  aRawNode('a'),
  aRawNode('b'),
  usage('NodeMetrics', 'a', '3600m'),
  usage('NodeMetrics', 'b', '100m'),
  ...[1, 2, 3, 4, 5, 6].flatMap((index) => [aRawPod(`web-${index}`), usage('PodMetrics', `web-${index}`, '600m')]),
  aRawPod('broken', { spec: { nodeName: 7 } }),
  { apiVersion: 'v1', kind: 'Pod', metadata: {} },
  { ...aRawReplicaSet('web'), spec: { replicas: 6 }, status: { replicas: 6, readyReplicas: 6, availableReplicas: 6 } },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid: 'ns' } },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'shop', uid: 'pdb' },
    spec: { maxUnavailable: 3, selector: { matchLabels: { app: 'web' } } },
    status: { disruptionsAllowed: 3 },
  },
  ...(RAW_OTHERS as readonly Raw[]).filter(
    ({ kind }) =>
      PATHS.has(kind) && !['Node', 'NodeMetrics', 'PodMetrics', 'PodDisruptionBudget'].includes(String(kind)),
  ),
];

async function expectEqual({ cache, lister }: { cache: ClusterCache; lister: ReturnType<typeof createClusterReader> }) {
  const [cached, listed] = [await cache.reader.snapshot(NEVER), await lister.snapshot(NEVER)];
  expect(cached).toEqual(listed);
  const options = someOptions();
  expect(plan(cached, options).hash).toBe(plan(listed, options).hash);
  expect(await cache.reader.nodes(NEVER)).toEqual(cached.nodes.length === 0 ? [] : await lister.nodes(NEVER));
  return { snapshot: cached, moves: plan(cached, options).moves };
}

describe('a snapshot from caches', () => {
  it('is the one that a list gives, and comes to the same plan', async () => {
    const { snapshot, moves } = await expectEqual(await synced(CLUSTER));
    expect(moves.length).toBeGreaterThan(0);
    expect(snapshot.pods.length).toBeGreaterThan(5);
    expect(snapshot.problems.filter((problem) => problem.startsWith('Pod '))).toEqual([
      expect.stringContaining('Pod (without a name): '),
      expect.stringContaining('Pod shop/broken: spec.nodeName'),
    ]);
    expect(snapshot.takenAt).toBe(Date.parse(DATE.date) / 1000);
  });

  it('lists nothing but usage, classes and ledgers', async () => {
    const started = await synced(CLUSTER);
    const before = started.server.seen.length;
    await started.cache.reader.snapshot(NEVER);
    expect(
      started.server.seen
        .slice(before)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(LISTED_SOURCES.map(({ target }) => pathOf(target)).sort());
  });

  it('has the past moves of the store of plans, where that is kept beside the caches', async () => {
    const pod = aPodOf(aWorkload('web', { replicas: 3 }), 'web-9', 'a');
    const run = { podUID: pod.uid, phase: 'Landed', attempt: 0, startedAt: '2026-01-01T11:00:00Z' } as const;
    const plan = aPlan(aPolicy('even'), [{ ...aMove(pod, 'b'), cost: '2.5' }], { moves: [run] });
    const started = await startCache(CLUSTER, {}, systemClock, { list: async () => [plan] });
    await started.cache.synced(seconds(20), NEVER);
    const { pastMoves } = await started.cache.reader.snapshot(NEVER);
    expect(pastMoves.map(({ pod }) => pod.name)).toEqual(['web-9']);
    expect((await started.cache.reader.placements(NEVER)).pastMoves).toEqual(pastMoves);
    expect(started.open()).not.toContain(pathOf(RESOURCES.RebalancePlan));
  });

  it('is the one that a list gives after changes', async () => {
    const started = await synced(CLUSTER);
    const settled = async (pods: number) => {
      await soon('events', async () => {
        const snapshot = await started.cache.reader.snapshot(NEVER);
        return snapshot.pods.length === pods && snapshot.pods.some(({ uid }) => uid === 'anew') ? undefined : 'missing';
      });
      return expectEqual(started);
    };
    const { snapshot } = await expectEqual(started);
    started.change('MODIFIED', aRawPod('broken'));
    started.change('MODIFIED', aRawPod('web-2', { spec: { nodeName: {} } }));
    started.change('DELETED', aRawPod('web-3'));
    started.change('DELETED', aRawPod('web-4'));
    started.change('ADDED', aRawPod('web-4', { metadata: { namespace: 'shop', name: 'web-4', uid: 'anew' } }));
    const after = await settled(snapshot.pods.length - 1);
    expect(after.snapshot.problems).not.toEqual(snapshot.problems);
  });

  it('is the one that a list gives for pods of all sorts', { timeout: 120_000 }, async () => {
    const sample = fc.sample(fc.array(rawPods as fc.Arbitrary<Raw>, { maxLength: 20 }), 15);
    for (const pods of sample) {
      const named = pods.map((pod, index): Raw => {
        const metadata = { ...(pod['metadata'] as Raw), name: `pod-${index}`, uid: `pod-${index}` };
        return { ...pod, apiVersion: 'v1', kind: 'Pod', metadata };
      });
      await expectEqual(await synced([...named, aRawNode('a')]));
    }
  });

  it.each<[string, Handler, string]>([
    ['is not installed', (_, response) => response.writeHead(404, DATE).end('not found'), 'install metrics-server'],
    ['does not answer', status(503, {}, 503, DATE), '503'],
  ])('says so and knows the time when the Metrics API %s', async (_, handler, problem) => {
    const paths = Object.fromEntries(METRICS_SOURCES.map(({ target }) => [pathOf(target), handler]));
    const { cache } = await synced(CLUSTER, paths);
    const snapshot = await cache.reader.snapshot(NEVER);
    expect(snapshot.problems).toContainEqual(expect.stringContaining(problem));
    expect([snapshot.usage, snapshot.takenAt]).toEqual([undefined, Date.parse(DATE.date) / 1000]);
  });
});

describe('without a filled cache', () => {
  const forbidden = { '/api/v1/nodes': status(403, { message: 'nodes is forbidden' }) };

  it('there is no snapshot and there are no nodes, and it is said why', async () => {
    const { cache, failures } = await startCache(CLUSTER, forbidden);
    const rejected = {
      name: 'StaleCacheError',
      message: expect.stringMatching(/^nodes could not be listed within 1 s: may not list nodes/),
    };
    await expect(cache.synced(seconds(1), NEVER)).rejects.toMatchObject(rejected);
    const stale =
      /^the cluster is not known well enough: nodes not listed yet \(may not list nodes: nodes is forbidden: grant the verb list/;
    await expect(cache.reader.snapshot(NEVER)).rejects.toThrow(stale);
    await expect(cache.reader.nodes(NEVER)).rejects.toThrow(stale);
    expect(failures[0]).toContain('nodes: may not list nodes');
    expect(cache.states().find(({ resource }) => resource === 'nodes')).toEqual({
      resource: 'nodes',
      objects: 0,
      age: undefined,
    });
    expect(cache.states().find(({ resource }) => resource === 'pods')).toMatchObject({ age: expect.any(Number) });
  });

  it('single objects are read all the same', async () => {
    const one = { '/api/v1/namespaces/shop/pods/web-1': json(aRawPod('web-1')) };
    const { cache } = await startCache(CLUSTER, { ...forbidden, ...one });
    expect((await cache.reader.pod({ namespace: 'shop', name: 'web-1' }, NEVER)).pod?.uid).toBe('pod-web-1');
  });
});

it('a cache that was cut off for more than 60 s is not planned from', async () => {
  let skew = 0;
  const clock = { ...systemClock, monotonic: () => seconds(systemClock.monotonic() + skew) };
  const world = await startWorld(CLUSTER);
  const client = clientOf(world.server.url, { clock, attempts: 1 });
  const broken = new Set<string>();
  const failed = (resource: string) => void broken.add(resource);
  const cache = createClusterCache(client, createSharedReflectors(client), { failed, drifted: () => undefined });
  const controller = new AbortController();
  const running = cache.run(controller.signal);
  await cache.synced(seconds(20), NEVER);
  await cache.reader.snapshot(NEVER);
  await world.server.stop();
  await soon('the break', async () => (broken.size === WATCHED_SOURCES.length ? undefined : 'open'));
  skew = 61;
  await expect(cache.reader.snapshot(NEVER)).rejects.toThrow(/pods cut off for 6\d s \(/);
  controller.abort();
  await running;
  await client.close();
});

describe('a cache of pods', () => {
  const read = { namespace: 'shop', name: 'web-1' };

  /** A filled cache on a clock that can be moved on, and live reads of web-1 that find `live`. */
  async function reading(live: Handler) {
    let skew = 0;
    const clock = { ...systemClock, monotonic: () => seconds(systemClock.monotonic() + skew) };
    const started = await synced(CLUSTER, { '/api/v1/namespaces/shop/pods/web-1': live }, clock);
    await started.cache.reader.pod(read, NEVER);
    const lists = () => started.server.seen.filter(({ path, query }) => path === '/api/v1/pods' && !query.has('watch'));
    const before = lists().length;
    return {
      ...started,
      later: (span: number) => {
        skew += span;
      },
      listed: () => lists().length - before,
    };
  }

  it('is listed anew when a live read found a pod gone and the watch does not tell', async () => {
    const { cache, later, listed, dropNext, change } = await reading(status(404));
    await cache.reader.snapshot(NEVER);
    dropNext();
    change('DELETED', aRawPod('web-1'));
    later(5);
    await expect(cache.reader.snapshot(NEVER)).rejects.toThrow('pods not listed yet');
    await soon('the list', async () => (cache.states().some(({ age }) => age === undefined) ? 'not yet' : undefined));
    expect((await cache.reader.snapshot(NEVER)).pods.map(({ name }) => name)).not.toContain('web-1');
    expect(listed()).toBe(1);
  });

  it('is listed anew once, and is believed when the list has the pod as it was', async () => {
    const { cache, later, listed } = await reading(status(404));
    later(5);
    await expect(cache.reader.snapshot(NEVER)).rejects.toThrow('pods not listed yet');
    await soon('the list', async () => (cache.states().some(({ age }) => age === undefined) ? 'not yet' : undefined));
    later(5);
    expect((await cache.reader.snapshot(NEVER)).pods.map(({ name }) => name)).toContain('web-1');
    expect(listed()).toBe(1);
  });

  it.each<[string, Handler, ((change: Change) => void) | undefined]>([
    ['it is right', json(aRawPod('web-1')), undefined],
    ['the watch tells, if late', status(404), (change) => change('DELETED', aRawPod('web-1'))],
  ])('is kept when %s', async (_, live, act) => {
    const { cache, later, listed, change } = await reading(live);
    const { pods } = await cache.reader.snapshot(NEVER);
    act?.(change);
    await soon('the event', async () => {
      const left = (await cache.reader.snapshot(NEVER)).pods.length;
      return act === undefined || left < pods.length ? undefined : 'not yet';
    });
    later(30);
    await cache.reader.snapshot(NEVER);
    expect(listed()).toBe(0);
  });
});

describe('what came and went', () => {
  type Started = Awaited<ReturnType<typeof synced>>;

  /** What a change counts for. Objects of one kind are told of in their order: one more after it says that it is in. */
  async function counted({ cache, change }: Started, changes: readonly Raw[]) {
    const [object = {}] = changes;
    const { resource } = RESOURCES[object['kind'] as keyof typeof RESOURCES];
    const size = () => cache.states().find((state) => state.resource.split('.')[0] === resource)?.objects ?? 0;
    const [before, objects] = [cache.turnover(), size()];
    for (const each of changes) {
      change('MODIFIED', each);
    }
    const uid = `last of ${objects}`;
    change('ADDED', { ...object, metadata: { ...(object['metadata'] as Raw), name: uid, uid } });
    await soon(uid, async () => (size() > objects ? undefined : 'not there yet'));
    const { room, requests } = cache.turnover();
    return { room: room - before.room, requests: requests - before.requests };
  }

  const waiting = aRawNode('a', { status: { conditions: [{ type: 'Ready', status: 'False' }] } });
  const images = aRawNode('a', { status: { images: [{ names: ['app:1'], sizeBytes: 5 }] } });
  const known = (wanted: string): Raw => CLUSTER.findLast(({ kind }) => kind === wanted) ?? {};

  it('are also budgets that let go whom they kept, but not those that let go others, or keep them', async () => {
    const started = await synced([...CLUSTER]);
    const budget = (disruptionsAllowed: number): Raw => ({
      ...known('PodDisruptionBudget'),
      status: { disruptionsAllowed },
    });
    expect(await counted(started, [budget(2), budget(0), budget(0)])).toEqual({ room: 1, requests: 0 });
    expect(await counted(started, [budget(1), budget(2)])).toEqual({ room: 2, requests: 0 });
  });

  it('are also nodes that take other pods than before, pods that leave their room, and storage', async () => {
    const started = await synced([...CLUSTER]);
    // The last one of each counts for 1.
    expect(await counted(started, [images])).toEqual({ room: 1, requests: 1 });
    expect(await counted(started, [waiting])).toEqual({ room: 2, requests: 2 });
    expect(await counted(started, [aRawNode('a'), waiting, aRawNode('a')])).toEqual({ room: 4, requests: 4 });
    expect(await counted(started, [aRawPod('web-1')])).toEqual({ room: 1, requests: 0 });
    expect(await counted(started, [aRawPod('web-1', { status: { phase: 'Failed' } })])).toEqual({
      room: 2,
      requests: 0,
    });
    expect(await counted(started, [known('PersistentVolumeClaim')])).toEqual({ room: 2, requests: 0 });
    expect(await counted(started, [known('ReplicaSet')])).toEqual({ room: 0, requests: 1 });
    expect(await counted(started, [aRawPod('broken')])).toEqual({ room: 2, requests: 0 });
  });

  it('say which pods are down with the one node that has failed', async () => {
    const started = await synced([...CLUSTER]);
    const notReady = { conditions: [{ type: 'Ready', status: 'False' }] };
    const stranded = () => started.cache.turnover().stranded;
    const others = { spec: { nodeName: 'b' }, status: notReady };
    expect(stranded()).toEqual([]);
    for (const pod of [aRawPod('web-1', { status: notReady }), aRawPod('web-2', others), waiting]) {
      started.change('MODIFIED', pod);
    }
    await soon('the pod', async () => (stranded().includes('pod-web-1') ? undefined : 'not there yet'));
    expect(stranded()).toEqual(['pod-web-1']);
    started.change('MODIFIED', aRawNode('a'));
    await soon('the node', async () => (stranded().length === 0 ? undefined : 'not Ready yet'));
  });

  it('are counted when the list is complete that tells of them, whatever comes meanwhile', async () => {
    const started = await synced([...CLUSTER]);
    const before = started.cache.turnover();
    started.dropNext();
    started.change('MODIFIED', waiting);
    const complete = await started.listHalf('/api/v1/nodes');
    started.change('ADDED', aRawPod('other'));
    await soon('a pod', async () => (started.cache.turnover().room > before.room ? undefined : 'not there yet'));
    expect(started.cache.turnover()).toEqual({ ...before, room: before.room + 1 });
    complete();
    await soon('the list', async () =>
      started.cache.turnover().requests > before.requests ? undefined : 'not there yet',
    );
    expect(started.cache.turnover()).toMatchObject({ room: before.room + 2, requests: before.requests + 1 });
  });
});

it('a cache tells of pods that come to our gate, and of no others', async () => {
  const started = await synced(CLUSTER);
  const arrived = vi.fn<() => void>();
  started.cache.onArrival(arrived);
  const atGate = (name: string): Raw =>
    aRawPod(name, {
      spec: { nodeName: undefined, schedulingGates: [{ name: SCHEDULING_GATE }] },
      status: { phase: 'Pending' },
    });
  const inCache = (name: string) => async () => {
    const { pods } = await started.cache.reader.snapshot(NEVER);
    return pods.some((pod) => pod.name === name) ? undefined : 'not there yet';
  };
  started.change('ADDED', aRawPod('other'));
  await soon('a pod', inCache('other'));
  expect(arrived).not.toHaveBeenCalled();
  started.change('ADDED', atGate('held'));
  await soon('a pod at the gate', inCache('held'));
  expect(arrived).toHaveBeenCalledOnce();
  started.change('MODIFIED', atGate('held'));
  started.change('ADDED', aRawPod('another'));
  await soon('one more pod', inCache('another'));
  expect(arrived).toHaveBeenCalledOnce();
});

describe('caches and ledgers together', () => {
  const classes = pathOf(RESOURCES.ServiceClass);
  const gold: Raw = {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'ServiceClass',
    metadata: { name: 'gold', uid: 'uid-gold' },
    spec: { slo: '0.9', importance: 1, window: '1h', mode: 'Aggregated' },
  };
  const labelled: Raw = {
    ...aRawReplicaSet('web'),
    spec: { replicas: 6, template: { metadata: { labels: { 'evenkeel.dev/service-class': 'gold' } } } },
  };
  const finished = (name: string): Raw => aRawPod(name, { status: { phase: 'Succeeded' } });

  /** Filled caches, and records, of a replica that waits to lead. */
  async function waiting(objects: readonly Raw[], clock: Clock = systemClock) {
    const started = await synced(objects.filter(({ kind }) => kind !== 'QoSLedger'));
    const records = createServiceRecords(started.reflectors, clock, {
      failed: (resource, error) => started.failures.push(`${resource}: ${error}`),
      unreadable: () => undefined,
    });
    const controller = new AbortController();
    const running = records.watch(controller.signal);
    cleanups.push(async () => {
      controller.abort();
      await running;
    });
    const view = () => {
      try {
        return records.view();
      } catch {
        return undefined;
      }
    };
    await soon('records', async () => (view() === undefined ? 'not yet' : undefined));
    const watched = () => started.open().toSorted();
    const lead = (changed: () => void = () => undefined) => records.follow(changed, controller.signal);
    return { ...started, view, watched, lead };
  }

  /** The same of a replica that leads. */
  async function leading(objects: readonly Raw[]) {
    const started = await waiting(objects);
    started.lead();
    return started;
  }

  const cached = (cache: ClusterCache) => cache.states().find(({ resource }) => resource === 'pods')?.objects;
  const planned = WATCHED_SOURCES.map(({ target }) => pathOf(target));
  const without = CLUSTER.filter(({ kind }) => kind !== 'ServiceClass');

  it('watch nothing for ledgers but classes while there is none, and ask for no pods that have succeeded', async () => {
    const { watched, server } = await leading(without);
    await soon('watches', async () => (watched().length < planned.length + 1 ? 'too few' : undefined));
    expect(watched()).toEqual([...planned, classes].toSorted());
    const watches = server.seen.filter(({ query }) => query.has('watch'));
    expect(watches).toHaveLength(planned.length + 1);
    const ofPods = watches.find(({ path }) => path === '/api/v1/pods');
    expect(ofPods?.query.get('fieldSelector')).toBe('status.phase!=Succeeded');
  });

  it('watch each kind once, all pods among them, and caches keep no finished ones', async () => {
    const started = await leading([...without, gold, labelled, finished('done')]);
    await soon('watches', async () => (started.watched().length < planned.length + 1 ? 'too few' : undefined));
    expect(started.watched()).toEqual([...planned, classes].toSorted());
    const last = started.server.seen.findLast(({ path, query }) => path === '/api/v1/pods' && query.has('watch'));
    expect(last?.query.has('fieldSelector')).toBe(false);
    const before = cached(started.cache);
    started.change('MODIFIED', finished('web-1'));
    const recorded = () => started.view()?.requests.flatMap(({ record }) => record.pods) ?? [];
    const end = (uid: string) => recorded().find((pod) => pod.uid === uid)?.end?.how;
    await soon('the end of web-1', async () =>
      end('pod-web-1') === 'Succeeded' ? undefined : JSON.stringify(recorded()),
    );
    expect(end('pod-done')).toBe('Succeeded');
    expect(cached(started.cache)).toBe((before ?? 0) - 1);
    const { pods } = await started.cache.reader.snapshot(NEVER);
    expect(pods.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['done']));
    expect(started.failures).toEqual([]);
  });

  it('know all at once when a replica begins to lead that has waited, and list nothing for it', async () => {
    const { server, lead, watched } = await waiting([...without, gold, labelled]);
    await soon('watches', async () => (watched().length < planned.length + 1 ? 'too few' : undefined));
    const before = server.seen.length;
    const changed = vi.fn<() => void>();
    lead(changed);
    expect(changed).toHaveBeenCalledOnce();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.seen).toHaveLength(before);
  });

  it('take a pod that an unfinished list has brought for one that is there', async () => {
    const started = await waiting([...without, gold, labelled]);
    await soon('watches', async () => (started.watched().length < planned.length + 1 ? 'too few' : undefined));
    started.lead();
    const web7 = () =>
      started
        .view()
        ?.requests.flatMap(({ record }) => record.pods)
        .find(({ uid }) => uid === 'pod-web-7');
    started.dropNext();
    started.change('ADDED', aRawPod('web-7'));
    const finish = await started.listHalf('/api/v1/pods');
    expect(web7()).toMatchObject({ end: undefined });
    finish();
    await soon('the watch after the list', async () =>
      started.watched().includes('/api/v1/pods') ? undefined : 'none',
    );
    expect(web7()).toMatchObject({ end: undefined });
    started.dropNext();
    started.change('DELETED', aRawPod('web-7'));
    (await started.listHalf('/api/v1/pods'))();
    await soon('the end of web-7', async () => (web7()?.end?.how === 'Deleted' ? undefined : 'is not known'));
  });

  it('have a pod no more that its controller has let go', async () => {
    const started = await waiting([...without, gold, labelled]);
    await soon('watches', async () => (started.watched().length < planned.length + 1 ? 'too few' : undefined));
    started.lead();
    const { metadata, ...rest } = aRawPod('web-1');
    const { ownerReferences: _, ...orphan } = metadata as Raw;
    started.change('MODIFIED', { ...rest, metadata: orphan });
    const end = () =>
      started
        .view()
        ?.requests.flatMap(({ record }) => record.pods)
        .find(({ uid }) => uid === 'pod-web-1')?.end?.how;
    await soon('the end of web-1', async () => (end() === 'Deleted' ? undefined : String(end())));
  });

  it.each([
    ['tell of a pod that went shortly before the replica began to lead', 800, ['pod-web-1']],
    ['have forgotten what went long before, which another leader has counted', 1000, []],
  ])('%s', async (_, later, remembered) => {
    let skipped = 0;
    const clock: Clock = { ...systemClock, now: () => epochSeconds(systemClock.now() + skipped) };
    const started = await waiting([...without, gold, labelled], clock);
    await soon('watches', async () => (started.watched().length < planned.length + 1 ? 'too few' : undefined));
    const gone = () =>
      (started.view()?.requests ?? []).flatMap(({ record }) =>
        record.pods.flatMap(({ uid, end }) => (end === undefined ? [] : uid)),
      );
    started.change('DELETED', aRawPod('web-1'));
    await soon('the end of web-1', async () => (gone().length === 0 ? 'is not known' : undefined));
    skipped = later;
    started.change('MODIFIED', finished('web-2'));
    await soon('the end of web-2', async () => (gone().includes('pod-web-2') ? undefined : 'is not known'));
    started.lead();
    expect(gone().filter((uid) => uid !== 'pod-web-2')).toEqual(remembered);
  });
});
