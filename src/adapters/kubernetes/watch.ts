import { type Seconds, seconds } from '../../model/units.ts';
import { isObject } from '../../observe/json.ts';
import { ApiError, errorFromAnswer, isApiError } from './api-error.ts';
import { readLines } from './body.ts';
import type { ApiClient, ApiRequest } from './client.ts';
import type { ResourceRef } from './resource.ts';
import { jitteredDelay } from './retry.ts';

/** How long the server should keep a watch open; short, since a broken network shows only when it does not end in time. */
const SHORTEST_WATCH = 120;
const LONGEST_WATCH = 240;
/** After that the connection counts as dead. */
const GRACE = 30;
/** A watch that ends sooner than this counts as a failure, so that an eager loop cannot flood the server. */
const SUSPICIOUSLY_SHORT = seconds(1);

/** Only metadata is sent for each change: status of a plan may be large, and nobody reads it here. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/**
 * Calls `changed` once the resource can be listed, and after every change of one of its objects, until aborted. After a
 * gap, an error or a 410 it lists anew and calls `changed`, with jittered back-off while that fails; `report` hears of
 * errors. Resolves when aborted.
 */
export async function followChanges(
  client: ApiClient,
  target: ResourceRef,
  changed: () => void,
  report: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random } = client.options;
  let resourceVersion: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    const begun = clock.monotonic();
    try {
      if (resourceVersion === undefined) {
        resourceVersion = await currentVersion(client, target, signal);
        changed();
      }
      resourceVersion = await watchOnce(client, target, resourceVersion, changed, signal);
      failures = clock.monotonic() - begun < SUSPICIOUSLY_SHORT ? failures + 1 : 0;
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      failures = isApiError(error, 'Expired') && resourceVersion !== undefined ? 0 : failures + 1;
      resourceVersion = undefined;
      report(error);
    }
    await pause(failures, clock.sleep, random, signal);
  }
}

async function pause(
  failures: number,
  sleep: (span: Seconds, signal: AbortSignal) => Promise<void>,
  random: () => number,
  signal: AbortSignal,
): Promise<void> {
  if (failures > 0 && !signal.aborted) {
    await sleep(jitteredDelay(failures - 1, random), signal).catch(() => undefined);
  }
}

/** Where a watch begins: the version of a list, of which nothing else is needed. */
async function currentVersion(client: ApiClient, target: ResourceRef, signal: AbortSignal): Promise<string> {
  const { body } = await client.send({ verb: 'list', target, query: { limit: '1' }, accept: METADATA_LIST }, signal);
  const version = versionOf(body);
  if (version === undefined) {
    throw new ApiError('BadAnswer', `the API server's list of ${target.resource} has no resourceVersion`);
  }
  return version;
}

/** One watch to its end; resolves to the version where the next one goes on. */
async function watchOnce(
  client: ApiClient,
  target: ResourceRef,
  from: string,
  changed: () => void,
  signal: AbortSignal,
): Promise<string> {
  const span = Math.round(SHORTEST_WATCH + client.options.random() * (LONGEST_WATCH - SHORTEST_WATCH));
  const query = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: from, timeoutSeconds: String(span) };
  const deadline = seconds(span + GRACE);
  const request: ApiRequest = { verb: 'watch', target, query, accept: METADATA_ONLY, deadline };
  return await client.open(request, signal, async ({ chunks }) => {
    let version = from;
    for await (const line of readLines(chunks)) {
      const { type, object } = parseEvent(line, request);
      version = versionOf(object) ?? version;
      if (type !== 'BOOKMARK') {
        changed();
      }
    }
    return version;
  });
}

interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/** Throws ApiError for an error event (410 in the stream is one), and for what is no event. */
function parseEvent(line: string, request: ApiRequest): WatchEvent {
  const event = parseLine(line);
  if (event === undefined) {
    throw new ApiError(
      'BadAnswer',
      `the API server's watch of ${request.target.resource} sent something that is no event`,
    );
  }
  if (event.type === 'ERROR') {
    throw errorFromAnswer(request, 500, event.object);
  }
  return event;
}

function parseLine(line: string): WatchEvent | undefined {
  try {
    const event: unknown = JSON.parse(line);
    return isObject(event) && typeof event.type === 'string' ? { type: event.type, object: event.object } : undefined;
  } catch {
    return undefined;
  }
}

function versionOf(object: unknown): string | undefined {
  const metadata = isObject(object) && isObject(object.metadata) ? object.metadata : {};
  const { resourceVersion } = metadata;
  return typeof resourceVersion === 'string' && resourceVersion !== '' ? resourceVersion : undefined;
}
