import type { Cluster } from './cluster.ts';
import { capacityRefusal, clusterRefusal, targetRefusal } from './filters/index.ts';
import { nodeResourcesFit } from './filters/node-resources-fit.ts';
import type { Refusal, Subject, TargetRefusal } from './filters/refusal.ts';
import { copyCapacity, type FreeCapacity, occupy, vacate } from './free-capacity.ts';
import {
  amountAt,
  at,
  atOrNone,
  type IndexTable,
  itemAt,
  type NodeIndex,
  type PodIndex,
  type SiteIndex,
} from './indices.ts';
import { toFraction } from './load.ts';
import { emptyLedger, type LoadLedger } from './load-ledger.ts';
import type { RefusalName } from './rejection-codes.ts';
import type { Breach } from './repair/guard.ts';
import { classOf, shapeOf, subjectOf } from './shapes.ts';
import type { TopologyCounts } from './topology/counts.ts';
import { NO_NEEDS } from './topology/needs.ts';
import { nomineesBefore, type Whereabouts } from './verdicts.ts';

/** Where every pod is at one position of a plan, to look at. Nodes and pods are named by their place. */
export interface StateView {
  readonly cluster: Cluster;
  /** Nodes whose load or room has changed. */
  readonly changes: ChangeLog;
  /** Node of a pod; -1 when it is lifted or its node takes no part. */
  readonly nodeOf: (pod: PodIndex) => NodeIndex;
  /** Load of a node (see load.ts). */
  readonly load: (node: NodeIndex) => number;
  /** Load of the pod's node without it. */
  readonly loadWithout: (pod: PodIndex) => number;
  /** Load of `node` with the pod, which must not be there yet. */
  readonly loadWith: (pod: PodIndex, node: NodeIndex) => number;
  /** By how much the higher of the two nodes falls when the pod moves to `node`; negative when it rises. */
  readonly gain: (pod: PodIndex, node: NodeIndex) => number;
  /** Capacity-weighted sum of squared deviations from the mean, in fractions. */
  readonly objective: () => number;
  /** By how much that changes when the pod moves to `node`. */
  readonly objectiveChange: (pod: PodIndex, node: NodeIndex) => number;
  /** Whether all filters let the pod run on `node`, and the move breaks nothing that the policy keeps. */
  readonly fits: (pod: PodIndex, node: NodeIndex) => boolean;
  /** Whether all filters let the pod run on `node`. */
  readonly passes: (pod: PodIndex, node: NodeIndex) => boolean;
  /** What the policy repairs, or leaves free, and the move would break. */
  readonly breach: (pod: PodIndex, node: NodeIndex) => Breach | undefined;
  /** Whether NodeResourcesFit might: when not, `node` has no room for any pod of about that size (see shapes.ts). */
  readonly couldHold: (pod: PodIndex, node: NodeIndex) => boolean;
  /** The name of the first filter, or rule of the policy, that does not; cheaper than all that the filter has to say. */
  readonly refusedBy: (pod: PodIndex, node: NodeIndex) => RefusalName | undefined;
  /** What that filter has to say. */
  readonly refusal: (pod: PodIndex, node: NodeIndex) => TargetRefusal | undefined;
  /**
   * A number for everything beyond the target that verdicts on the pod depend on: where it is, and which pods that matter to
   * its affinity and spread are where. 0 when nothing does. Equal numbers mean equal verdicts for pods of one shape.
   */
  readonly surroundings: (pod: PodIndex) => number;
  /** Movable pods on a node: those that were there at the start, who is taken first at the front, then those that came. */
  readonly movablePodsOn: (node: NodeIndex) => readonly PodIndex[];
  /** The same on all nodes of the cluster, by their places there. */
  readonly whereabouts: Whereabouts;
  /** A state of its own that starts here. */
  readonly fork: () => State;
}

/** Where every pod is, to be changed. */
export interface State extends StateView {
  /** Node by place of the pod. */
  readonly placement: IndexTable<PodIndex, NodeIndex>;
  /** Takes a movable pod off its node. */
  readonly lift: (pod: PodIndex) => void;
  /** Puts a lifted pod on a node. Checks nothing. */
  readonly place: (pod: PodIndex, node: NodeIndex) => void;
  /** Lifts and places. */
  readonly move: (pod: PodIndex, node: NodeIndex) => void;
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
  const rooms = Array.from(siteOf, (site) => itemAt(sites.rooms, site));
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
  readonly placement: IndexTable<PodIndex, NodeIndex>;
  readonly loads: LoadLedger;
  /** Shared with forks until one of them writes. */
  readonly rooms: FreeCapacity[];
  /** 1 for the rooms that may be changed in place. */
  readonly owned: Uint8Array;
  readonly counts: TopologyCounts;
  /** Pods by a node that is not their home; may list pods that have left again. Lists are replaced, never changed. */
  readonly arrivals: Map<NodeIndex, readonly PodIndex[]>;
}

