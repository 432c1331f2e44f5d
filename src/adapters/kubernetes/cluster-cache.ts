import { isDeepStrictEqual } from 'node:util';
import { compareText } from '../../model/compare-text.ts';
import type { NodeInfo } from '../../model/node.ts';
import { type PodInfo, type PodRef, podKey } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { failedNodes, isStranded } from '../../model/stranded.ts';
import { type EpochSeconds, type Seconds, seconds } from '../../model/units.ts';
import { createInterner, type Interner } from '../../observe/interner.ts';
import { nameForPeople } from '../../observe/project/metadata.ts';
import { pastMovesOf } from '../../observe/project/past-moves.ts';
import { WORKLOAD_KINDS } from '../../observe/project/workload.ts';
import { budgetOpens, nodeTakesOthers, podChangesRoom } from '../../observe/room-change.ts';
import { createSnapshotBuilder, type SnapshotBuilder } from '../../observe/snapshot-builder.ts';
import { type Projected, readObject } from '../../observe/snapshot-kinds.ts';
import { type Clock, type ClusterReader, type PlanStore, StaleCacheError, type Turnover } from '../../ports.ts';
import type { ApiClient } from './client.ts';
import { listedSources, listInto, listPromises } from './cluster-reader.ts';
import { createLiveReads } from './live-reads.ts';
import type { Diff, Entry } from './object-table.ts';
import type { Reflection } from './reflector.ts';
import type { SharedReflectors } from './shared-reflectors.ts';
import { METRICS_SOURCES, type SnapshotSource, USAGE_SOURCES, WATCHED_SOURCES } from './snapshot-sources.ts';
import type { Handler } from './subscription.ts';

/** Nothing is planned from a cache that has been cut off for longer (execution.md, stale cache). */
const MAX_AGE: Seconds = seconds(60);

/** Hears what happens to the caches; `resource` as in `pods` or `poddisruptionbudgets.policy`. */
export interface CacheListener {
  /** A list or a watch failed, or an object could not be read for a reason that is a bug. */
  failed(resource: string, error: unknown): void;
  /** An audit found `diff` objects wrong in the cache and put them right. */
  drifted(resource: string, diff: Diff): void;
}

/** One cache, for metrics. */
export interface CacheState {
  readonly resource: string;
  readonly objects: number;
  /** Seconds since its content was last known to be current; undefined before the first list. */
  readonly age: Seconds | undefined;
}

/** Caches of everything that a snapshot is made from and that can be watched. */
export interface ClusterCache {
  /**
   * Makes snapshots from the caches, and of nodes; all other reads are live. `snapshot`, `placements`, `measured` and `nodes`
   * reject with StaleCacheError when a cache is not filled or has been cut off for more than 60 s. When a live read has shown
   * that the watch of pods missed something, they do, too, from the next `snapshot` or `placements` on: pods are listed anew
   * then. `takenAt` is the server's time when usage and plans were listed, before the caches were looked at.
   */
  readonly reader: ClusterReader;
  /** Fills the caches and keeps them current until aborted; then resolves. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when all caches are filled. Rejects with StaleCacheError after `span`, naming one and why. */
  synced(span: Seconds, signal: AbortSignal): Promise<void>;
  /** Counts what came and went. */
  turnover(): Turnover;
  /** From now on this function, and none before it, is called when a watch, or a list, brings new pods that wait at our gate. */
  onArrival(arrived: () => void): void;
  states(): readonly CacheState[];
}

/** Storage, which decides where pods find room. Each change of it counts: there are few. */
const STORAGE_KINDS: ReadonlySet<SnapshotSource['kind']> = new Set([
  'PersistentVolume',
  'PersistentVolumeClaim',
  'StorageClass',
  'CSINode',
  'CSIDriver',
]);
/** What takes room, is room, or keeps pods where they take it. */
const ROOM_KINDS: ReadonlySet<SnapshotSource['kind']> = new Set([
  'Pod',
  'Node',
  'PodDisruptionBudget',
  ...STORAGE_KINDS,
]);
/** What wants room, or is room. */
const REQUEST_KINDS: ReadonlySet<SnapshotSource['kind']> = new Set([...WORKLOAD_KINDS, 'Node']);

type Cached = Reflection<Projected | string>;

/** Hears of an object that was read, and of what was kept of it before. */
type Seen = (after: Projected | string, before: Projected | string | undefined) => void;

/**
 * Empty caches on shared watches; `run` fills them. With `plans`, which keep hundreds of large plans already, what has been moved
 * before is what those say, and no cache keeps it a second time.
 */
