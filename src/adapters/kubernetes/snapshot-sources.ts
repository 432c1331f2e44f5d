import { KINDS, type KindRow, SNAPSHOT_KINDS, type SnapshotKind } from '../../observe/kind-table.ts';
import { type ApiError, isApiError } from './api-error.ts';
import { RESOURCES, type ResourceRef } from './resource.ts';

/** How a live cluster is asked for a kind. */
type LiveRow = Pick<KindRow<unknown>, 'reading' | 'missing' | 'alsoFor' | 'part'>;

/** Where the objects of one kind of a snapshot are listed. */
export interface SnapshotSource extends Pick<LiveRow, 'missing' | 'part'> {
  readonly kind: SnapshotKind;
  readonly target: ResourceRef;
}

/** What is watched where many snapshots are made. */
export const WATCHED_SOURCES: readonly SnapshotSource[] = sources(({ reading }) => reading === 'Watched');

/** What is listed for each snapshot all the same. */
export const LISTED_SOURCES: readonly SnapshotSource[] = sources(({ reading }) => reading === 'Listed');

/** Usage, which a cluster may not measure. */
export const METRICS_SOURCES: readonly SnapshotSource[] = sources(({ missing }) => missing === 'Unmeasured');

/** Usage, and what a sample is judged by. */
export const USAGE_SOURCES: readonly SnapshotSource[] = sources(({ alsoFor }) => alsoFor.includes('Usage'));

/** What decides the class of a pod. */
export const PROMISE_SOURCES: readonly SnapshotSource[] = sources(({ alsoFor }) => alsoFor.includes('Promises'));

/** Whether our kinds are not installed, or the caller may not read them: anybody who may read pods may plan. */
export function areOursMissing(error: unknown): error is ApiError {
  return isApiError(error, 'NotServed', 'NotFound', 'Forbidden');
}

/** Whether the Metrics API is not there, or its server does not answer. */
export function isMetricsMissing(error: unknown): error is ApiError {
  return isApiError(error, 'NotServed', 'NotFound') || (isApiError(error, 'ServerError') && error.status === 503);
}

/** Whether a cluster may do without the kind, and `error` says that it does. */
export function isMissing({ missing }: Pick<SnapshotSource, 'missing'>, error: unknown): error is ApiError {
  switch (missing) {
    case 'Failure':
      return false;
    case 'Unmeasured':
      return isMetricsMissing(error);
    default:
      return areOursMissing(error);
  }
}

function sources(wanted: (row: LiveRow) => boolean): readonly SnapshotSource[] {
  return SNAPSHOT_KINDS.filter((kind) => wanted(KINDS[kind])).map((kind) => {
    const { part, missing }: LiveRow = KINDS[kind];
    return { kind, target: RESOURCES[kind], part, missing };
  });
}
