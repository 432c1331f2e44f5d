import { ApiError, errorFromAnswer } from '../../src/adapters/kubernetes/api-error.ts';
import type { ApiRequest, OpenAnswer } from '../../src/adapters/kubernetes/client.ts';
import type { ReadingClient } from '../../src/adapters/kubernetes/list.ts';
import { seconds } from '../../src/model/units.ts';
import type { TestClock } from './test-clock.ts';

/** An object as the server stores it. */
export interface Stored {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: unknown;
}

type Line = { readonly type: string; readonly object: unknown };

/**
 * Lists and watches of one resource as an API server serves them, in memory and on a manual clock: revisions, pages, continue
 * tokens, bookmarks every minute, timeoutSeconds, compaction. It breaks in all ways that servers and networks do.
 */
export interface FakeWatchServer {
  readonly client: ReadingClient;
  readonly objects: ReadonlyMap<string, Stored>;
  /** What was asked, such as `list`, `list at 7` and `watch from 7`. */
  readonly asked: string[];
  /** Objects in a page of a list. */
  pageSize: number;
  /** Creates the object, or updates it. */
  put(name: string, spec?: unknown): void;
  remove(name: string): void;
  /** Forgets the past: continue tokens and watches from before are answered with 410. */
  compact(): void;
  /** The next requests fail so, one each. */
  refuse(...errors: readonly Error[]): void;
  /** Breaks the connections of open watches. */
  reset(): void;
  /** Sends half of an event and breaks the connection. */
  truncate(): void;
  /** Ends open watches as a server does. */
  end(): void;
  /** Open watches stay open and send nothing any more. */
  stall(): void;
  /** Sends an error event of this code. */
  fail(code: number): void;
  /** Sends these lines. */
  say(...lines: readonly string[]): void;
  /** Sends the last `count` events again. */
  repeat(count: number): void;
  /** Sends one event again, the one of `back` events ago. */
  replay(back: number): void;
  /** Loses the next event. */
  dropNext(): void;
  /** Sends the next event after the one that follows it. */
  delayNext(): void;
}

interface Connection {
  send(line: string): void;
  /** Ends the answer, with an error or without. */
  close(error?: ApiError): void;
  stalled: boolean;
}

/** The answer of a server that fails with this code. */
export function answer(code: number, retryAfter?: number): ApiError {
  const asked = { verb: 'list', target: { group: '', version: 'v1', resource: 'things' } };
  const details = retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } };
  return errorFromAnswer(asked, code, { kind: 'Status', status: 'Failure', code, message: `code ${code}`, ...details });
}

/** The error for a connection that broke. */
export function unreachable(): ApiError {
  return new ApiError('Unreachable', 'the connection broke');
}

