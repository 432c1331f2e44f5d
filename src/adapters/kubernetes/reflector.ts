import { type Seconds, seconds } from '../../model/units.ts';
import { ApiError, isApiError } from './api-error.ts';
import { createFreshness, type Freshness, StaleCacheError } from './freshness.ts';
import { listAll, METADATA_LIST, type ReadingClient } from './list.ts';
import { createObjectTable, type Diff, type Entry, isEmpty, type ObjectTable } from './object-table.ts';
import { describeResource, type ResourceRef } from './resource.ts';
import { compareVersions } from './resource-version.ts';
import { jitteredDelay } from './retry.ts';
import { type WatchEvent, watchOnce } from './watch.ts';

/** The objects to reflect, and what is kept of them. */
export interface Reflected<Value> {
  readonly target: ResourceRef;
  readonly query: Readonly<Record<string, string>>;
  /** Reads only the metadata of the objects. */
  readonly metadataOnly: boolean;
  /** What is kept of an object that was listed or watched, whatever the server sent; must not throw. */
  readonly read: (object: unknown) => Value;
  /** Hears of an object that a watch says was deleted, in its last state; must not throw. */
  readonly removed?: (object: unknown) => void;
}

/** Hears what happens to a reflector. */
export interface ReflectorListener {
  /** The first list is in, or objects have changed; `diff` says how many. */
  changed(diff: Diff): void;
  /** A list or a watch failed; it is tried again. */
  failed(error: unknown): void;
  /** An audit found that the cache differs from the server at the same resourceVersion; it is put right. */
  drifted(diff: Diff): void;
}

const METADATA_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** How often the cache is compared with a list. */
const AUDIT_INTERVAL: Seconds = seconds(3600);
/** When an audit that failed is tried again. */
const AUDIT_RETRY: Seconds = seconds(600);
/** A watch that ends sooner than this counts as a failure, so that an eager loop cannot flood the server. */
const SUSPICIOUSLY_SHORT = seconds(1);
/** A server that asks to wait longer is asked again after this. */
const LONGEST_WAIT = 60;

/**
 * Keeps a copy of all objects of a resource: a paged list, then watches that go on where the last one ended. Only when the
 * server no longer knows that point (410, as status or in the stream), or sends what is no event, the resource is listed
 * anew, and the difference by UID applied. After all other failures the watch goes on from the last resourceVersion. Both
 * back off with full jitter, 0.5 s doubled up to 30 s, or as long as Retry-After says. Once an hour the copy is compared
 * with a list of the same resourceVersion.
 */
export class Reflector<Value> {
  readonly #client: ReadingClient;
  readonly #reflected: Reflected<Value>;
  readonly #listener: ReflectorListener;
  readonly #table: ObjectTable<Value>;
  readonly #freshness: Freshness;
  readonly #firstList = Promise.withResolvers<void>();
  /** Where the next watch begins; undefined when the resource must be listed. */
  #resourceVersion: string | undefined;
  #lastFailure: unknown;
  /** Ends the watch that is under way. */
  #watching: AbortController | undefined;
  /** Attempts in a row that brought nothing. */
  #failures = 0;
  #nextAudit = 0;

  constructor(client: ReadingClient, reflected: Reflected<Value>, listener: ReflectorListener) {
    this.#client = client;
    this.#reflected = reflected;
    this.#listener = listener;
    this.#table = createObjectTable(reflected.read);
    this.#freshness = createFreshness(client.options.clock);
  }

