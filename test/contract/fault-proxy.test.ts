import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, type Dispatcher, request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { kubeconfig } from '../control-plane/kubeconfig.ts';
import { createAuthority } from '../control-plane/pki.ts';
import type { FaultKind } from '../support/faults/kinds.ts';
import { FAULT_KINDS } from '../support/faults/kinds.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/proxy.ts';
import { SKEW } from '../support/faults/skew.ts';

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-fault-proxy-'));
const EVENT = `${JSON.stringify({ type: 'ADDED', object: {} })}\n`;
const METRICS = {
  items: [
    {
      timestamp: '2026-11-21T12:00:00Z',
      usage: { cpu: '1', memory: '2Ki' },
      containers: [{ name: 'c', usage: { cpu: '3' } }],
    },
  ],
};

let upstream: Server;
let proxy: FaultProxy;
let client: Agent;
let arrived: string[] = [];
let late: string[] = [];
let versions: string[] = [];

const VERSION = '{"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"100"},"items":[]}';
const podOf = (uid: string) =>
  `{"metadata":{"name":"web","uid":"${uid}","resourceVersion":"7","creationTimestamp":"2026-11-21T12:00:00Z"}}`;
const POD_AHEAD = podOf('00000000-0000-4000-8000-000000000000');
const POD_BEHIND = podOf('10000000-0000-4000-8000-000000000000');

/** An API server that knows a watch of thirty events, metrics, two pods, namespaces, and otherwise echoes. */
function answerTo(url: string): string {
  if (url.includes('watch=true')) {
    return EVENT.repeat(30);
  }
  if (url.startsWith('/api/v1/namespaces?') || url === '/api/v1/namespaces') {
    return VERSION;
  }
  if (url === '/api/v1/nodes/node-1/pods') {
    return `${POD_AHEAD}\n${POD_BEHIND}`;
  }
  if (url.startsWith('/api/v1/namespaces/shop/')) {
    return JSON.stringify({ metadata: url.endsWith('/eviction') ? {} : { resourceVersion: '7' } });
  }
  return url.includes('metrics.k8s.io') ? JSON.stringify(METRICS) : `echo ${url} `.repeat(100);
}

