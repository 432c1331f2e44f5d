import { amountAt, at, type IndexTable, type NodeIndex } from '../indices.ts';
import type { StateView } from '../state.ts';

/** Some nodes in the order of their load, ties by place; brought up to date with the state by `sync`. */
export interface LoadOrder {
  readonly size: number;
  /** Node at a position; -1 outside. */
  readonly at: (position: number) => NodeIndex;
  /** Load of the node at a position; +Infinity outside. */
  readonly loadAt: (position: number) => number;
  /** First position whose load is at least `load`. */
  readonly firstFrom: (load: number) => number;
  /** Catches up with `state.changes`. */
  readonly sync: () => void;
}

/**
 * Sorts `nodes` by load. A change costs two binary searches and one memmove, which for the few thousand nodes of a
 * cluster is faster than any tree.
 */
export function createLoadOrder(state: StateView, nodes: Iterable<NodeIndex>): LoadOrder {
  const order: IndexTable<number, NodeIndex> = Int32Array.from(nodes);
  const keys = new Float64Array(order.length);
  const size = order.length;
  let synced = 0;

  const refile = (): void => {
    order.sort((left, right) => state.load(left) - state.load(right) || left - right);
    for (let position = 0; position < size; position += 1) {
      keys[position] = state.load(at(order, position));
    }
    synced = state.changes.count();
  };
  /** First position that does not come before (load, node). */
  const search = (load: number, node: NodeIndex): number => {
    let low = 0;
    let high = size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const difference = amountAt(keys, middle) - load || at(order, middle) - node;
      if (difference < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const update = (node: NodeIndex, before: number, after: number): void => {
    const from = search(before, node);
    if (order[from] !== node || before === after) {
      return;
    }
    const past = search(after, node);
    const to = past > from ? past - 1 : past;
    for (const values of [order, keys]) {
      values.copyWithin(to < from ? to + 1 : from, to < from ? to : from + 1, to < from ? from : to + 1);
    }
    order[to] = node;
    keys[to] = after;
  };

  refile();
  return {
    size,
    at: (position) => order[position] ?? -1,
    loadAt: (position) => keys[position] ?? Number.POSITIVE_INFINITY,
    firstFrom: (load) => search(load, -1),
    sync: () => {
      const { changes } = state;
      const count = changes.count();
      if (count - synced > size) {
        refile();
      }
      for (; synced < count; synced += 1) {
        update(changes.node(synced), changes.before(synced), changes.after(synced));
      }
    },
  };
}
