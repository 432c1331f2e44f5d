import { afterEach, describe, expect, it } from 'vitest';
import { createClusterReader } from '../../src/adapters/kubernetes/cluster-reader.ts';
import { listAll, listNames, listObjects, type ReadingClient } from '../../src/adapters/kubernetes/list.ts';
import { listRawSnapshot } from '../../src/adapters/kubernetes/raw-snapshot.ts';
import { Reflector } from '../../src/adapters/kubernetes/reflector.ts';
import { RESOURCES } from '../../src/adapters/kubernetes/resource.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { isObject } from '../../src/model/json.ts';
import { type Seconds, seconds } from '../../src/model/units.ts';
import { aRawReplicaSet } from '../support/builders/raw.ts';
import {
  clientOf,
  type FakeApiServer,
  fastClock,
  type Handler,
  json,
  lines,
  listOf,
  NEVER,
  reset,
  silence,
  startFakeApiServer,
  status,
  truncated,
} from './fake-api-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

async function start(...handlers: readonly Handler[]): Promise<FakeApiServer> {
  const server = await startFakeApiServer(...handlers);
  cleanups.push(() => server.stop());
  return server;
}

function client(server: FakeApiServer, options: Parameters<typeof clientOf>[1] = {}) {
  const made = clientOf(server.url, options);
  cleanups.push(() => made.close());
  return made;
}

const named = (...names: readonly string[]) => names.map((name) => ({ metadata: { name } }));

