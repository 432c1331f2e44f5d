import type { ClusterSnapshot } from '../model/snapshot.ts';
import { type ClusterReader, StaleCacheError } from '../ports.ts';

/** What the caches have of the cluster; `undefined` while they are behind, as they are after a start. Rejects as `placements` does. */
export async function freshPlacements(
  reader: Pick<ClusterReader, 'placements'>,
  signal: AbortSignal,
): Promise<ClusterSnapshot | undefined> {
  try {
    return await reader.placements(signal);
  } catch (error) {
    if (error instanceof StaleCacheError) {
      return undefined;
    }
    throw error;
  }
}
