import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type ConnectionLimits, limitConnections } from './connections.ts';
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

/** Answers POST of one path; what it throws becomes a 500 that says nothing. */
export type PostEndpoint = (body: Buffer, signal: AbortSignal) => Promise<Answer> | Answer;

/** What clients may ask of a server. */
export interface ServerCapacity extends ConnectionLimits {
  /** How long a connection may be idle between two requests, in milliseconds. */
  readonly keepAlive: number;
  /** Largest body of a POST, in bytes. */
  readonly body: number;
  /** How long a client may take to read an answer, or the next part of a stream, in milliseconds. */
  readonly patience: number;
}

/** What to listen on, and what is there. */
export interface ServerOptions {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** By path, such as /metrics; every other path is a 404. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** Likewise, for POST; a server that has any answers no GET of the same paths. */
  readonly posts?: ReadonlyMap<string, PostEndpoint>;
  /** Default: SCRAPED. */
  readonly capacity?: ServerCapacity;
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
  /** Ends each connection with its next answer from now on, so that its client connects anew, to another server if there is one. */
  retire(): void;
  /** Refuses new connections at once, and resolves when all are ended: at the latest after two seconds. */
  close(): Promise<void>;
}

/** Largest request head, in bytes: a token of a user in many groups has some kilobytes. */
const MAX_HEAD = 16 * 1024;
const MAX_HEADERS = 64;
/** Longest request target: names of a namespace, a pod and a policy may have 63, 253 and 253 characters. */
const MAX_TARGET = 1024;
/** For metrics and the page: a scraper needs one connection, a browser six and one for each page, and they stay for a minute. */
const SCRAPED: ServerCapacity = {
  connections: 64,
  perAddress: 32,
  newPerAddress: { perSecond: 20, burst: 64 },
  keepAlive: 65_000,
  body: 0,
  patience: 30_000,
};
/** For health: kubelets open a connection for each probe. */
export const PROBED: ServerCapacity = { ...SCRAPED, perAddress: 8, keepAlive: 1_000, patience: 1_000 };
const CLOSE_AFTER = 2000;

/** All in milliseconds. A head has to come within five seconds and a request within ten. */
const LIMITS = {
  maxHeaderSize: MAX_HEAD,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  insecureHTTPParser: false,
  requireHostHeader: true,
};

/** Only for TLS. */
const TLS_LIMITS = { minVersion: 'TLSv1.2', handshakeTimeout: 5_000 } as const;

/**
 * Connections that wait to be accepted; the kernel's own limit is as high. Node's default of 511 is fewer than one stranger
 * opens: the kernel then drops the first packet of a probe, which is sent again after a second, when the probe has failed.
 */
const BACKLOG = 4_096;

/** Whoever neither sends nor reads for that long beyond the time to keep a connection is cut off, in milliseconds. */
const IDLE_MARGIN = 5_000;

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
 * Serves some paths: GET and HEAD without a body, and POST where there are `posts`, with limits on time, size and number of
 * everything. Rejects when the address cannot be had.
 */
export async function listen(options: ServerOptions): Promise<HttpServer> {
  const stopping = new AbortController();
  let retired = false;
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, options, stopping.signal)
      .catch((error: unknown): Answer => {
        options.report(error);
        return { code: 500, body: 'internal error\n' };
      })
      .then((found) => send(request, response, retired ? parting(found) : found, stopping.signal, capacity.patience))
      .catch((error: unknown) => {
        options.report(error);
        response.destroy();
      });
  };
  const { keyPair, capacity = SCRAPED } = options;
  const limits = { ...LIMITS, keepAliveTimeout: capacity.keepAlive };
  const tls = keyPair === undefined ? undefined : createHttpsServer({ ...limits, ...TLS_LIMITS, ...keyPair }, handle);
  const server = tls ?? createHttpServer(limits, handle);
  server.maxHeadersCount = MAX_HEADERS;
  limitConnections(server, capacity);
  server.timeout = capacity.keepAlive + IDLE_MARGIN;
  await listening(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    present: ({ key, cert }) => tls?.setSecureContext({ key, cert, minVersion: TLS_LIMITS.minVersion }),
    retire: () => {
      retired = true;
    },
    close: () => close(server, stopping),
  };
}

function parting(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, connection: 'close' } };
}

function listening(server: Server, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, () => {
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

async function answer(request: IncomingMessage, options: ServerOptions, signal: AbortSignal): Promise<Answer> {
  const { endpoints, posts, hosts } = options;
  const [path = ''] = (request.url ?? '').split('?');
  const post = posts?.get(path);
  const refused = refusal(request, post !== undefined) ?? misdirected(request, hosts);
  if (refused !== undefined) {
    return refused;
  }
  if (post !== undefined) {
    const body = await bodyOf(request, options.capacity ?? SCRAPED);
    return Buffer.isBuffer(body) ? await post(body, signal) : body;
  }
  const endpoint = endpoints.get(path);
  return endpoint === undefined
    ? parting({ code: 404, body: `there is ${[...endpoints.keys(), ...(posts?.keys() ?? [])].join(', ')}\n` })
    : await endpoint(request, signal);
}

function refusal({ method, url = '', headers }: IncomingMessage, isPost: boolean): Answer | undefined {
  const allowed = isPost ? ['POST'] : ['GET', 'HEAD'];
  if (!allowed.includes(method ?? '')) {
    return { code: 405, body: `only ${allowed.join(' and ')}\n`, headers: { allow: allowed.join(', ') } };
  }
  if (url.length > MAX_TARGET) {
    return { code: 414, body: `the path is longer than ${MAX_TARGET} characters\n` };
  }
  if (!isPost && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')) {
    return { code: 413, body: 'send no body\n' };
  }
  return undefined;
}

/** The body as it came, or how to refuse it; what is left of one that is too large is not read. */
async function bodyOf(request: IncomingMessage, { body: most }: ServerCapacity): Promise<Buffer | Answer> {
  const tooLarge: Answer = { code: 413, body: `the body is larger than ${most} bytes\n` };
  if (Number(request.headers['content-length'] ?? 0) > most) {
    return tooLarge;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > most) {
        return tooLarge;
      }
      chunks.push(chunk);
    }
  } catch {
    // The client is gone, and nobody reads the answer.
    return { code: 400, body: 'the body is not complete\n' };
  }
  return Buffer.concat(chunks);
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
  patience: number,
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
    await pour(body, response, stopping, patience);
  }
  const timer = setTimeout(() => response.destroy(), patience);
  response.once('close', () => clearTimeout(timer));
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Whoever reads slower than there is something to tell is told less often, and not from a growing buffer. */
async function pour(
  stream: TextStream,
  response: ServerResponse,
  stopping: AbortSignal,
  patience: number,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = AbortSignal.any([stopping, gone.signal]);
  for await (const text of stream(signal)) {
    if (!response.write(text) && !signal.aborted) {
      await drained(response, signal, patience);
    }
  }
}

/** Resolves when the client has read what was sent, or is gone; cuts it off when it does not read for that long. */
async function drained(response: ServerResponse, signal: AbortSignal, patience: number): Promise<void> {
  const late = AbortSignal.timeout(patience);
  try {
    await once(response, 'drain', { signal: AbortSignal.any([signal, late]) });
  } catch (error) {
    if (late.aborted) {
      response.destroy();
    } else if (!signal.aborted) {
      throw error;
    }
  }
}
