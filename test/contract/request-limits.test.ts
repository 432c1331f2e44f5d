import { afterEach, describe, expect, it } from 'vitest';
import { isApiError } from '../../src/adapters/kubernetes/api-error.ts';
import type { ApiClient, ApiRequest } from '../../src/adapters/kubernetes/client.ts';
import { createClusterReader } from '../../src/adapters/kubernetes/cluster-reader.ts';
import { createEvictor } from '../../src/adapters/kubernetes/evictor.ts';
import { RESOURCES } from '../../src/adapters/kubernetes/resource.ts';
import {
  clientOf,
  type FakeApiServer,
  fastClock,
  type Handler,
  json,
  listOf,
  NEVER,
  startFakeApiServer,
  status,
} from './fake-api-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

const PLENTY = { perSecond: 1_000, burst: 1_000 };
const pod = { namespace: 'shop', name: 'web-1', uid: 'u1' };
const getPod: ApiRequest = { verb: 'get', target: { ...RESOURCES.Pod, namespace: 'shop', name: 'web-1' } };

async function serve(handler: Handler): Promise<{ server: FakeApiServer; client: ApiClient }> {
  const server = await startFakeApiServer(handler);
  const limits = { reads: PLENTY, changes: PLENTY };
  const client = clientOf(server.url, { limits, attempts: 1, clock: { ...fastClock(), monotonic: () => 0 as never } });
  cleanups.push(
    () => server.stop(),
    () => client.close(),
  );
  return { server, client };
}

const failed = (promise: Promise<unknown>) =>
  promise.then(
    () => 'an answer',
    (error: unknown) => error,
  );

describe('a server that fails five times in a row', () => {
  it('gets no further request for a while, and an eviction that was not sent is spent on nothing', async () => {
    const { server, client } = await serve(status(500));
    for (let index = 0; index < 5; index += 1) {
      await failed(client.send(getPod, NEVER));
    }
    expect(await createEvictor(client).evict(pod, { dryRun: false }, NEVER)).toEqual({
      kind: 'TryLater',
      message: expect.stringContaining('failed 5 times in a row'),
      retryAfter: expect.closeTo(0.25),
    });
    expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'GET', 'GET']);
  });

  it('is asked on for what another server answers', async () => {
    const route: Handler = (seen, response, socket) =>
      (seen.path.startsWith('/apis/metrics') ? status(503) : json(listOf([])))(seen, response, socket);
    const { server, client } = await serve(route);
    const reader = createClusterReader(client);
    for (let index = 0; index < 5; index += 1) {
      expect(await reader.nodeUsage(NEVER)).toBeUndefined();
    }
    const asked = server.seen.length;
    // The circuit of the Metrics API is open, and what is said of it is the same.
    expect(await reader.nodeUsage(NEVER)).toBeUndefined();
    expect(server.seen.length).toBe(asked);
    expect((await reader.snapshot(NEVER)).usage).toBeUndefined();
    expect(await reader.nodes(NEVER)).toEqual([]);
  });

  it('is tried by watches, which back off by themselves', async () => {
    const { server, client } = await serve(status(500));
    for (let index = 0; index < 8; index += 1) {
      const error = await failed(client.send({ ...getPod, verb: 'watch' }, NEVER));
      expect(isApiError(error, 'ServerError')).toBe(true);
    }
    expect(server.seen).toHaveLength(8);
  });
});

describe('what nodes use', () => {
  const sample = (name: string, cpu: unknown) => ({
    metadata: { name },
    timestamp: '2026-01-01T10:00:00Z',
    window: '20s',
    usage: { cpu, memory: '1Mi' },
  });

  it('is listed as it is, at the time of the server; what cannot be read is left out', async () => {
    const samples = listOf([sample('a', '250m'), sample('b', 'many'), { metadata: {} }]);
    const { client } = await serve(json(samples, 200, { date: 'Thu, 01 Jan 2026 10:00:05 GMT' }));
    const usage = await createClusterReader(client).nodeUsage(NEVER);
    expect(usage?.serverTime).toBe(Date.parse('2026-01-01T10:00:05Z') / 1000);
    expect(usage?.nodes.get('a')).toMatchObject({ cpu: 250, timestamp: Date.parse('2026-01-01T10:00:00Z') / 1000 });
    expect([...(usage?.nodes ?? [])].map(([name, { cpu }]) => [name, cpu])).toEqual([
      ['a', 250],
      ['b', Number.NaN],
    ]);
  });

  it('is unknown where the Metrics API is not served, and an error where it may not be read', async () => {
    const gone = await serve((_, response) => response.writeHead(404).end('404 page not found'));
    expect(await createClusterReader(gone.client).nodeUsage(NEVER)).toBeUndefined();
    const forbidden = await serve(status(403));
    await expect(createClusterReader(forbidden.client).nodeUsage(NEVER)).rejects.toThrow('may not list nodes');
  });
});
