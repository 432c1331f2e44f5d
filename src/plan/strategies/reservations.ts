import type { Terms } from './strategy.ts';

/** The budgets, as moves that are only thought of would leave them. */
export interface Reservations {
  /** Whether the budgets would let the pod move too. */
  readonly allows: (pod: number) => boolean;
  /** The pod is moved, perhaps once more: counted once. */
  readonly add: (pod: number) => void;
  /** What is reserved now is where `restart` goes back to. */
  readonly mark: () => void;
  readonly restart: () => void;
  /** Takes everything back, marked or not. */
  readonly clear: () => void;
}

/** No reservations yet, for pods that `allows` lets move as far as it can tell. */
export function createReservations({ reserve, release }: Terms, allows: (pod: number) => boolean): Reservations {
  const reserved = new Set<number>();
  let marked: ReadonlySet<number> = new Set();
  const releaseAllBut = (kept: ReadonlySet<number>): void => {
    for (const pod of reserved) {
      if (!kept.has(pod)) {
        release(pod);
        reserved.delete(pod);
      }
    }
  };
  return {
    allows: (pod) => reserved.has(pod) || allows(pod),
    add: (pod) => {
      if (!reserved.has(pod)) {
        reserved.add(pod);
        reserve(pod);
      }
    },
    mark: () => {
      marked = new Set(reserved);
    },
    restart: () => releaseAllBut(marked),
    clear: () => {
      marked = new Set();
      releaseAllBut(marked);
    },
  };
}
