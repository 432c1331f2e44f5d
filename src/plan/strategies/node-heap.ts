import type { NodeIndex } from '../indices.ts';
import type { StateView } from '../state.ts';

/** Nodes by load, the highest first, ties by place. */
export interface NodeHeap {
  /** Takes out the node with the highest load; -1 when there is none. */
  readonly pop: () => NodeIndex;
  /** Files a node under its present load. A node may be in the heap only once. */
  readonly push: (node: NodeIndex) => void;
}

/**
 * A binary heap of `nodes`. A node whose load has changed since it was filed is filed anew when it comes to the top, so
 * loads may change as they like as long as a risen node is not waited for.
 */
export function createNodeHeap(state: StateView, nodes: Iterable<NodeIndex>): NodeHeap {
  const heap: NodeIndex[] = [];
  const filed = new Float64Array(state.cluster.nodes.length);
  const isBefore = (left: NodeIndex, right: NodeIndex): boolean => {
    const difference = (filed[left] ?? 0) - (filed[right] ?? 0);
    return difference > 0 || (difference === 0 && left < right);
  };
  const swap = (left: number, right: number): void => {
    const node = heap[left] ?? -1;
    heap[left] = heap[right] ?? -1;
    heap[right] = node;
  };
  const up = (start: number): void => {
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >>> 1;
      if (!isBefore(heap[place] ?? -1, heap[parent] ?? -1)) {
        return;
      }
      swap(place, parent);
      place = parent;
    }
  };
  const down = (): void => {
    let place = 0;
    for (;;) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      let first = place;
      first = left < heap.length && isBefore(heap[left] ?? -1, heap[first] ?? -1) ? left : first;
      first = right < heap.length && isBefore(heap[right] ?? -1, heap[first] ?? -1) ? right : first;
      if (first === place) {
        return;
      }
      swap(place, first);
      place = first;
    }
  };
  const push = (node: NodeIndex): void => {
    filed[node] = state.load(node);
    up(heap.push(node) - 1);
  };
  const pop = (): NodeIndex => {
    const top = heap[0] ?? -1;
    const last = heap.pop() ?? -1;
    if (heap.length > 0) {
      heap[0] = last;
      down();
    }
    return top;
  };

  for (const node of nodes) {
    push(node);
  }
  return {
    push,
    pop: () => {
      let node = pop();
      while (node >= 0 && filed[node] !== state.load(node)) {
        push(node);
        node = pop();
      }
      return node;
    },
  };
}
