import { compareVersions } from '../../model/resource-version.ts';
import { type Seconds, seconds } from '../../model/units.ts';
import { StaleCacheError } from '../../ports.ts';
import { ApiError, isApiError } from './api-error.ts';
import { createFreshness, type Freshness } from './freshness.ts';
import { listAll, METADATA_LIST, type ReadingClient } from './list.ts';
import type { Entry } from './object-table.ts';
import { describeResource, type ResourceRef } from './resource.ts';
import { jitteredDelay } from './retry.ts';
import { type Diffs, type Handler, Subscription, Subscriptions } from './subscription.ts';
import { type WatchEvent, watchOnce } from './watch.ts';

interface Reflected {
  readonly target: ResourceRef;
  /** Reads only the metadata of the objects. */
  readonly metadataOnly: boolean;
}

/** What a reflector has for one handler, and how current it is. */
export interface Reflection<Value> {
  /** Which resource this is, for people and metrics: `pods`, `poddisruptionbudgets.policy`. */
  readonly name: string;
  /** The objects by `namespace/name`; a list replaces all of them at once. */
  readonly entries: ReadonlyMap<string, Entry<Value>>;
  /** Seconds since the content was last known to be current (see Freshness); undefined before the first list is complete. */
  readonly age: Seconds | undefined;
  /** The resourceVersion that the content has come to; undefined before the first list, and once it was distrusted. */
  readonly position: string | undefined;
  /** Why the last list or watch failed, for people; undefined while all is well. */
  readonly trouble: string | undefined;
  /** Resolves when the first list is in, or after a distrust the next one. Rejects with StaleCacheError after `span`, saying why, or with the signal's reason. */
  synced(span: Seconds, signal: AbortSignal): Promise<void>;
  /** Lists anew, at once: something has shown that the content is wrong, `why`. Until then the content has no age. */
  distrust(why: string): void;
  /** The same where nothing is wrong, but all that was written up to now must be seen. */
  renew(): void;
  /** Keeps the content current until aborted; then resolves. */
  run(signal: AbortSignal): Promise<void>;
}

const METADATA_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** How often the cache is compared with a list. */
const AUDIT_INTERVAL: Seconds = seconds(3600);
/** When an audit that failed is tried again. */
const AUDIT_RETRY: Seconds = seconds(600);
/** A watch that ends sooner than this counts as a failure, so that an eager loop cannot flood the server. */
const SUSPICIOUSLY_SHORT = seconds(1);
/** Why a watch was ended by ourselves. */
const LISTED_ANEW = new Error('the resource is listed anew');
/** A server that asks to wait longer is asked again after this. */
const LONGEST_WAIT = 60;

/**
 * Keeps a copy of all objects of a resource: a paged list, then watches that go on where the last one ended. Only when the
 * server no longer knows that point (410, as status or in the stream), or sends what is no event, the resource is listed
 * anew, and the difference by UID applied. After all other failures the watch goes on from the last resourceVersion. Both
 * back off with full jitter, 0.5 s doubled up to 30 s, or as long as Retry-After says. Once an hour the copy is compared
 * with a list of the same resourceVersion.
 *
 * Several handlers share the list and the watch. Objects are not kept, only what handlers read of them, so the resource is
 * listed anew for a handler that joins late; it gets every version from then on. The others may miss a version between the
 * watch and that list, as with any list, so a handler that needs every version joins last. The server is asked for a part of
 * the objects only while every handler wants just that part.
 */
export class Reflector {
  readonly #client: ReadingClient;
  readonly #reflected: Reflected;
  readonly #freshness: Freshness;
  /** Of those handlers that are running. */
  readonly #subscriptions = new Subscriptions();
  /** Ends the loop that is running; undefined while none is. */
  #stop: AbortController | undefined;
  #loop: Promise<void> = Promise.resolve();
  /** Where the next watch begins; undefined when the resource must be listed. */
  #resourceVersion: string | undefined;
  #lastFailure: unknown;
  /** Ends the watch that is under way. */
  #watching: AbortController | undefined;
  /** Attempts in a row that brought nothing. */
  #failures = 0;
  #nextAudit = 0;

  constructor(client: ReadingClient, reflected: Reflected) {
    this.#client = client;
    this.#reflected = reflected;
    this.#freshness = createFreshness(client.options.clock);
  }

  /** What is kept for a handler; nothing before it runs. The resource is listed and watched while one handler runs. */
  handle<Value>(handler: Handler<Value>): Reflection<Value> {
    const subscription = new Subscription(handler);
    const name = describeResource(this.#reflected.target);
    const age = () => this.#ageOf(subscription);
    const position = () => (subscription.isListed ? this.#resourceVersion : undefined);
    const trouble = () => this.#trouble();
    return {
      name,
      get entries() {
        return subscription.entries;
      },
      get age() {
        return age();
      },
      get position() {
        return position();
      },
      get trouble() {
        return trouble();
      },
      synced: (span, signal) => this.#synced(subscription.filled, name, span, signal),
      distrust: (why) => this.#relist(new ApiError('Expired', why)),
      renew: () => this.#relist(LISTED_ANEW),
      run: (signal) => this.#run(subscription, signal),
    };
  }

  #ageOf({ isListed }: Subscription<unknown>): Seconds | undefined {
    return isListed ? this.#freshness.age() : undefined;
  }

  #trouble(): string | undefined {
    const error = this.#lastFailure;
    return error instanceof Error ? error.message : error?.toString();
  }

