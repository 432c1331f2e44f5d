import { isObject, type JsonObject } from '../../model/json.ts';
import { type EpochSeconds, seconds } from '../../model/units.ts';
import { ApiError, errorFromAnswer, isApiError, isFailure } from './api-error.ts';
import type { ApiClient, ApiRequest } from './client.ts';
import { createItemScanner } from './json-items.ts';
import { RESOURCES, type ResourceRef } from './resource.ts';
import { isPassing, retry } from './retry.ts';
import { startWatchdog } from './watchdog.ts';

/** Objects that the server sends in one answer. */
const PAGE_SIZE = 500;
/** Of resources whose objects have up to a MiB each: the server begins an answer when it has read all that is in it. */
const SMALL_PAGE_SIZE = 25;
const LARGE_OBJECTS: readonly string[] = [RESOURCES.RebalancePlan.resource, RESOURCES.MoveJournal.resource];
/** How often a list is begun anew because its continue token expired or a page broke off. */
const MAX_RESTARTS = 3;
/** Pages of one list: five million objects. A server whose pages never end would be read for ever. */
const MAX_PAGES = 10_000;
/** Time until the last byte of a page. */
const PAGE_DEADLINE = seconds(60);
/**
 * A page that has not begun, or does not go on, for so long is asked for anew: the API server answers within seconds, after
 * 15 s in a queue at most (apiserver, filters/priority-and-fairness.go, getRequestWaitContext), and a plan must not wait a
 * minute for an answer that is lost.
 */
const PAGE_SILENCE = seconds(20);

/** The form of a list of which only the metadata of objects matters. */
export const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Hears of the objects of a list as they arrive. */
export interface ListListener {
  /** One object; parsed, nothing else. `length` is that of its text, in characters. What it throws ends the list. */
  item(object: unknown, length: number): void;
  /** The list begins anew: forget what came so far. */
  restart(): void;
}

/** What of a client lists and watches need. */
export type ReadingClient = Pick<ApiClient, 'open' | 'options'>;

interface ListOptions {
  /** The form of the list; all of every object unless said otherwise. */
  readonly accept?: string | undefined;
  /** The state at exactly this resourceVersion, if the server still knows it (410 otherwise); the newest unless said otherwise. */
  readonly exactly?: string | undefined;
}

/** What a list says besides its items. */
export interface ListEnd {
  /** Where a watch goes on. */
  readonly resourceVersion: string;
  /** The server's time when the list began. */
  readonly serverTime: EpochSeconds;
}

/**
 * Lists a resource in pages and gives each object to `listener` as it arrives, so that the raw list is never in memory.
 * A list whose continue token expires (410) or that breaks off in a page begins anew. Rejects with ApiError, or with the
 * signal's reason.
 */
export async function listAll(
  client: ReadingClient,
  target: ResourceRef,
  query: Readonly<Record<string, string>>,
  listener: ListListener,
  signal: AbortSignal,
  { accept, exactly }: ListOptions = {},
): Promise<ListEnd> {
  const form = accept === undefined ? {} : { accept };
  const request: ApiRequest = { verb: 'list', target, query, deadline: PAGE_DEADLINE, ...form };
  const first = exactly === undefined ? {} : { resourceVersion: exactly, resourceVersionMatch: 'Exact' };
  for (let restarts = 0; ; restarts += 1) {
    try {
      return await listOnce(client, request, first, listener, signal);
    } catch (error) {
      const anew = isApiError(error, 'Expired') || error instanceof BrokenPage;
      if (!anew || restarts >= MAX_RESTARTS) {
        throw error instanceof BrokenPage ? error.cause : error;
      }
      listener.restart();
    }
  }
}

/** A page that failed after some of its objects were given away. */
class BrokenPage extends Error {
  override readonly name = 'BrokenPage';
}

