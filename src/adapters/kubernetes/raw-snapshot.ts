import { isObject, type JsonObject } from '../../model/json.ts';
import { type EpochSeconds, epochSeconds } from '../../model/units.ts';
import type { SnapshotKind } from '../../observe/snapshot-kinds.ts';
import type { ApiClient } from './client.ts';
import { listAll } from './list.ts';
import {
  areOursMissing,
  HISTORY_SOURCE,
  isMetricsMissing,
  METRICS_SOURCES,
  SERVICE_SOURCES,
  SNAPSHOT_SOURCES,
  type SnapshotSource,
} from './snapshot-sources.ts';

/** Objects as the API server lists them, trimmed one by one, and when that began by the server's clock. */
export interface RawSnapshot<Kept> {
  readonly objects: readonly Kept[];
  readonly takenAt: EpochSeconds;
  /** The Metrics API answered, if only with nothing. */
  readonly metricsServed: boolean;
}

/**
 * Lists everything that a plan is made from, for `evenkeel snapshot`. `trim` gets each object and gives what to keep of it, so
 * that the rest is never in memory. Rejects with ApiError.
 */
export async function listRawSnapshot<Kept>(
  client: ApiClient,
  trim: (kind: SnapshotKind, object: JsonObject) => Kept,
  signal: AbortSignal,
): Promise<RawSnapshot<Kept>> {
  const objects: Kept[] = [];
  const times: EpochSeconds[] = [];
  for (const source of SNAPSHOT_SOURCES) {
    times.push(await listSource(client, source, objects, trim, signal));
  }
  for (const source of [HISTORY_SOURCE, ...SERVICE_SOURCES]) {
    await listOurs(client, source, objects, trim, signal);
  }
  let metricsServed = true;
  for (const source of METRICS_SOURCES) {
    try {
      await listSource(client, source, objects, trim, signal);
    } catch (error) {
      if (!isMetricsMissing(error)) {
        throw error;
      }
      metricsServed = false;
    }
  }
  return { objects, takenAt: epochSeconds(Math.min(...times)), metricsServed };
}

async function listOurs<Kept>(
  client: ApiClient,
  source: SnapshotSource,
  objects: Kept[],
  trim: (kind: SnapshotKind, object: JsonObject) => Kept,
  signal: AbortSignal,
): Promise<void> {
  try {
    await listSource(client, source, objects, trim, signal);
  } catch (error) {
    if (!areOursMissing(error)) {
      throw error;
    }
  }
}

async function listSource<Kept>(
  client: ApiClient,
  { kind, target, query }: SnapshotSource,
  objects: Kept[],
  trim: (kind: SnapshotKind, object: JsonObject) => Kept,
  signal: AbortSignal,
): Promise<EpochSeconds> {
  const before = objects.length;
  const listener = {
    item: (object: unknown) => objects.push(trim(kind, isObject(object) ? object : {})),
    restart: () => {
      objects.length = before;
    },
  };
  const { serverTime } = await listAll(client, target, query, listener, signal);
  return serverTime;
}
