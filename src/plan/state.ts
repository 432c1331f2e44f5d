import type { Cluster } from './cluster.ts';
import { dynamicRefusal, firstRefusal } from './filters/index.ts';
import type { Refusal } from './filters/refusal.ts';
import { toFraction } from './load.ts';
import { copyRoom, occupy, type Room, vacate } from './room.ts';

/** Where every pod is at one position of a plan, to look at. Nodes and pods are named by their place. */
export interface StateView {
  readonly cluster: Cluster;
  /** Nodes whose load or room has changed, oldest first, so that indexes can catch up. */
  readonly changes: readonly number[];
  /** Node of a pod; -1 when it is lifted or its node takes no part. */
  readonly nodeOf: (pod: number) => number;
  /** Load of a node (see load.ts). */
  readonly load: (node: number) => number;
  /** Load of the pod's node without it. */
  readonly loadWithout: (pod: number) => number;
  /** Load of `node` with the pod, which must not be there yet. */
  readonly loadWith: (pod: number, node: number) => number;
  /** By how much the higher of the two nodes falls when the pod moves to `node`; negative when it rises. */
  readonly gain: (pod: number, node: number) => number;
  /** Capacity-weighted sum of squared deviations from the mean, in fractions. */
  readonly objective: () => number;
  /** By how much that changes when the pod moves to `node`. */
  readonly objectiveChange: (pod: number, node: number) => number;
  /** Whether all filters let the pod run on `node`. */
  readonly fits: (pod: number, node: number) => boolean;
  /** The first filter that does not. */
  readonly refusal: (pod: number, node: number) => Refusal | undefined;
  /** Movable pods on a node, by place. */
  readonly movablePodsOn: (node: number) => readonly number[];
  /** A state of its own that starts here. */
  readonly fork: () => State;
}

/** Where every pod is, to be changed. */
export interface State extends StateView {
  /** Takes a movable pod off its node. */
  readonly lift: (pod: number) => void;
  /** Puts a lifted pod on a node. Checks nothing. */
  readonly place: (pod: number, node: number) => void;
  /** Lifts and places. */
  readonly move: (pod: number, node: number) => void;
  /** Node by place of the pod. */
  readonly placement: Int32Array;
}

/** Below what rounding can make of a change that is none. */
const NEGLIGIBLE = 1e-15;

/** Whether a change of the objective lowers it. */
export function isImprovement(change: number): boolean {
  return change < -NEGLIGIBLE;
}

/** A state in which every pod is where the snapshot has it. */
export function initialState(cluster: Cluster): State {
  const { load, nodes, pods, home } = cluster;
  const sums = new Float64Array(load.dimensions * nodes.length);
  const own = new Float64Array(load.dimensions * pods.length);
  for (let dimension = 0; dimension < load.dimensions; dimension += 1) {
    nodes.forEach((_, node) => {
      sums[dimension * nodes.length + node] = load.ofFloor(node, dimension);
    });
    home.forEach((node, pod) => {
      if (node >= 0) {
        const added = load.ofPod(pod, node, dimension);
        own[dimension * pods.length + pod] = added;
        sums[dimension * nodes.length + node] = (sums[dimension * nodes.length + node] ?? 0) + added;
      }
    });
  }
  return createState(cluster, {
    placement: home.slice(),
    sums,
    own,
    rooms: cluster.rooms.map(copyRoom),
    arrivals: new Map(),
  });
}

interface Contents {
  readonly placement: Int32Array;
  /** Sum of loads by dimension and node. */
  readonly sums: Float64Array;
  /** What each pod adds to its node, by dimension and pod. */
  readonly own: Float64Array;
  readonly rooms: readonly Room[];
  /** Pods by a node that is not their home. */
  readonly arrivals: Map<number, number[]>;
}