describe('a list', () => {
  it('is read page by page', async () => {
    const server = await start(
      json(listOf(named('a', 'b'), { continue: 'next', resourceVersion: '5' })),
      json(listOf(named('c'), { resourceVersion: '5' })),
    );
    expect(await listObjects(client(server), RESOURCES.Node, { fieldSelector: 'x=y' }, NEVER)).toEqual(
      named('a', 'b', 'c'),
    );
    expect(server.seen.map(({ query }) => Object.fromEntries(query))).toEqual([
      { fieldSelector: 'x=y', limit: '500' },
      { fieldSelector: 'x=y', limit: '500', continue: 'next' },
    ]);
  });

  it.each(['RebalancePlan', 'MoveJournal'] as const)('of a %s, which may be large, has few on a page', async (kind) => {
    const server = await start(json(listOf([], { resourceVersion: '5' })));
    await listObjects(client(server), RESOURCES[kind], {}, NEVER);
    expect(server.seen.map(({ query }) => query.get('limit'))).toEqual(['25']);
  });

  it('begins anew when its continue token expires', async () => {
    const server = await start(json(listOf(named('old'), { continue: 'next' })), status(410), json(listOf(named('a'))));
    expect(await listObjects(client(server), RESOURCES.Node, {}, NEVER)).toEqual(named('a'));
  });

  it('begins anew when a page breaks off after some of its objects', async () => {
    const server = await start(
      truncated('{"items":[{"metadata":{"name":"half"}},{"meta'),
      json(listOf(named('a', 'b'))),
    );
    expect(await listObjects(client(server), RESOURCES.Node, {}, NEVER)).toEqual(named('a', 'b'));
  });

  it.each([
    ['has not begun', silence()],
    ['does not go on', lines([listOf(named('half'))], false)],
  ])('asks again for a page that %s for 20 s, long before its deadline', async (_, stalled) => {
    const server = await start(stalled, json(listOf(named('a'))));
    const began = performance.now();
    const made = client(server, { clock: impatientClock(100) });
    expect(await listObjects(made, RESOURCES.Node, {}, NEVER)).toEqual(named('a'));
    expect(performance.now() - began).toBeGreaterThanOrEqual(199);
  });

  it('gives each page a minute', async () => {
    const server = await start(json(listOf(named('a'), { continue: 'next' })), json(listOf(named('b'))));
    const made = client(server);
    const deadlines: unknown[] = [];
    const watched: ReadingClient = {
      options: made.options,
      open: (request, ...rest) => {
        deadlines.push(request.deadline);
        return made.open(request, ...rest);
      },
    };
    const names: unknown[] = [];
    const listener = { item: (item: unknown) => names.push(item), restart: () => undefined };
    await listAll(watched, RESOURCES.Node, {}, listener, NEVER);
    expect(names).toEqual(named('a', 'b'));
    expect(deadlines).toEqual([60, 60]);
  });

  it('repeats a page of which nothing has come yet', async () => {
    const server = await start(
      json(listOf(named('a'), { continue: 'next' })),
      reset(),
      status(429),
      json(listOf(named('b'))),
    );
    expect(await listObjects(client(server), RESOURCES.Node, {}, NEVER)).toEqual(named('a', 'b'));
  });

  it.each<[string, Handler, string]>([
    ['is always expired', status(410), '(410)'],
    ['always breaks off', truncated('{"items":[{}'), 'broke'],
    ['is no list', json({ kind: 'Pod' }), 'without a list'],
    ['is a failure in a 200', status(500, {}, 200), 'code 500'],
    ['ends before its end', json('x'), 'broke off or is not JSON'],
  ])('that %s is an error in the end', async (_, handler, message) => {
    await expect(listObjects(client(await start(handler)), RESOURCES.Node, {}, NEVER)).rejects.toThrow(message);
  });

  it('takes items apart whatever they hold and wherever the chunks end', async () => {
    const items = [
      { text: 'a "quoted" ]}, \\ \u00e9\u4e16\u{1f600}' },
      { list: [[{}], { deep: ['}'] }] },
      {},
      { a: null },
    ];
    const text = Buffer.from(JSON.stringify({ metadata: { note: 'x],{"items":[' }, items, kind: 'List' }, null, 1));
    const server = await start((_, response) => {
      response.writeHead(200);
      for (const byte of text) {
        response.write(Uint8Array.of(byte));
      }
      response.end();
    });
    expect(await listObjects(client(server), RESOURCES.Node, {}, NEVER)).toEqual(items);
  });

  it('without items, or with null for them, is empty', async () => {
    expect(await listObjects(client(await start(json(listOf([])))), RESOURCES.Node, {}, NEVER)).toEqual([]);
    expect(await listObjects(client(await start(json({ items: null }))), RESOURCES.Node, {}, NEVER)).toEqual([]);
  });

  it('gives the version and the time of its beginning', async () => {
    const server = await start(
      json(listOf([], { continue: 'next' }), 200, { date: 'Thu, 01 Jan 2026 10:00:00 GMT' }),
      json(listOf([], { resourceVersion: '9' }), 200, { date: 'Thu, 01 Jan 2026 10:00:09 GMT' }),
    );
    const silent = { item: () => undefined, restart: () => undefined };
    expect(await listAll(client(server), RESOURCES.Node, {}, silent, NEVER)).toEqual({
      resourceVersion: '9',
      serverTime: Date.parse('2026-01-01T10:00:00Z') / 1000,
    });
  });

  it.each([
    [3, true],
    [4, false],
  ])('that expires %i times comes to an end: %s', async (times, isRead) => {
    const server = await start(...Array.from({ length: times }, () => status(410)), json(listOf(named('a'))));
    const listed = listObjects(client(server), RESOURCES.Node, {}, NEVER);
    await (isRead
      ? expect(listed).resolves.toEqual(named('a'))
      : expect(listed).rejects.toMatchObject({ kind: 'Expired' }));
    expect(server.seen).toHaveLength(4);
  });

  it('that is to be of a version says so on its first page alone', async () => {
    const server = await start(json(listOf(named('a'), { continue: 'next' })), json(listOf(named('b'), {})));
    const silent = { item: () => undefined, restart: () => undefined };
    const end = await listAll(client(server), RESOURCES.Node, {}, silent, NEVER, { exactly: '7' });
    expect(server.seen.map(({ query }) => Object.fromEntries(query))).toEqual([
      { limit: '500', resourceVersion: '7', resourceVersionMatch: 'Exact' },
      { limit: '500', continue: 'next' },
    ]);
    expect(end.resourceVersion).toBe('');
  });

  it.each<[string, object]>([
    ['has no metadata', { items: [] }],
    ['has metadata that is none', { items: [], metadata: 'none' }],
    ['has a version and a token that are no text', { items: [], metadata: { resourceVersion: 7, continue: 8 } }],
  ])('ends where it %s', async (_, body) => {
    const server = await start(json(body));
    const silent = { item: () => undefined, restart: () => undefined };
    const end = await listAll(client(server), RESOURCES.Node, {}, silent, NEVER);
    expect([end.resourceVersion, server.seen.length]).toEqual(['', 1]);
  });

  it('of names asks for metadata alone, and leaves out what has none', async () => {
    const metadata = [{ name: 'a', namespace: 'shop' }, { name: 'b' }, { name: 'c', namespace: 7 }, { name: 7 }, null];
    const server = await start(
      json(listOf(named('old'), { continue: 'next' })),
      status(410),
      json(listOf([...metadata.map((each) => ({ metadata: each })), {}])),
    );
    expect(await listNames(client(server), RESOURCES.Pod, NEVER)).toEqual([
      { namespace: 'shop', name: 'a' },
      { namespace: undefined, name: 'b' },
      { namespace: undefined, name: 'c' },
    ]);
    expect(server.seen[0]?.headers.accept).toBe('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
  });

  it('tells how long the text of each object is, and may be as long together as it is said', async () => {
    const items = named('a', 'bc');
    const lengths: number[] = [];
    const listener = { item: (_: unknown, length: number) => lengths.push(length), restart: () => undefined };
    await listAll(client(await start(json(listOf(items)))), RESOURCES.Node, {}, listener, NEVER);
    expect(lengths).toEqual(items.map((item) => JSON.stringify(item).length));
    const whole = lengths.reduce((sum, length) => sum + length);
    // What came before the list began anew does not count.
    const anew = [json(listOf(items, { continue: 'next' })), status(410), json(listOf(items))];
    expect(await listObjects(client(await start(...anew)), RESOURCES.Node, {}, NEVER, whole)).toEqual(items);
    const server = await start(json(listOf(items)));
    await expect(listObjects(client(server), RESOURCES.Node, {}, NEVER, whole - 1)).rejects.toThrow(
      `the nodes on the API server are longer than ${whole - 1} characters together`,
    );
  });
});

const event = (type: string, version: string, name = 'p') => ({
  type,
  object: { metadata: { name, uid: `uid-${name}`, resourceVersion: version } },
});

/** Reflects until one request more has come than there are `handlers`. Nobody waits but watchdogs, and those only in HASTE. */
async function follow(...script: readonly (Handler | typeof HASTE)[]) {
  const handlers = script.filter((each) => each !== HASTE);
  const controller = new AbortController();
  const clock = impatientClock(script.includes(HASTE) ? 500 : 1);
  const errors: unknown[] = [];
  let changes = 0;
  const server = await start(...handlers, (_, response) => {
    response.writeHead(200).flushHeaders();
    controller.abort();
  });
  const listener = {
    changed: () => {
      changes += 1;
    },
    failed: (error: unknown) => errors.push(error),
    drifted: () => undefined,
  };
  const reflected = { target: RESOURCES.RebalancePolicy, metadataOnly: true };
  const shared = new Reflector(client(server, { clock, attempts: 1 }), reflected);
  const reflector = shared.handle({ ...listener, read: () => undefined });
  await reflector.run(controller.signal);
  const queries = server.seen.map(({ query }) => Object.fromEntries(query));
  const asked = queries.map(({ watch, resourceVersion }) => (watch === undefined ? 'list' : resourceVersion));
  return {
    changes,
    errors,
    slept: clock.slept,
    queries,
    asked,
    seen: server.seen,
    names: [...reflector.entries.keys()],
  };
}

/** Says that time goes by 500 times as fast. */
const HASTE = 'haste';

/** Back-off takes no time; the half minute that a watch has to open, and its silences, pass `speed` times as fast. */
function impatientClock(speed: number) {
  const fast = fastClock();
  return {
    ...fast,
    monotonic: () => seconds(systemClock.monotonic() * speed),
    sleep: (span: Seconds, signal: AbortSignal) =>
      span < 10 ? fast.sleep(span, signal) : systemClock.sleep(seconds(span / speed), signal),
  };
}

const begin = json(listOf([], { resourceVersion: '5' }));
const gone = { kind: 'Status', apiVersion: 'v1', code: 410, status: 'Failure' };

describe('a watch', () => {
  it('asks for metadata, bookmarks and an end, and tells every change but no bookmark', async () => {
    const { changes, queries, seen, names } = await follow(
      begin,
      lines(
        [event('ADDED', '6', 'a'), event('ADDED', '7', 'b'), event('BOOKMARK', '8'), event('DELETED', '9', 'a')],
        true,
      ),
    );
    expect(changes).toBe(4);
    expect(names).toEqual(['b']);
    expect(queries.slice(0, 2)).toEqual([
      { limit: '500' },
      { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '5', timeoutSeconds: '60' },
    ]);
    expect(seen.slice(0, 2).map(({ headers }) => headers.accept)).toEqual([
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    ]);
  });

  it('goes on after its end where it was, without a list, but not in a hurry', async () => {
    const { asked, errors, slept } = await follow(begin, lines([event('ADDED', '6'), event('BOOKMARK', '8')], true));
    expect(asked).toEqual(['list', '5', '8']);
    expect([errors, slept]).toEqual([[], [0.25]]);
  });

  it.each<[string, Handler]>([
    ['a 410', status(410)],
    ['a 410 in the stream', lines([event('ADDED', '6'), { type: 'ERROR', object: gone }], true)],
  ])('lists at once after %s', async (_, handler) => {
    const { asked, slept, errors } = await follow(begin, handler, json(listOf([], { resourceVersion: '20' })));
    expect(asked).toEqual(['list', '5', 'list', '20']);
    expect(slept).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  it.each<[string, Handler, string]>([
    ['a reset', reset(), '5'],
    ['a 500', status(500), '5'],
    ['a 429', status(429), '5'],
    ['a 403', status(403), '5'],
    ['a stream that breaks off', truncated(`${JSON.stringify(event('ADDED', '6'))}\n{"type":"MODI`), '6'],
  ])('goes on without a list after %s, backing off', async (_, handler, from) => {
    const { asked, slept, errors } = await follow(begin, handler);
    expect(asked).toEqual(['list', '5', from]);
    expect(slept).toEqual([0.25]);
    expect(errors).toHaveLength(1);
  });

  it('lists anew, backing off, after a line that is no event', async () => {
    const { asked, slept } = await follow(begin, lines(['hello'], false), begin);
    expect(asked).toEqual(['list', '5', 'list', '5']);
    expect(slept).toEqual([0.25]);
  });

  it('waits as long as Retry-After says', async () => {
    expect((await follow(begin, status(429, {}, 429, { 'retry-after': '7' }))).slept).toEqual([7]);
  });

  it('survives a server that is down for a while', async () => {
    const { errors, slept, changes, asked } = await follow(status(503), reset(), status(403), begin);
    expect([errors.length, changes]).toEqual([3, 1]);
    expect(asked).toEqual(['list', 'list', 'list', 'list', '5']);
    expect(slept).toEqual([0.25, 0.5, 1]);
  });

  it.each<[string, Handler, string]>([
    ['opens and then says nothing for 90 s', lines([event('ADDED', '6')], false), '6'],
    ['does not open within 30 s', silence(), '5'],
  ])('is given up and begun again where it was when it %s', async (_, handler, from) => {
    const { asked, errors } = await follow(HASTE, begin, handler);
    expect(asked).toEqual(['list', '5', from]);
    expect(errors).toMatchObject([{ kind: 'Timeout', message: expect.stringMatching(/silent for (30|90) s/) }]);
  });
});

describe('a snapshot', () => {
  const node = { metadata: { name: 'a', uid: 'n' }, status: { allocatable: { cpu: '1' }, conditions: [] } };
  const route =
    (routes: Record<string, Handler>): Handler =>
    (seen, response, socket) =>
      (routes[seen.path] ?? json(listOf([])))(seen, response, socket);

  it('is read from all lists, at the earliest time of theirs', async () => {
    const server = await start(
      route({
        '/api/v1/nodes': json(listOf([node]), 200, { date: 'Thu, 01 Jan 2026 10:00:00 GMT' }),
        '/apis/metrics.k8s.io/v1beta1/nodes': json(
          listOf([
            {
              metadata: { name: 'a' },
              timestamp: '2026-01-01T10:00:00Z',
              window: '20s',
              usage: { cpu: '1', memory: '1' },
            },
          ]),
        ),
      }),
    );
    const snapshot = await createClusterReader(client(server)).snapshot(NEVER);
    expect(snapshot).toMatchObject({ takenAt: Date.parse('2026-01-01T10:00:00Z') / 1000, problems: [] });
    expect([...(snapshot.usage?.nodes.keys() ?? [])]).toEqual(['a']);
    expect(server.seen.find(({ path }) => path === '/api/v1/pods')?.query.get('fieldSelector')).toBe(
      'status.phase!=Succeeded',
    );
  });

  it('does without usage where the Metrics API is not there, and says so', async () => {
    const gone: Handler = (_, response) => response.writeHead(404).end('404 page not found');
    const server = await start(
      route({ '/apis/metrics.k8s.io/v1beta1/nodes': gone, '/apis/metrics.k8s.io/v1beta1/pods': status(503) }),
    );
    const { usage, problems } = await createClusterReader(client(server)).snapshot(NEVER);
    expect(usage).toBeUndefined();
    expect(problems).toEqual([
      'the Metrics API cannot be read: list pods.metrics.k8s.io: code 503 (503)',
      'the Metrics API cannot be read: the API server does not serve nodes of metrics.k8s.io/v1beta1: install metrics-server',
    ]);
  });

  it('fails when one of its lists is forbidden, usage included', async () => {
    const forbidden = await start(route({ '/apis/apps/v1/replicasets': status(403) }));
    await expect(createClusterReader(client(forbidden)).snapshot(NEVER)).rejects.toThrow(
      'grant the verb list on replicasets in API group "apps"',
    );
    const metrics = await start(route({ '/apis/metrics.k8s.io/v1beta1/pods': status(403) }));
    await expect(createClusterReader(client(metrics)).snapshot(NEVER)).rejects.toThrow('API group "metrics.k8s.io"');
  });

  it('names all rights that are missing, whichever refusal comes first', async () => {
    const late: Handler = (...asked) => setTimeout(() => status(403)(...asked), 30);
    const server = await start(
      route({ '/api/v1/pods': late, '/apis/apps/v1/replicasets': status(403), '/api/v1/nodes': status(403) }),
    );
    await expect(createClusterReader(client(server)).snapshot(NEVER)).rejects.toThrow(
      /^may not list pods: .*: grant the verb list on pods in API group ""; the same is missing for nodes, replicasets$/,
    );
  });

  describe('knows what was moved before', () => {
    const plans = '/apis/evenkeel.dev/v1alpha1/rebalanceplans';
    const owner = { kind: 'ReplicaSet', name: 'web', uid: 'o' };
    const pod = { namespace: 'shop', name: 'web-1', uid: 'p' };
    const plan = {
      metadata: { name: 'even-1' },
      spec: { moves: [{ pod, owner, from: 'a', to: 'b' }] },
      status: { moves: [{ podUID: 'p', phase: 'Evicting', attempt: 0, startedAt: '2026-01-01T10:00:00Z' }] },
    };
    const historyWith = async (answer: Handler, more: Readonly<Record<string, Handler>> = {}) => {
      const { pastMoves, problems } = await createClusterReader(
        client(await start(route({ [plans]: answer, ...more }))),
      ).snapshot(NEVER);
      return { moves: pastMoves.map(({ pod: moved, phase }) => `${moved.name} ${phase}`), problems };
    };

    it('from the plans on the cluster', async () => {
      expect(await historyWith(json(listOf([plan])))).toEqual({ moves: ['web-1 InFlight'], problems: [] });
    });

    it('and from their journals, which say what the plans do not say yet', async () => {
      const marked = { ...plan, status: { ...plan.status, journal: { uid: 'j', sequence: 4 } } };
      const journal = (sequence: number) => ({
        metadata: { name: 'even-1', uid: 'j' },
        spec: { sequence, base: 4, moves: [{ ...plan.status.moves[0], phase: 'Landed' }] },
      });
      const journals = plans.replace('rebalanceplans', 'movejournals');
      const history = (sequence: number) =>
        historyWith(json(listOf([marked])), { [journals]: json(listOf([journal(sequence)])) });
      expect((await history(5)).moves).toEqual(['web-1 Landed']);
      expect((await history(4)).moves).toEqual(['web-1 InFlight']);
    });

    it('which is nothing where our kinds are not installed', async () => {
      const gone: Handler = (_, response) => response.writeHead(404).end('404 page not found');
      expect(await historyWith(gone)).toEqual({ moves: [], problems: [] });
    });

    it('and says so where they may not be read', async () => {
      const { moves, problems } = await historyWith(status(403));
      expect(moves).toEqual([]);
      expect(problems).toEqual([
        expect.stringContaining(
          'RebalancePlans cannot be read, so cooldown and maxOverhead know of no earlier moves: ',
        ),
      ]);
    });
  });

  const [nodeMetrics, podMetrics] = [
    '/apis/metrics.k8s.io/v1beta1/nodes',
    '/apis/metrics.k8s.io/v1beta1/pods',
  ] as const;
  const classes = '/apis/evenkeel.dev/v1alpha1/serviceclasses';
  const sample = {
    metadata: { name: 'a' },
    timestamp: '2026-01-01T10:00:00Z',
    window: '20s',
    usage: { cpu: '1', memory: '1' },
  };
  const gold = { metadata: { name: 'gold', uid: 'c' }, spec: { slo: '0.9', importance: 1 } };
  /** A reader of a server with these answers, and the resources that it has asked for. */
  const readerOf = async (routes: Record<string, Handler>) => {
    const server = await start(route(routes));
    const asked = () => server.seen.map(({ path }) => path.split('/').at(-1));
    return { reader: createClusterReader(client(server, { attempts: 1 })), asked, seen: server.seen };
  };

  it('has usage where the Metrics API answers with nothing, and asks for none where it comes from elsewhere', async () => {
    const { reader, seen } = await readerOf({ '/api/v1/nodes': json(listOf([node])) });
    const { usage } = await reader.snapshot(NEVER);
    expect([usage?.nodes.size, usage?.pods.size]).toEqual([0, 0]);
    const before = seen.length;
    const elsewhere = await reader.snapshot(NEVER, { usage: false });
    expect([elsewhere.usage, elsewhere.nodes.length, elsewhere.problems]).toEqual([undefined, 1, []]);
    const paths = seen.slice(before).map(({ path }) => path);
    expect(paths).not.toEqual(expect.arrayContaining([expect.stringContaining('metrics.k8s.io')]));
    expect(paths).toContain(classes);
    await reader.snapshot(NEVER, { usage: true });
    expect(seen.filter(({ path }) => path === nodeMetrics)).toHaveLength(2);
  });

  it('is taken at the time of the earliest answer, if that says that there is nothing', async () => {
    const at = (second: number) => ({ date: `Thu, 01 Jan 2026 10:00:0${second} GMT` });
    const { reader } = await readerOf({
      '/api/v1/nodes': json(listOf([node]), 200, at(5)),
      [nodeMetrics]: status(503, {}, 503, at(3)),
    });
    expect((await reader.snapshot(NEVER)).takenAt).toBe(Date.parse('2026-01-01T10:00:03Z') / 1000);
  });

  it('has nothing of a list that ends in a refusal', async () => {
    const half =
      (item: unknown, end: Handler): Handler =>
      (seen, response, socket) =>
        (seen.query.has('continue') ? end : json(listOf([item], { continue: 'c' })))(seen, response, socket);
    const { reader } = await readerOf({ [nodeMetrics]: half(sample, status(503)), [classes]: half(gold, status(403)) });
    const { usage, serviceLevels, problems } = await reader.snapshot(NEVER);
    expect([usage?.nodes.size, serviceLevels.classes.size]).toEqual([0, 0]);
    expect(problems).toEqual([
      expect.stringContaining('ServiceClasses cannot be read, so no workload has an SLO: may not list serviceclasses'),
      expect.stringContaining('the Metrics API cannot be read: '),
    ]);
  });

  it('fails with what is no refusal, though rights are missing, too', async () => {
    const { reader } = await readerOf({ '/api/v1/nodes': status(403), '/apis/apps/v1/replicasets': status(500) });
    await expect(reader.snapshot(NEVER)).rejects.toMatchObject({ kind: 'ServerError' });
  });

  it('names the one right that is missing, as it was refused', async () => {
    const { reader } = await readerOf({ '/api/v1/nodes': status(403, { reason: 'Forbidden' }) });
    await expect(reader.snapshot(NEVER)).rejects.toMatchObject({
      kind: 'Forbidden',
      status: 403,
      reason: 'Forbidden',
      message: 'may not list nodes: code 403: grant the verb list on nodes in API group ""',
    });
  });

  it('that is smaller asks for less', async () => {
    const { reader, asked, seen } = await readerOf({
      '/api/v1/nodes': json(listOf([node])),
      '/api/v1/namespaces': json(listOf([{ metadata: { name: 'shop', uid: 'ns' } }])),
      [nodeMetrics]: json(listOf([sample])),
      [podMetrics]: json(listOf([])),
      [classes]: json(listOf([gold])),
    });
    const { nodes, usage } = await reader.measured(NEVER);
    expect([nodes.length, usage?.nodes.size]).toEqual([1, 1]);
    expect(asked().toSorted()).toEqual(['nodes', 'nodes', 'pods', 'pods']);
    const { namespaces, serviceLevels } = await reader.promises(NEVER);
    expect([[...namespaces.keys()], [...serviceLevels.classes.keys()]]).toEqual([['shop'], ['gold']]);
    expect(asked().slice(4).toSorted()).toEqual(['namespaces', 'serviceclasses']);
    const placed = await reader.placements(NEVER);
    expect([placed.nodes.length, placed.usage]).toEqual([1, undefined]);
    expect(seen.slice(6).map(({ path }) => path)).not.toContain(nodeMetrics);
  });

  it('holds each object once when a list begins anew', async () => {
    let asked = 0;
    const nodes: Handler = (seen, response, socket) => {
      asked += 1;
      const answer =
        asked === 1 ? json(listOf([node], { continue: 'c' })) : asked === 2 ? status(410) : json(listOf([node]));
      answer(seen, response, socket);
    };
    const snapshot = await createClusterReader(client(await start(route({ '/api/v1/nodes': nodes })))).snapshot(NEVER);
    expect([snapshot.nodes.length, snapshot.problems]).toEqual([1, []]);
  });

  describe('of objects as they are', () => {
    const at = (second: number) => ({ date: `Thu, 01 Jan 2026 10:00:0${second} GMT` });
    const [pods, metrics] = ['/api/v1/pods', '/apis/metrics.k8s.io/v1beta1/nodes'] as const;
    const read = async (routes: Record<string, Handler>) =>
      await listRawSnapshot(
        client(await start(route(routes)), { attempts: 1 }),
        (kind, { metadata }) => `${kind} ${isObject(metadata) ? metadata['name'] : ''}`,
        NEVER,
      );

    it('has them by kind, trimmed, and the earliest time of what no cluster is without', async () => {
      const snapshot = await read({
        '/api/v1/nodes': json(listOf([node, { metadata: { name: 'b' } }]), 200, at(5)),
        [pods]: json(listOf([{ metadata: { name: 'web-1' } }]), 200, at(3)),
        [metrics]: json(listOf([{ metadata: { name: 'a' } }]), 200, at(1)),
      });
      expect(snapshot.takenAt).toBe(Date.parse('2026-01-01T10:00:03Z') / 1000);
      expect(snapshot.objects.toSorted()).toEqual(['Node a', 'Node b', 'NodeMetrics a', 'Pod web-1']);
      expect(snapshot.metricsServed).toBe(true);
    });

    it('does without usage that is not measured, and without our kinds, and says only the first', async () => {
      const gone: Handler = (_, response) => response.writeHead(404).end('404 page not found');
      const unmeasured = await read({ [metrics]: gone });
      expect([unmeasured.objects, unmeasured.metricsServed]).toEqual([[], false]);
      const plain = await read({ '/apis/evenkeel.dev/v1alpha1/serviceclasses': gone });
      expect([plain.objects, plain.metricsServed]).toEqual([[], true]);
    });

    it('is none where a list fails that no cluster is without', async () => {
      await expect(read({ [pods]: status(404) })).rejects.toMatchObject({ kind: 'NotFound' });
      await expect(read({ [metrics]: status(403) })).rejects.toMatchObject({ kind: 'Forbidden' });
    });

    it('has each object once when a list begins anew', async () => {
      let asked = 0;
      const first = json(listOf([node], { continue: 'c' }));
      const last = json(listOf([node, { metadata: { name: 'b' } }]));
      const nodes: Handler = (...request) => {
        asked += 1;
        (asked === 1 ? first : asked === 2 ? status(410) : last)(...request);
      };
      const { objects } = await read({
        [pods]: json(listOf([{ metadata: { name: 'web-1' } }])),
        '/api/v1/nodes': nodes,
      });
      expect(objects.toSorted()).toEqual(['Node a', 'Node b', 'Pod web-1']);
    });
  });
});

describe('a live read of a workload', () => {
  const replicaSet = aRawReplicaSet('web');
  const path = '/apis/apps/v1/namespaces/shop/replicasets/web';
  const owner = { kind: 'ReplicaSet', name: 'web', uid: 'rs-web' };

  it('asks for an object of its kind and takes it only for the one with its UID', async () => {
    const server = await start(json(replicaSet));
    const reader = createClusterReader(client(server));
    expect(await reader.workload('shop', owner, NEVER)).toMatchObject({ kind: 'ReplicaSet', name: 'web', replicas: 3 });
    expect(await reader.workload('shop', { ...owner, uid: 'another' }, NEVER)).toBeUndefined();
    expect(server.seen.map((seen) => seen.path)).toEqual([path, path]);
  });

  it('asks for nothing of a kind that no plan knows', async () => {
    const server = await start(json(replicaSet));
    const reader = createClusterReader(client(server));
    expect(await reader.workload('shop', { ...owner, kind: 'CloneSet' }, NEVER)).toBeUndefined();
    expect(server.seen).toEqual([]);
  });
});
