import type { NodeInfo } from '../model/node.ts';
import { type ChangeLog, createChangeLog } from './change-log.ts';
import type { Cluster } from './cluster.ts';
import { capacityRefusal, clusterRefusal, nodeRefusal } from './filters/index.ts';
import { nodeResourcesFit } from './filters/node-resources-fit.ts';
import type { Refusal, Subject } from './filters/refusal.ts';
import { copyCapacity, type FreeCapacity, occupy, vacate } from './free-capacity.ts';
import { toFraction } from './load.ts';
import { emptyLedger, type LoadLedger } from './load-ledger.ts';
import type { IndexedNodes } from './node-index.ts';
import type { FilterName } from './rejection-codes.ts';
import type { TopologyCounts } from './topology/counts.ts';
import { NO_NEEDS } from './topology/needs.ts';
import { nomineesBefore, type Whereabouts } from './verdicts.ts';

/** Where every pod is at one position of a plan, to look at. Nodes and pods are named by their place. */
export interface StateView {
  readonly cluster: Cluster;
  /** Nodes whose load or room has changed. */
  readonly changes: ChangeLog;
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
  /** Whether NodeResourcesFit might: when not, `node` has no room for any pod of about that size (see shapes.ts). */
  readonly couldHold: (pod: number, node: number) => boolean;
  /** The name of the first filter that does not; cheaper than all that the filter has to say. */
  readonly refusedBy: (pod: number, node: number) => FilterName | undefined;
  /** What that filter has to say. */
  readonly refusal: (pod: number, node: number) => Refusal | undefined;
  /**
   * A number for everything beyond the target that verdicts on the pod depend on: where it is, and which pods that matter to
   * its affinity and spread are where. 0 when nothing does. Equal numbers mean equal verdicts for pods of one shape.
   */
  readonly surroundings: (pod: number) => number;
  /** Movable pods on a node, by place. */
  readonly movablePodsOn: (node: number) => readonly number[];
  /** The same on all nodes of the cluster, by their places there. */
  readonly whereabouts: Whereabouts;
  /** A state of its own that starts here. */
  readonly fork: () => State;
}

/** Where every pod is, to be changed. */
export interface State extends StateView {
  /** Node by place of the pod. */
  readonly placement: Int32Array;
  /** Takes a movable pod off its node. */
  readonly lift: (pod: number) => void;
  /** Puts a lifted pod on a node. Checks nothing. */
  readonly place: (pod: number, node: number) => void;
  /** Lifts and places. */
  readonly move: (pod: number, node: number) => void;
}

/** Below what rounding can make of a change that is none. */
const NEGLIGIBLE = 1e-15;

/** Whether a change of the objective lowers it. */
export function isImprovement(change: number): boolean {
  return change < -NEGLIGIBLE;
}

/** A state in which every pod is where the snapshot has it. */
export function initialState(cluster: Cluster): State {
  const { load, nodes, pods, home, sites, siteOf } = cluster;
  const loads = emptyLedger(load, nodes.length, pods.length);
  home.forEach((node, pod) => {
    if (node >= 0) {
      loads.add(node, pod);
    }
  });
  const rooms = Array.from(siteOf, (site) => roomAt(sites, site));
  return createState({
    cluster,
    placement: home.slice(),
    loads,
    rooms,
    owned: new Uint8Array(rooms.length),
    counts: sites.counts.fork(),
    arrivals: new Map(),
  });
}

interface Contents {
  readonly cluster: Cluster;
  readonly placement: Int32Array;
  readonly loads: LoadLedger;
  /** Shared with forks until one of them writes. */
  readonly rooms: FreeCapacity[];
  /** 1 for the rooms that may be changed in place. */
  readonly owned: Uint8Array;
  readonly counts: TopologyCounts;
  /** Pods by a node that is not their home; may list pods that have left again. Lists are replaced, never changed. */
  readonly arrivals: Map<number, readonly number[]>;
}

