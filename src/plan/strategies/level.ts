import { createHeap } from '../heap.ts';
import { amountAt, type NodeIndex, numberAt, type PodIndex } from '../indices.ts';
import { toFraction } from '../load.ts';
import { isImprovement, type State, type StateView } from '../state.ts';
import { createLoadOrder, type LoadOrder } from './load-order.ts';
import { bestPairFrom } from './pairs.ts';
import type { WayTerms } from './search-terms.ts';
import type { Proposal } from './strategy.ts';
import { createTargets, type TargetLimits, type Targets } from './targets.ts';

const ANYWHERE = { below: Number.POSITIVE_INFINITY, upTo: Number.POSITIVE_INFINITY };

/**
 * Takes pods from the nodes of `state` above `high`, the highest first, until none is above or no move from there gains
 * enough: each time the move that lowers the deviations most, if possible to a node below the mean that stays within
 * `high`, else to any. Appends to `moves`.
 *
 * On identical nodes whose whole load can be moved, the highest node ends at most at `high`, or at 2 - 2/(m + 1) times
 * the least that is possible on m nodes, plus twice `minGain`: no single pod could leave it for the lowest node (Finn
 * and Horowitz 1979).
 */
export function lower(state: State, high: number, terms: WayTerms, moves: Proposal[]): void {
  const { minGain, allows, note, maxMoves } = terms;
  const targets = createTargets(state);
  const preferred = { below: state.cluster.load.mean, upTo: high };
  const heap = createNodeHeap(
    state,
    [...state.cluster.nodes.keys()].filter((node) => state.load(node) > high),
  );
  const make = ({ pod, to }: Proposal): void => {
    state.move(pod, to);
    note(pod);
    moves.push({ pod, to });
  };
  let stuck = 0;
  let order: LoadOrder | undefined;
  for (let node = heap.pop(); node >= 0 && moves.length < maxMoves; node = heap.pop()) {
    const proposal =
      bestMoveFrom(state, node, targets, preferred, minGain, allows) ??
      bestMoveFrom(state, node, targets, ANYWHERE, minGain, allows);
    if (proposal === undefined) {
      if (stuck < MOST_STUCK) {
        stuck += 1;
        order ??= createLoadOrder(state, state.cluster.nodes.keys());
        order.sync();
        const pair = bestPairFrom(state, node, order, targets, terms) ?? [];
        for (const risen of makeAll(state, pair, node, high, make)) {
          heap.push(risen);
        }
      }
      continue;
    }
    const wasHigh = state.load(proposal.to) > high;
    make(proposal);
    if (state.load(node) > high) {
      heap.push(node);
    }
    if (!wasHigh && state.load(proposal.to) > high) {
      heap.push(proposal.to);
    }
  }
}

/** Nodes without a single move for which swaps and chains are looked for in one search; the highest come first. */
const MOST_STUCK = 64;

/** Makes the moves. Returns which of their nodes are high then, other than those that were before; but `node` counts. */
function makeAll(
  state: State,
  pair: readonly Proposal[],
  node: NodeIndex,
  high: number,
  make: (proposal: Proposal) => void,
): readonly NodeIndex[] {
  const nodes = [...new Set(pair.flatMap(({ pod, to }) => [state.nodeOf(pod), to]))];
  const wasHigh = new Set(nodes.filter((each) => each !== node && state.load(each) > high));
  pair.forEach(make);
  return nodes.filter((each) => state.load(each) > high && !wasHigh.has(each));
}

/**
 * Nodes that are asked, the highest first, for a pod that fills a low node; a node that none of them can fill stays
 * low.
 */
const SOURCES_PER_TARGET = 4;

/**
 * Brings pods to the nodes of `state` below `low`, the lowest first, each from the highest node that has one to give.
 * Appends to `moves`.
 */
export function raise(state: State, low: number, terms: WayTerms, moves: Proposal[]): void {
  const order = createLoadOrder(state, state.cluster.nodes.keys());
  const ascending = Array.from({ length: order.firstFrom(low) }, (_, position) => order.at(position));
  const refused = new Set<PodIndex>();
  for (const node of ascending) {
    while (state.load(node) < low && moves.length < terms.maxMoves) {
      const pod = bestPodFor(state, node, order, terms, refused);
      if (pod < 0) {
        break;
      }
      state.move(pod, node);
      terms.note(pod);
      moves.push({ pod, to: node });
      order.sync();
    }
  }
}

