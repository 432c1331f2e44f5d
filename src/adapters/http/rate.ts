import type { Seconds } from '../../model/units.ts';

/** How often something may happen. */
export interface Rate {
  /** Times a second in the long run. */
  readonly perSecond: number;
  /** Times at once after a rest. */
  readonly burst: number;
}

/** A token bucket: whether it may happen once more now, by a clock that never goes back. */
export function createRate({ perSecond, burst }: Rate, monotonic: () => Seconds): () => boolean {
  let tokens = burst;
  let filledAt = monotonic();
  return () => {
    const now = monotonic();
    tokens = Math.min(burst, tokens + (now - filledAt) * perSecond);
    filledAt = now;
    if (tokens < 1) {
      return false;
    }
    tokens -= 1;
    return true;
  };
}

/** Adds to a map that is to have at most so many entries: the oldest one goes. */
export function setBounded<Key, Value>(map: Map<Key, Value>, most: number, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) {
    map.delete(oldest);
  }
}
