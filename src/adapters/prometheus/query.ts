import { readFile } from 'node:fs/promises';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { isObject, type JsonObject } from '../../model/json.ts';
import { UsageError } from '../../ports.ts';

/** A Prometheus server, or whatever answers as one (Thanos, Mimir, VictoriaMetrics). */
export interface PrometheusAddress {
  /** How policies call it. */
  readonly name: string;
  /** Base URL, http or https, with what comes before /api/v1. */
  readonly url: string;
  /** File of a bearer token, read anew for each request. */
  readonly tokenFile: string | undefined;
  /** File with the CA bundle that verifies the server; the default is the bundle of the system. */
  readonly caFile: string | undefined;
}

/** One series of an instant vector. */
export interface VectorSample {
  readonly labels: Readonly<Record<string, unknown>>;
  /** NaN and infinities as the server gives them. */
  readonly value: number;
  /** When the query was evaluated, in seconds since the epoch, by the server's clock. */
  readonly timestamp: number;
}

/** Evaluates a query now. Rejects with UsageError, or the signal's reason. */
export type InstantQuery = (promql: string, signal: AbortSignal) => Promise<readonly VectorSample[]>;

/**
 * An answer for 150,000 pods has some 30 MB. As objects it takes several times as much, and all of it has to fit into the heap of
 * the container (384 MiB) beside the caches.
 */
const MAX_BYTES = 32 * 2 ** 20;
const TIMEOUT = 30_000;

/** Instant queries to a server (POST /api/v1/query, which has no limit on the length of a query). */
export function createInstantQuery(address: PrometheusAddress): InstantQuery {
  let dispatcher: Dispatcher | undefined;
  return async (promql, signal) => {
    try {
      dispatcher ??= await openDispatcher(address);
      return vectorOf(address, promql, await ask(address, dispatcher, promql, signal));
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof UsageError ? error : unreachable(address, error);
    }
  };
}

async function openDispatcher({ caFile }: PrometheusAddress): Promise<Dispatcher> {
  const ca = caFile === undefined ? {} : { ca: await readFile(caFile, 'utf8') };
  const options = { connect: { ...ca, timeout: 10_000 }, headersTimeout: TIMEOUT, bodyTimeout: TIMEOUT };
  return process.env['HTTPS_PROXY'] || process.env['HTTP_PROXY'] ? new EnvHttpProxyAgent(options) : new Agent(options);
}

async function ask(
  { url, tokenFile }: PrometheusAddress,
  dispatcher: Dispatcher,
  promql: string,
  signal: AbortSignal,
): Promise<unknown> {
  const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, 'utf8')).trim();
  const { statusCode, body } = await request(`${url.replace(/\/+$/, '')}/api/v1/query`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: new URLSearchParams({ query: promql, timeout: `${TIMEOUT / 1000}s` }).toString(),
    dispatcher,
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]),
  });
  const text = await readLimited(body);
  const answer = parseJson(text);
  if (!isObject(answer)) {
    throw new UsageError(`it answers ${statusCode} without JSON: ${shorten(text)}`);
  }
  if (answer['status'] !== 'success') {
    throw new UsageError(`it answers ${statusCode}: ${shorten(String(answer['error'] ?? text))}`);
  }
  return answer['data'];
}

async function readLimited(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > MAX_BYTES) {
      throw new UsageError(`its answer is longer than ${MAX_BYTES / 2 ** 20} MiB: let the query give one series a pod`);
    }
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // what came instead is said by who asked
  }
}

function vectorOf({ name }: PrometheusAddress, promql: string, data: unknown): readonly VectorSample[] {
  const { resultType, result }: JsonObject = isObject(data) ? data : {};
  if (resultType !== 'vector' || !Array.isArray(result)) {
    throw new UsageError(
      `${name} gives a ${String(resultType)} for ${shorten(promql)}: write a query that gives an instant vector`,
    );
  }
  return result.map((series: unknown) => {
    const { metric, value }: JsonObject = isObject(series) ? series : {};
    const [timestamp, text]: readonly unknown[] = Array.isArray(value) ? value : [];
    return { labels: isObject(metric) ? metric : {}, value: numberOf(text), timestamp: Number(timestamp) };
  });
}

/** Prometheus writes +Inf and -Inf. */
function numberOf(text: unknown): number {
  return typeof text === 'string' && text !== '' ? Number(text.replace('Inf', 'Infinity')) : Number.NaN;
}

function unreachable({ url, tokenFile, caFile }: PrometheusAddress, error: unknown): UsageError {
  const { code, message } = error as Error & { readonly code?: string };
  const files = [tokenFile, caFile].filter((file) => file !== undefined);
  const advice =
    code === 'ENOENT'
      ? `one of its files is missing (${files.join(', ')})`
      : `is ${url} right, and may this process reach it?`;
  return new UsageError(`it cannot be asked (${code ?? message}): ${advice}`, { cause: error });
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 300)}...` : line;
}
