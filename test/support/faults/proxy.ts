import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeconfig } from '../../control-plane/kubeconfig.ts';
import { createAuthority } from '../../control-plane/pki.ts';
import { createRandom, type Random } from '../random.ts';
import {
  chooseFault,
  FAULT_KINDS,
  type FaultKind,
  type FaultyRequest,
  hasPods,
  isMetricsFault,
  isWatch,
} from './kinds.ts';
import { createPastVersions, type PastVersions } from './past-versions.ts';
import { creationSkewer, SKEW, skewedDate } from './skew.ts';
import { spoilMetrics } from './spoil-metrics.ts';
import { GONE_EVENT, spoilWatch } from './spoil-watch.ts';

/** Sits between a client and an API server, and spoils requests by seed. */
export interface FaultProxy {
  /** Path of a kubeconfig with the credentials of the given one, through this proxy. */
  readonly kubeconfig: string;
  /** How often each fault was injected. */
  readonly injected: ReadonlyMap<FaultKind, number>;
  /** Requests that came so far. */
  readonly requests: () => number;
  /** Share of requests that are spoiled from now on, in [0, 1], and how; at 0, the watches that are open are spared, too. */
  spoil(rate: number, kinds?: readonly FaultKind[]): void;
  /** Breaks all connections, and those to come, until it is healed. */
  partition(isBroken: boolean): void;
  /** Ends it; a second call does nothing. */
  stop(): Promise<void>;
}

/** What the API server answered to a request. */
export interface ProxiedAnswer {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly code: number;
  /** Its Warning header, as for a deprecated API; empty without one. */
  readonly warning: string;
  /** Whether the client had given the request up before it reached the API server. */
  readonly isLate: boolean;
}

/** As much of an answer as tells which version of an object was stored. */
interface StoredObject {
  readonly metadata?: { readonly resourceVersion?: string };
}

/** What a proxy is made of. */
export interface FaultProxyOptions {
  /** Path of a kubeconfig as `ControlPlane.kubeconfigFor` writes it, with a token. */
  readonly upstream: string;
  readonly seed: number;
  /** Milliseconds by which late requests and lagging events are late, at most; default 10 s. */
  readonly latest?: number;
  /** Hears of every answer of the API server. */
  readonly answered?: (answer: ProxiedAnswer) => void;
  /** Hears of every write that took effect after the client had given it up, with the resourceVersion that it has stored. */
  readonly storedLate?: (resourceVersion: string) => void;
  /** Hears of every fault that is injected, with the request. */
  readonly spoiled?: (kind: FaultKind, request: FaultyRequest) => void;
}

interface Upstream {
  readonly url: URL;
  readonly ca: string;
  readonly token: string;
}