export function createClusterCache(
  client: ApiClient,
  reflectors: SharedReflectors,
  listener: CacheListener,
  plans?: Pick<PlanStore, 'list'>,
): ClusterCache {
  const sources = WATCHED_SOURCES.filter(({ kind }) => kind !== 'RebalancePlan' || plans === undefined);
  const interner = createInterner();
  const turnover = { room: 0, requests: 0 };
  let arrived = (): void => undefined;
  const counted = (kind: SnapshotSource['kind'], turns: number): void => {
    turnover.room += ROOM_KINDS.has(kind) ? turns : 0;
    turnover.requests += REQUEST_KINDS.has(kind) ? turns : 0;
  };
  const all = sources.map((source) => {
    let isGatedRead = false;
    let turns = 0;
    return reflect(reflectors, source, interner, {
      ...listener,
      seen: (after, before) => {
        isGatedRead ||= isAtGate(after);
        turns += changesRoom(before, after) ? 1 : 0;
      },
      changed: ({ added, removed }) => {
        counted(source.kind, added + removed + turns);
        if (isGatedRead && added > 0) {
          arrived();
        }
        isGatedRead = false;
        turns = 0;
      },
    });
  });
  const ofKind = (wanted: SnapshotSource['kind']) => all.filter((_, index) => sources[index]?.kind === wanted);
  const measuredCaches = USAGE_SOURCES.flatMap(({ kind }) => ofKind(kind));
  const live = createLiveReads(client);
  const withPlans = async (snapshot: ClusterSnapshot, signal: AbortSignal): Promise<ClusterSnapshot> =>
    plans === undefined ? snapshot : { ...snapshot, pastMoves: pastMovesOf(await plans.list(signal)) };
  const pods = ofKind('Pod').map((cache) => ({
    cache,
    doubts: createStalePodDetector(() => cache.entries, client.options.clock),
  }));
  const settleDoubts = (): void => {
    for (const { cache, doubts } of pods) {
      const name = doubts.proven();
      if (name !== undefined) {
        cache.distrust(`the watch has missed that pod ${name} has changed`);
      }
    }
  };
  return {
    reader: {
      ...live,
      pod: async (ref, signal) => {
        const found = await live.pod(ref, signal);
        for (const { doubts } of pods) {
          doubts.compare(ref, found.pod);
        }
        return found;
      },
      snapshot: async (signal, options) => {
        settleDoubts();
        requireFresh(all);
        const builder = createSnapshotBuilder();
        const takenAt = await listInto(builder, listedSources(options), client, signal);
        return withPlans(finish(builder, all, takenAt), signal);
      },
      placements: async (signal) => {
        settleDoubts();
        return withPlans(finish(createSnapshotBuilder(), all, client.options.clock.now()), signal);
      },
      measured: async (signal) => {
        const builder = createSnapshotBuilder();
        const takenAt = await listInto(builder, METRICS_SOURCES, client, signal);
        return finish(builder, measuredCaches, takenAt);
      },
      promises: (signal) => listPromises(client, signal),
      nodes: async () => nodesOf(ofKind('Node')),
    },
    run: async (signal) => {
      await Promise.all(all.map((cache) => cache.run(signal)));
    },
    synced: async (span, signal) => {
      await Promise.all(all.map((cache) => cache.synced(span, signal)));
    },
    turnover: () => ({ ...turnover, stranded: strandedIn(ofKind('Node'), ofKind('Pod')) }),
    onArrival: (next) => {
      arrived = next;
    },
    states: () => all.map(({ name, entries, age }) => ({ resource: name, objects: entries.size, age })),
  };
}

function reflect(
  reflectors: SharedReflectors,
  { kind, part }: SnapshotSource,
  interner: Interner,
  listener: CacheListener & Pick<Handler<unknown>, 'changed'> & { readonly seen: Seen },
): Cached {
  const read = (object: unknown, before: Projected | string | undefined): Projected | string => {
    try {
      const projected = readObject(kind, object, interner);
      listener.seen(projected, before);
      return projected;
    } catch (error) {
      // A bug of ours must not end the watch of all other objects.
      listener.failed(cache.name, error);
      return `${kind} ${nameForPeople(object)}: cannot be read: ${error}`;
    }
  };
  const cache: Cached = reflectors.of(kind).handle({
    part,
    read,
    changed: listener.changed,
    failed: (error) => listener.failed(cache.name, error),
    drifted: (diff) => listener.drifted(cache.name, diff),
  });
  return cache;
}

