import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ApiClient, type ClientOptions } from '../../src/adapters/kubernetes/client.ts';
import type { Connection } from '../../src/adapters/kubernetes/connection.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { seconds } from '../../src/model/units.ts';
import type { Clock } from '../../src/ports.ts';

/** One request as the server got it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** Answers one request, in its own way. */
export type Handler = (seen: Seen, response: ServerResponse, socket: Socket) => void;

/** An HTTP server on a free port of the loopback that answers as it is told. */
export interface FakeApiServer {
  readonly url: string;
  /** Everything that was asked. */
  readonly seen: readonly Seen[];
  /** Connections that were ever opened. */
  sockets(): number;
  stop(): Promise<void>;
}

/** Starts a server; the n-th request goes to the n-th handler, and all further ones to the last. */
export async function startFakeApiServer(...handlers: readonly Handler[]): Promise<FakeApiServer> {
  const seen: Seen[] = [];
  const open = new Set<Socket>();
  let sockets = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      const text = Buffer.concat(chunks).toString();
      const { method = '', headers } = request;
      seen.push({
        method,
        path: url.pathname,
        query: url.searchParams,
        headers,
        body: text === '' ? undefined : JSON.parse(text),
      });
      const one = seen.at(-1);
      if (one !== undefined) {
        handlers[Math.min(seen.length, handlers.length) - 1]?.(one, response, request.socket);
      }
    });
  });
  server.on('connection', (socket) => {
    sockets += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    sockets: () => sockets,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) {
          socket.destroy();
        }
      }),
  };
}

/** Answers with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Handler {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Answers with a Status of this code. */
export function status(
  code: number,
  fields: Record<string, unknown> = {},
  http = code,
  headers: Record<string, string> = {},
): Handler {
  return json(
    { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, message: `code ${code}`, ...fields },
    http,
    headers,
  );
}

/** Never answers. */
export function silence(): Handler {
  return () => undefined;
}

/** Breaks the connection after the request has arrived. */
export function reset(): Handler {
  return (_, __, socket) => socket.resetAndDestroy();
}

/** Begins an answer that promises more than it sends, and breaks off. */
export function truncated(text: string): Handler {
  return (_, response, socket) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(text, () => socket.destroy());
  };
}

/** Sends lines one by one and ends, or keeps the connection open. */
export function lines(events: readonly unknown[], end: boolean): Handler {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const event of events) {
      response.write(`${JSON.stringify(event)}\n`);
    }
    if (end) {
      response.end();
    }
  };
}

/** A list of objects. */
export function listOf(
  items: readonly unknown[],
  metadata: Record<string, unknown> = { resourceVersion: '7' },
): unknown {
  return { apiVersion: 'v1', kind: 'List', metadata, items };
}

/** A connection without credentials. */
export function plainConnection(server: string): Connection {
  return {
    server,
    context: 'test',
    namespace: 'default',
    proxy: undefined,
    credentials: async () => ({
      headers: {},
      tls: { ca: undefined, cert: undefined, key: undefined, servername: undefined, rejectUnauthorized: true },
    }),
    refresh: () => undefined,
  };
}

/** Records how long it was asked to sleep, and does not. */
export interface FastClock extends Clock {
  readonly slept: readonly number[];
}

/** The system clock, but nobody waits. */
export function fastClock(): FastClock {
  const slept: number[] = [];
  return {
    ...systemClock,
    slept,
    sleep: async (span, signal) => {
      signal.throwIfAborted();
      slept.push(span);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** A client that tries reads three times and draws 0.5 whenever it needs a random number. */
export function clientOf(server: string, options: Partial<ClientOptions> = {}): ApiClient {
  return new ApiClient(plainConnection(server), {
    clock: fastClock(),
    random: () => 0.5,
    userAgent: 'evenkeel/test',
    attempts: 3,
    ...options,
  });
}

/** Deadline of tests that wait for it. */
export const SOON = seconds(0.15);

/** A signal that never ends anything. */
export const NEVER = new AbortController().signal;
