import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createInstantQuery,
  type PrometheusAddress,
  type VectorSample,
} from '../../../src/adapters/prometheus/query.ts';
import { usageServer } from '../../../src/adapters/prometheus/usage-server.ts';
import { seconds } from '../../../src/model/units.ts';
import { UsageError, type UsageRequest } from '../../../src/ports.ts';

const signal = new AbortController().signal;
let close: (() => Promise<unknown>) | undefined;

afterEach(async () => {
  await close?.();
  close = undefined;
});

interface Seen {
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: URLSearchParams;
}

/** A server that answers `code` and `body` to everything; what it was asked. */
async function aServer(code: number, body: string): Promise<{ readonly url: string; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server: Server = createServer((request, response) => {
    void read(request).then((text) => {
      seen.push({ url: request.url, authorization: request.headers.authorization, body: new URLSearchParams(text) });
      response.writeHead(code).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/prom/`, seen };
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
  }
  return text;
}

const anAddress = (url: string, files: Partial<PrometheusAddress> = {}): PrometheusAddress => ({
  name: 'main',
  url,
  tokenFile: undefined,
  caFile: undefined,
  ...files,
});

const vector = (...result: readonly object[]): string =>
  JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });

describe('an instant query', () => {
  it('is posted, and gives one sample a series', async () => {
    const { url, seen } = await aServer(200, vector({ metric: { node: 'a' }, value: [1700000000.5, '0.25'] }));
    const samples = await createInstantQuery(anAddress(url))('sum(up)', signal);
    expect(samples).toEqual([{ labels: { node: 'a' }, value: 0.25, timestamp: 1700000000.5 }]);
    expect(seen[0]?.url).toBe('/prom/api/v1/query');
    expect(seen[0]?.body.get('query')).toBe('sum(up)');
  });

  it('gives what is no number as it is, for the metrics gate', async () => {
    const { url } = await aServer(
      200,
      vector({ metric: {}, value: [1, 'NaN'] }, { metric: {}, value: [1, '+Inf'] }, { metric: {}, value: [1] }),
    );
    const samples = await createInstantQuery(anAddress(url))('x', signal);
    expect(samples.map(({ value }) => value)).toEqual([Number.NaN, Number.POSITIVE_INFINITY, Number.NaN]);
  });

  it('carries the token of a file as it is at that moment', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-prometheus-'));
    try {
      const tokenFile = join(folder, 'token');
      const { url, seen } = await aServer(200, vector());
      const query = createInstantQuery(anAddress(url, { tokenFile }));
      for (const token of ['one', 'two']) {
        await writeFile(tokenFile, `${token}\n`);
        await query('x', signal);
      }
      expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer one', 'Bearer two']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  const answers: readonly (readonly [string, number, string, RegExp])[] = [
    [
      'a refused query',
      400,
      '{"status":"error","errorType":"bad_data","error":"parse error: unexpected x"}',
      /answers 400: parse error: unexpected x/,
    ],
    ['a refused token', 401, 'Unauthorized', /answers 401 without JSON: Unauthorized/],
    ['a page of somebody else', 200, '<html>', /answers 200 without JSON: <html>/],
    [
      'a scalar',
      200,
      '{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}',
      /gives a scalar for x: write a query that gives an instant vector/,
    ],
    ['nothing', 200, '{"status":"success"}', /gives a undefined for x/],
  ];

  it.each(answers)('says what %s means', async (_, code, body, message) => {
    const { url } = await aServer(code, body);
    const asked = createInstantQuery(anAddress(url))('x', signal);
    await expect(asked).rejects.toThrow(UsageError);
    await expect(asked).rejects.toThrow(message);
  });

  it('reads no more than fits into the memory of the container', async () => {
    const { url } = await aServer(200, vector({ metric: { pod: 'x'.repeat(33 * 2 ** 20) }, value: [1, '2'] }));
    const asked = createInstantQuery(anAddress(url))('x', signal);
    await expect(asked).rejects.toThrow(/its answer is longer than 32 MiB: let the query give one series a pod/);
  });

  it('says that nobody listens', async () => {
    const { url } = await aServer(200, '');
    await close?.();
    close = undefined;
    await expect(createInstantQuery(anAddress(url))('x', signal)).rejects.toThrow(/cannot be asked \(ECONNREFUSED\)/);
  });

  it('says which file is missing', async () => {
    const asked = createInstantQuery(anAddress('http://127.0.0.1:1', { tokenFile: '/nowhere/token' }))('x', signal);
    await expect(asked).rejects.toThrow('one of its files is missing (/nowhere/token)');
  });

  it('takes up certificates that were not there at first', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-prometheus-'));
    try {
      const caFile = join(folder, 'ca.crt');
      const { url } = await aServer(200, vector());
      const query = createInstantQuery(anAddress(url, { caFile }));
      await expect(query('x', signal)).rejects.toThrow('one of its files is missing');
      await writeFile(caFile, '');
      expect(await query('x', signal)).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('ends with the reason of the signal', async () => {
    const reason = new Error('enough');
    const asked = createInstantQuery(anAddress('http://127.0.0.1:1'))('x', AbortSignal.abort(reason));
    await expect(asked).rejects.toBe(reason);
  });
});

describe('usage', () => {
  const request: UsageRequest = { resources: ['cpu', 'memory'], window: seconds(90), queries: {} };
  const sample = (labels: object, value: number): VectorSample => ({ labels: { ...labels }, value, timestamp: 1000 });

  it('joins what is asked for of a node, in millicores and bytes', async () => {
    const server = usageServer(async (promql) => [sample({ node: 'a' }, promql.includes('cpu') ? 1.5 : 4096)]);
    expect(await server.nodes(request, signal)).toEqual(
      new Map([['a', { cpu: 1500, memory: 4096, timestamp: 1000, window: 90 }]]),
    );
  });

  it('has traffic by the workloads that samples name; an empty label is none', async () => {
    const server = usageServer(async () => [
      sample({ source_workload: 'web', destination_workload: 'db' }, 8e6),
      sample({ source_workload: 'web', destination_workload: '' }, 1),
    ]);
    expect(await server.traffic('traffic', signal)).toEqual([
      { source: 'web', destination: 'db', bandwidth: 8e6 },
      { source: 'web', destination: undefined, bandwidth: 1 },
    ]);
  });

  it('names pods by their namespace', async () => {
    const server = usageServer(async () => [sample({ namespace: 'shop', pod: 'web-1' }, 1)]);
    expect([...(await server.pods(request, signal)).keys()]).toEqual(['shop/web-1']);
  });

  it('looks back as far as samples may be old, by the queries of the policy', async () => {
    const asked: string[] = [];
    const server = usageServer(async (promql) => {
      asked.push(promql);
      return [];
    });
    const queries = { nodeCPU: 'sum by (node) (rate(mine[$window]))' };
    await server.nodes({ ...request, resources: ['cpu'], queries }, signal);
    expect(asked).toEqual(['sum by (node) (rate(mine[90s]))']);
  });

  it('that one query lacks is not a number; what nobody asked for is 0', async () => {
    const onlyCpu = usageServer(async (promql) => (promql.includes('cpu') ? [sample({ node: 'a' }, 1)] : []));
    expect((await onlyCpu.nodes(request, signal)).get('a')).toMatchObject({ cpu: 1000, memory: Number.NaN });
    expect((await onlyCpu.nodes({ ...request, resources: ['cpu'] }, signal)).get('a')).toMatchObject({ memory: 0 });
  });

  it('without the label that it is told by is refused with what to write', async () => {
    const server = usageServer(async () => [sample({ instance: 'a' }, 1)]);
    await expect(server.nodes(request, signal)).rejects.toThrow(
      'query nodeCPU gives a series without the label node: write load.prometheus.queries.nodeCPU with "sum by (node) (...)"',
    );
  });

  it('of nodes by a query of the policy is what that says', async () => {
    const asked: string[] = [];
    const server = usageServer(async (promql) => {
      asked.push(promql);
      return [sample({ node: 'a' }, 0.4)];
    });
    expect(await server.nodeLoads('rate(stalled[$window])', seconds(90), signal)).toEqual(new Map([['a', 0.4]]));
    expect(asked).toEqual(['rate(stalled[90s])']);
  });

  it('of nodes by a query without the label node is refused with what to write', async () => {
    const server = usageServer(async () => [sample({ instance: 'a' }, 1)]);
    await expect(server.nodeLoads('x', seconds(90), signal)).rejects.toThrow(
      'query node gives a series without the label node: write load.prometheus.queries.node with "sum by (node) (...)"',
    );
  });

  it('of which there are two for one node is refused', async () => {
    const server = usageServer(async () => [sample({ node: 'a', core: '0' }, 1), sample({ node: 'a', core: '1' }, 1)]);
    await expect(server.nodes(request, signal)).rejects.toThrow('query nodeCPU gives two series for a');
  });
});
