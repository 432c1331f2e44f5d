import type { PodBounds } from '../load.ts';
import type { StateView } from '../state.ts';
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
  /** The feasible node that ends up with the least load; -1 when there is none. Ties go to the first node. */
  readonly leastLoaded: (pod: number, limits: TargetLimits) => number;
  /** The feasible node that ends up closest to `limits.upTo` without passing it; -1 when there is none. */
  readonly bestFit: (pod: number, limits: TargetLimits) => number;
}

/**
 * Indexes the nodes of `state` by load, once per set of nodes that some pods can run on at all. Pods of a GPU pool do not
 * step over a thousand other nodes, nor the other way round.
 */
export function createTargets(state: StateView): Targets {
  const candidatesFor = createCandidates(state);
  const starts = createStarts(state);
  return {
    leastLoaded: (pod, limits) => leastLoaded(state, candidatesFor(pod), starts, pod, limits),
    bestFit: (pod, limits) => bestFit(state, candidatesFor(pod), pod, limits),
  };
}

function leastLoaded(
  state: StateView,
  { order, bounds }: Candidates,
  starts: Starts,
  pod: number,
  { below, upTo }: TargetLimits,
): number {
  const least = bounds.least(pod);
  const home = state.nodeOf(pod);
  let best = -1;
  let bestLoad = upTo + 1;
  let untouched = true;
  for (let position = starts.get(pod); position < order.size; position += 1) {
    const load = order.loadAt(position);
    if (load >= below || load + least >= bestLoad) {
      break;
    }
    const node = order.at(position);
    const fits = node !== home && state.fits(pod, node);
    if (untouched && !fits && node !== home) {
      starts.set(pod, position + 1);
    } else {
      untouched = false;
    }
    const loaded = fits ? state.loadWith(pod, node) : bestLoad;
    if (loaded < bestLoad) {
      best = node;
      bestLoad = loaded;
    }
  }
  return best;
}

function bestFit(state: StateView, { order, bounds }: Candidates, pod: number, { below, upTo }: TargetLimits): number {
  const { least, most } = bounds;
  const home = state.nodeOf(pod);
  const start = order.firstFrom(Math.min(below, upTo - least(pod) + 1)) - 1;
  let best = -1;
  let bestLoad = -1;
  for (let position = start; position >= 0; position -= 1) {
    if (order.loadAt(position) + most(pod) < bestLoad) {
      break;
    }
    const node = order.at(position);
    const loaded = state.loadWith(pod, node);
    if (node !== home && loaded <= upTo && loaded >= bestLoad && state.fits(pod, node)) {
      best = node;
      bestLoad = loaded;
    }
  }
  return best;
}

/** For each shape, how many of the least loaded nodes are known to refuse it while the state stays as it is. */
interface Starts {
  readonly get: (pod: number) => number;
  readonly set: (pod: number, position: number) => void;
}

function createStarts(state: StateView): Starts {
  const { shapes } = state.cluster;
  const positions = new Int32Array(shapes.subjects.length);
  const madeAt = new Int32Array(shapes.subjects.length).fill(-1);
  const shapeOf = (pod: number): number => shapes.ofPod[pod] ?? -1;
  return {
    get: (pod) => (madeAt[shapeOf(pod)] === state.changes.length ? (positions[shapeOf(pod)] ?? 0) : 0),
    set: (pod, position) => {
      positions[shapeOf(pod)] = position;
      madeAt[shapeOf(pod)] = state.changes.length;
    },
  };
}

/** The nodes that some pods can run on at all. */
interface Candidates {
  readonly order: LoadOrder;
  readonly bounds: PodBounds;
}

/** The nodes that the static filters allow a pod, indexed on first use and synced on every use. */
function createCandidates(state: StateView): (pod: number) => Candidates {
  const { shapes, nodes, load } = state.cluster;
  const byClass: (Candidates | undefined)[] = [];
  const bySet = new Map<string, Candidates>();
  const create = (shapeClass: number): Candidates => {
    const allowed = [...nodes.keys()].filter((node) => shapes.allows(shapeClass, node));
    // Classes that come to the same nodes, such as those that differ in a toleration nobody needs, share an order.
    const key = allowed.length === nodes.length ? '' : allowed.join();
    const candidates = bySet.get(key) ?? { order: createLoadOrder(state, allowed), bounds: load.boundsOver(allowed) };
    bySet.set(key, candidates);
    return candidates;
  };
  return (pod) => {
    const shapeClass = shapes.classOf[shapes.ofPod[pod] ?? -1] ?? -1;
    const candidates = byClass[shapeClass] ?? create(shapeClass);
    byClass[shapeClass] = candidates;
    candidates.order.sync();
    return candidates;
  };
}
