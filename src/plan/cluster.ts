import type { NodeInfo } from '../model/node.ts';
import type { PodInfo } from '../model/pod.ts';
import { createHeadroom, type Headroom } from './filters/headroom.ts';
import { at, atOrNone, type IndexTable, itemAt, type NodeIndex, type PodIndex, type SiteIndex } from './indices.ts';
import { type LoadModel, type LoadTables, loadModel, tabulate } from './load.ts';
import type { IndexedNodes } from './node-index.ts';
import type { PolicyOptions } from './options.ts';
import type { Owners } from './owners.ts';
import type { Participant } from './participation.ts';
import type { PodUsage, Subjects } from './pod-usage.ts';
import type { RepairGuard } from './repair/guard.ts';
import { indexScores, type ScoreIndex } from './scores/score-index.ts';
import type { ShapeRegistry, Shapes } from './shapes.ts';
import { compareVictims } from './victim-order.ts';

/**
 * A snapshot, indexed for planning. Nodes that take part and pods are named by their place in these lists, whose order
 * is the total order by which ties are broken.
 */
export interface Cluster {
  readonly nodes: readonly NodeInfo[];
  readonly pods: readonly PodInfo[];
  readonly owners: Owners;
  /** Place of each pod's node; -1 when that takes no part or there is none. */
  readonly home: IndexTable<PodIndex, NodeIndex>;
  /** The same as the snapshot has it; `home` is where repairs have put it. */
  readonly measuredOn: IndexTable<PodIndex, NodeIndex>;
  /** 1 for the pods that a strategy may propose to move. */
  readonly movable: Uint8Array;
  readonly movableByNode: MovableByNode;
  readonly tables: LoadTables;
  readonly load: LoadModel;
  /** All nodes with what runs there. */
  readonly sites: IndexedNodes;
  /** Place among all nodes of each node that takes part. */
  readonly siteOf: IndexTable<NodeIndex, SiteIndex>;
  /** The reverse: place among those that take part of each node of the cluster; -1 for the others. */
  readonly nodeAt: IndexTable<SiteIndex, NodeIndex>;
  /** What kube-scheduler would rank nodes by. */
  readonly scores: ScoreIndex;
  readonly shapes: Shapes;
  /** `undefined`: the policy repairs nothing. */
  readonly guard: RepairGuard | undefined;
  /** `undefined`: moves may fill their targets. */
  readonly headroom: Headroom | undefined;
}

/** The movable pods where the snapshot has them. */
export interface MovableByNode {
  /** All of them, node by node. */
  readonly all: IndexTable<number, PodIndex>;
  /** Those of a node, who is taken first at the front (see victim-order.ts). */
  readonly on: (node: NodeIndex) => IndexTable<number, PodIndex>;
}

interface ClusterInput {
  readonly participants: readonly Participant[];
  readonly sites: IndexedNodes;
  readonly subjects: Subjects;
  readonly usage: PodUsage;
  /** Whether neither the scope nor a protection holds the pod, by its place. */
  readonly isFree: (pod: PodIndex) => boolean;
  /** Pods that a plan may put on a node although they are not movable, by place: those without a node among them. */
  readonly placeable: readonly PodIndex[];
  readonly shapes: ShapeRegistry;
  readonly guard: RepairGuard | undefined;
  readonly options: PolicyOptions;
}

/** Indexes a snapshot once; everything after works on places and typed arrays. */
export function indexCluster(input: ClusterInput): Cluster {
  const { participants, sites, subjects, usage, isFree, placeable, guard, options } = input;
  const { pods, owners } = subjects;
  const nodes = participants.map(({ node }) => node);
  const siteOf = sitesOf(nodes, subjects.nodes);
  const nodeAt = reversed(siteOf, subjects.nodes.length);
  const homesAt = (located: IndexedNodes['located']): IndexTable<PodIndex, NodeIndex> =>
    located.map((site) => atOrNone(nodeAt, site));
  const measuredOn = homesAt(subjects.located);
  const home = sites.located === subjects.located ? measuredOn : homesAt(sites.located);
  const tables = tabulate(participants, pods, measuredOn, usage);
  const load = loadModel(tables, home, options);
  const movable = new Uint8Array(pods.length);
  home.forEach((node, pod) => {
    movable[pod] = node >= 0 && isFree(pod) && adds(load, pod, node) ? 1 : 0;
  });
  const shaped = movable.slice();
  for (const pod of placeable) {
    shaped[pod] = 1;
  }
  return {
    nodes,
    pods,
    owners,
    home,
    measuredOn,
    movable,
    movableByNode: group(pods, home, movable, nodes.length),
    tables,
    load,
    sites,
    siteOf,
    nodeAt,
    scores: indexScores(sites, owners),
    shapes: input.shapes.shapesOf(shaped, siteOf),
    guard,
    headroom: createHeadroom(options.thresholds.headroom, nodes),
  };
}

/** Whether the pod adds anything to the load of the node: what does not cannot lower it by leaving. */
function adds(load: LoadModel, pod: PodIndex, node: NodeIndex): boolean {
  for (let dimension = 0; dimension < load.dimensions; dimension += 1) {
    if (load.ofPod(pod, node, dimension) > 0) {
      return true;
    }
  }
  return false;
}

/** Place among all nodes of those that take part. */
function sitesOf(participants: readonly NodeInfo[], nodes: readonly NodeInfo[]): IndexTable<NodeIndex, SiteIndex> {
  const places = new Map(nodes.map((node, place) => [node, place]));
  return Int32Array.from(participants, (node) => places.get(node) ?? -1);
}

/** From places among all nodes to places among those that take part. */
function reversed(siteOf: IndexTable<NodeIndex, SiteIndex>, nodes: number): IndexTable<SiteIndex, NodeIndex> {
  const nodeAt = new Int32Array(nodes).fill(-1);
  siteOf.forEach((site, place) => {
    nodeAt[site] = place;
  });
  return nodeAt;
}

/** Counting sort: linear. The pods of a node are sorted when they are first asked for: most nodes keep all of theirs. */
function group(
  infos: readonly PodInfo[],
  home: IndexTable<PodIndex, NodeIndex>,
  movable: Uint8Array,
  nodes: number,
): MovableByNode {
  const start = new Int32Array(nodes + 1);
  home.forEach((node, pod) => {
    if (movable[pod] === 1) {
      start[node + 1] = at(start, node + 1) + 1;
    }
  });
  for (let node = 0; node < nodes; node += 1) {
    start[node + 1] = at(start, node + 1) + at(start, node);
  }
  const next = start.slice();
  const pods = new Int32Array(at(start, nodes));
  home.forEach((node, pod) => {
    if (movable[pod] === 1) {
      const position = at(next, node);
      pods[position] = pod;
      next[node] = position + 1;
    }
  });
  const isSorted = new Uint8Array(nodes);
  return {
    all: pods,
    on: (node) => {
      const own = pods.subarray(at(start, node), at(start, node + 1));
      if (isSorted[node] === 0) {
        own.sort((left, right) => compareVictims(itemAt(infos, left), itemAt(infos, right)) || left - right);
        isSorted[node] = 1;
      }
      return own;
    },
  };
}
