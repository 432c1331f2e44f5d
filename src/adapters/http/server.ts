import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KeyPair } from './key-pair.ts';

/** Text that is sent as it comes, until aborted, or who reads it is gone. */
export type TextStream = (signal: AbortSignal) => AsyncIterable<string>;

/** An answer to one request. */
export interface Answer {
  readonly code: number;
  readonly body: string | Uint8Array | TextStream;
  /** Default `text/plain; charset=utf-8`. */
  readonly type?: string;
  /** Headers besides those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers GET and HEAD of one path; what it throws becomes a 500 that says nothing. */
export type Endpoint = (request: IncomingMessage, signal: AbortSignal) => Promise<Answer> | Answer;

/** What to listen on, and what is there. */
export interface ServerOptions {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** By path, such as /metrics; every other path is a 404. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** Hears of what an endpoint throws. */
  readonly report: (error: unknown) => void;
  /** For TLS; plain HTTP without. */
  readonly keyPair?: KeyPair;
  /**
   * Names that requests may use for this server in Host, without a port; default any. Where nobody has to say who they are, a
   * page of somebody else whose name points here (DNS rebinding) must not get an answer.
   */
  readonly hosts?: ReadonlySet<string>;
}

/** A listening server. */
export interface HttpServer {
  readonly port: number;
  /** Presents another certificate to whoever connects from now on. Throws for a pair that does not match. */
  present(keyPair: KeyPair): void;
  /** Refuses new connections at once, and resolves when all are ended: at the latest after two seconds. */
  close(): Promise<void>;
}

/** Largest request head, in bytes: a token of a user in many groups has some kilobytes. */
const MAX_HEAD = 16 * 1024;
const MAX_HEADERS = 64;
/** Longest request target: names of a namespace, a pod and a policy may have 63, 253 and 253 characters. */
const MAX_TARGET = 1024;
/** Whoever connects beyond that is cut off: a scraper needs one connection, a kubelet two. */
const MAX_CONNECTIONS = 64;
const CLOSE_AFTER = 2000;

/** All in milliseconds. A head has to come within five seconds and a request within ten; a scraper may stay for a minute. */
const LIMITS = {
  maxHeaderSize: MAX_HEAD,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
  insecureHTTPParser: false,
  requireHostHeader: true,
};

/** Only for TLS. */
const TLS_LIMITS = { minVersion: 'TLSv1.2', handshakeTimeout: 5_000 } as const;

/** Whoever neither sends nor reads for that long is cut off, in milliseconds. */
const IDLE_TIMEOUT = 70_000;

/** No answer is a page unless it says so, and none may be kept, framed or guessed to be something else. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Serves some paths, read-only: GET and HEAD without a body and nothing else, with limits on time, size and number of
 * everything. Rejects when the address cannot be had.
 */
export async function listen(options: ServerOptions): Promise<HttpServer> {
  const stopping = new AbortController();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, options, stopping.signal)
      .catch((error: unknown): Answer => {
        options.report(error);
        return { code: 500, body: 'internal error\n' };
      })
      .then((found) => send(request, response, found, stopping.signal))
      .catch((error: unknown) => {
        options.report(error);
        response.destroy();
      });
  };
  const { keyPair } = options;
  const tls = keyPair === undefined ? undefined : createHttpsServer({ ...LIMITS, ...TLS_LIMITS, ...keyPair }, handle);
  const server = tls ?? createHttpServer(LIMITS, handle);
  server.maxHeadersCount = MAX_HEADERS;
  server.maxConnections = MAX_CONNECTIONS;
  server.timeout = IDLE_TIMEOUT;
  await listening(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    present: ({ key, cert }) => tls?.setSecureContext({ key, cert, minVersion: TLS_LIMITS.minVersion }),
    close: () => close(server, stopping),
  };
}

function listening(server: Server, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function close(server: Server, stopping: AbortController): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_AFTER);
  try {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
      stopping.abort();
    });
  } finally {
    clearTimeout(timer);
  }
}

async function answer(
  request: IncomingMessage,
  { endpoints, hosts }: ServerOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const refused = refusal(request) ?? misdirected(request, hosts);
  if (refused !== undefined) {
    return refused;
  }
  const [path = ''] = (request.url ?? '').split('?');
  const endpoint = endpoints.get(path);
  return endpoint === undefined
    ? { code: 404, body: `there is ${[...endpoints.keys()].join(', ')}\n` }
    : await endpoint(request, signal);
}

function refusal({ method, url = '', headers }: IncomingMessage): Answer | undefined {
  if (method !== 'GET' && method !== 'HEAD') {
    return { code: 405, body: 'only GET and HEAD\n', headers: { allow: 'GET, HEAD' } };
  }
  if (url.length > MAX_TARGET) {
    return { code: 414, body: `the path is longer than ${MAX_TARGET} characters\n` };
  }
  if (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0') {
    return { code: 413, body: 'send no body\n' };
  }
  return undefined;
}

function misdirected({ headers }: IncomingMessage, hosts: ReadonlySet<string> | undefined): Answer | undefined {
  const host = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
  return hosts === undefined || hosts.has(host)
    ? undefined
    : { code: 421, body: `this server is known as ${[...hosts].join(', ')}, and not by the name that you used\n` };
}

/** After a refusal the connection ends: what else the client has sent is not read. */
async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { code, body, type, headers }: Answer,
  stopping: AbortSignal,
): Promise<void> {
  if (response.headersSent || response.destroyed) {
    return;
  }
  const isStream = typeof body === 'function';
  const bytes = isStream ? undefined : Buffer.from(body);
  response.writeHead(code, {
    ...HEADERS,
    'content-type': type ?? 'text/plain; charset=utf-8',
    ...(bytes === undefined ? {} : { 'content-length': bytes.length }),
    ...(code === 405 || code === 413 || code === 414 || code === 421 ? { connection: 'close' } : {}),
    ...headers,
  });
  if (isStream && request.method !== 'HEAD') {
    await pour(body, response, stopping);
  }
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Whoever reads slower than there is something to tell is told less often, and not from a growing buffer. */
async function pour(stream: TextStream, response: ServerResponse, stopping: AbortSignal): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = AbortSignal.any([stopping, gone.signal]);
  for await (const text of stream(signal)) {
    if (!response.write(text) && !signal.aborted) {
      await once(response, 'drain', { signal }).catch((error: unknown) => {
        if (!signal.aborted) {
          throw error;
        }
      });
    }
  }
}
