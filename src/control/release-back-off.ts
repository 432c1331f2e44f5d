import type { PodInfo } from '../model/pod.ts';
import { type Seconds, seconds } from '../model/units.ts';

const FIRST_WAIT = 60;
const LONGEST_WAIT = 3_600;

/** Spaces out the removal of waiting pods: a controller that creates them again unchanged must not make the operator delete in a loop. */
export interface ReleaseBackOff {
  /** Whether a pod of this controller may be removed now, on the monotonic clock; noted as removed when it may. */
  take(pod: Pick<PodInfo, 'namespace' | 'name' | 'owner'>, now: Seconds): boolean;
}

interface Release {
  readonly at: Seconds;
  readonly wait: number;
}

/** Nothing was removed yet. A minute between two pods of one controller, doubled each time up to an hour, then forgotten. */
export function createReleaseBackOff(): ReleaseBackOff {
  const releases = new Map<string, Release>();
  return {
    take({ namespace, name, owner }, now) {
      for (const [key, { at }] of releases) {
        if (now - at > 2 * LONGEST_WAIT) {
          releases.delete(key);
        }
      }
      const key = owner?.uid ?? `${namespace}/${name}`;
      const last = releases.get(key);
      if (last !== undefined && now - last.at < last.wait) {
        return false;
      }
      releases.set(key, {
        at: seconds(now),
        wait: last === undefined ? FIRST_WAIT : Math.min(LONGEST_WAIT, 2 * last.wait),
      });
      return true;
    },
  };
}