beforeAll(async () => {
  const authority = createAuthority('upstream');
  const { key, certificate } = authority.serving('127.0.0.1');
  upstream = createServer({ key, cert: certificate }, (incoming, answer) => {
    arrived.push(`${incoming.method} ${incoming.url} ${incoming.headers.authorization}`);
    const isLong = incoming.url === LONG_WATCH;
    answer.write(answerTo(incoming.url ?? ''));
    setTimeout(() => answer.end(), isLong ? 2000 : 0);
  });
  await new Promise<void>((resolve) => {
    upstream.listen(0, '127.0.0.1', resolve);
  });
  const url = `https://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, kubeconfig(url, authority.certificate, 'operator', { token: 'secret' }));
  proxy = await startFaultProxy({
    upstream: file,
    seed: 1,
    latest: 500,
    answered: ({ url, isLate }) => void (isLate && late.push(url)),
    storedLate: (version) => void versions.push(version),
  });
  client = new Agent({ connect: { rejectUnauthorized: false } });
});

afterEach(() => {
  proxy.spoil(0);
  proxy.partition(false);
  arrived = [];
  late = [];
  versions = [];
});

afterAll(async () => {
  await client.destroy();
  await proxy.stop();
  upstream.closeAllConnections();
  upstream.close();
  rmSync(folder, { recursive: true });
});

function ask(path: string, headersTimeout = 60_000, method: 'GET' | 'POST' = 'GET'): Promise<Dispatcher.ResponseData> {
  const { clusters } = JSON.parse(readFileSync(proxy.kubeconfig, 'utf8'));
  const url = `${clusters[0].cluster.server}${path}`;
  return request(url, {
    dispatcher: client,
    method,
    headers: { authorization: 'Bearer mine' },
    headersTimeout,
  });
}

function spoiled(kind: FaultKind, path = '/api/v1/pods'): Promise<Dispatcher.ResponseData> {
  proxy.spoil(1, [kind]);
  return ask(path);
}

/** Has a request spoiled, gives it up, and waits until the server has carried it out. */
async function giveUp(kind: FaultKind, path: string): Promise<void> {
  proxy.spoil(1, [kind]);
  const before = arrived.length;
  await expect(ask(path, 500, 'POST')).rejects.toThrow('Headers Timeout');
  expect(arrived).toHaveLength(before);
  await vi.waitFor(() => expect(late.at(-1)).toBe(path), { timeout: 10_000 });
  expect(arrived).toHaveLength(before + 1);
}

/** The eviction, which stores no version, first: one that was told of it would be there once that of the write is. */
const LATE = [
  ['LateEviction', '/api/v1/namespaces/shop/pods/web/eviction'],
  ['LateWrite', '/api/v1/namespaces/shop/pods'],
] as const;
const WATCH = '/api/v1/pods?watch=true';
const LONG_WATCH = '/api/v1/nodes?watch=true';
const POD_METRICS = '/apis/metrics.k8s.io/v1beta1/pods';

describe('a fault proxy', () => {
  it('passes requests on as they are, credentials included, while nothing is spoiled', async () => {
    const { statusCode, body } = await ask('/api/v1/pods?limit=5');
    expect([statusCode, await body.text()]).toEqual([200, answerTo('/api/v1/pods?limit=5')]);
    expect(arrived).toEqual(['GET /api/v1/pods?limit=5 Bearer mine']);
  });

  it('hands on the credentials of the kubeconfig that it stands before', () => {
    expect(JSON.parse(readFileSync(proxy.kubeconfig, 'utf8')).users[0].user).toEqual({ token: 'secret' });
  });

  it.each([
    ['TooManyRequests', 429, undefined],
    ['TooManyRequestsRetryAfter', 429, '1'],
    ['InternalError', 500, undefined],
    ['Unavailable', 503, undefined],
    ['Unauthorized', 401, undefined],
  ] as const)('answers %s with %i, and the server never hears of it', async (kind, code, retryAfter) => {
    const { statusCode, headers, body } = await spoiled(kind);
    expect([statusCode, headers['retry-after']]).toEqual([code, retryAfter]);
    expect(await body.json()).toMatchObject({ kind: 'Status', code });
    expect(arrived).toEqual([]);
  });

  it('breaks the connection before the server hears of a request', async () => {
    await expect(spoiled('ResetBefore')).rejects.toThrow();
    expect(arrived).toEqual([]);
  });

  it('breaks the connection after the server has carried out a request', async () => {
    await expect(spoiled('ResetAfter')).rejects.toThrow();
    expect(arrived).toHaveLength(1);
  });

  it('leaves a client without any answer', async () => {
    proxy.spoil(1, ['Stall']);
    await expect(ask('/api/v1/pods', 500)).rejects.toThrow('Headers Timeout');
    expect(arrived).toEqual([]);
  });

  it('has the server carry out requests after the client gave them up, and tells which version a write has stored', async () => {
    for (const [kind, path] of LATE) {
      await giveUp(kind, path);
    }
    expect(late).toEqual(LATE.map(([, path]) => path));
    await vi.waitFor(() => expect(versions).toEqual(['7']));
  });

  it('keeps late effects to what has an effect', async () => {
    proxy.spoil(1, ['LateWrite', 'LateEviction']);
    expect((await ask('/api/v1/pods')).statusCode).toBe(200);
    proxy.spoil(1, ['LateEviction']);
    expect((await ask('/api/v1/namespaces/shop/pods/web/eviction?dryRun=All', 500, 'POST')).statusCode).toBe(200);
  });

  it('answers as a server with another clock', async () => {
    const { headers } = await spoiled('SkewedClock');
    const skew = Math.abs(Date.parse(String(headers['date'])) - Date.now());
    expect(Math.round(skew / 5000)).toBe(SKEW / 5000);
  });

  it('lets pods be created by servers with other clocks, the same one each time', async () => {
    const text = await (await spoiled('SkewedCreation', '/api/v1/nodes/node-1/pods')).body.text();
    expect(text.split('\n').map((line) => JSON.parse(line).metadata.creationTimestamp)).toEqual([
      '2026-11-21T12:00:20Z',
      '2026-11-21T11:59:40Z',
    ]);
  });

  it('answers the list of a cache with the state of seconds ago', async () => {
    await (await ask('/api/v1/namespaces?limit=500')).body.dump();
    proxy.spoil(1, ['OldList']);
    await vi.waitFor(
      async () => {
        await (await ask('/api/v1/namespaces?limit=500')).body.dump();
        expect(arrived.at(-1)).toContain(
          'GET /api/v1/namespaces?limit=500&resourceVersion=100&resourceVersionMatch=Exact',
        );
      },
      { timeout: 20_000, interval: 500 },
    );
    await (await ask('/api/v1/namespaces/shop/pods')).body.dump();
    expect(arrived.at(-1)).not.toContain('resourceVersion');
  });

  it('lets the events of a watch lag, all of them whole', async () => {
    expect(await (await spoiled('LaggingEvents', LONG_WATCH)).body.text()).toBe(EVENT.repeat(30));
  });

  it('breaks off in the middle of an answer', async () => {
    const { body } = await spoiled('Truncated');
    await expect(body.text()).rejects.toThrow();
  });

  it('lets an answer come slowly, but whole', async () => {
    const began = performance.now();
    const { body } = await spoiled('SlowBody');
    expect(await body.text()).toBe(answerTo('/api/v1/pods'));
    expect(performance.now() - began).toBeGreaterThan(300);
  });

  it('drops events of a watch, whole ones only', async () => {
    const text = await (await spoiled('DroppedEvents', WATCH)).body.text();
    expect(text.length).toBeLessThan(30 * EVENT.length);
    expect(text.replaceAll(EVENT, '')).toBe('');
  });

  it('repeats events of a watch', async () => {
    const text = await (await spoiled('DuplicatedEvents', WATCH)).body.text();
    expect(text.length).toBeGreaterThan(30 * EVENT.length);
    expect(text.replaceAll(EVENT, '')).toBe('');
  });

  it('says that a resourceVersion is too old as status, and in the stream', async () => {
    expect((await spoiled('GoneStatus', WATCH)).statusCode).toBe(410);
    const { statusCode, body } = await spoiled('GoneInStream', WATCH);
    expect(statusCode).toBe(200);
    expect(await body.json()).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  });

  it.each([
    ['StaleMetrics', { timestamp: '2026-11-21T11:00:00.000Z', usage: { cpu: '1', memory: '2Ki' } }],
    ['NotANumberMetrics', { usage: { cpu: 'NaN', memory: 'NaN' }, containers: [{ name: 'c', usage: { cpu: 'NaN' } }] }],
    ['NegativeMetrics', { usage: { cpu: '-1', memory: '-2Ki' }, containers: [{ name: 'c', usage: { cpu: '-3' } }] }],
  ] as const)('spoils samples: %s', async (kind, sample) => {
    const { items } = (await (await spoiled(kind, POD_METRICS)).body.json()) as { readonly items: readonly unknown[] };
    expect(items).toEqual([expect.objectContaining(sample)]);
  });

  it('lets samples be missing', async () => {
    expect(await (await spoiled('MissingMetrics', POD_METRICS)).body.json()).toEqual({ items: [] });
  });

  it('keeps faults of watches and of metrics to those', async () => {
    proxy.spoil(1, ['GoneStatus', 'MissingMetrics']);
    expect(await (await ask('/api/v1/pods')).body.text()).toBe(answerTo('/api/v1/pods'));
  });

  it('counts what it did, and has done everything that it can', () => {
    expect([...proxy.injected.keys()].sort()).toEqual([...FAULT_KINDS].sort());
  });

  it('can be partitioned from its clients, and healed', async () => {
    proxy.partition(true);
    await expect(ask('/api/v1/pods')).rejects.toThrow();
    proxy.partition(false);
    expect((await ask('/api/v1/pods')).statusCode).toBe(200);
  });

  it('spoils the given share of requests', async () => {
    proxy.spoil(0.3, ['Unavailable']);
    const codes = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const { statusCode, body } = await ask('/x');
        await body.dump();
        return statusCode;
      }),
    );
    const share = codes.filter((code) => code === 503).length / codes.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.4);
  });
});
