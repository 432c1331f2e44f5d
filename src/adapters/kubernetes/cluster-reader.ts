import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { type EpochSeconds, epochSeconds } from '../../model/units.ts';
import { createSnapshotBuilder, type SnapshotBuilder } from '../../observe/snapshot-builder.ts';
import type { ClusterReader, Promises } from '../../ports.ts';
import { ApiError, isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { runConcurrently } from './concurrent.ts';
import { listAll } from './list.ts';
import { createLiveReads } from './live-reads.ts';
import { describeResource } from './resource.ts';
import {
  areOursMissing,
  CLASS_SOURCES,
  HISTORY_SOURCE,
  isMetricsMissing,
  MEASURED_KINDS,
  METRICS_SOURCES,
  SERVICE_SOURCES,
  SNAPSHOT_SOURCES,
  type SnapshotSource,
} from './snapshot-sources.ts';

/** Lists that are read at the same time. */
const CONCURRENT_LISTS = 4;

/** Reads a cluster through its API server, all of it anew for each snapshot. */
export function createClusterReader(client: ApiClient): ClusterReader {
  const listed = async (sources: readonly SnapshotSource[], signal: AbortSignal): Promise<ClusterSnapshot> => {
    const builder = createSnapshotBuilder();
    return builder.finish(await listInto(builder, sources, client, signal));
  };
  return {
    ...createLiveReads(client),
    snapshot: (signal, options) => listed([...SNAPSHOT_SOURCES, ...listedSources(options)], signal),
    placements: (signal) => listed(SNAPSHOT_SOURCES, signal),
    measured: (signal) =>
      listed([...SNAPSHOT_SOURCES.filter(({ kind }) => MEASURED_KINDS.has(kind)), ...METRICS_SOURCES], signal),
    promises: (signal) => listPromises(client, signal),
  };
}

/** Lists what decides the class of a pod. Rejects with ApiError. */
export async function listPromises(client: ApiClient, signal: AbortSignal): Promise<Promises> {
  const builder = createSnapshotBuilder();
  const { namespaces, serviceLevels } = builder.finish(await listInto(builder, CLASS_SOURCES, client, signal));
  return { namespaces, serviceLevels };
}

/**
 * What is listed for each snapshot even where everything else is watched: the Metrics API cannot be watched, and what budgets
 * allow is computed from the journal as it is now, never from memory (execution.md, the journal). So are ledgers, and classes,
 * which a cluster may not have installed.
 */
const LISTED_SOURCES: readonly SnapshotSource[] = [...METRICS_SOURCES, HISTORY_SOURCE, ...SERVICE_SOURCES];

/** Those, without the Metrics API where usage comes from elsewhere. */
export function listedSources({ usage }: { readonly usage: boolean } = { usage: true }): readonly SnapshotSource[] {
  return usage ? LISTED_SOURCES : LISTED_SOURCES.filter((source) => !METRICS_SOURCES.includes(source));
}

/**
 * Lists sources into `builder`. Resolves to the server's time when that began. Rejects with ApiError; where rights are missing,
 * only after all lists, so that one error names them all.
 */
export async function listInto(
  builder: SnapshotBuilder,
  sources: readonly SnapshotSource[],
  client: ApiClient,
  signal: AbortSignal,
): Promise<EpochSeconds> {
  const refused = new Map<SnapshotSource, ApiError>();
  const times = await runConcurrently(sources, CONCURRENT_LISTS, signal, async (source, limited) => {
    try {
      return await readAny(client, source, builder, limited);
    } catch (error) {
      if (!isApiError(error, 'Forbidden')) {
        throw error;
      }
      refused.set(source, error);
      return;
    }
  });
  throwIfRefused(sources, refused);
  const known = times.filter((time) => time !== undefined);
  return epochSeconds(known.length === 0 ? client.options.clock.now() : Math.min(...known));
}

function readAny(
  client: ApiClient,
  source: SnapshotSource,
  builder: SnapshotBuilder,
  signal: AbortSignal,
): Promise<EpochSeconds | undefined> {
  if (source === HISTORY_SOURCE || source.kind === 'ServiceClass' || source.kind === 'QoSLedger') {
    return readOurs(client, source, builder, signal);
  }
  return METRICS_SOURCES.includes(source)
    ? readMetrics(client, source, builder, signal)
    : readSource(client, source, builder, signal);
}

/** Throws the refusal of the first of `sources` that was refused, with the names of the others, whichever was answered first. */
function throwIfRefused(sources: readonly SnapshotSource[], refused: ReadonlyMap<SnapshotSource, ApiError>): void {
  const [first, ...others] = sources.filter((source) => refused.has(source));
  const error = first && refused.get(first);
  if (error !== undefined) {
    const names = others.map(({ target }) => describeResource(target));
    const rest = names.length === 0 ? '' : `; the same is missing for ${names.join(', ')}`;
    const { status, reason } = error;
    throw new ApiError('Forbidden', `${error.message}${rest}`, { status, reason, cause: error });
  }
}

/** Resolves to the server's time when the list began. */
async function readSource(
  client: ApiClient,
  { kind, target, query }: SnapshotSource,
  builder: SnapshotBuilder,
  signal: AbortSignal,
): Promise<EpochSeconds> {
  const listener = {
    item: (object: unknown) => builder.addAs(kind, object),
    restart: () => builder.forget(kind),
  };
  const { serverTime } = await listAll(client, target, query, listener, signal);
  return serverTime;
}

/** A cluster without metrics is still a cluster: the planner says what it makes of that. */
async function readMetrics(
  client: ApiClient,
  source: SnapshotSource,
  builder: SnapshotBuilder,
  signal: AbortSignal,
): Promise<EpochSeconds | undefined> {
  try {
    const time = await readSource(client, source, builder, signal);
    builder.noteMetricsServed();
    return time;
  } catch (error) {
    if (!isMetricsMissing(error)) {
      throw error;
    }
    builder.forget(source.kind);
    builder.report(`the Metrics API cannot be read: ${error.message}`);
    return error.serverTime;
  }
}

/** Where our kinds are not installed, there are none; where they may not be read, the plan says what it does not know. */
async function readOurs(
  client: ApiClient,
  source: SnapshotSource,
  builder: SnapshotBuilder,
  signal: AbortSignal,
): Promise<EpochSeconds | undefined> {
  try {
    return await readSource(client, source, builder, signal);
  } catch (error) {
    if (!areOursMissing(error)) {
      throw error;
    }
    builder.forget(source.kind);
    if (error.kind === 'Forbidden') {
      const consequence =
        source === HISTORY_SOURCE ? 'cooldown and maxOverhead know of no earlier moves' : 'no workload has an SLO';
      builder.report(
        `${source.kind === 'ServiceClass' ? 'ServiceClasses' : `${source.kind}s`} cannot be read, so ${consequence}: ${error.message}`,
      );
    }
    return error.serverTime;
  }
}
