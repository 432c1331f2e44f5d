import { type Dispatcher, request as httpRequest } from 'undici';
import { type EpochSeconds, epochSeconds, type Seconds, seconds } from '../../model/units.ts';
import type { Fence } from '../../ports.ts';
import { ApiError, errorFromAnswer, isApiError, isFailure, isUnsent, unreachable } from './api-error.ts';
import { readBytes } from './body.ts';
import type { Connection, TlsMaterial } from './connection.ts';
import { createFlowControl, type FlowControl, type RequestLimits } from './flow-control.ts';
import { pathOf, type ResourceRef } from './resource.ts';
import { type BackOff, isBrief, retry } from './retry.ts';
import { behindFence, createTransport, type Transport } from './transport.ts';

/** RBAC verb of a request. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** One request to the API server. */
export interface ApiRequest {
  readonly verb: Verb;
  readonly target: ResourceRef;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Of the body; `application/json` unless it is a patch of some kind. */
  readonly contentType?: string;
  /** What the answer should look like; JSON unless said otherwise. */
  readonly accept?: string;
  /** Time until the last byte of the answer. Default 10 s. */
  readonly deadline?: Seconds;
}

interface ApiAnswer {
  /** Parsed JSON. */
  readonly body: unknown;
  /** The server's clock, whole seconds; ours when the answer has no Date. */
  readonly serverTime: EpochSeconds;
}

/** The head of a successful answer whose body is still to be read. */
export interface OpenAnswer {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly serverTime: EpochSeconds;
}

/** How a client behaves. */
export interface ClientOptions extends BackOff {
  /** `evenkeel/VERSION`. */
  readonly userAgent: string;
  /** How often a read is tried before it fails. */
  readonly attempts: number;
  /** Hears of every request that was sent: its verb, and the HTTP status or what became of it. */
  readonly onRequest?: (verb: Verb, code: string) => void;
  /** Asked before each request that changes something goes out; what it throws is what the request rejects with. */
  readonly fence?: Fence;
  /** Hears the server's clock, whole seconds, in every answer that says it. */
  readonly onServerTime?: (time: EpochSeconds) => void;
  /** Keeps an overloaded or absent server from being run against; without, nothing is held back. */
  readonly limits?: RequestLimits;
}

const DEFAULT_DEADLINE = seconds(10);

/**
 * A client of one API server: shared keep-alive connections, fresh credentials and a deadline for every request, errors as
 * ApiError. Owns its connections until `close`.
 */
export class ApiClient {
  readonly connection: Connection;
  readonly options: ClientOptions;
  readonly #transport: Transport;
  readonly #valve: FlowControl | undefined;

  constructor(connection: Connection, options: ClientOptions) {
    this.connection = connection;
    this.options = options;
    this.#transport = createTransport(connection.proxy);
    this.#valve = options.limits === undefined ? undefined : createFlowControl(options.limits, options);
  }

  /** Reads; repeats what fails for a reason that may pass. Rejects with ApiError, or with the signal's reason. */
  async read(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
    return await retry(this.options.attempts, this.options, signal, () => this.send(request, signal));
  }

  /**
   * Changes something in a way that does no harm when it arrives twice: with the same effect, or guarded by a resourceVersion,
   * so that the second one conflicts. Repeated when it fails for a reason that may pass within moments, and not after silence:
   * what a change is part of has looked at the cluster before and must not go on from an old look. Rejects like a read.
   */
  async sendIdempotent(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
    return await retry(this.options.attempts, this.options, signal, () => this.send(request, signal), isBrief);
  }

  /** Sends once; a 401 is answered with fresh credentials. Rejects with ApiError, or with the signal's reason. */
  async send(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
    return await this.open(request, signal, async ({ chunks, serverTime }) => ({
      body: await readJson(request, chunks),
      serverTime,
    }));
  }

  /**
   * Sends once and gives a successful answer to `consume` as it arrives; the deadline covers that too. Rejects with
   * ApiError, with what `consume` throws, or with the signal's reason.
   */
  async open<Value>(
    request: ApiRequest,
    signal: AbortSignal,
    consume: (answer: OpenAnswer) => Promise<Value>,
  ): Promise<Value> {
    const call = () => this.#authorized(request, signal, consume);
    return await (this.#valve === undefined || request.verb === 'watch'
      ? call()
      : this.#valve.pass(request.target.group, CHANGING.has(request.verb), signal, call));
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #authorized<Value>(
    request: ApiRequest,
    signal: AbortSignal,
    consume: (answer: OpenAnswer) => Promise<Value>,
  ): Promise<Value> {
    try {
      return await this.#exchange(request, signal, consume);
    } catch (error) {
      if (!isApiError(error, 'Unauthorized')) {
        throw error;
      }
      this.connection.refresh();
      return await this.#exchange(request, signal, consume);
    }
  }

  async #exchange<Value>(
    request: ApiRequest,
    signal: AbortSignal,
    consume: (answer: OpenAnswer) => Promise<Value>,
  ): Promise<Value> {
    const deadline = request.deadline ?? DEFAULT_DEADLINE;
    let code = 'error';
    try {
      return await withDeadline(deadline, signal, async (limited) => {
        const answer = await this.#dispatch(request, limited);
        code = String(answer.statusCode);
        const serverTime = this.#serverTime(answer);
        if (answer.statusCode < 200 || answer.statusCode > 299) {
          throw await failure(request, answer, serverTime);
        }
        return await consume({ chunks: answer.body, serverTime });
      });
    } catch (error) {
      if (signal.aborted) {
        code = code === 'error' ? 'aborted' : code;
        throw error;
      }
      const explained = this.#explain(request, deadline, error);
      code = isApiError(explained, 'Timeout') ? 'timeout' : code;
      throw explained;
    } finally {
      this.options.onRequest?.(request.verb, code);
    }
  }

