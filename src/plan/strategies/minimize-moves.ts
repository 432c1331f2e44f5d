import { amountAt, at, type IndexTable, itemAt, type NodeIndex, numberAt, type PodIndex } from '../indices.ts';
import type { StateView } from '../state.ts';

/**
 * Turns a greedy assignment into one with the same balance and fewer moves: interchangeable nodes swap roles so that as
 * much load as possible stays put, then pairs of pods that would swap nodes for nothing stay. Returns the node of every
 * pod.
 */
export function keepLoadInPlace(
  state: StateView,
  target: IndexTable<PodIndex, NodeIndex>,
  tolerance: number,
  nearlyEqual: number,
): IndexTable<PodIndex, NodeIndex> {
  const relabelled = relabel(state, target, tolerance);
  suppressSwaps(state, relabelled, nearlyEqual);
  return relabelled;
}

/**
 * Within each group of interchangeable nodes, gives every node the role (the set of pods that the assignment puts on
 * some node) with which it shares most load. The exact assignment problem is cubic; taking the pairs by shared load,
 * the largest first, reaches at least half of its optimum (greedy matching in a weighted bipartite graph) and scales to
 * any cluster.
 */
function relabel(
  state: StateView,
  target: IndexTable<PodIndex, NodeIndex>,
  tolerance: number,
): IndexTable<PodIndex, NodeIndex> {
  const { cluster } = state;
  const groups = interchangeable(state, tolerance);
  const nodeOfRole = new Int32Array(cluster.nodes.length).fill(-1);
  const taken = new Uint8Array(cluster.nodes.length);
  const match = (role: number, node: NodeIndex): void => {
    if (groups[role] === groups[node] && nodeOfRole[role] === -1 && taken[node] === 0) {
      nodeOfRole[role] = node;
      taken[node] = 1;
    }
  };
  for (const { role, node } of sharedLoads(state, target)) {
    match(role, node);
  }
  for (const node of cluster.nodes.keys()) {
    match(node, node);
  }
  assignRest(groups, nodeOfRole, taken);
  return target.map((role, pod) => (cluster.movable[pod] === 1 ? (nodeOfRole[role] ?? role) : role));
}

/** Roles and nodes that share nothing: in order within their group, which has as many of one as of the other. */
function assignRest(groups: readonly string[], nodeOfRole: Int32Array, taken: Uint8Array): void {
  const free = Map.groupBy([...taken.keys()].filter((node) => taken[node] === 0).reverse(), (node) =>
    itemAt(groups, node),
  );
  nodeOfRole.forEach((node, role) => {
    if (node === -1) {
      nodeOfRole[role] = free.get(groups[role] ?? '')?.pop() ?? role;
    }
  });
}

/** How much load of a node's own pods each role would keep there, the largest first. */
function sharedLoads(
  state: StateView,
  target: IndexTable<PodIndex, NodeIndex>,
): readonly { role: number; node: NodeIndex; load: number }[] {
  const { cluster } = state;
  const shared = new Map<number, number>();
  target.forEach((role, pod) => {
    if (cluster.movable[pod] === 1) {
      const node = state.nodeOf(pod);
      const key = node * cluster.nodes.length + role;
      shared.set(key, (shared.get(key) ?? 0) + state.load(node) - state.loadWithout(pod));
    }
  });
  const pairs = [...shared].map(([key, load]) => {
    const node = Math.floor(key / cluster.nodes.length);
    return { node, role: key - node * cluster.nodes.length, load };
  });
  return pairs.sort((left, right) => right.load - left.load || left.node - right.node || left.role - right.role);
}

/**
 * A text per node, equal for nodes of equal allocatable, on which the same pods may run, and whose fixed load is about
 * the same.
 */
function interchangeable(state: StateView, tolerance: number): readonly string[] {
  const { cluster } = state;
  const { shapes } = cluster;
  const fixed = fixedLoads(state);
  return cluster.nodes.map(({ allocatable }, node) => {
    const { cpu, memory, ephemeralStorage, pods, extended } = allocatable;
    const offers = [...extended].sort(([left], [right]) => (left < right ? -1 : 1));
    const allowed = shapes.classes.map((each) => (shapes.allows(each, node) ? 1 : 0)).join('');
    const bucket = Math.floor(amountAt(fixed, node) / Math.max(tolerance, 1));
    return JSON.stringify([cpu, memory, ephemeralStorage, pods, offers, allowed, bucket]);
  });
}

/** Load of each node without its movable pods. */
function fixedLoads(state: StateView): Float64Array {
  const { cluster } = state;
  const fixed = Float64Array.from(cluster.nodes, (_, node) => state.load(node));
  for (const node of cluster.nodes.keys()) {
    for (const pod of state.movablePodsOn(node)) {
      fixed[node] = amountAt(fixed, node) - (state.load(node) - state.loadWithout(pod));
    }
  }
  return fixed;
}

/** Cancels pairs of moves a -> b and b -> a of pods whose loads differ by at most `nearlyEqual`, in place. */
function suppressSwaps(state: StateView, target: IndexTable<PodIndex, NodeIndex>, nearlyEqual: number): void {
  const { cluster } = state;
  const leaving = Map.groupBy(
    [...target.keys()].filter((pod) => cluster.movable[pod] === 1 && target[pod] !== state.nodeOf(pod)),
    (pod) => state.nodeOf(pod) * cluster.nodes.length + at(target, pod),
  );
  const size = (pod: PodIndex): number => state.load(state.nodeOf(pod)) - state.loadWithout(pod);
  const largestFirst = (pods: readonly PodIndex[]): PodIndex[] =>
    pods.toSorted((left, right) => size(right) - size(left) || left - right);
  for (const [key, pods] of leaving) {
    const from = Math.floor(key / cluster.nodes.length);
    const to = key - from * cluster.nodes.length;
    const back = leaving.get(to * cluster.nodes.length + from);
    if (back === undefined || from > to) {
      continue;
    }
    for (const [left, right] of pairUp(largestFirst(pods), largestFirst(back), size, nearlyEqual)) {
      target[left] = state.nodeOf(left);
      target[right] = state.nodeOf(right);
    }
  }
}

/** Pairs of nearly equal pods out of two lists, the largest first: one walk down both. */
function pairUp(
  left: readonly PodIndex[],
  right: readonly PodIndex[],
  size: (pod: PodIndex) => number,
  nearlyEqual: number,
): readonly (readonly [PodIndex, PodIndex])[] {
  const pairs: [PodIndex, PodIndex][] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    const [one, other] = [numberAt(left, i), numberAt(right, j)];
    const difference = size(one) - size(other);
    if (Math.abs(difference) <= nearlyEqual) {
      pairs.push([one, other]);
    }
    i += difference >= -nearlyEqual ? 1 : 0;
    j += difference <= nearlyEqual ? 1 : 0;
  }
  return pairs;
}
