import { isObject } from '../../model/json.ts';
import { type Seconds, seconds } from '../../model/units.ts';
import { ApiError, errorFromAnswer } from './api-error.ts';
import { readLines } from './body.ts';
import type { ApiRequest } from './client.ts';
import type { ReadingClient } from './list.ts';
import type { ChangeType } from './object-table.ts';
import { describeResource, type ResourceRef } from './resource.ts';
import { startWatchdog } from './watchdog.ts';

/**
 * How long the server is asked to keep a watch open: between this and twice as long, so that it ends within SILENCE_LIMIT. Where
 * nothing of a kind changes, a server may send no bookmark either: Kubernetes before 1.36 has none as long as etcd does
 * not report its progress (cacheWatcher.process). An end is a sign of life, too.
 */
const SHORTEST_WATCH = 40;
/** The server should have ended the watch this long before its deadline. */
const GRACE = 30;
/** Time until the head of the answer. */
const OPENING: Seconds = seconds(30);
/** An open watch without an event, a bookmark or its end for so long counts as dead. */
export const SILENCE_LIMIT: Seconds = seconds(90);
/** Far above the largest object that etcd takes (1.5 MiB by default). */
const LONGEST_EVENT = 16 * 2 ** 20;

/** What to watch, and from where. */
export interface WatchRequest {
  readonly target: ResourceRef;
  readonly query: Readonly<Record<string, string>>;
  /** The form of the objects; all of them unless said otherwise. */
  readonly accept?: string | undefined;
  readonly resourceVersion: string;
}

/** Hears what a watch sends. */
export interface WatchListener {
  /** The server has begun to answer: from now on silence means that there is no news. */
  opened(): void;
  event(event: WatchEvent): void;
}

/** One line of a watch; a bookmark only moves the resourceVersion. */
export interface WatchEvent {
  readonly type: ChangeType | 'BOOKMARK';
  readonly object: unknown;
  /** Of the object; empty when it has none. */
  readonly resourceVersion: string;
}

/**
 * One watch to its end. Resolves when the server ends it; rejects with ApiError when it breaks, sends an error event (410 may
 * come as one) or something that is no event, or falls silent (Timeout); or with the signal's reason.
 */
export async function watchOnce(
  client: ReadingClient,
  { target, query, accept, resourceVersion }: WatchRequest,
  listener: WatchListener,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random } = client.options;
  const span = Math.round(SHORTEST_WATCH * (1 + random()));
  const parameters = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion, timeoutSeconds: String(span) };
  const form = accept === undefined ? {} : { accept };
  const deadline = seconds(span + GRACE);
  const request: ApiRequest = { verb: 'watch', target, query: { ...query, ...parameters }, deadline, ...form };
  const watchdog = startWatchdog(clock, `the watch of ${describeResource(target)}`, OPENING, signal);
  try {
    await client.open(request, watchdog.signal, async ({ chunks }) => {
      watchdog.heard(SILENCE_LIMIT);
      listener.opened();
      for await (const line of readLines(chunks, LONGEST_EVENT)) {
        watchdog.heard(SILENCE_LIMIT);
        listener.event(parseEvent(line, request));
      }
    });
  } finally {
    await watchdog.stop();
  }
}

const CHANGES: ReadonlySet<unknown> = new Set<WatchEvent['type']>(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

/** Throws ApiError for an error event, and for what is no event. */
function parseEvent(line: string, request: ApiRequest): WatchEvent {
  const event = parseLine(line);
  if (event?.type === 'ERROR') {
    throw errorFromAnswer(request, 500, event.object);
  }
  if (event === undefined || !isChange(event.type)) {
    const what = `the API server's watch of ${request.target.resource} sent something that is no event`;
    throw new ApiError('BadAnswer', what);
  }
  return { type: event.type, object: event.object, resourceVersion: versionOf(event.object) };
}

function isChange(type: unknown): type is WatchEvent['type'] {
  return CHANGES.has(type);
}

function parseLine(line: string): { readonly type: unknown; readonly object: unknown } | undefined {
  try {
    const event: unknown = JSON.parse(line);
    return isObject(event) ? { type: event.type, object: event.object } : undefined;
  } catch {
    return undefined;
  }
}

function versionOf(object: unknown): string {
  const metadata = isObject(object) && isObject(object.metadata) ? object.metadata : {};
  return typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : '';
}
