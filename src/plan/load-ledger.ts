import { amountAt, type NodeIndex, type PodIndex } from './indices.ts';
import type { LoadModel } from './load.ts';

/** The load of every node, pod by pod. Pods and nodes are named by their place. */
export interface LoadLedger {
  readonly load: (node: NodeIndex) => number;
  /** Load of `node` without a pod that is on it. */
  readonly without: (node: NodeIndex, pod: PodIndex) => number;
  /** Load of `node` with a pod that is not on it. */
  readonly with: (node: NodeIndex, pod: PodIndex) => number;
  readonly add: (node: NodeIndex, pod: PodIndex) => void;
  readonly remove: (node: NodeIndex, pod: PodIndex) => void;
  /** A copy that can be changed on its own. */
  readonly fork: () => LoadLedger;
}

/** A ledger of nodes that carry their floors and no pods. */
export function emptyLedger(model: LoadModel, nodes: number, pods: number): LoadLedger {
  const sums = new Float64Array(model.dimensions * nodes);
  for (let dimension = 0; dimension < model.dimensions; dimension += 1) {
    for (let node = 0; node < nodes; node += 1) {
      sums[dimension * nodes + node] = model.ofFloor(node, dimension);
    }
  }
  return createLedger({ model, nodes, pods, sums, own: new Float64Array(model.dimensions * pods) });
}

interface Books {
  readonly model: LoadModel;
  readonly nodes: number;
  readonly pods: number;
  /** Sum of what is on each node, by dimension and node. */
  readonly sums: Float64Array;
  /** What each pod adds to the node that it is on, by dimension and pod. */
  readonly own: Float64Array;
}

function createLedger(books: Books): LoadLedger {
  const { model, sums, own } = books;
  const single = model.dimensions === 1;
  return {
    load: single ? (node) => amountAt(sums, node) : (node) => highest(books, node, () => 0),
    without: single
      ? (node, pod) => amountAt(sums, node) - amountAt(own, pod)
      : (node, pod) => highest(books, node, (dimension) => -amountAt(own, dimension * books.pods + pod)),
    with: single
      ? (node, pod) => amountAt(sums, node) + model.ofPod(pod, node, 0)
      : (node, pod) => highest(books, node, (dimension) => model.ofPod(pod, node, dimension)),
    add: (node, pod) => enter(books, node, pod, 1),
    remove: (node, pod) => enter(books, node, pod, -1),
    fork: () => createLedger({ ...books, sums: sums.slice(), own: own.slice() }),
  };
}

function highest({ model, nodes, sums }: Books, node: NodeIndex, change: (dimension: number) => number): number {
  let most = 0;
  for (let dimension = 0; dimension < model.dimensions; dimension += 1) {
    most = Math.max(most, amountAt(sums, dimension * nodes + node) + change(dimension));
  }
  return most;
}

/** The pod comes (1), or leaves with what it added (-1). */
function enter({ model, nodes, pods, sums, own }: Books, node: NodeIndex, pod: PodIndex, sign: 1 | -1): void {
  for (let dimension = 0; dimension < model.dimensions; dimension += 1) {
    const [sum, share] = [dimension * nodes + node, dimension * pods + pod];
    const amount = sign === 1 ? model.ofPod(pod, node, dimension) : amountAt(own, share);
    sums[sum] = amountAt(sums, sum) + sign * amount;
    own[share] = sign === 1 ? amount : 0;
  }
}
