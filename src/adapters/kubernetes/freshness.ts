import { type Seconds, seconds } from '../../model/units.ts';
import type { Clock } from '../../ports.ts';

/** An opened watch first sends what has happened since it was broken; after so long that has come. */
const CATCH_UP: Seconds = seconds(2);

/** How old the content of a cache is, on the monotonic clock. */
export interface Freshness {
  /**
   * Seconds since the content was last known to be current; undefined before the first list, and once it was distrusted. 0
   * while a watch is open and alive, however quiet the cluster is; from the moment it broke (or was last heard of, if it fell
   * silent) the content ages.
   */
  age(): Seconds | undefined;
  /** A list that began at this instant is now the content. */
  listed(began: Seconds): void;
  /** The content was found to be wrong: it has no age before the next list. */
  distrusted(): void;
  watchOpened(): void;
  /** An event or a bookmark came. */
  heard(): void;
  /** The watch has ended; `silent` when it may have been dead since it was last heard of. */
  watchEnded(silent: boolean): void;
  /** Since when a watch is open; undefined while none is. */
  openedAt(): Seconds | undefined;
}

/** The freshness of a cache that has nothing yet. */
export function createFreshness(clock: Pick<Clock, 'monotonic'>): Freshness {
  let current: Seconds | undefined;
  let opened: Seconds | undefined;
  let heard = seconds(0);

  function hasCaughtUp(): boolean {
    return opened !== undefined && clock.monotonic() - opened >= CATCH_UP;
  }

  return {
    age() {
      if (current === undefined) {
        return undefined;
      }
      return hasCaughtUp() ? seconds(0) : seconds(clock.monotonic() - current);
    },
    listed(began) {
      current = began;
    },
    distrusted() {
      current = undefined;
      opened = undefined;
    },
    watchOpened() {
      opened = clock.monotonic();
      heard = opened;
    },
    heard() {
      heard = clock.monotonic();
    },
    watchEnded(silent) {
      if (hasCaughtUp()) {
        current = silent ? heard : clock.monotonic();
      }
      opened = undefined;
    },
    openedAt: () => opened,
  };
}
