import { at, type ClassIndex, type NodeIndex, numberAt, type PodIndex } from '../indices.ts';
import { type PodBounds, toLoad } from '../load.ts';
import { rank } from '../scores/index.ts';
import { ASSUME_NOTHING, type ScoreContext } from '../scores/score-index.ts';
import { classOf } from '../shapes.ts';
import type { StateView } from '../state.ts';
import { createFullNodes, createInfeasibleNodes, type InfeasibleNodes } from './infeasible-nodes.ts';
import { createLoadOrder, type LoadOrder } from './load-order.ts';

/** What a target must satisfy, in loads. */
export interface TargetLimits {
  /** The target's load before the move is below this. */
  readonly below: number;
  /** Its load with the pod is at most this. */
  readonly upTo: number;
}

/** Finds targets for pods without looking at every node. */
export interface Targets {
  /** The feasible node that ends up with the least load; -1 when there is none. */
  readonly leastLoaded: (pod: PodIndex, limits: TargetLimits) => NodeIndex;
  /** The feasible node that ends up closest to `limits.upTo` without passing it; -1 when there is none. */
  readonly bestFit: (pod: PodIndex, limits: TargetLimits) => NodeIndex;
  /**
   * Of `best` and the feasible nodes within the limits that would end up at most TIE above it, the one that kube-scheduler
   * would rank highest among them; `best` when none is ranked higher.
   */
  readonly favourite: (pod: PodIndex, best: NodeIndex, limits: TargetLimits) => NodeIndex;
  /** No target's load without the pod plus its load with it is less; +Infinity when the pod can run nowhere. */
  readonly leastSum: (pod: PodIndex) => number;
}

/** Loads that differ by a quarter of a point of node capacity or less are as good as equal. */
const TIE = toLoad(0.0025);

/** Nodes that are compared, and looked at, for one tie: all that are likely to matter. */
const MOST_TIED = 8;
const MOST_LOOKED_AT = 64;

/**
 * With a dominant resource, what a pod adds to a node cannot be bounded well, and all nodes would have to be looked at;
 * the least loaded ones that the search looks at instead are better than the rest anyway.
 */
const MOST_WITHOUT_BOUND = 256;

/** Nodes of about the same size that some pods can run on, by load. */
interface Candidates {
  readonly order: LoadOrder;
  /** What a pod adds to any of these nodes. */
  readonly bounds: PodBounds;
  /** Which of these nodes are known to refuse a pod, and which to have no room for any of its size. */
  readonly barren: InfeasibleNodes;
  readonly roomless: InfeasibleNodes;
}

interface Found {
  readonly node: NodeIndex;
  /** Load of the node with the pod. */
  readonly load: number;
}

/**
 * Indexes the nodes of `state` by load, once per set of nodes that some pods can run on at all and per size of node:
 * pods of a GPU pool do not step over a thousand other nodes, nor the other way round, and within one size the order by
 * load is the order by load with the pod, so that the first node that fits is nearly always the best.
 */
export function createTargets(state: StateView): Targets {
  const candidatesFor = createCandidates(state);
  const limit = state.cluster.load.dimensions > 1 ? MOST_WITHOUT_BOUND : Number.POSITIVE_INFINITY;
  return {
    leastLoaded: (pod, limits) => {
      let best: Found = { node: -1, load: limits.upTo + 1 };
      for (const candidates of candidatesFor(pod)) {
        best = leastLoaded(state, candidates, pod, limits.below, best, limit);
      }
      return best.node;
    },
    bestFit: (pod, limits) => {
      let best: Found = { node: -1, load: -1 };
      for (const candidates of candidatesFor(pod)) {
        best = bestFit(state, candidates, pod, limits, best, limit);
      }
      return best.node;
    },
    favourite: (pod, best, limits) => {
      const tied = new Set([best]);
      const upTo = Math.min(limits.upTo, state.loadWith(pod, best) + TIE);
      for (const candidates of candidatesFor(pod)) {
        collectTied(state, candidates, pod, { below: limits.below, upTo }, tied);
      }
      return tied.size === 1 ? best : highestRanked(state, pod, [...tied]);
    },
    leastSum: (pod) => {
      let least = Number.POSITIVE_INFINITY;
      for (const { order, bounds } of candidatesFor(pod)) {
        least = Math.min(least, 2 * order.loadAt(0) + bounds.least(pod));
      }
      return least;
    },
  };
}

/** Adds the feasible nodes that stay within the limits, from the least loaded on, up to MOST_TIED. */
function collectTied(
  state: StateView,
  { order, bounds, barren, roomless }: Candidates,
  pod: PodIndex,
  { below, upTo }: TargetLimits,
  tied: Set<NodeIndex>,
): void {
  const least = bounds.least(pod);
  const home = state.nodeOf(pod);
  const start = order.firstFrom(Math.max(barren.below(pod), roomless.below(pod)));
  const end = Math.min(order.size, start + MOST_LOOKED_AT);
  for (let position = start; position < end && tied.size < MOST_TIED; position += 1) {
    const load = order.loadAt(position);
    if (load >= below || load + least > upTo) {
      break;
    }
    const node = order.at(position);
    if (node !== home && state.loadWith(pod, node) <= upTo && state.fits(pod, node)) {
      tied.add(node);
    }
  }
}

/**
 * The first of the nodes to which the scheduler gives the highest score when it chooses among them. Requests are taken at face
 * value, since what it assumes for pods that request nothing would make plans depend on the unit of load.
 */
