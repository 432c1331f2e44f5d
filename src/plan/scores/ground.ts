import type { NodeInfo } from '../../model/node.ts';
import type { PodInfo } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import type { Owners } from '../owners.ts';
import type { Room } from '../room.ts';
import type { Sites } from '../sites.ts';
import { sortIntoKinds } from '../topology/census.ts';
import { createDomainIndex, type Domains } from '../topology/domains.ts';
import type { PodKind } from '../topology/trackers.ts';

/** What is counted for a pod that requests nothing, so that such pods do not pile up (util.GetNonzeroRequests). */
export interface AssumedRequests {
  /** Millicores. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

/** What kube-scheduler assumes: 100m and 200 MiB. */
export const SCHEDULER_ASSUMES: AssumedRequests = { cpu: 100, memory: 200 * 2 ** 20 };

/** Requests at face value. */
export const ASSUME_NOTHING: AssumedRequests = { cpu: 0, memory: 0 };

/** What the scores look at that no move changes. Nodes and pods are named by their place among all of the cluster. */
export interface ScoreIndex {
  readonly nodes: readonly NodeInfo[];
  readonly pods: readonly PodInfo[];
  readonly namespaces: ClusterSnapshot['namespaces'];
  readonly domainsOf: (topologyKey: string) => Domains;
  /** Nodes that have an image. */
  readonly nodesWith: (image: string) => number;
  readonly kinds: () => readonly Kind[];
  /** The kinds whose own terms have a say in where other pods go. */
  readonly attracting: () => readonly Kind[];
  /** Pods of the controller of a pod, itself included; none without a controller. */
  readonly siblingsOf: (pod: number) => Int32Array;
}

/** Pods that no affinity or spread can tell apart. */
export interface Kind extends PodKind {
  readonly pods: Int32Array;
}

/** A cluster at one moment, without the pod that looks for a node. */
export interface Ground {
  readonly index: ScoreIndex;
  readonly assumed: AssumedRequests;
  /** What a node has left. */
  readonly roomOf: (site: number) => Room;
  /** Node of a pod; -1 for a pod that is nowhere, the one that looks for a node among them. */
  readonly siteOf: (pod: number) => number;
}

/** Indexes a cluster; what few scores need is worked out when they first ask. */
export function indexScores({ nodes, pods, namespaces }: Sites, owners: Owners): ScoreIndex {
  const kinds = once(() => kindsOf(pods));
  const attracting = once(() => (anyAttracts(pods) ? kinds().filter(attracts) : []));
  const owned = once(() => groupBy(owners.ofPod, owners.list.length));
  const images = once(() => countImages(nodes));
  return {
    nodes,
    pods,
    namespaces,
    domainsOf: createDomainIndex(nodes),
    nodesWith: (image) => images().get(image) ?? 0,
    kinds,
    attracting,
    siblingsOf: (pod) => owned()(owners.ofPod[pod] ?? -1),
  };
}

/** The pod at a place. Throws for a place that there is not. */
export function podAt({ pods }: ScoreIndex, pod: number): PodInfo {
  const info = pods[pod];
  if (info === undefined) {
    throw new RangeError(`no pod ${pod}`);
  }
  return info;
}

function once<Value>(make: () => Value): () => Value {
  let known: { readonly value: Value } | undefined;
  return () => {
    known ??= { value: make() };
    return known.value;
  };
}

function kindsOf(pods: readonly PodInfo[]): readonly Kind[] {
  const { kinds, ofPod } = sortIntoKinds(pods);
  const members = groupBy(ofPod, kinds.length);
  return kinds.map((kind, place) => ({ ...kind, pods: members(place) }));
}

function attracts({ constraints }: Pick<PodInfo, 'constraints'>): boolean {
  return constraints.podAffinity.length > 0 || constraints.preferredPodAffinity.length > 0;
}

/** Pods of one template, which are next to each other, share their constraints. */
function anyAttracts(pods: readonly PodInfo[]): boolean {
  let last: PodInfo['constraints'] | undefined;
  for (const pod of pods) {
    if (pod.constraints !== last && attracts(pod)) {
      return true;
    }
    last = pod.constraints;
  }
  return false;
}

/** Members by group; one of no group has a negative one. By counting sort. */
function groupBy(groupOf: Int32Array, groups: number): (group: number) => Int32Array {
  const ends = new Int32Array(groups + 1);
  for (const group of groupOf) {
    if (group >= 0) {
      ends[group + 1] = (ends[group + 1] ?? 0) + 1;
    }
  }
  for (let group = 0; group < groups; group += 1) {
    ends[group + 1] = (ends[group + 1] ?? 0) + (ends[group] ?? 0);
  }
  const next = ends.slice();
  const members = new Int32Array(ends[groups] ?? 0);
  for (let member = 0; member < groupOf.length; member += 1) {
    const group = groupOf[member] ?? -1;
    if (group >= 0) {
      const position = next[group] ?? 0;
      members[position] = member;
      next[group] = position + 1;
    }
  }
  return (group) => members.subarray(ends[group] ?? 0, group < 0 ? 0 : ends[group + 1]);
}

function countImages(nodes: readonly NodeInfo[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { images } of nodes) {
    for (const image of images.keys()) {
      counts.set(image, (counts.get(image) ?? 0) + 1);
    }
  }
  return counts;
}