/** Whether an object that stays leaves other room than it did. One that could not be read before gives what it has. */
function changesRoom(before: Projected | string | undefined, after: Projected | string): boolean {
  if (before === undefined || typeof after === 'string') {
    return false;
  }
  if (typeof before === 'string' || STORAGE_KINDS.has(after.kind)) {
    return true;
  }
  if (before.kind === 'Pod' && after.kind === 'Pod') {
    return podChangesRoom(before.value.pod, after.value.pod);
  }
  if (before.kind === 'PodDisruptionBudget' && after.kind === 'PodDisruptionBudget') {
    return budgetOpens(before.value, after.value);
  }
  return before.kind === 'Node' && after.kind === 'Node' && nodeTakesOthers(before.value, after.value);
}

function isAtGate(projected: Projected | string): boolean {
  return typeof projected !== 'string' && projected.kind === 'Pod' && projected.value.pod.waiting?.gated === true;
}

/** Adds what the caches hold. Throws StaleCacheError. */
function finish(builder: SnapshotBuilder, caches: readonly Cached[], takenAt: EpochSeconds): ClusterSnapshot {
  requireFresh(caches);
  for (const { entries } of caches) {
    for (const { value } of entries.values()) {
      builder.addProjected(value);
    }
  }
  return builder.finish(takenAt);
}

function nodesOf(caches: readonly Cached[]): readonly NodeInfo[] {
  requireFresh(caches);
  return projectedIn(caches)
    .flatMap((each) => (each.kind === 'Node' ? [each.value] : []))
    .sort((left, right) => compareText(left.name, right.name));
}

/** UIDs of the pods that are down with their nodes. Pods are looked at only while some node is not Ready. */
function strandedIn(nodes: readonly Cached[], pods: readonly Cached[]): readonly string[] {
  const failed = failedNodes(projectedIn(nodes).flatMap((each) => (each.kind === 'Node' ? [each.value] : [])));
  return failed.size === 0
    ? []
    : projectedIn(pods).flatMap((each) =>
        each.kind === 'Pod' && each.value.pod.phase !== 'Failed' && isStranded(each.value.pod, failed)
          ? [each.value.pod.uid]
          : [],
      );
}

function projectedIn(caches: readonly Cached[]): readonly Projected[] {
  return caches
    .flatMap(({ entries }) => [...entries.values()])
    .flatMap(({ value }) => (typeof value === 'string' ? [] : [value]));
}

/** Throws StaleCacheError that names every cache that cannot be trusted, and why. */
function requireFresh(caches: readonly Cached[]): void {
  const stale = caches.filter(({ age }) => age === undefined || age > MAX_AGE);
  if (stale.length > 0) {
    throw new StaleCacheError(`the cluster is not known well enough: ${stale.map(describeStale).join('; ')}`);
  }
}

function describeStale({ name, age, trouble }: Cached): string {
  const state = age === undefined ? 'not listed yet' : `cut off for ${Math.round(age)} s`;
  return trouble === undefined ? `${name} ${state}` : `${name} ${state} (${trouble})`;
}

/** A watch that works tells of a change within moments; what it has not told after so long it will not tell. */
const PATIENCE: Seconds = seconds(5);

type CachedPods = ReadonlyMap<string, Entry<Projected | string>>;

/** Compares live reads of pods with the cache, which loses an event when something on the way drops it. */
interface StalePodDetector {
  /** Remembers that a live read found something else under this name than the cache has; `live` is undefined for no pod. */
  compare(ref: Pick<PodRef, 'namespace' | 'name'>, live: PodInfo | undefined): void;
  /** `namespace/name` of a pod whose cached state was seen to be out of date and has not changed for 5 s since, if any. */
  proven(): string | undefined;
}

/** No doubts so far about `cached`. */
function createStalePodDetector(cached: () => CachedPods, clock: Pick<Clock, 'monotonic'>): StalePodDetector {
  const doubts = new Map<string, { readonly entry: Entry<unknown>; readonly since: Seconds }>();
  return {
    compare(ref, live) {
      const key = podKey(ref);
      const entry = cached().get(key);
      if (entry === undefined || isDeepStrictEqual(podOf(entry), live)) {
        doubts.delete(key);
      } else if (doubts.get(key)?.entry !== entry) {
        doubts.set(key, { entry, since: clock.monotonic() });
      }
    },
    proven() {
      for (const [key, { entry, since }] of doubts) {
        if (cached().get(key) !== entry) {
          doubts.delete(key);
        } else if (clock.monotonic() - since >= PATIENCE) {
          doubts.clear();
          return key;
        }
      }
      return undefined;
    },
  };
}

function podOf({ value }: Entry<Projected | string>): PodInfo | undefined {
  return typeof value !== 'string' && value.kind === 'Pod' ? value.value.pod : undefined;
}