  /** Which resource this is, for people and metrics: `pods`, `poddisruptionbudgets.policy`. */
  get name(): string {
    return describeResource(this.#reflected.target);
  }

  /** The objects by `namespace/name`; a list replaces all of them at once. */
  get entries(): ReadonlyMap<string, Entry<Value>> {
    return this.#table.entries;
  }

  /** Seconds since the content was last known to be current (see Freshness); undefined before the first list is complete. */
  get age(): Seconds | undefined {
    return this.#freshness.age();
  }

  /** Why the last list or watch failed, for people; undefined while all is well. */
  get trouble(): string | undefined {
    const error = this.#lastFailure;
    return error instanceof Error ? error.message : error?.toString();
  }

  /** Resolves when the first list is in. Rejects with StaleCacheError after `span`, saying why, or with the signal's reason. */
  async synced(span: Seconds, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const deadline = async (): Promise<never> => {
      await this.#client.options.clock.sleep(span, AbortSignal.any([signal, done.signal]));
      throw new StaleCacheError(`${this.name} could not be listed within ${span} s: ${this.trouble ?? 'no answer'}`);
    };
    try {
      await Promise.race([this.#firstList.promise, deadline()]);
    } finally {
      done.abort();
    }
  }

  /** Lists anew, at once: something has shown that the content is wrong, `why`. Until then the content has no age. */
  distrust(why: string): void {
    this.#resourceVersion = undefined;
    this.#freshness.distrusted();
    this.#watching?.abort(new ApiError('Expired', why));
  }

  /** Reflects until aborted; then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const wait = await this.#round(signal);
      if (wait > 0 && !signal.aborted) {
        await this.#client.options.clock.sleep(seconds(wait), signal).catch((error: unknown) => {
          if (!signal.aborted) {
            throw error;
          }
        });
      }
    }
  }

  /** Lists if need be, and watches once. Resolves to the seconds to wait before the next round. */
  async #round(signal: AbortSignal): Promise<number> {
    try {
      if (this.#resourceVersion === undefined) {
        await this.#list(signal);
      } else if (this.#client.options.clock.monotonic() >= this.#nextAudit) {
        await this.#audit(this.#resourceVersion, signal);
      }
      return (await this.#watch(this.#resourceVersion ?? '', signal)) ? 0 : this.#backOff(0);
    } catch (error) {
      return signal.aborted ? 0 : this.#recover(error);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const began = this.#client.options.clock.monotonic();
    const isFirst = this.age === undefined;
    const { diff, resourceVersion } = await this.#readList(undefined, signal);
    this.#resourceVersion = resourceVersion;
    this.#freshness.listed(began);
    this.#nextAudit = began + AUDIT_INTERVAL;
    this.#lastFailure = undefined;
    this.#firstList.resolve();
    if (isFirst || !isEmpty(diff)) {
      this.#listener.changed(diff);
    }
  }

  /** Compares with the list of exactly the resourceVersion that the watch has come to: nothing may differ. */
  async #audit(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const began = this.#client.options.clock.monotonic();
    this.#nextAudit = began + AUDIT_RETRY;
    try {
      const { diff } = await this.#readList(resourceVersion, signal);
      this.#nextAudit = began + AUDIT_INTERVAL;
      if (!isEmpty(diff)) {
        this.#listener.drifted(diff);
        this.#listener.changed(diff);
      }
    } catch (error) {
      if (signal.aborted || isExpired(error)) {
        throw error;
      }
      this.#listener.failed(error);
    }
  }

  async #readList(
    exactly: string | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly diff: Diff; readonly resourceVersion: string }> {
    const { target, query, metadataOnly } = this.#reflected;
    const draft = this.#table.beginList();
    const listener = { item: draft.put, restart: draft.restart };
    const accept = metadataOnly ? METADATA_LIST : undefined;
    const { resourceVersion } = await listAll(this.#client, target, query, listener, signal, { accept, exactly });
    if (resourceVersion === '') {
      throw new ApiError('BadAnswer', `the API server's list of ${target.resource} has no resourceVersion`);
    }
    return { diff: draft.commit(), resourceVersion };
  }

  /** One watch to its end; resolves to whether it lasted. */
  async #watch(from: string, signal: AbortSignal): Promise<boolean> {
    const { target, query, metadataOnly } = this.#reflected;
    const accept = metadataOnly ? METADATA_OBJECT : undefined;
    const listener = {
      opened: () => this.#freshness.watchOpened(),
      event: (event: WatchEvent) => this.#take(event),
    };
    const { clock } = this.#client.options;
    const watching = new AbortController();
    const both = AbortSignal.any([signal, watching.signal]);
    this.#watching = watching;
    let silent = false;
    let lasted = false;
    try {
      await watchOnce(this.#client, { target, query, accept, resourceVersion: from }, listener, both);
    } catch (error) {
      silent = isApiError(error, 'Timeout');
      throw error;
    } finally {
      this.#watching = undefined;
      const openedAt = this.#freshness.openedAt();
      lasted = openedAt !== undefined && clock.monotonic() - openedAt >= SUSPICIOUSLY_SHORT;
      if (lasted) {
        this.#progress();
      }
      this.#freshness.watchEnded(silent);
    }
    return lasted;
  }

  #take({ type, object, resourceVersion }: WatchEvent): void {
    this.#freshness.heard();
    if (isLater(resourceVersion, this.#resourceVersion)) {
      this.#resourceVersion = resourceVersion;
      this.#progress();
    }
    if (type === 'DELETED') {
      this.#reflected.removed?.(object);
    }
    const diff = type === 'BOOKMARK' ? undefined : this.#table.apply(type, object);
    if (diff !== undefined && !isEmpty(diff)) {
      this.#listener.changed(diff);
    }
  }

  #progress(): void {
    this.#failures = 0;
    this.#lastFailure = undefined;
  }

  /** What becomes of a failure. Returns the seconds to wait. */
  #recover(error: unknown): number {
    this.#lastFailure = error;
    this.#listener.failed(error);
    const expired = isExpired(error);
    if (expired || isApiError(error, 'BadAnswer', 'Invalid')) {
      this.#resourceVersion = undefined;
    }
    const first = this.#failures === 0;
    const asked = isApiError(error) ? (error.retryAfter ?? 0) : 0;
    const wait = this.#backOff(asked);
    // A gap is no sign of an overloaded server, unless it is one after the other.
    return expired && first ? 0 : wait;
  }

  #backOff(asked: number): number {
    this.#failures += 1;
    const delay = jitteredDelay(this.#failures - 1, this.#client.options.random);
    return Math.max(delay, Math.min(asked, LONGEST_WAIT));
  }
}

/** The server no longer knows a resourceVersion, or does not know it yet since it was restored from a backup. */
function isExpired(error: unknown): boolean {
  return (
    isApiError(error, 'Expired') ||
    (isApiError(error) && error.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge'))
  );
}

/** What is duplicated or comes out of order does not turn the watch back. */
function isLater(resourceVersion: string, last: string | undefined): boolean {
  const order = last === undefined ? undefined : compareVersions(resourceVersion, last);
  return resourceVersion !== '' && (order === undefined || order > 0);
}
