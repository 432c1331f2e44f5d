import { runConcurrently } from '../../model/concurrent.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { type EpochSeconds, epochSeconds } from '../../model/units.ts';
import { createSnapshotBuilder, type SnapshotBuilder } from '../../observe/snapshot-builder.ts';
import type { ClusterReader, Promises } from '../../ports.ts';
import { ApiError, isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { listSource } from './list-source.ts';
import { createLiveReads } from './live-reads.ts';
import { describeResource } from './resource.ts';
import {
  isMissing,
  LISTED_SOURCES,
  PROMISE_SOURCES,
  type SnapshotSource,
  USAGE_SOURCES,
  WATCHED_SOURCES,
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
    snapshot: (signal, options) => listed([...WATCHED_SOURCES, ...listedSources(options)], signal),
    placements: (signal) => listed(WATCHED_SOURCES, signal),
    measured: (signal) => listed(USAGE_SOURCES, signal),
    promises: (signal) => listPromises(client, signal),
  };
}

/** Lists what decides the class of a pod. Rejects with ApiError. */
export async function listPromises(client: ApiClient, signal: AbortSignal): Promise<Promises> {
  const builder = createSnapshotBuilder();
  const { namespaces, serviceLevels } = builder.finish(await listInto(builder, PROMISE_SOURCES, client, signal));
  return { namespaces, serviceLevels };
}

/** What is listed for each snapshot even where everything else is watched, without the Metrics API where usage comes from elsewhere. */
export function listedSources({ usage }: { readonly usage: boolean } = { usage: true }): readonly SnapshotSource[] {
  return usage ? LISTED_SOURCES : LISTED_SOURCES.filter(({ missing }) => missing !== 'Unmeasured');
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
      return await readIfThere(client, source, builder, limited);
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
  source: SnapshotSource,
  builder: SnapshotBuilder,
  signal: AbortSignal,
): Promise<EpochSeconds> {
  const listener = {
    item: (object: unknown) => builder.addAs(source.kind, object),
    restart: () => builder.forget(source.kind),
  };
  const { serverTime } = await listSource(client, source, listener, signal);
  return serverTime;
}

/** What a cluster may do without is empty then; where that matters, the snapshot says so. */
async function readIfThere(
  client: ApiClient,
  source: SnapshotSource,
  builder: SnapshotBuilder,
  signal: AbortSignal,
): Promise<EpochSeconds | undefined> {
  try {
    const time = await readSource(client, source, builder, signal);
    if (source.missing === 'Unmeasured') {
      builder.noteMetricsServed();
    }
    return time;
  } catch (error) {
    if (!isMissing(source, error)) {
      throw error;
    }
    builder.forget(source.kind);
    const problem = describeMissing(source, error);
    if (problem !== undefined) {
      builder.report(problem);
    }
    return error.serverTime;
  }
}

/** Undefined where our kinds are not installed: there are none then. */
function describeMissing({ kind, missing }: SnapshotSource, { kind: why, message }: ApiError): string | undefined {
  if (missing === 'Unmeasured') {
    return `the Metrics API cannot be read: ${message}`;
  }
  if (missing === 'Failure' || why !== 'Forbidden') {
    return undefined;
  }
  const plural = kind.endsWith('s') ? `${kind}es` : `${kind}s`;
  return `${plural} cannot be read, so ${missing.consequence}: ${message}`;
}
