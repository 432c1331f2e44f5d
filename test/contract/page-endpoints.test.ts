import { once } from 'node:events';
import { get } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Guard } from '../../src/adapters/http/access-guard.ts';
import { pageEndpoints } from '../../src/adapters/http/page-endpoints.ts';
import { readPageFiles } from '../../src/adapters/http/page-files.ts';
import { type HttpServer, listen, type ServerOptions } from '../../src/adapters/http/server.ts';
import type { PageFeed, PageQuestion } from '../../src/control/page-feed.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

const FILES = new Map([['/', { type: 'text/html; charset=utf-8', body: Buffer.from('<!doctype html>') }]]);

/** A feed that tells two things and then waits. */
function fakeFeed() {
  const asked: PageQuestion[] = [];
  let watching = 0;
  const feed: PageFeed = {
    state: async () => '{"title":"here"}',
    async *updates(signal) {
      watching += 1;
      try {
        yield { event: 'state', data: '{"a":1}' };
        yield { event: 'patch', data: '{"a":2}' };
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      } finally {
        watching -= 1;
      }
    },
    explain: async (question) => {
      asked.push(question);
      return question.name === 'gone' ? undefined : ({ kind: 'stays', reasons: [] } as never);
    },
  };
  return { feed, asked, watching: () => watching };
}

async function start(options: Partial<ServerOptions> = {}, guard?: Guard) {
  const fake = fakeFeed();
  const reported: unknown[] = [];
  const endpoints = pageEndpoints(FILES, fake.feed, () => guard);
  const report = (error: unknown): void => void reported.push(error);
  const server = await listen({ host: '127.0.0.1', port: 0, endpoints, report, ...options });
  cleanups.push(() => server.close());
  return { ...fake, server, reported, url: `http://127.0.0.1:${server.port}` };
}

function statusFor({ port }: HttpServer, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: '/page/state', headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
  });
}

describe('the page', () => {
  it('may load and ask what its own server has, and nothing else', async () => {
    const { url } = await start();
    const { headers } = await fetch(url);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  it('is only read', async () => {
    const { url } = await start();
    for (const path of ['/', '/page/state', '/page/stream', '/page/explain?stays']) {
      expect((await fetch(`${url}${path}`, { method: 'POST' })).status).toBe(405);
    }
  });

  it('that was not built is missed with the command that builds it', async () => {
    await expect(readPageFiles(new URL('./nowhere/', import.meta.url))).rejects.toThrow('npm run build makes it');
  });
});

describe('the stream', () => {
  it('is written as server-sent events, and ends for the feed when the reader goes', async () => {
    const { url, watching, reported } = await start();
    const leaving = new AbortController();
    const response = await fetch(`${url}/page/stream`, { signal: leaving.signal });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('patch')) {
      text += new TextDecoder().decode((await reader?.read())?.value);
    }
    expect(text).toBe('event: state\ndata: {"a":1}\n\nevent: patch\ndata: {"a":2}\n\n');
    expect(watching()).toBe(1);
    leaving.abort();
    await expect.poll(watching).toBe(0);
    expect(reported).toEqual([]);
  });

  it('has a head alone for HEAD', async () => {
    const { url, watching } = await start();
    const response = await fetch(`${url}/page/stream`, { method: 'HEAD' });
    expect([response.status, await response.text(), watching()]).toEqual([200, '', 0]);
  });

  it('ends when the server does', async () => {
    const { url, server, watching } = await start();
    const response = await fetch(`${url}/page/stream`);
    const ended = response.text();
    await expect.poll(watching).toBe(1);
    await server.close();
    expect(await ended).toContain('event: patch');
    expect(watching()).toBe(0);
  });

  it('is open 6 times at most for one reader, and still opens for others', async () => {
    const { url, watching } = await start({}, async ({ headers }) => ({ reader: headers.authorization ?? '' }));
    const leaving = new AbortController();
    const open = (reader: string) =>
      fetch(`${url}/page/stream`, { headers: { authorization: reader }, signal: leaving.signal });
    await Promise.all(Array.from({ length: 6 }, () => open('one')));
    await expect.poll(watching).toBe(6);
    const refused = await open('one');
    expect([refused.status, await refused.text()]).toEqual([503, 'you have 6 pages open already\n']);
    expect((await open('other')).status).toBe(200);
    leaving.abort();
    await expect.poll(watching).toBe(0);
  });

  it('is open 24 times at most', async () => {
    const { url, watching } = await start();
    const leaving = new AbortController();
    const { signal } = leaving;
    await Promise.all(Array.from({ length: 24 }, () => fetch(`${url}/page/stream`, { signal })));
    await expect.poll(watching).toBe(24);
    const refused = await fetch(`${url}/page/stream`);
    expect([refused.status, await refused.text()]).toEqual([503, '24 pages are open already\n']);
    leaving.abort();
    await expect.poll(watching).toBe(0);
  });
});

describe('an explanation', () => {
  it.each([
    ['node=node-1&policy=even', { about: 'node', name: 'node-1', policy: 'even' }],
    ['pod=shop%2Fweb-1', { about: 'pod', name: 'shop/web-1', policy: undefined }],
    ['stays=&policy=a%26b', { about: 'stays', name: '', policy: 'a&b' }],
  ])('of %s is asked for', async (query, question) => {
    const { url, asked } = await start();
    expect((await fetch(`${url}/page/explain?${query}`)).status).toBe(200);
    expect(asked).toEqual([question]);
  });

  it.each(['', 'policy=even', 'node=a&pod=b'])('of ?%s is not', async (query) => {
    const { url, asked } = await start();
    const refused = await fetch(`${url}/page/explain?${query}`);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('?node=NAME')]);
    expect(asked).toEqual([]);
  });

  it('of what is gone is a 404', async () => {
    const { url } = await start();
    expect((await fetch(`${url}/page/explain?node=gone`)).status).toBe(404);
  });
});

describe('a server that knows its names', () => {
  const hosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

  it.each(['127.0.0.1:8090', 'localhost', 'LOCALHOST:1', '[::1]:8090'])('answers to %s', async (host) => {
    const { server } = await start({ hosts });
    expect(await statusFor(server, host)).toBe(200);
  });

  it.each(['evil.example', 'evil.example:8090', '127.0.0.1.evil.example', 'localhost.evil'])(
    'does not answer to "%s", a name of somebody else that may point here',
    async (host) => {
      const { server } = await start({ hosts });
      expect(await statusFor(server, host)).toBe(421);
    },
  );
});

it('does not wait for a reader who does not read', async () => {
  const { server } = await start({
    endpoints: new Map([
      [
        '/endless',
        () => ({
          code: 200,
          async *body(signal: AbortSignal) {
            while (!signal.aborted) {
              yield 'x'.repeat(65_536);
            }
          },
        }),
      ],
    ]),
  });
  const request = get({ host: '127.0.0.1', port: server.port, path: '/endless' });
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  response.pause();
  const before = process.memoryUsage().external;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(process.memoryUsage().external - before).toBeLessThan(20 * 2 ** 20);
  request.destroy();
});
