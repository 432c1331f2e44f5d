import { isDeepStrictEqual } from 'node:util';
import { type PodInfo, type PodRef, podKey } from '../../model/pod.ts';
import { type Seconds, seconds } from '../../model/units.ts';
import type { Projected } from '../../observe/snapshot-kinds.ts';
import type { Clock } from '../../ports.ts';
import type { Entry } from './object-table.ts';

/** A watch that works tells of a change within moments; what it has not told after so long it will not tell. */
const PATIENCE: Seconds = seconds(5);

type CachedPods = ReadonlyMap<string, Entry<Projected | string>>;

/** Compares live reads of pods with the cache, which loses an event when something on the way drops it. */
export interface StalePodDetector {
  /** Remembers that a live read found something else under this name than the cache has; `live` is undefined for no pod. */
  compare(ref: Pick<PodRef, 'namespace' | 'name'>, live: PodInfo | undefined): void;
  /** `namespace/name` of a pod whose cached state was seen to be out of date and has not changed for 5 s since, if any. */
  proven(): string | undefined;
}

/** No doubts so far about `cached`. */
export function createStalePodDetector(cached: () => CachedPods, clock: Pick<Clock, 'monotonic'>): StalePodDetector {
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