  async #synced(filled: Promise<void>, name: string, span: Seconds, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const deadline = async (): Promise<never> => {
      await this.#client.options.clock.sleep(span, AbortSignal.any([signal, done.signal]));
      throw new StaleCacheError(`${name} could not be listed within ${span} s: ${this.#trouble() ?? 'no answer'}`);
    };
    try {
      await Promise.race([filled, deadline()]);
    } finally {
      done.abort();
    }
  }

  #relist(reason: Error): void {
    this.#resourceVersion = undefined;
    this.#freshness.distrusted();
    this.#subscriptions.distrusted();
    this.#watching?.abort(reason);
  }

  async #run(subscription: Subscription<unknown>, signal: AbortSignal): Promise<void> {
    if (signal.aborted) {
      return;
    }
    const left = Promise.withResolvers<void>();
    const leave = (): void => left.resolve(this.#leave(subscription));
    signal.addEventListener('abort', leave, { once: true });
    try {
      await Promise.race([left.promise, this.#join(subscription)]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** The resource is listed for this handler next. Rejects when the loop fails, which is a bug. */
  #join(subscription: Subscription<unknown>): Promise<void> {
    this.#subscriptions.add(subscription);
    this.#watching?.abort(LISTED_ANEW);
    if (this.#stop === undefined) {
      const stop = new AbortController();
      this.#stop = stop;
      this.#loop = this.#loop.then(() => this.#reflect(stop.signal));
    }
    return this.#loop;
  }

  /** After the last handler nothing is reflected any more; resolves when that is so. */
  async #leave(subscription: Subscription<unknown>): Promise<void> {
    this.#subscriptions.delete(subscription);
    if (this.#subscriptions.isEmpty) {
      this.#stop?.abort();
      this.#stop = undefined;
      await this.#loop;
    }
  }

  async #reflect(signal: AbortSignal): Promise<void> {
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
      if (this.#isListDue()) {
        await this.#list(signal);
      } else if (this.#client.options.clock.monotonic() >= this.#nextAudit) {
        await this.#audit(signal);
      }
      if (this.#isListDue()) {
        return 0;
      }
      return (await this.#watch(signal)) ? 0 : this.#backOff(0);
    } catch (error) {
      return signal.aborted ? 0 : this.#recover(error);
    }
  }

  #isListDue(): boolean {
    return this.#resourceVersion === undefined || this.#subscriptions.hasUnlisted;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const began = this.#client.options.clock.monotonic();
    const isDistrusted = this.#freshness.age() === undefined;
    const { diffs, resourceVersion } = await this.#readList(undefined, signal);
    this.#resourceVersion = resourceVersion;
    this.#freshness.listed(began);
    this.#nextAudit = began + AUDIT_INTERVAL;
    this.#lastFailure = undefined;
    for (const [subscription, diff] of diffs) {
      subscription.listed(diff, isDistrusted);
    }
  }

  /** Compares with the list of exactly the resourceVersion that the watch has come to: nothing may differ. */
  async #audit(signal: AbortSignal): Promise<void> {
    const began = this.#client.options.clock.monotonic();
    this.#nextAudit = began + AUDIT_RETRY;
    try {
      const { diffs } = await this.#readList(this.#resourceVersion, signal);
      this.#nextAudit = began + AUDIT_INTERVAL;
      for (const [subscription, diff] of diffs) {
        subscription.audited(diff);
      }
    } catch (error) {
      if (signal.aborted || isExpired(error)) {
        throw error;
      }
      this.#subscriptions.failed(error);
    }
  }

  async #readList(
    exactly: string | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly diffs: Diffs; readonly resourceVersion: string }> {
    const { target, metadataOnly } = this.#reflected;
    const draft = this.#subscriptions.beginList();
    const accept = metadataOnly ? METADATA_LIST : undefined;
    const options = { accept, exactly };
    const { resourceVersion } = await listAll(
      this.#client,
      target,
      this.#subscriptions.query(),
      draft,
      signal,
      options,
    );
    if (resourceVersion === '') {
      throw new ApiError('BadAnswer', `the API server's list of ${target.resource} has no resourceVersion`);
    }
    return { diffs: draft.commit(resourceVersion), resourceVersion };
  }

  /** One watch to its end; resolves to whether it lasted, or made way for a list. */
  async #watch(signal: AbortSignal): Promise<boolean> {
    const { target, metadataOnly } = this.#reflected;
    const accept = metadataOnly ? METADATA_OBJECT : undefined;
    const listener = {
      opened: () => this.#freshness.watchOpened(),
      event: (event: WatchEvent) => this.#take(event),
    };
    const { clock } = this.#client.options;
    const watching = new AbortController();
    const both = AbortSignal.any([signal, watching.signal]);
    const request = {
      target,
      query: this.#subscriptions.query(),
      accept,
      resourceVersion: this.#resourceVersion ?? '',
    };
    this.#watching = watching;
    let silent = false;
    let lasted = false;
    try {
      await watchOnce(this.#client, request, listener, both);
    } catch (error) {
      if (watching.signal.reason === LISTED_ANEW) {
        return true;
      }
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

  #take(event: WatchEvent): void {
    this.#freshness.heard();
    if (isLater(event.resourceVersion, this.#resourceVersion)) {
      this.#resourceVersion = event.resourceVersion;
      this.#progress();
    }
    this.#subscriptions.take(event);
  }

  #progress(): void {
    this.#failures = 0;
    this.#lastFailure = undefined;
  }

  /** What becomes of a failure. Returns the seconds to wait. */
  #recover(error: unknown): number {
    this.#lastFailure = error;
    this.#subscriptions.failed(error);
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