/** `first` is asked of the first page only: a continue token says the rest. */
async function listOnce(
  client: ReadingClient,
  request: ApiRequest,
  first: Readonly<Record<string, string>>,
  listener: ListListener,
  signal: AbortSignal,
): Promise<ListEnd> {
  let begun: EpochSeconds | undefined;
  let token = '';
  const limit = String(LARGE_OBJECTS.includes(request.target.resource) ? SMALL_PAGE_SIZE : PAGE_SIZE);
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const query = { ...request.query, limit, ...(token === '' ? first : { continue: token }) };
    const page = await readPage(client, { ...request, query }, listener, signal);
    begun ??= page.serverTime;
    token = page.token;
    if (token === '') {
      return { resourceVersion: page.resourceVersion, serverTime: begun };
    }
  }
  const what = `list of ${request.target.resource}`;
  throw new ApiError('BadAnswer', `the API server's ${what} does not end after ${MAX_PAGES} pages`);
}

interface Page extends ListEnd {
  /** For the next page; empty after the last. */
  readonly token: string;
}

async function readPage(
  client: ReadingClient,
  request: ApiRequest,
  listener: ListListener,
  signal: AbortSignal,
): Promise<Page> {
  return await retry(client.options.attempts, client.options, signal, async () => {
    let given = 0;
    const watchdog = startWatchdog(
      client.options.clock,
      `the list of ${request.target.resource}`,
      PAGE_SILENCE,
      signal,
    );
    try {
      return await client.open(request, watchdog.signal, async ({ chunks, serverTime }) => {
        const scanner = createItemScanner((text) => {
          const item = parse(request, text);
          given += 1;
          listener.item(item, text.length);
        });
        for await (const chunk of chunks) {
          watchdog.heard(PAGE_SILENCE);
          scanner.push(chunk);
        }
        return { ...readFrame(request, scanner.frame()), serverTime };
      });
    } catch (error) {
      throw given > 0 && isPassing(error) ? new BrokenPage('', { cause: error }) : error;
    } finally {
      await watchdog.stop();
    }
  });
}

/** What a list says besides its items. Throws ApiError when it is no list, is truncated, or is a failure in disguise. */
function readFrame(request: ApiRequest, text: string): Pick<Page, 'resourceVersion' | 'token'> {
  const body = parse(request, text);
  if (isFailure(body)) {
    throw errorFromAnswer(request, 500, body);
  }
  if (!('items' in body)) {
    throw new ApiError('BadAnswer', `the API server answered list ${request.target.resource} without a list`);
  }
  const metadata: JsonObject = isObject(body.metadata) ? body.metadata : {};
  return {
    resourceVersion: typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : '',
    token: typeof metadata.continue === 'string' ? metadata.continue : '',
  };
}

function parse({ target }: ApiRequest, text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) {
      return body;
    }
  } catch {
    // Said below.
  }
  throw new ApiError('BadAnswer', `the API server's list of ${target.resource} broke off or is not JSON`);
}

/** Longest list that is held as a whole, in characters: hundreds of the longest plans. */
const LONGEST_LIST = 256 * 2 ** 20;

/** All objects of a list that is known to be short. Rejects with ApiError when it is too long to be held. */
export async function listObjects(
  client: ApiClient,
  target: ResourceRef,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
  longest = LONGEST_LIST,
): Promise<readonly unknown[]> {
  let objects: unknown[] = [];
  let size = 0;
  const listener: ListListener = {
    item: (object, length) => {
      size += length;
      if (size > longest) {
        const what = `the ${target.resource} on the API server are longer than ${longest} characters together`;
        throw new ApiError('Invalid', `${what}: delete those that are no longer needed`);
      }
      objects.push(object);
    },
    restart: () => {
      objects = [];
      size = 0;
    },
  };
  await listAll(client, target, query, listener, signal);
  return objects;
}

/** What an object is called. */
export interface ObjectName {
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Names of all objects of a resource, of which only the metadata is asked for. Rejects with ApiError. */
export async function listNames(
  client: ApiClient,
  target: ResourceRef,
  signal: AbortSignal,
): Promise<readonly ObjectName[]> {
  let names: ObjectName[] = [];
  const listener = {
    item: (object: unknown) => names.push(...nameOf(object)),
    restart: () => {
      names = [];
    },
  };
  await listAll(client, target, {}, listener, signal, { accept: METADATA_LIST });
  return names;
}

function nameOf(object: unknown): readonly ObjectName[] {
  const metadata = isObject(object) && isObject(object['metadata']) ? object['metadata'] : {};
  const { namespace, name } = metadata;
  return typeof name === 'string' ? [{ namespace: typeof namespace === 'string' ? namespace : undefined, name }] : [];
}