function createState(cluster: Cluster, contents: Contents): State {
  const { placement, sums, own, rooms, arrivals } = contents;
  const { shapes, load: model, nodes, pods, movableByNode } = cluster;
  const { dimensions } = model;
  const changes: number[] = [];
  const nodeOf = (pod: number): number => placement[pod] ?? -1;

  const highest = (node: number, pod: number, sign: 1 | -1 | 0): number => {
    let most = 0;
    for (let dimension = 0; dimension < dimensions; dimension += 1) {
      const sum = sums[dimension * nodes.length + node] ?? 0;
      const added = sign > 0 ? model.ofPod(pod, node, dimension) : (own[dimension * pods.length + pod] ?? 0);
      most = Math.max(most, sum + sign * added);
    }
    return most;
  };
  const load = (node: number): number => (dimensions === 1 ? (sums[node] ?? 0) : highest(node, 0, 0));
  const loadWithout = (pod: number): number =>
    dimensions === 1 ? (sums[nodeOf(pod)] ?? 0) - (own[pod] ?? 0) : highest(nodeOf(pod), pod, -1);
  const loadWith = (pod: number, node: number): number =>
    dimensions === 1 ? (sums[node] ?? 0) + model.ofPod(pod, node, 0) : highest(node, pod, 1);

  const deviation = (value: number): number => toFraction(value - model.mean) ** 2;
  const weight = (node: number): number => model.weights[node] ?? 0;

  const allows = (pod: number, node: number): boolean => {
    const shape = shapes.ofPod[pod] ?? -1;
    return shape >= 0 && shapes.allows(shapes.classOf[shape] ?? -1, node);
  };
  const verdict = (pod: number, node: number, filters: typeof firstRefusal): Refusal | undefined => {
    const [subject, info, room] = [shapes.subjects[shapes.ofPod[pod] ?? -1], nodes[node], rooms[node]];
    if (subject === undefined || info === undefined || room === undefined) {
      throw new RangeError(`no shape for pod ${pod}, or no node ${node}`);
    }
    return filters(subject, info, room);
  };

  const lift = (pod: number): void => {
    const node = nodeOf(pod);
    for (let dimension = 0; dimension < dimensions; dimension += 1) {
      const place = dimension * nodes.length + node;
      sums[place] = (sums[place] ?? 0) - (own[dimension * pods.length + pod] ?? 0);
    }
    change(node, pod, vacate);
    placement[pod] = -1;
  };
  const place = (pod: number, node: number): void => {
    for (let dimension = 0; dimension < dimensions; dimension += 1) {
      const added = model.ofPod(pod, node, dimension);
      own[dimension * pods.length + pod] = added;
      sums[dimension * nodes.length + node] = (sums[dimension * nodes.length + node] ?? 0) + added;
    }
    change(node, pod, occupy);
    placement[pod] = node;
    if (cluster.home[pod] !== node) {
      arrivals.set(node, [...(arrivals.get(node) ?? []), pod]);
    }
  };
  const change = (node: number, pod: number, update: typeof occupy): void => {
    const room = rooms[node];
    const constraints = pods[pod]?.constraints;
    if (room !== undefined && constraints !== undefined) {
      update(room, constraints);
    }
    changes.push(node);
  };

  return {
    cluster,
    changes,
    placement,
    nodeOf,
    load,
    loadWithout,
    loadWith,
    gain: (pod, node) => Math.max(load(nodeOf(pod)), load(node)) - Math.max(loadWithout(pod), loadWith(pod, node)),
    objective: () => nodes.reduce((sum, _, node) => sum + weight(node) * deviation(load(node)), 0),
    objectiveChange: (pod, node) => {
      const from = nodeOf(pod);
      const source = weight(from) * (deviation(loadWithout(pod)) - deviation(load(from)));
      return source + weight(node) * (deviation(loadWith(pod, node)) - deviation(load(node)));
    },
    fits: (pod, node) => allows(pod, node) && verdict(pod, node, dynamicRefusal) === undefined,
    refusal: (pod, node) => verdict(pod, node, firstRefusal),
    movablePodsOn: (node) => {
      const [first, last] = [movableByNode.start[node] ?? 0, movableByNode.start[node + 1] ?? 0];
      const found: number[] = [];
      for (let position = first; position < last; position += 1) {
        const pod = movableByNode.pods[position] ?? -1;
        if (placement[pod] === node) {
          found.push(pod);
        }
      }
      // A pod may come, leave and come again: the list of arrivals then has it twice.
      for (const pod of new Set(arrivals.get(node))) {
        if (placement[pod] === node) {
          found.push(pod);
        }
      }
      return found;
    },
    fork: () =>
      createState(cluster, {
        placement: placement.slice(),
        sums: sums.slice(),
        own: own.slice(),
        rooms: rooms.map(copyRoom),
        arrivals: new Map(arrivals),
      }),
    lift,
    place,
    move: (pod, node) => {
      lift(pod);
      place(pod, node);
    },
  };
}
