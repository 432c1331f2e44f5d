/** An eviction as what it did to the use of nodes. */
export interface Shift {
  readonly from: string;
  readonly to: string;
  /** Millicores. */
  readonly usage: number;
}

/** Evictions that are left out together at most: two that swap pods or pass one on, or three in a ring. */
const MOST_TOGETHER = 3;

/**
 * How many of the evictions could have been left out, and the nodes would be at least as even as they are now, by the sum of the
 * squares of what is used on each. `used` has the millicores of every node after all of them, on nodes of one size. Leaves out one
 * at a time while that is possible, else the first two or three that have nodes in common: each of two pods that change places
 * seems useful while the other one's move stands.
 */
export function dispensable(shifts: readonly Shift[], used: ReadonlyMap<string, number>): number {
  const now = new Map(used);
  let left = shifts;
  for (let out = leastOut(left, now); out !== undefined; out = leastOut(left, now)) {
    const gone = new Set(out);
    for (const [node, change] of changesWithout(out)) {
      now.set(node, (now.get(node) ?? 0) + change);
    }
    left = left.filter((shift) => !gone.has(shift));
  }
  return shifts.length - left.length;
}

/** The fewest, but no more than MOST_TOGETHER, without which the nodes are at least as even; `undefined`: there are none. */
function leastOut(shifts: readonly Shift[], used: ReadonlyMap<string, number>): readonly Shift[] | undefined {
  for (let size = 1; size <= MOST_TOGETHER; size += 1) {
    for (const some of connected(shifts, size)) {
      if (unevennessAdded(some, used) <= 0) {
        return some;
      }
    }
  }
  return undefined;
}

/** All `size` of them each of which has a node in common with one before it, some more than once. */
function* connected(shifts: readonly Shift[], size: number): Generator<readonly Shift[]> {
  if (size === 1) {
    yield* shifts.map((shift) => [shift]);
    return;
  }
  for (const some of connected(shifts, size - 1)) {
    const nodes = new Set(some.flatMap(({ from, to }) => [from, to]));
    for (const shift of shifts) {
      if ((nodes.has(shift.from) || nodes.has(shift.to)) && !some.includes(shift)) {
        yield [...some, shift];
      }
    }
  }
}

/** By how much the sum of squares grows without these. */
function unevennessAdded(shifts: readonly Shift[], used: ReadonlyMap<string, number>): number {
  return [...changesWithout(shifts)].reduce((sum, [node, change]) => {
    const before = used.get(node) ?? 0;
    return sum + (before + change) ** 2 - before ** 2;
  }, 0);
}

/** What each node would use more without these. */
function changesWithout(shifts: readonly Shift[]): ReadonlyMap<string, number> {
  const changes = new Map<string, number>();
  for (const { from, to, usage } of shifts) {
    changes.set(from, (changes.get(from) ?? 0) + usage);
    changes.set(to, (changes.get(to) ?? 0) - usage);
  }
  return changes;
}