  async #dispatch(request: ApiRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { headers, tls } = await this.connection.credentials();
    signal.throwIfAborted();
    return await httpRequest(this.#urlOf(request), {
      dispatcher: this.#dispatcherFor(request.verb, tls),
      method: METHODS[request.verb],
      signal,
      headers: {
        ...headers,
        accept: request.accept ?? 'application/json',
        'user-agent': this.options.userAgent,
        ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
      },
      body: request.body === undefined ? null : JSON.stringify(request.body),
    });
  }

  #dispatcherFor(verb: Verb, tls: TlsMaterial): Dispatcher {
    const { fence } = this.options;
    const pool = verb === 'watch' ? this.#transport.forWatches(tls) : this.#transport.forCalls(tls);
    return fence === undefined || !CHANGING.has(verb) ? pool : behindFence(pool, fence);
  }

  #urlOf({ target, query }: ApiRequest): string {
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    return `${this.connection.server}${pathOf(target)}${search}`;
  }

  #serverTime({ headers }: Dispatcher.ResponseData): EpochSeconds {
    const { date } = headers;
    const instant = typeof date === 'string' ? Date.parse(date) / 1000 : Number.NaN;
    if (Number.isNaN(instant)) {
      return this.options.clock.now();
    }
    this.options.onServerTime?.(epochSeconds(instant));
    return epochSeconds(instant);
  }

  #explain(request: ApiRequest, deadline: Seconds, error: unknown): unknown {
    if (error instanceof DeadlineExceeded) {
      const message = `the API server ${this.connection.server} has not answered within ${deadline} s: ${request.verb} ${request.target.resource}`;
      return new ApiError('Timeout', message, { cause: error });
    }
    return isTransportError(error) ? unreachable(this.connection.server, error, isUnsent(error)) : error;
  }
}

const METHODS: Readonly<Record<Verb, Dispatcher.HttpMethod>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
};

/** Verbs that the fence guards: a dry run too, since nobody needs one who may not follow it up. */
const CHANGING: ReadonlySet<Verb> = new Set(['create', 'update', 'patch', 'delete']);

/** Errors of sockets, TLS and undici carry a code; ours and those of the language do not. */
function isTransportError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && !isApiError(error) && 'code' in error && typeof error.code === 'string';
}

/** The error for an answer that is none of success. */
async function failure(
  request: ApiRequest,
  answer: Dispatcher.ResponseData,
  serverTime: EpochSeconds,
): Promise<ApiError> {
  const text = await readBytes(answer.body, MAX_ERROR_BYTES);
  return errorFromAnswer(request, answer.statusCode, parseJson(text), { retryAfter: retryAfterOf(answer), serverTime });
}

const MAX_ERROR_BYTES = 1024 * 1024;

/** Retry-After in seconds; the form with a date is not used by Kubernetes. */
function retryAfterOf({ headers }: Dispatcher.ResponseData): Seconds | undefined {
  const value = headers['retry-after'];
  return typeof value === 'string' && /^\d{1,6}$/.test(value) ? seconds(Number(value)) : undefined;
}

async function readJson(request: ApiRequest, chunks: AsyncIterable<Uint8Array>): Promise<unknown> {
  const text = await readBytes(chunks);
  const body = parseJson(text);
  if (body === undefined) {
    const what = text === '' ? 'nothing' : 'something that is not JSON';
    throw new ApiError('BadAnswer', `the API server answered ${request.verb} ${request.target.resource} with ${what}`);
  }
  if (isFailure(body)) {
    throw errorFromAnswer(request, 500, body);
  }
  return body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Thrown when a deadline has passed. */
class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/**
 * Runs `run` with a signal that ends with `signal`, or after `span`. Rejects with the signal's reason, or with
 * DeadlineExceeded, even if `run` does not listen. The timer and the listener are gone when this settles.
 */
async function withDeadline<Value>(
  span: Seconds,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new DeadlineExceeded(`no answer for ${span} s`)), span * 1000);
  const onAbort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([run(controller.signal), aborted(controller.signal)]);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