/** A server without objects. */
export function fakeWatchServer(clock: TestClock, random: () => number = () => 0.5): FakeWatchServer {
  const objects = new Map<string, Stored>();
  const asked: string[] = [];
  const refusals: Error[] = [];
  const connections = new Set<Connection>();
  /** Every event since the beginning, and the list as it was at each revision that is a continue token. */
  let log: { readonly revision: number; readonly line: Line }[] = [];
  let [revision, compacted, uids] = [1, 0, 0];
  let lost = false;
  let delayed: Line | 'next' | undefined;

  function record(type: string, object: Stored): void {
    const line = { type, object };
    log.push({ revision, line });
    if (lost) {
      lost = false;
    } else if (delayed === 'next') {
      delayed = line;
    } else {
      broadcast(JSON.stringify(line));
      const late = delayed;
      delayed = undefined;
      if (late !== undefined) {
        broadcast(JSON.stringify(late));
      }
    }
  }

  function broadcast(line: string): void {
    for (const connection of connections) {
      if (!connection.stalled) {
        connection.send(`${line}\n`);
      }
    }
  }

  function closeAll(error?: ApiError): void {
    for (const connection of [...connections]) {
      connection.close(error);
    }
  }

  function stateAt(version: number): readonly Stored[] {
    const state = new Map<string, Stored>();
    for (const { revision: when, line } of log) {
      const object = line.object as Stored;
      if (when > version) {
        break;
      }
      if (line.type === 'DELETED') {
        state.delete(object.metadata.name);
      } else {
        state.set(object.metadata.name, object);
      }
    }
    return [...state.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  async function* list(query: Readonly<Record<string, string>>): AsyncGenerator<Uint8Array> {
    const [version = revision, from = 0] =
      query['continue'] === undefined
        ? [query['resourceVersion'] === undefined ? revision : Number(query['resourceVersion']), 0]
        : query['continue'].split('/').map(Number);
    if (version < compacted) {
      throw answer(410);
    }
    const all = stateAt(version);
    const next = from + server.pageSize;
    const more = next < all.length ? { continue: `${version}/${next}` } : {};
    const metadata = { resourceVersion: String(version), ...more };
    yield Buffer.from(JSON.stringify({ kind: 'List', metadata, items: all.slice(from, next) }));
  }

  async function* watch(query: Readonly<Record<string, string>>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const from = Number(query['resourceVersion']);
    const pending: string[] = [];
    let ended: { readonly error: ApiError | undefined } | undefined;
    let wake = Promise.withResolvers<void>();
    const over = new AbortController();
    const connection: Connection = {
      stalled: false,
      send(line) {
        pending.push(line);
        wake.resolve();
      },
      close(error) {
        ended ??= { error };
        connections.delete(connection);
        over.abort();
        wake.resolve();
      },
    };
    connections.add(connection);
    signal.addEventListener('abort', () => connection.close(), { once: true });
    for (const { revision: when, line } of log) {
      if (when > from) {
        connection.send(`${JSON.stringify(line)}\n`);
      }
    }
    const timers = [
      keepAlive(connection, over.signal),
      endInTime(connection, Number(query['timeoutSeconds']), over.signal),
    ];
    for (;;) {
      await wake.promise;
      wake = Promise.withResolvers();
      for (const line of pending.splice(0)) {
        yield Buffer.from(line);
      }
      if (ended !== undefined) {
        await Promise.all(timers);
        if (ended.error !== undefined) {
          throw ended.error;
        }
        return;
      }
    }
  }

  async function keepAlive(connection: Connection, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await clock.sleep(seconds(60), signal);
        if (!connection.stalled) {
          connection.send(
            `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(revision) } } })}\n`,
          );
        }
      }
    } catch {
      // The watch is over.
    }
  }

  async function endInTime(connection: Connection, span: number, signal: AbortSignal): Promise<void> {
    await clock.sleep(seconds(span), signal).then(
      () => (connection.stalled ? undefined : connection.close()),
      () => undefined,
    );
  }

  async function open<Value>(
    { verb, query = {} }: ApiRequest,
    signal: AbortSignal,
    consume: (opened: OpenAnswer) => Promise<Value>,
  ): Promise<Value> {
    signal.throwIfAborted();
    const version = query['resourceVersion'];
    const where = version === undefined ? '' : verb === 'watch' ? ` from ${version}` : ` at ${version}`;
    asked.push(query['continue'] === undefined ? `${verb}${where}` : 'next page');
    await Promise.resolve();
    const refusal = refusals.shift();
    if (refusal !== undefined) {
      throw refusal;
    }
    if (verb === 'watch' && Number(version) < compacted) {
      throw answer(410);
    }
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    const chunks = verb === 'watch' ? watch(query, signal) : list(query);
    return await Promise.race([consume({ chunks, serverTime: clock.now() }), aborted]);
  }

  const server: FakeWatchServer = {
    client: { open, options: { clock, random, userAgent: 'test', attempts: 1 } },
    objects,
    asked,
    pageSize: 3,
    put(name, spec = {}) {
      const known = objects.get(name);
      revision += 1;
      uids += known === undefined ? 1 : 0;
      const uid = known?.metadata.uid ?? `uid-${uids}`;
      const object = { metadata: { name, uid, resourceVersion: String(revision) }, spec };
      objects.set(name, object);
      record(known === undefined ? 'ADDED' : 'MODIFIED', object);
    },
    remove(name) {
      const known = objects.get(name);
      if (known !== undefined) {
        revision += 1;
        objects.delete(name);
        record('DELETED', { ...known, metadata: { ...known.metadata, resourceVersion: String(revision) } });
      }
    },
    compact() {
      // A revision of other resources: what was watched up to now is behind.
      revision += 1;
      compacted = revision;
      log = stateAt(revision).map((object) => ({ revision: compacted, line: { type: 'ADDED', object } }));
    },
    refuse: (...errors) => void refusals.push(...errors),
    reset: () => closeAll(unreachable()),
    truncate() {
      for (const connection of connections) {
        connection.send('{"type":"ADDED","object":{"metad');
      }
      closeAll(unreachable());
    },
    end: () => closeAll(),
    stall() {
      for (const connection of connections) {
        connection.stalled = true;
      }
    },
    fail: (code) => broadcast(JSON.stringify({ type: 'ERROR', object: { kind: 'Status', status: 'Failure', code } })),
    say: (...lines) => lines.forEach(broadcast),
    repeat(count) {
      for (const { line } of log.slice(-count)) {
        broadcast(JSON.stringify(line));
      }
    },
    replay(back) {
      const old = log.at(-1 - back);
      if (old !== undefined) {
        broadcast(JSON.stringify(old.line));
      }
    },
    dropNext() {
      lost = true;
    },
    delayNext() {
      delayed ??= 'next';
    },
  };
  return server;
}
