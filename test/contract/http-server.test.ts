import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { certificateFiles, createSelfSigned, watchCertificate } from '../../src/adapters/http/certificate.ts';
import { healthEndpoints } from '../../src/adapters/http/endpoints.ts';
import { fingerprintOf, type KeyPair } from '../../src/adapters/http/key-pair.ts';
import {
  type Answer,
  type Endpoint,
  type HttpServer,
  listen,
  type PostEndpoint,
  PROBED,
  type ServerCapacity,
} from '../../src/adapters/http/server.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

interface Stage {
  readonly endpoints?: ReadonlyMap<string, Endpoint>;
  readonly keyPair?: KeyPair;
  readonly posts?: ReadonlyMap<string, PostEndpoint>;
  readonly capacity?: Partial<ServerCapacity>;
}

const ROOMY: ServerCapacity = { connections: 64, perAddress: 64, keepAlive: 65_000, body: 0, patience: 30_000 };

async function start({ endpoints = healthEndpoints(() => undefined), keyPair, posts, capacity }: Stage = {}) {
  const reported: unknown[] = [];
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    endpoints,
    report: (error) => reported.push(error),
    ...(keyPair === undefined ? {} : { keyPair }),
    ...(capacity === undefined ? {} : { capacity: { ...ROOMY, ...capacity } }),
    ...(posts === undefined
      ? {}
      : { posts, capacity: { ...ROOMY, connections: 4, keepAlive: 5_000, body: 8, ...capacity } }),
  });
  cleanups.push(() => server.close());
  return { server, reported };
}

/** Sends bytes as they are and returns the whole answer; empty when the server only ends the connection. */
async function raw({ port }: HttpServer, text: string): Promise<string> {
  const socket = connectTcp(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined); // a reset is an answer too
  socket.write(text);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

interface Client {
  readonly socket: Socket;
  readonly open: boolean;
}

/** A client that connects from an address of this machine, and sends nothing. */
async function connected({ port }: HttpServer, localAddress: string): Promise<Client> {
  const socket = connectTcp({ port, host: '127.0.0.1', localAddress });
  let open = true;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    open = false;
  });
  socket.resume();
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  return {
    socket,
    get open() {
      return open;
    },
  };
}

function cut(clients: readonly Client[]): void {
  for (const { socket } of clients) {
    socket.destroy();
  }
}

/** As kubelets ask: a new connection for each probe. */
function probe(server: HttpServer): Promise<string> {
  return raw(server, `GET /healthz HTTP/1.1\r\n${HEAD}\r\n`);
}

/** Opens connections while the thread of the server does nothing, and stores how many the kernel has taken within 900 ms. */
const CROWD = `
const { connect } = require('node:net');
const { parentPort, workerData: { port, connections, taken } } = require('node:worker_threads');
parentPort.once('message', () => {
  for (let index = 0; index < connections; index += 1) {
    connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
      .on('connect', () => Atomics.add(taken, 0, 1))
      .on('error', () => undefined);
  }
  setTimeout(() => {
    Atomics.store(taken, 1, 1);
    Atomics.notify(taken, 1);
  }, 900);
});
parentPort.postMessage('ready');
`;

async function* endless(signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  while (!signal.aborted) {
    yield 'x'.repeat(2 ** 16);
  }
}

const HEAD = 'Host: x\r\nConnection: close\r\n';

