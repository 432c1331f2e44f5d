import type { Placement } from '../model/placement.ts';
import type { EventQueue } from './event-queue.ts';

/** Time until the API server sees a new hint (control-plane.md, steering). */
const HINT_DELAY = 1;

/** The admission policy that goes by placement hints. */
export interface PlacementPolicy {
  /** Steers the next pods of a controller, under the uid of the evicted pod. */
  readonly place: (podUid: string, owner: string, placement: Placement) => void;
  readonly remove: (podUid: string) => void;
  /** Where the next pod of a controller is steered to, if anywhere. */
  readonly placementOf: (owner: string) => Placement | undefined;
}

interface Hint {
  readonly owner: string;
  readonly placement: Placement;
  readonly seenAt: number;
}

/** A policy without hints. */
export function createPlacementPolicy(queue: EventQueue): PlacementPolicy {
  const hints = new Map<string, Hint>();
  return {
    place: (podUid, owner, placement) => {
      hints.set(podUid, { owner, placement, seenAt: queue.now() + HINT_DELAY });
    },
    remove: (podUid) => {
      hints.delete(podUid);
    },
    placementOf: (owner) =>
      [...hints.values()].find((each) => each.owner === owner && each.seenAt <= queue.now())?.placement,
  };
}