function createState(contents: Contents): State {
  const { cluster, placement, loads, arrivals } = contents;
  const changes = createChangeLog();
  const nodeOf = (pod: number): number => placement[pod] ?? -1;
  const { load } = loads;
  const lift = (pod: number): void => {
    const node = nodeOf(pod);
    const before = load(node);
    loads.remove(node, pod);
    updateRoom(contents, node, pod, vacate);
    contents.counts.remove(pod, cluster.siteOf[node] ?? -1);
    placement[pod] = -1;
    changes.write(node, before, load(node));
  };
  const place = (pod: number, node: number): void => {
    const before = load(node);
    loads.add(node, pod);
    updateRoom(contents, node, pod, occupy);
    contents.counts.add(pod, cluster.siteOf[node] ?? -1);
    placement[pod] = node;
    changes.write(node, before, load(node));
    if (cluster.home[pod] !== node) {
      arrivals.set(node, [...(arrivals.get(node) ?? []), pod]);
    }
  };
  return {
    cluster,
    changes,
    placement,
    nodeOf,
    load,
    loadWithout: (pod) => loads.without(nodeOf(pod), pod),
    loadWith: (pod, node) => loads.with(node, pod),
    gain: (pod, node) =>
      Math.max(load(nodeOf(pod)), load(node)) - Math.max(loads.without(nodeOf(pod), pod), loads.with(node, pod)),
    objective: () => cluster.nodes.reduce((sum, _, node) => sum + penalty(cluster, node, load(node)), 0),
    objectiveChange: (pod, node) => objectiveChange(contents, pod, nodeOf(pod), node),
    fits: (pod, node) =>
      cluster.shapes.allows(classOf(cluster, pod), node) && changingRefusal(contents, pod, node) === undefined,
    couldHold: (pod, node) =>
      nodeResourcesFit(sizeOf(cluster, pod), nodeAt(cluster, node), roomAt(contents, node)) === undefined,
    refusedBy: (pod, node) =>
      cluster.shapes.refusedBy(classOf(cluster, pod), node) ?? changingRefusal(contents, pod, node)?.filter,
    refusal: (pod, node) =>
      nodeRefusal(subjectOf(cluster, pod), nodeAt(cluster, node), cluster.sites.storage) ??
      changingRefusal(contents, pod, node),
    surroundings: (pod) => surroundings(contents, pod),
    movablePodsOn: (node) => movablePodsOn(contents, node),
    whereabouts: whereaboutsOf(contents),
    fork: () => fork(contents),
    lift,
    place,
    move: (pod, node) => {
      lift(pod);
      place(pod, node);
    },
  };
}

function fork({ cluster, placement, loads, rooms, owned, counts, arrivals }: Contents): State {
  owned.fill(0);
  return createState({
    cluster,
    placement: placement.slice(),
    loads: loads.fork(),
    rooms: rooms.slice(),
    owned: new Uint8Array(rooms.length),
    counts: counts.fork(),
    arrivals: new Map(arrivals),
  });
}

/** Nodes that take no part are as the snapshot has them. */
function whereaboutsOf({ cluster, placement, rooms, counts }: Contents): Whereabouts {
  const { sites, siteOf, nodeAt, home } = cluster;
  return {
    sites,
    counts,
    freeCapacityOf: (site) => rooms[nodeAt[site] ?? -1] ?? roomAt(sites, site),
    siteOf: (pod) => {
      const node = placement[pod] ?? -1;
      return node < 0 && (home[pod] ?? -1) < 0 ? (sites.located[pod] ?? -1) : (siteOf[node] ?? -1);
    },
  };
}

/** What a node contributes to the objective at some load. */
function penalty({ load }: Cluster, node: number, value: number): number {
  return (load.weights[node] ?? 0) * toFraction(value - load.mean) ** 2;
}

function objectiveChange({ cluster, loads }: Contents, pod: number, from: number, to: number): number {
  const source = penalty(cluster, from, loads.without(from, pod)) - penalty(cluster, from, loads.load(from));
  return source + penalty(cluster, to, loads.with(to, pod)) - penalty(cluster, to, loads.load(to));
}

function updateRoom({ cluster, rooms, owned }: Contents, node: number, pod: number, update: typeof occupy): void {
  const room = rooms[node];
  const constraints = cluster.pods[pod]?.constraints;
  if (room !== undefined && constraints !== undefined) {
    const own = owned[node] === 1 ? room : copyCapacity(room);
    update(own, constraints, cluster.sites.attachmentsOf(pod));
    rooms[node] = own;
    owned[node] = 1;
  }
}