function highestRanked(state: StateView, pod: PodIndex, nodes: readonly NodeIndex[]): NodeIndex {
  const { siteOf, scores } = state.cluster;
  const { freeCapacityOf, siteOf: siteOfPod } = state.whereabouts;
  const ground: ScoreContext = {
    index: scores,
    assumed: ASSUME_NOTHING,
    freeCapacityOf,
    siteOf: (other) => (other === pod ? -1 : siteOfPod(other)),
  };
  const totals = rank(
    pod,
    Int32Array.from(nodes, (node) => at(siteOf, node)),
    ground,
  );
  const highest = totals.reduce((most, total) => Math.max(most, total), 0);
  return numberAt(nodes, totals.indexOf(highest));
}

/**
 * Upwards from the least loaded node that may take the pod, until no other can be better; ties go to the first node.
 */
function leastLoaded(
  state: StateView,
  { order, bounds, barren, roomless }: Candidates,
  pod: PodIndex,
  below: number,
  best: Found,
  limit: number,
): Found {
  const least = bounds.least(pod);
  const home = state.nodeOf(pod);
  const roomStart = order.firstFrom(roomless.below(pod));
  const start = Math.max(roomStart, order.firstFrom(barren.below(pod)));
  const end = Math.min(order.size, start + limit);
  let found = best;
  let frontier = start;
  let roomFrontier = roomStart;
  for (let position = start; position < end; position += 1) {
    const load = order.loadAt(position);
    if (load >= below || load + least >= found.load) {
      break;
    }
    const node = order.at(position);
    const couldHold = node === home || state.couldHold(pod, node);
    const fits = node !== home && couldHold && state.fits(pod, node);
    frontier += frontier === position && !fits && node !== home ? 1 : 0;
    roomFrontier += roomFrontier === position && !couldHold ? 1 : 0;
    const loaded = fits ? state.loadWith(pod, node) : found.load;
    found = loaded < found.load ? { node, load: loaded } : found;
  }
  barren.extend(pod, order.loadAt(frontier));
  if (roomFrontier > roomStart) {
    roomless.extend(pod, order.loadAt(roomFrontier));
  }
  return found;
}

/**
 * Downwards from the fullest node that could stay within `upTo`, until no other can be closer; ties go to the last
 * node.
 */
function bestFit(
  state: StateView,
  { order, bounds, barren, roomless }: Candidates,
  pod: PodIndex,
  { below, upTo }: TargetLimits,
  best: Found,
  limit: number,
): Found {
  const most = bounds.most(pod);
  const home = state.nodeOf(pod);
  const floor = Math.max(barren.below(pod), roomless.below(pod));
  const start = order.firstFrom(Math.min(below, upTo - bounds.least(pod) + 1)) - 1;
  let found = best;
  let isBarren = true;
  let position = start;
  for (let within = 0; position >= 0 && within < limit; position -= 1) {
    const load = order.loadAt(position);
    if (load < floor || load + most <= found.load) {
      break;
    }
    const node = order.at(position);
    const loaded = state.loadWith(pod, node);
    within += loaded <= upTo ? 1 : 0;
    const isCloser = loaded <= upTo && loaded > found.load;
    const fits = node !== home && isCloser && state.fits(pod, node);
    isBarren &&= node !== home && isCloser && !fits;
    found = fits ? { node, load: loaded } : found;
  }
  if (isBarren && (position < 0 || order.loadAt(position) < floor)) {
    barren.extend(pod, order.loadAt(start + 1));
  }
  return found;
}

/** The nodes that the static filters allow a pod, indexed on first use and synced on every use. */
function createCandidates(state: StateView): (pod: PodIndex) => readonly Candidates[] {
  const { shapes } = state.cluster;
  const byClass: (readonly Candidates[] | undefined)[] = [];
  const bySet = new Map<string, readonly Candidates[]>();
  const create = (shapeClass: ClassIndex): readonly Candidates[] => {
    const allowed = allowedNodes(state, shapeClass);
    // Classes that come to the same nodes, such as those that differ in a toleration nobody needs, share their candidates.
    const key = allowed.length === state.cluster.nodes.length ? '' : allowed.join();
    const candidates = bySet.get(key) ?? bySize(state, allowed);
    bySet.set(key, candidates);
    return candidates;
  };
  return (pod) => {
    const shapeClass = classOf(shapes, pod);
    const candidates = byClass[shapeClass] ?? create(shapeClass);
    byClass[shapeClass] = candidates;
    for (const { order } of candidates) {
      order.sync();
    }
    return candidates;
  };
}

function allowedNodes({ cluster }: StateView, shapeClass: ClassIndex): readonly NodeIndex[] {
  const allowed: NodeIndex[] = [];
  for (let node = 0; node < cluster.nodes.length; node += 1) {
    if (cluster.shapes.allows(shapeClass, node)) {
      allowed.push(node);
    }
  }
  return allowed;
}

function bySize(state: StateView, nodes: readonly NodeIndex[]): readonly Candidates[] {
  const { load } = state.cluster;
  const groups = Map.groupBy(nodes, load.sizeClass);
  return [...groups.values()].map((group) => ({
    order: createLoadOrder(state, group),
    bounds: load.boundsOver(group),
    barren: createInfeasibleNodes(state, group.length),
    roomless: createFullNodes(state, group.length),
  }));
}