describe('a server with POST', () => {
  const posts = new Map<string, PostEndpoint>([['/echo', (body) => ({ code: 200, body: `got ${body}` })]]);
  const sent = (head: string, body: string) => `${head} HTTP/1.1\r\n${HEAD}${body}`;

  it.each([
    ['a body', sent('POST /echo', 'Content-Length: 3\r\n\r\nabc'), 'HTTP/1.1 200', 'got abc'],
    ['no body', sent('POST /echo', 'Content-Length: 0\r\n\r\n'), 'HTTP/1.1 200', 'got '],
    [
      'chunks',
      sent('POST /echo', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'),
      'HTTP/1.1 200',
      'got abc',
    ],
    ['a long body', sent('POST /echo', 'Content-Length: 9\r\n\r\n123456789'), 'HTTP/1.1 413', 'larger than 8 bytes'],
    [
      'long chunks',
      sent('POST /echo', 'Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n0\r\n\r\n'),
      'HTTP/1.1 413',
      'larger',
    ],
    ['another method', sent('GET /echo', '\r\n'), 'HTTP/1.1 405', 'only POST'],
    ['another path', sent('POST /healthz', 'Content-Length: 0\r\n\r\n'), 'HTTP/1.1 405', 'only GET and HEAD'],
  ])('answers %s', async (_what, request, code, body) => {
    const { server, reported } = await start({ posts });
    const answer = await raw(server, request);
    expect(answer.startsWith(code)).toBe(true);
    expect(answer).toContain(body);
    expect(reported).toEqual([]);
  });

  it('reports nothing of a client that goes away', async () => {
    const { server, reported } = await start({ posts });
    const socket = connectTcp(server.port, '127.0.0.1');
    socket.write(sent('POST /echo', 'Content-Length: 8\r\n\r\nabc'));
    await sleep(50);
    socket.destroy();
    await sleep(50);
    expect(reported).toEqual([]);
  });

  it('ends connections with their next answer once it retires', async () => {
    const { server } = await start({ posts });
    server.retire();
    const open = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
    expect(await raw(server, open)).toContain('connection: close');
  });
});

describe('the server', () => {
  it.each([
    ['GET /healthz', 200, 'ok\n'],
    ['HEAD /healthz', 200, ''],
    ['GET /healthz?verbose', 200, 'ok\n'],
    ['GET /', 404, 'there is /healthz, /readyz\n'],
    ['GET /metrics', 404, 'there is /healthz, /readyz\n'],
    ['GET /healthz/', 404, 'there is /healthz, /readyz\n'],
    ['GET /../healthz', 404, 'there is /healthz, /readyz\n'],
    ['GET /__proto__', 404, 'there is /healthz, /readyz\n'],
    ['GET http://other/healthz', 404, 'there is /healthz, /readyz\n'],
    ['POST /healthz', 405, 'only GET and HEAD\n'],
    ['PUT /healthz', 405, 'only GET and HEAD\n'],
    ['DELETE /healthz', 405, 'only GET and HEAD\n'],
    ['PATCH /healthz', 405, 'only GET and HEAD\n'],
    ['OPTIONS *', 405, 'only GET and HEAD\n'],
    ['TRACE /healthz', 405, 'only GET and HEAD\n'],
    [`GET /${'x'.repeat(1100)}`, 414, 'the path is longer than 1024 characters\n'],
  ])('answers %s with %d', async (line, code, body) => {
    const { server } = await start();
    const answer = await raw(server, `${line} HTTP/1.1\r\n${HEAD}\r\n`);
    expect(answer).toContain(`HTTP/1.1 ${code} `);
    expect(answer.split('\r\n\r\n')[1]).toBe(body);
  });

  it('says of every answer that it is no page and may not be kept', async () => {
    const { server } = await start();
    const { headers } = await fetch(`http://127.0.0.1:${server.port}/healthz`);
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers.get('server')).toBe(null);
  });

  it.each([
    ['a body', `GET /healthz HTTP/1.1\r\n${HEAD}Content-Length: 5\r\n\r\nhello`, ' 413 '],
    ['a body in chunks', `GET /healthz HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, ' 413 '],
    ['a head of 20 kB', `GET /healthz HTTP/1.1\r\n${HEAD}X: ${'x'.repeat(20_000)}\r\n\r\n`, ' 431 '],
    ['no host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', ' 400 '],
    ['two lengths', `GET /healthz HTTP/1.1\r\n${HEAD}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`, ' 400 '],
    ['both framings', `GET / HTTP/1.1\r\n${HEAD}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n`, ' 400 '],
    ['a line feed in a header', `GET /healthz HTTP/1.1\r\n${HEAD}X: a\n b\u0000\r\n\r\n`, ' 400 '],
    ['something else', '\u0016\u0003\u0001\u0002\u0000', ' 400 '],
  ])('refuses a request with %s', async (_, text, code) => {
    const { server } = await start();
    expect((await raw(server, text)).split('\r\n')[0]).toContain(code);
  });

  it('ends a request for a tunnel', async () => {
    const { server } = await start();
    expect(await raw(server, `CONNECT other:443 HTTP/1.1\r\n${HEAD}\r\n`)).toBe('');
  });

  it('does not upgrade', async () => {
    const { server } = await start();
    const text = `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n`;
    expect(await raw(server, text)).toContain('HTTP/1.1 200 ');
  });

  it('ends a client that does not finish its head, long before one that rests between requests', async () => {
    const { server } = await start();
    const resting = connectTcp(server.port, '127.0.0.1');
    resting.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(resting, 'data');
    expect(await raw(server, 'GET /healthz HTTP/1.1\r\nHost: x\r\n')).toContain(' 408 ');
    expect(resting.readyState).toBe('open');
    resting.destroy();
  });

  it('lets idle connections of strangers make room for a probe', async () => {
    const { server } = await start({ capacity: { ...PROBED, newPerAddress: { perSecond: 1000, burst: 1000 } } });
    const strangers = await Promise.all(
      Array.from({ length: 80 }, (_, index) => connected(server, `127.0.0.${10 + (index % 10)}`)),
    );
    expect(await probe(server)).toContain('HTTP/1.1 200');
    expect(strangers.filter(({ open }) => open).length).toBeLessThan(64);
    expect(strangers.slice(-20).filter(({ open }) => !open).length).toBeLessThan(3);
    cut(strangers);
  });

  it('lets more clients wait than one stranger has connections, so that the kernel drops no probe', async () => {
    const { server } = await start();
    const taken = new Int32Array(new SharedArrayBuffer(8));
    const workerData = { port: server.port, connections: 1000, taken };
    const crowd = new Worker(CROWD, { eval: true, workerData });
    await once(crowd, 'message');
    crowd.postMessage('go');
    expect(Atomics.wait(taken, 1, 0, 10_000)).not.toBe('timed-out');
    expect(taken[0]).toBe(1000);
    await crowd.terminate();
  });

  it('gives one address a share of its connections, of which the oldest idle one goes first', async () => {
    const { server } = await start({ capacity: { perAddress: 4 } });
    const own: Client[] = [];
    for (let made = 0; made < 6; made += 1) {
      own.push(await connected(server, '127.0.0.9'));
      await sleep(20);
    }
    await sleep(50);
    expect(own.map(({ open }) => open)).toEqual([false, false, true, true, true, true]);
    cut(own);
  });

  it('cuts off no connection that is being answered', async () => {
    const endpoints = new Map<string, Endpoint>([['/slow', () => sleep(300, { code: 200, body: 'done' })]]);
    const { server } = await start({ endpoints, capacity: { connections: 2 } });
    const first = raw(server, `GET /slow HTTP/1.1\r\n${HEAD}\r\n`);
    const second = raw(server, `GET /slow HTTP/1.1\r\n${HEAD}\r\n`);
    await sleep(50);
    const third = await connected(server, '127.0.0.2');
    await sleep(50);
    expect(third.open).toBe(false);
    expect((await Promise.all([first, second])).map((answer) => answer.split('\r\n')[0])).toEqual([
      'HTTP/1.1 200 OK',
      'HTTP/1.1 200 OK',
    ]);
  });

  it('takes new connections of one address at a limited rate', async () => {
    const { server } = await start({ capacity: { newPerAddress: { perSecond: 1, burst: 3 } } });
    const own = await Promise.all(Array.from({ length: 10 }, () => connected(server, '127.0.0.9')));
    await sleep(50);
    expect(own.filter(({ open }) => open)).toHaveLength(3);
    expect(await probe(server)).toContain('HTTP/1.1 200');
    cut(own);
  });

  it.each([
    ['an answer', (): Answer => ({ code: 200, body: 'x'.repeat(2 ** 25) })],
    ['a stream', (): Answer => ({ code: 200, body: endless })],
  ])('cuts off a client that does not read %s', async (_what, answer) => {
    const { server, reported } = await start({ endpoints: new Map([['/x', answer]]), capacity: { patience: 100 } });
    const client = await connected(server, '127.0.0.1');
    client.socket.pause();
    client.socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
    await sleep(500);
    client.socket.resume();
    await expect.poll(() => client.open).toBe(false);
    expect(reported).toEqual([]);
  });

  it('says nothing about what went wrong inside, but reports it', async () => {
    const secret = new Error('the token is 123');
    const { server, reported } = await start({ endpoints: new Map([['/x', () => Promise.reject(secret)]]) });
    const response = await fetch(`http://127.0.0.1:${server.port}/x`);
    expect([response.status, await response.text()]).toEqual([500, 'internal error\n']);
    expect(reported).toEqual([secret]);
  });

  it('closes though an endpoint never answers, and cuts its client off', async () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const never = () => {
      ask();
      return new Promise<never>(() => undefined);
    };
    const { server } = await start({ endpoints: new Map([['/x', never]]) });
    const socket = connectTcp(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
    await asked;
    const cutOff = once(socket, 'close');
    await server.close();
    await cutOff;
  });
});

/** The answer over TLS to a client that trusts this certificate alone. */
function getTrusting(port: number, path: string, ca: string): Promise<{ status: number; fingerprint: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpsRequest({ host: '127.0.0.1', port, path, ca, agent: false }, (response) => {
      response.resume();
      const socket = response.socket as unknown as { getPeerCertificate(): { fingerprint256: string } };
      resolve({ status: response.statusCode ?? 0, fingerprint: socket.getPeerCertificate().fingerprint256 });
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('the server with TLS', () => {
  const keyPair = createSelfSigned(['evenkeel', '127.0.0.1'], Date.now());

  it('is trusted by who was given its certificate, and by nobody else', async () => {
    const { server } = await start({ keyPair });
    expect((await getTrusting(server.port, '/healthz', keyPair.cert)).status).toBe(200);
    const other = createSelfSigned(['evenkeel', '127.0.0.1'], Date.now());
    await expect(getTrusting(server.port, '/healthz', other.cert)).rejects.toThrow(/certificate/);
  });

  it('speaks no TLS 1.1 and no plain HTTP', async () => {
    const { server } = await start({ keyPair });
    const old = connectTls({
      port: server.port,
      host: '127.0.0.1',
      ca: keyPair.cert,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT:@SECLEVEL=0',
    });
    await expect(once(old, 'secureConnect')).rejects.toThrow(/protocol version|unsupported|alert/i);
    expect(await raw(server, `GET /healthz HTTP/1.1\r\n${HEAD}\r\n`)).not.toContain('200');
  });

  it('presents the pair in its files, a new one as soon as there is one, and the old one while the new one is wrong', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'evenkeel-tls-'));
    const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    const write = ({ cert, key }: KeyPair): void => {
      writeFileSync(certFile, cert);
      writeFileSync(keyFile, key);
    };
    cleanups.push(() => rmSync(folder, { recursive: true }));
    write(keyPair);
    const source = certificateFiles(certFile, keyFile);
    const { server } = await start({ keyPair: await source.load(Date.now()) });
    const failures: string[] = [];
    const unwatch = watchCertificate(source, keyPair, 20, {
      changed: (other) => server.present(other),
      failed: (error) => failures.push(String(error)),
    });
    cleanups.push(unwatch);

    const renewed = createSelfSigned(['evenkeel', '127.0.0.1'], Date.now());
    write({ ...renewed, key: keyPair.key });
    while (failures.length === 0) {
      await sleep(10);
    }
    await sleep(100);
    expect(failures).toEqual([expect.stringContaining(`CertificateError: ${certFile} and ${keyFile}: `)]);
    expect((await getTrusting(server.port, '/healthz', keyPair.cert)).fingerprint).toBe(fingerprintOf(keyPair));

    write(renewed);
    let seen = '';
    while (seen !== fingerprintOf(renewed)) {
      seen = await getTrusting(server.port, '/healthz', renewed.cert).then(
        ({ fingerprint }) => fingerprint,
        () => '',
      );
    }
  });

  it.each([
    ['is not there', undefined, 'cannot be read (ENOENT)'],
    ['is larger than 1 MiB', 'x'.repeat(2 ** 20 + 1), 'is larger than 1 MiB'],
  ])('refuses a certificate file that %s', async (_, text, says) => {
    const folder = mkdtempSync(join(tmpdir(), 'evenkeel-tls-'));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'tls.crt');
    if (text !== undefined) {
      writeFileSync(file, text);
    }
    await expect(certificateFiles(file, file).load(Date.now())).rejects.toThrow(says);
  });
});
