import type { StateView } from '../state.ts';

/** Some nodes in the order of their load, ties by place; kept up to date with the state by `sync`. */
export interface LoadOrder {
  readonly size: number;
  /** Node at a position; -1 outside. */
  readonly at: (position: number) => number;
  /** Load of the node at a position; +Infinity outside. */
  readonly loadAt: (position: number) => number;
  /** First position whose load is at least `load`. */
  readonly firstFrom: (load: number) => number;
  /** Catches up with `state.changes`. */
  readonly sync: () => void;
}

/**
 * Sorts `nodes` by load. A change costs one binary search and one memmove, which for the few thousand nodes of a cluster
 * is faster than any tree.
 */
export function createLoadOrder(state: StateView, nodes: Iterable<number>): LoadOrder {
  const order = Int32Array.from(nodes);
  const size = order.length;
  // Load under which a node is filed; NaN for nodes that are not part of the order.
  const filed = new Float64Array(state.cluster.nodes.length).fill(Number.NaN);
  let synced = 0;

  const refile = (): void => {
    for (const node of order) {
      filed[node] = state.load(node);
    }
    order.sort((left, right) => (filed[left] ?? 0) - (filed[right] ?? 0) || left - right);
    synced = state.changes.length;
  };
  /** First position that does not come before (load, node). */
  const search = (load: number, node: number): number => {
    let [low, high] = [0, size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = order[middle] ?? 0;
      const difference = (filed[other] ?? 0) - load || other - node;
      if (difference < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const update = (node: number): void => {
    const [before, now] = [filed[node] ?? Number.NaN, state.load(node)];
    if (Number.isNaN(before) || before === now) {
      return;
    }
    const from = search(before, node);
    const to = search(now, node);
    if (to > from) {
      order.copyWithin(from, from + 1, to);
      order[to - 1] = node;
    } else {
      order.copyWithin(to + 1, to, from);
      order[to] = node;
    }
    filed[node] = now;
  };

  refile();
  return {
    size,
    at: (position) => order[position] ?? -1,
    loadAt: (position) => filed[order[position] ?? -1] ?? Number.POSITIVE_INFINITY,
    firstFrom: (load) => search(load, -1),
    sync: () => {
      const { changes } = state;
      if (changes.length - synced > size) {
        refile();
        return;
      }
      for (; synced < changes.length; synced += 1) {
        update(changes[synced] ?? -1);
      }
    },
  };
}
