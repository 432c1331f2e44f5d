import type { ObjectMeta } from '../../api/v1alpha1/schema.ts';
import { compareVersions } from '../../model/resource-version.ts';
import { type Seconds, seconds } from '../../model/units.ts';
import { ConflictError, StaleCacheError } from '../../ports.ts';
import { type Diff, describeDiff, type Entry } from './object-table.ts';
import type { Reflector } from './reflector.ts';

/** Nothing is decided by objects that have been cut off for longer (execution.md, stale cache). */
const MAX_AGE: Seconds = seconds(60);
/** Longest wait for a list. */
const PATIENCE: Seconds = seconds(30);

interface Named {
  readonly metadata: ObjectMeta;
}

/** Objects of a resource that are watched, with what this process wrote on top for as long as the watch has not brought it. */
export interface CachedObjects<Value extends Named> {
  /** All objects, none of them older than the last write. Throws StaleCacheError where that is not known. */
  list(signal: AbortSignal): Promise<readonly Value[]>;
  /**
   * Writes an object by `work`, which resolves to it as it is stored. Rejects as `work` does. Two ConflictErrors in a row for the same
   * version of an object show that the watch has missed a change of it: then all objects are listed anew.
   */
  write(object: Named, work: () => Promise<Value>): Promise<Value>;
  /** Deletes the object of this name by `work`. */
  remove(name: string, work: () => Promise<void>): Promise<void>;
  /** Calls `changed` after each change until aborted; then resolves. */
  watch(changed: () => void, signal: AbortSignal): Promise<void>;
  /** Lists the objects, then keeps them current until aborted; then resolves. */
  run(signal: AbortSignal): Promise<void>;
  /** Lists them anew before anything more is read. */
  renew(): void;
  /** The resourceVersion of the newest write of this process; empty before the first. */
  readonly written: string;
  /** Resolves when what was written up to a resourceVersion is seen. Rejects with StaleCacheError where that takes too long. */
  caughtUp(resourceVersion: string, signal: AbortSignal): Promise<void>;
}

/** What a write has left, until the watch has come as far. */
type OwnWrite<Value> =
  | { readonly kind: 'Stored'; readonly object: Value }
  | { readonly kind: 'Removed'; readonly uid: string | undefined };

/** `read` throws for what is no such object. `report` hears of that, and of lists and watches that failed. */
export function createCachedObjects<Value extends Named>(
  reflector: Reflector,
  read: (body: unknown) => Value,
  report: (error: unknown) => void,
): CachedObjects<Value> {
  const own = new Map<string, OwnWrite<Value>>();
  /** Versions whose write conflicted, by the names of their objects; an empty one for an object that was to be created. */
  const conflicts = new Map<string, string>();
  const watchers = new Set<() => void>();
  let written = '';
  const cache = reflector.handle<Value | undefined>({
    read: (body) => {
      try {
        return read(body);
      } catch (error) {
        // What cannot be read must not end the watch of all others.
        report(error);
        return undefined;
      }
    },
    changed: () => {
      for (const watcher of watchers) {
        watcher();
      }
    },
    failed: report,
    drifted: (diff: Diff) => report(new Error(`${cache.name} had drifted: ${describeDiff(diff)}`)),
  });

  /** By name, in the order of the cache. */
  function current(): ReadonlyMap<string, Value> {
    const objects = new Map<string, Value>();
    const entries = new Map<string, Entry<unknown>>();
    for (const entry of cache.entries.values()) {
      if (entry.value !== undefined) {
        const { name } = entry.value.metadata;
        objects.set(name, entry.value);
        entries.set(name, entry);
      }
    }
    for (const [name, write] of own) {
      const entry = entries.get(name);
      if (hasArrived(write, entry, cache.position)) {
        own.delete(name);
      } else if (write.kind === 'Removed') {
        objects.delete(name);
      } else {
        objects.set(name, write.object);
      }
    }
    return objects;
  }

  function noteConflict(name: string, version: string): void {
    if (conflicts.get(name) === version) {
      conflicts.delete(name);
      cache.distrust(`the watch has missed that ${name} has changed`);
    } else {
      conflicts.set(name, version);
    }
  }

  return {
    async list(signal) {
      await cache.synced(PATIENCE, signal);
      const { age, trouble, name } = cache;
      if (age === undefined || age > MAX_AGE) {
        const state = age === undefined ? 'are listed anew' : `have been cut off for ${Math.round(age)} s`;
        throw new StaleCacheError(`${name} ${state}${trouble === undefined ? '' : ` (${trouble})`}`);
      }
      return [...current().values()];
    },
    async write({ metadata: { name, resourceVersion = '' } }, work) {
      try {
        const object = await work();
        own.set(name, { kind: 'Stored', object });
        written = newer(written, object.metadata.resourceVersion ?? '');
        conflicts.delete(name);
        return object;
      } catch (error) {
        if (error instanceof ConflictError) {
          noteConflict(name, resourceVersion);
        }
        throw error;
      }
    },
    async remove(name, work) {
      const uid = current().get(name)?.metadata.uid;
      await work();
      own.set(name, { kind: 'Removed', uid });
    },
    async watch(changed, signal) {
      watchers.add(changed);
      await new Promise<void>((resolve) => {
        if (signal.aborted) {
          resolve();
        }
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      watchers.delete(changed);
    },
    run: (signal) => cache.run(signal),
    renew: () => cache.renew(),
    get written() {
      return written;
    },
    async caughtUp(resourceVersion, signal) {
      await cache.synced(PATIENCE, signal);
      if (hasReached(cache.position, resourceVersion)) {
        return;
      }
      const news = Promise.withResolvers<void>();
      const look = (): void => {
        if (hasReached(cache.position, resourceVersion)) {
          news.resolve();
        }
      };
      const late = setTimeout(
        () =>
          news.reject(
            new StaleCacheError(`${cache.name} have not come to version ${resourceVersion} in ${PATIENCE} s`),
          ),
        PATIENCE * 1000,
      );
      const stop = (): void => news.reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      watchers.add(look);
      try {
        await news.promise;
      } finally {
        clearTimeout(late);
        watchers.delete(look);
        signal.removeEventListener('abort', stop);
      }
    },
  };
}

/** The newer one of two versions; empty ones are the oldest. */
export function newer(left: string, right: string): string {
  return left === '' || (right !== '' && (compareVersions(right, left) ?? 1) > 0) ? right : left;
}

/** Whether a cache at `position` has what was written up to a version; what cannot be compared it has not. */
function hasReached(position: string | undefined, resourceVersion: string): boolean {
  const order = position === undefined ? undefined : compareVersions(position, resourceVersion);
  return resourceVersion === '' || (order !== undefined && order >= 0);
}

/** Whether the cache has what was written, or something newer. */
function hasArrived(write: OwnWrite<Named>, entry: Entry<unknown> | undefined, position: string | undefined): boolean {
  if (write.kind === 'Removed') {
    return entry?.uid !== write.uid;
  }
  const { resourceVersion = '' } = write.object.metadata;
  const reached = position === undefined ? undefined : compareVersions(position, resourceVersion);
  return entry?.resourceVersion === resourceVersion || (reached !== undefined && reached >= 0);
}