function createState(contents: Contents): State {
  const { cluster, placement, loads, arrivals } = contents;
  const changes = createChangeLog();
  const nodeOf = (pod: PodIndex): NodeIndex => at(placement, pod);
  const { load } = loads;
  const lift = (pod: PodIndex): void => {
    const node = nodeOf(pod);
    const before = load(node);
    loads.remove(node, pod);
    updateRoom(contents, node, pod, vacate);
    contents.counts.remove(pod, at(cluster.siteOf, node));
    placement[pod] = -1;
    const outside = siteOf(contents, pod);
    if (outside >= 0) {
      contents.counts.add(pod, outside);
    }
    changes.write(node, before, load(node));
  };
  const place = (pod: PodIndex, node: NodeIndex): void => {
    const before = load(node);
    const outside = siteOf(contents, pod);
    if (outside >= 0) {
      contents.counts.remove(pod, outside);
    }
    loads.add(node, pod);
    updateRoom(contents, node, pod, occupy);
    contents.counts.add(pod, at(cluster.siteOf, node));
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
    fits: (pod, node) => passes(contents, pod, node) && breach(contents, pod, node) === undefined,
    passes: (pod, node) => passes(contents, pod, node),
    breach: (pod, node) => breach(contents, pod, node),
    couldHold: (pod, node) =>
      nodeResourcesFit(sizeOf(cluster, pod), itemAt(cluster.nodes, node), itemAt(contents.rooms, node)) === undefined,
    refusedBy: (pod, node) =>
      cluster.shapes.refusedBy(classOf(cluster.shapes, pod), node) ??
      (changingRefusal(contents, pod, node) ?? breach(contents, pod, node)?.refusal)?.filter,
    refusal: (pod, node) =>
      targetRefusal(subjectOf(cluster.shapes, pod), itemAt(cluster.nodes, node), cluster.sites.storage) ??
      changingRefusal(contents, pod, node) ??
      breach(contents, pod, node)?.refusal,
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
function whereaboutsOf(contents: Contents): Whereabouts {
  const { cluster, rooms, counts } = contents;
  const { sites, nodeAt } = cluster;
  return {
    sites,
    counts,
    freeCapacityOf: (site) => {
      const node = at(nodeAt, site);
      return node < 0 ? itemAt(sites.rooms, site) : itemAt(rooms, node);
    },
    siteOf: (pod) => siteOf(contents, pod),
  };
}

/** Where a pod is among all nodes; what runs on one that takes no part is there until it is placed. -1 without a node. */
function siteOf({ cluster, placement }: Contents, pod: PodIndex): SiteIndex {
  const node = at(placement, pod);
  return node < 0 && at(cluster.home, pod) < 0 ? at(cluster.sites.located, pod) : atOrNone(cluster.siteOf, node);
}

/** What a node contributes to the objective at some load. */
function penalty({ load }: Cluster, node: NodeIndex, value: number): number {
  return amountAt(load.weights, node) * toFraction(value - load.mean) ** 2;
}

function objectiveChange({ cluster, loads }: Contents, pod: PodIndex, from: NodeIndex, to: NodeIndex): number {
  const source = penalty(cluster, from, loads.without(from, pod)) - penalty(cluster, from, loads.load(from));
  return source + penalty(cluster, to, loads.with(to, pod)) - penalty(cluster, to, loads.load(to));
}

function updateRoom({ cluster, rooms, owned }: Contents, node: NodeIndex, pod: PodIndex, update: typeof occupy): void {
  const room = itemAt(rooms, node);
  const own = owned[node] === 1 ? room : copyCapacity(room);
  update(own, itemAt(cluster.pods, pod).constraints, cluster.sites.attachmentsOf(pod));
  rooms[node] = own;
  owned[node] = 1;
}

function sizeOf({ shapes }: Cluster, pod: PodIndex): Subject {
  return itemAt(shapes.sizes, at(shapes.sizeOf, shapeOf(shapes, pod)));
}

/**
 * The first refusal of the filters whose verdicts moves change. Where the scheduler keeps room for pending pods of the same
 * or a higher priority, the pod must fit with them and without (schedule_one RunFilterPluginsWithNominatedPods).
 */
function changingRefusal(contents: Contents, pod: PodIndex, node: NodeIndex): Refusal | undefined {
  const refusal = refusalNow(contents, pod, node, itemAt(contents.rooms, node));
  const { sites, siteOf } = contents.cluster;
  if (refusal !== undefined || sites.nominees.size === 0) {
    return refusal;
  }
  const site = at(siteOf, node);
  const nominees = nomineesBefore(sites, pod, site);
  return nominees.length === 0 ? undefined : refusalWith(contents, pod, node, nominees);
}

function passes(contents: Contents, pod: PodIndex, node: NodeIndex): boolean {
  const { shapes } = contents.cluster;
  return shapes.allows(classOf(shapes, pod), node) && changingRefusal(contents, pod, node) === undefined;
}

function breach(contents: Contents, pod: PodIndex, node: NodeIndex): Breach | undefined {
  return headroomBreach(contents, pod, node) ?? repairBreach(contents, pod, node);
}

/** A pod that goes back to where it was fills nothing. */
function headroomBreach({ cluster, rooms }: Contents, pod: PodIndex, node: NodeIndex): Breach | undefined {
  if (cluster.headroom === undefined || at(cluster.home, pod) === node) {
    return undefined;
  }
  const refusal = cluster.headroom.refusalOf(subjectOf(cluster.shapes, pod), node, itemAt(rooms, node));
  return refusal && { refusal, soft: false };
}

function repairBreach(contents: Contents, pod: PodIndex, node: NodeIndex): Breach | undefined {
  const { cluster, counts } = contents;
  if (cluster.guard === undefined) {
    return undefined;
  }
  const [site, home] = [at(cluster.siteOf, node), siteOf(contents, pod)];
  return cluster.guard.breachOf(subjectOf(cluster.shapes, pod), {
    node: itemAt(cluster.nodes, node),
    from: cluster.sites.nodes[home],
    place: { counts, site, home },
  });
}

function refusalWith(
  contents: Contents,
  pod: PodIndex,
  node: NodeIndex,
  nominees: readonly PodIndex[],
): Refusal | undefined {
  const { cluster, counts } = contents;
  const room = copyCapacity(itemAt(contents.rooms, node));
  const site = at(cluster.siteOf, node);
  for (const nominee of nominees) {
    occupy(room, itemAt(cluster.pods, nominee).constraints, cluster.sites.attachmentsOf(nominee));
    counts.add(nominee, site);
  }
  const refusal = refusalNow(contents, pod, node, room);
  for (const nominee of nominees) {
    counts.remove(nominee, site);
  }
  return refusal;
}

function refusalNow(contents: Contents, pod: PodIndex, node: NodeIndex, room: FreeCapacity): Refusal | undefined {
  const { cluster, counts } = contents;
  const subject = subjectOf(cluster.shapes, pod);
  const refusal = capacityRefusal(subject, itemAt(cluster.nodes, node), room);
  if (refusal !== undefined || subject.topology === NO_NEEDS) {
    return refusal;
  }
  return clusterRefusal(subject, { counts, site: at(cluster.siteOf, node), home: siteOf(contents, pod) });
}

function surroundings({ cluster, counts, placement }: Contents, pod: PodIndex): number {
  const trackers = itemAt(cluster.shapes.trackersOf, shapeOf(cluster.shapes, pod));
  if (trackers.length === 0 && !looksBack(cluster, pod)) {
    return 0;
  }
  let version = 0;
  for (let place = 0; place < trackers.length; place += 1) {
    version += counts.version(at(trackers, place));
  }
  return (version + 1) * (cluster.nodes.length + 1) + at(placement, pod) + 1;
}

function looksBack({ guard, shapes }: Cluster, pod: PodIndex): boolean {
  return guard?.looksBack(subjectOf(shapes, pod).constraints) === true;
}

function movablePodsOn({ cluster, placement, arrivals }: Contents, node: NodeIndex): readonly PodIndex[] {
  const found: PodIndex[] = [];
  for (const pod of cluster.movableByNode.on(node)) {
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

/** Which nodes have changed, oldest first, so that indexes over a state can catch up. */
interface ChangeLog {
  readonly count: () => number;
  readonly node: (entry: number) => NodeIndex;
  /** Load of the node before and after the change. */
  readonly before: (entry: number) => number;
  readonly after: (entry: number) => number;
}

/** A change log and the means to write it. */
interface ChangeWriter extends ChangeLog {
  readonly write: (node: NodeIndex, before: number, after: number) => void;
}

/** An empty log. */
function createChangeLog(): ChangeWriter {
  const nodes: NodeIndex[] = [];
  const befores: number[] = [];
  const afters: number[] = [];
  return {
    count: () => nodes.length,
    node: (entry) => nodes[entry] ?? -1,
    before: (entry) => befores[entry] ?? 0,
    after: (entry) => afters[entry] ?? 0,
    write: (node, before, after) => {
      nodes.push(node);
      befores.push(before);
      afters.push(after);
    },
  };
}