function classOf({ shapes }: Cluster, pod: number): number {
  return shapes.classOf[shapes.ofPod[pod] ?? -1] ?? -1;
}

function subjectOf({ shapes }: Cluster, pod: number): Subject {
  const subject = shapes.subjects[shapes.ofPod[pod] ?? -1];
  if (subject === undefined) {
    throw new RangeError(`no shape for pod ${pod}`);
  }
  return subject;
}

function sizeOf({ shapes }: Cluster, pod: number): Subject {
  const subject = shapes.sizes[shapes.sizeOf[shapes.ofPod[pod] ?? -1] ?? -1];
  if (subject === undefined) {
    throw new RangeError(`no shape for pod ${pod}`);
  }
  return subject;
}

function nodeAt({ nodes }: Cluster, node: number): NodeInfo {
  const info = nodes[node];
  if (info === undefined) {
    throw new RangeError(`no node ${node}`);
  }
  return info;
}

function roomAt({ rooms }: Pick<IndexedNodes, 'rooms'>, node: number): FreeCapacity {
  const room = rooms[node];
  if (room === undefined) {
    throw new RangeError(`no node ${node}`);
  }
  return room;
}

/**
 * The first refusal of the filters whose verdicts moves change. Where the scheduler keeps room for pending pods of the same
 * or a higher priority, the pod must fit with them and without (schedule_one RunFilterPluginsWithNominatedPods).
 */
function changingRefusal(contents: Contents, pod: number, node: number): Refusal | undefined {
  const refusal = refusalNow(contents, pod, node, roomAt(contents, node));
  const { sites, siteOf } = contents.cluster;
  if (refusal !== undefined || sites.nominees.size === 0) {
    return refusal;
  }
  const site = siteOf[node] ?? -1;
  const nominees = nomineesBefore(sites, pod, site);
  return nominees.length === 0 ? undefined : refusalWith(contents, pod, node, nominees);
}

function refusalWith(contents: Contents, pod: number, node: number, nominees: readonly number[]): Refusal | undefined {
  const { cluster, counts } = contents;
  const room = copyCapacity(roomAt(contents, node));
  const site = cluster.siteOf[node] ?? -1;
  for (const nominee of nominees) {
    const constraints = cluster.pods[nominee]?.constraints;
    if (constraints !== undefined) {
      occupy(room, constraints, cluster.sites.attachmentsOf(nominee));
      counts.add(nominee, site);
    }
  }
  const refusal = refusalNow(contents, pod, node, room);
  for (const nominee of nominees) {
    counts.remove(nominee, site);
  }
  return refusal;
}

function refusalNow(
  { cluster, counts, placement }: Contents,
  pod: number,
  node: number,
  room: FreeCapacity,
): Refusal | undefined {
  const subject = subjectOf(cluster, pod);
  const refusal = capacityRefusal(subject, nodeAt(cluster, node), room);
  if (refusal !== undefined || subject.topology === NO_NEEDS) {
    return refusal;
  }
  const home = cluster.siteOf[placement[pod] ?? -1] ?? -1;
  return clusterRefusal(subject, { counts, site: cluster.siteOf[node] ?? -1, home });
}

function surroundings({ cluster, counts, placement }: Contents, pod: number): number {
  const trackers = cluster.shapes.trackersOf[cluster.shapes.ofPod[pod] ?? -1];
  if (trackers === undefined || trackers.length === 0) {
    return 0;
  }
  let version = 0;
  for (let place = 0; place < trackers.length; place += 1) {
    version += counts.version(trackers[place] ?? -1);
  }
  return (version + 1) * (cluster.nodes.length + 1) + (placement[pod] ?? -1) + 1;
}

function movablePodsOn({ cluster, placement, arrivals }: Contents, node: number): readonly number[] {
  const { start, pods } = cluster.movableByNode;
  const found: number[] = [];
  for (let position = start[node] ?? 0; position < (start[node + 1] ?? 0); position += 1) {
    const pod = pods[position] ?? -1;
    if (placement[pod] === node) {
      found.push(pod);
    }
  }
  const arrived = arrivals.get(node);
  if (arrived !== undefined) {
    // A pod that came, left and came again is listed twice.
    found.push(...[...new Set(arrived)].filter((pod) => placement[pod] === node));
  }
  return found;
}
