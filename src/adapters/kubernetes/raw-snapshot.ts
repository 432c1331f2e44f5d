import { isObject, type JsonObject } from '../../model/json.ts';
import { type EpochSeconds, epochSeconds } from '../../model/units.ts';
import type { SnapshotKind } from '../../observe/kind-table.ts';
import type { ApiClient } from './client.ts';
import { listSource } from './list-source.ts';
import { isMissing, LISTED_SOURCES, type SnapshotSource, WATCHED_SOURCES } from './snapshot-sources.ts';

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
  let metricsServed = true;
  for (const source of [...WATCHED_SOURCES, ...LISTED_SOURCES]) {
    try {
      const time = await readSource(client, source, objects, trim, signal);
      times.push(...(source.missing === 'Failure' ? [time] : []));
    } catch (error) {
      if (!isMissing(source, error)) {
        throw error;
      }
      metricsServed &&= source.missing !== 'Unmeasured';
    }
  }
  return { objects, takenAt: epochSeconds(Math.min(...times)), metricsServed };
}

async function readSource<Kept>(
  client: ApiClient,
  source: SnapshotSource,
  objects: Kept[],
  trim: (kind: SnapshotKind, object: JsonObject) => Kept,
  signal: AbortSignal,
): Promise<EpochSeconds> {
  const before = objects.length;
  const listener = {
    item: (object: unknown) => objects.push(trim(source.kind, isObject(object) ? object : {})),
    restart: () => {
      objects.length = before;
    },
  };
  const { serverTime } = await listSource(client, source, listener, signal);
  return serverTime;
}