/**
 * From the highest node that has one: the pod whose move to `node` lowers the objective most; -1 when there is none. Pods that
 * budgets refuse join `refused`: while moves are only added, they stay refused.
 */
function bestPodFor(
  state: State,
  node: NodeIndex,
  order: LoadOrder,
  { minGain, allows }: WayTerms,
  refused: Set<PodIndex>,
): PodIndex {
  for (let tried = 1; tried <= Math.min(SOURCES_PER_TARGET, order.size); tried += 1) {
    const source = order.at(order.size - tried);
    if (state.load(source) - state.load(node) < minGain) {
      return -1;
    }
    const pods = state.movablePodsOn(source).filter((pod) => !refused.has(pod));
    const changes = pods.map((pod) => changeBy(state, pod, node, minGain));
    for (let next = leastOf(changes); next >= 0; next = leastOf(changes)) {
      const pod = numberAt(pods, next);
      if (!allows(pod)) {
        refused.add(pod);
      } else if (state.fits(pod, node)) {
        return pod;
      }
      changes[next] = Number.POSITIVE_INFINITY;
    }
  }
  return -1;
}

/** By how much the move changes the objective; +Infinity when it does not help, or gains less than `minGain`. */
function changeBy(state: State, pod: PodIndex, node: NodeIndex, minGain: number): number {
  const change = state.gain(pod, node) >= Math.max(minGain, 1) ? state.objectiveChange(pod, node) : 0;
  return isImprovement(change) ? change : Number.POSITIVE_INFINITY;
}

/**
 * Of the pods on `node`, each with the target that ends up with the least load, the move that lowers the deviations most
 * among those that gain at least `minGain`; `undefined` when there is none. Lowering the squared deviations most takes
 * the pod that comes closest to evening out the two nodes, which is what needs the fewest moves. The pods that could lower
 * them most come first, so that a target is looked for only for those that may still be better than the best so far.
 */
function bestMoveFrom(
  state: StateView,
  node: NodeIndex,
  targets: Targets,
  limits: TargetLimits,
  minGain: number,
  allows: (pod: PodIndex) => boolean,
): Proposal | undefined {
  const load = state.load(node);
  const within = { below: limits.below, upTo: Math.min(limits.upTo, load - Math.max(minGain, 1)) };
  const pods = state.movablePodsOn(node);
  const bounds = pods.map((pod) => boundOf(state, pod, targets, minGain));
  let best: Proposal | undefined;
  let bestChange = Number.POSITIVE_INFINITY;
  for (let next = leastOf(bounds); next >= 0; next = leastOf(bounds)) {
    const [pod, bound] = [numberAt(pods, next), bounds[next] ?? Number.POSITIVE_INFINITY];
    if (best !== undefined && !isImprovement(bound - bestChange)) {
      break;
    }
    bounds[next] = Number.POSITIVE_INFINITY;
    const to = allows(pod) ? targets.leastLoaded(pod, within) : -1;
    const change = to < 0 ? Number.POSITIVE_INFINITY : state.objectiveChange(pod, to);
    if (to >= 0 && (best === undefined || isImprovement(change - bestChange))) {
      best = { pod, to };
      bestChange = change;
    }
  }
  return best && { pod: best.pod, to: targets.favourite(best.pod, best.to, within) };
}

/**
 * No target of the pod lowers the objective by more; +Infinity when it is too small to be worth a move. With w for the
 * weights, a pod of usage u takes the objective from node to node by u x (load of the target with and without it - load of
 * its node with and without it), since w x load is usage. That holds for one resource; for a mean of several it is an
 * estimate, and for the dominant one nothing is known beforehand.
 */
function boundOf(state: StateView, pod: PodIndex, targets: Targets, minGain: number): number {
  const { weights, dimensions } = state.cluster.load;
  const node = state.nodeOf(pod);
  const [load, rest] = [state.load(node), state.loadWithout(pod)];
  if (load - rest < minGain) {
    return Number.POSITIVE_INFINITY;
  }
  const fall = toFraction(load - rest) * toFraction(targets.leastSum(pod) - load - rest);
  return dimensions > 1 ? Number.NEGATIVE_INFINITY : amountAt(weights, node) * fall;
}

/** Place of the least value, the first of several; -1 when all are +Infinity. */
function leastOf(values: readonly number[]): number {
  let least = -1;
  for (let place = 0; place < values.length; place += 1) {
    const isLess = (values[place] ?? 0) < (least < 0 ? Number.POSITIVE_INFINITY : (values[least] ?? 0));
    least = isLess ? place : least;
  }
  return least;
}

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
