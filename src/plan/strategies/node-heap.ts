import { createHeap } from '../heap.ts';
import type { NodeIndex } from '../indices.ts';
import type { StateView } from '../state.ts';

/** Nodes by load, the highest first, ties by place. */
interface NodeHeap {
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
  const filed = new Float64Array(state.cluster.nodes.length);
  const heap = createHeap<NodeIndex>((left, right) => (filed[right] ?? 0) - (filed[left] ?? 0) || left - right);
  const push = (node: NodeIndex): void => {
    filed[node] = state.load(node);
    heap.push(node);
  };
  for (const node of nodes) {
    push(node);
  }
  return {
    push,
    pop: () => {
      let node = heap.pop() ?? -1;
      while (node >= 0 && filed[node] !== state.load(node)) {
        push(node);
        node = heap.pop() ?? -1;
      }
      return node;
    },
  };
}
