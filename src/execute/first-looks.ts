import { type Seconds, seconds } from '../model/units.ts';
import type { Clock } from '../ports.ts';

/** How long this process has looked at evictions without a known effect, by its own monotonic clock. */
export interface FirstLooks {
  /** Seconds since the first look at the eviction of this pod that was sent until `sentAt`; 0 at the first one. */
  since(podUID: string, sentAt: string): Seconds;
  /** The eviction has had its effect, or is given up. */
  forget(podUID: string): void;
}

/** No looks yet. */
export function createFirstLooks(clock: Pick<Clock, 'monotonic'>): FirstLooks {
  const first = new Map<string, { readonly sentAt: string; readonly at: Seconds }>();
  return {
    since(podUID, sentAt) {
      const now = clock.monotonic();
      const known = first.get(podUID);
      if (known?.sentAt === sentAt) {
        return seconds(now - known.at);
      }
      first.set(podUID, { sentAt, at: now });
      return seconds(0);
    },
    forget: (podUID) => void first.delete(podUID),
  };
}