/** Starts a proxy on a free port of 127.0.0.1 that spoils nothing yet. */
export async function startFaultProxy({
  upstream: file,
  seed,
  latest = LATEST,
  answered = () => undefined,
  storedLate = () => undefined,
  spoiled = () => undefined,
}: FaultProxyOptions): Promise<FaultProxy> {
  const upstream = readUpstream(file);
  const random = createRandom(seed);
  const injected = new Map<FaultKind, number>();
  const watches = new Set<IncomingMessage>();
  const versions = createPastVersions();
  let requests = 0;
  const agent = new Agent({ ca: upstream.ca, keepAlive: true });
  let plan = { rate: 0, kinds: new Set<FaultKind>(FAULT_KINDS) };
  let isBroken = false;
  const authority = createAuthority('fault proxy');
  const { key, certificate } = authority.serving('127.0.0.1');
  const server = createServer({ key, cert: certificate }, (incoming, answer) => {
    if (isBroken) {
      incoming.socket.destroy();
      return;
    }
    requests += 1;
    const { pathname: path, searchParams: query } = new URL(incoming.url ?? '/', upstream.url);
    const request = { method: incoming.method ?? 'GET', path, query };
    const count = (kind: FaultKind): void => {
      injected.set(kind, (injected.get(kind) ?? 0) + 1);
      spoiled(kind, request);
    };
    const fault = chooseFault(request, plan.rate, plan.kinds, injected, random);
    if (fault !== undefined && fault !== 'OldList') {
      count(fault);
    }
    const isSpared = (): boolean => plan.rate === 0;
    const skewsCreation = !isSpared() && plan.kinds.has('SkewedCreation') && hasPods(request);
    const shared = { upstream, agent, random, latest, answered, storedLate, watches, versions, isSpared };
    exchange({ ...shared, incoming, answer, request, skewsCreation, count }, fault).catch(() =>
      incoming.socket.destroy(),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const path = `${file}.faults-${seed}`;
  writeFileSync(path, kubeconfig(url, authority.certificate, 'operator', { token: upstream.token }));
  return {
    kubeconfig: path,
    injected,
    requests: () => requests,
    spoil: (rate, kinds = FAULT_KINDS) => {
      plan = { rate, kinds: new Set(kinds) };
      if (rate > 0) {
        for (const each of watches) {
          endSoon(each, random);
        }
      }
    },
    partition: (broken) => {
      isBroken = broken;
      if (broken) {
        server.closeAllConnections();
      }
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}

function readUpstream(file: string): Upstream {
  const { clusters, users } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly clusters: readonly [
      { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
    ];
    readonly users: readonly [{ readonly user: { readonly token: string } }];
  };
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
  return { url: new URL(server), ca: Buffer.from(ca, 'base64').toString('utf8'), token: users[0].user.token };
}

interface Exchange {
  readonly upstream: Upstream;
  readonly agent: Agent;
  readonly random: Random;
  readonly latest: number;
  readonly incoming: IncomingMessage;
  readonly answer: ServerResponse;
  readonly answered: (answer: ProxiedAnswer) => void;
  readonly storedLate: (resourceVersion: string) => void;
  readonly request: FaultyRequest;
  readonly versions: PastVersions;
  /** Whether pods of this answer get the creation times of several API servers. */
  readonly skewsCreation: boolean;
  readonly count: (kind: FaultKind) => void;
  /** Answers to all watches that are open. */
  readonly watches: Set<IncomingMessage>;
  /** Whether nothing is spoiled any more. */
  readonly isSpared: () => boolean;
}

/**
 * Watches end after so many milliseconds at most while requests are spoiled. A server may end them whenever it likes; those
 * that last for minutes, as they usually do, would hardly ever meet a fault.
 */
const LONGEST_WATCH = 30_000;

/** Ends the answer to a watch at some time within LONGEST_WATCH. */
function endSoon(watch: IncomingMessage, random: Random): void {
  const ending = setTimeout(() => watch.destroy(), random.next() * LONGEST_WATCH);
  watch.on('close', () => clearTimeout(ending));
}

/** How long a stalled request is held; longer than any deadline of a client. */
const STALL = 120_000;
/**
 * Milliseconds between the moment at which a client gives a request up and that at which it reaches the server, at most. Below
 * the time after which the operator takes it that an eviction without an answer has had no effect (execution.md, answers).
 */
const LATEST = 10_000;

async function exchange(context: Exchange, fault: FaultKind | undefined): Promise<void> {
  const { incoming, answer } = context;
  switch (fault) {
    case 'TooManyRequests':
      return refuse(answer, 429, 'TooManyRequests');
    case 'TooManyRequestsRetryAfter':
      return refuse(answer, 429, 'TooManyRequests', { 'retry-after': '1' });
    case 'InternalError':
      return refuse(answer, 500, 'InternalError');
    case 'Unavailable':
      return refuse(answer, 503, 'ServiceUnavailable');
    case 'Unauthorized':
      return refuse(answer, 401, 'Unauthorized');
    case 'GoneStatus':
      return refuse(answer, 410, 'Expired');
    case 'ResetBefore':
      incoming.socket.destroy();
      return;
    case 'Stall':
      await sleep(STALL, undefined, { ref: false });
      incoming.socket.destroy();
      return;
    case 'LateWrite':
    case 'LateEviction':
      return actLate(context);
    case 'ResetAfter': {
      const upstream = await forward(context);
      upstream.resume();
      incoming.socket.destroy();
      return;
    }
    case 'OldList':
      return relay(context, await forward(context, pastUrl(context)), undefined);
    default:
      return relay(context, await forward(context), fault);
  }
}

/** Has the server carry out a request some time after the client has given it up, by its deadline or its death. */
async function actLate(context: Exchange): Promise<void> {
  const { incoming, random, latest, storedLate } = context;
  const body = await bytesOf(incoming);
  const { socket } = incoming;
  await Promise.race([once(socket, 'close'), sleep(STALL, undefined, { ref: false })]);
  await sleep(random.next() * latest, undefined, { ref: false });
  const upstream = await send(context, incoming.url ?? '/', true, (onward) => onward.end(body));
  const text = (await bytesOf(upstream)).toString('utf8');
  const isDone = upstream.statusCode !== undefined && upstream.statusCode < 300;
  const { metadata: { resourceVersion } = {} }: StoredObject = isDone ? JSON.parse(text) : {};
  if (resourceVersion !== undefined) {
    storedLate(resourceVersion);
  }
}

/** The URL of a list with the state of some seconds ago; the URL as it is while that is unknown. */
function pastUrl({ incoming: { url = '/' }, versions, count }: Exchange): string {
  const version = versions.past();
  if (version === undefined) {
    return url;
  }
  count('OldList');
  return `${url}${url.includes('?') ? '&' : '?'}resourceVersion=${version}&resourceVersionMatch=Exact`;
}

/** A failure as the API server words it. */
function refuse(answer: ServerResponse, code: number, reason: string, headers: Record<string, string> = {}): void {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'injected', reason, code };
  answer.writeHead(code, { 'content-type': 'application/json', ...headers });
  answer.end(JSON.stringify(status));
}

function forward(context: Exchange, url: string = context.incoming.url ?? '/'): Promise<IncomingMessage> {
  const { incoming } = context;
  return send(context, url, false, (onward) => {
    incoming.on('aborted', () => onward.destroy());
    incoming.pipe(onward);
  });
}

function send(
  { upstream, agent, incoming, answered }: Exchange,
  url: string,
  isLate: boolean,
  write: (onward: ClientRequest) => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const onward = request(
      new URL(url, upstream.url),
      { agent, method: incoming.method, headers: { ...incoming.headers, host: upstream.url.host } },
      (response) => {
        answered(answerOf(incoming, response, isLate));
        resolve(response);
      },
    );
    onward.on('error', reject);
    write(onward);
  });
}

function answerOf(
  incoming: IncomingMessage,
  { statusCode = 0, headers }: IncomingMessage,
  isLate: boolean,
): ProxiedAnswer {
  const { method = 'GET', url = '/' } = incoming;
  return { method, url, code: statusCode, warning: headers.warning ?? '', isLate };
}

async function relay(
  context: Exchange,
  upstream: IncomingMessage,
  fault: Exclude<FaultKind, 'Stall'> | undefined,
): Promise<void> {
  const { answer, random, latest, request: asked, versions, isSpared } = context;
  answer.on('close', () => upstream.destroy());
  if (fault !== undefined && isMetricsFault(fault)) {
    const text = spoilMetrics((await bytesOf(upstream)).toString('utf8'), fault);
    answer.writeHead(upstream.statusCode ?? 500, { 'content-type': 'application/json' });
    answer.end(text);
    return;
  }
  versions.learnFrom(asked, upstream);
  const body = bodyOf(context, upstream);
  if (isWatch(asked)) {
    follow(context, upstream, body);
  }
  answer.writeHead(upstream.statusCode ?? 500, headersOf(upstream, fault, random));
  answer.flushHeaders();
  switch (fault) {
    case 'Truncated':
      body.once('data', (chunk: Buffer) => {
        answer.write(chunk.subarray(0, chunk.length >> 1), () => answer.destroy());
      });
      body.once('end', () => answer.destroy());
      return;
    case 'SlowBody':
      return await slowly(body, answer, isSpared);
    case 'DroppedEvents':
    case 'DuplicatedEvents':
      body.pipe(spoilWatch(fault, random, isSpared)).pipe(answer);
      return;
    case 'LaggingEvents':
      return lag(body, answer, random.next() * latest, isSpared);
    case 'GoneInStream':
      answer.end(GONE_EVENT);
      return;
    default:
      body.pipe(answer);
  }
}

/** The answer of the server; its pods as created by several of them, if so. */
function bodyOf({ skewsCreation, count }: Exchange, upstream: IncomingMessage): Readable {
  if (!skewsCreation) {
    return upstream;
  }
  count('SkewedCreation');
  return upstream.pipe(creationSkewer());
}

/** Ends the answer to a watch with that of the server, or before. */
function follow({ answer, random, watches, isSpared }: Exchange, upstream: IncomingMessage, body: Readable): void {
  watches.add(upstream);
  upstream.on('close', () => {
    watches.delete(upstream);
    body.destroy();
    answer.end();
  });
  if (!isSpared()) {
    endSoon(upstream, random);
  }
}

function headersOf({ headers }: IncomingMessage, fault: FaultKind | undefined, random: Random): OutgoingHttpHeaders {
  const { 'content-length': _, date = '', ...rest } = headers;
  const skew = random.below(2) === 0 ? SKEW : -SKEW;
  return { ...rest, date: fault === 'SkewedClock' ? skewedDate(date, skew) : date };
}

/** Passes each piece on so many milliseconds late. */
function lag(body: Readable, answer: ServerResponse, milliseconds: number, isSpared: () => boolean): void {
  let due = 0;
  body.on('data', (chunk: Buffer) => {
    due = Math.max(due, performance.now() + (isSpared() ? 0 : milliseconds));
    setTimeout(() => answer.writableEnded || answer.write(chunk), due - performance.now());
  });
}

async function bytesOf(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** Pieces of an answer that comes slowly, and the time between them. */
const PIECES = 8;
const PAUSE = 50;

async function slowly(body: Readable, answer: ServerResponse, isSpared: () => boolean): Promise<void> {
  for await (const chunk of body) {
    const bytes = chunk as Buffer;
    const size = Math.max(1, Math.ceil(bytes.length / PIECES));
    for (let start = 0; start < bytes.length; start += size) {
      answer.write(bytes.subarray(start, start + size));
      await sleep(isSpared() ? 0 : PAUSE);
    }
  }
  answer.end();
}
