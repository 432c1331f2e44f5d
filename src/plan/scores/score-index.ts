import type { NodeInfo } from '../../model/node.ts';
import type { PodInfo } from '../../model/pod.ts';
import type { FreeCapacity } from '../free-capacity.ts';
import { at, type IndexTable, itemAt, type PodIndex, type SiteIndex } from '../indices.ts';
import type { IndexedNodes } from '../node-index.ts';
import type { Owners } from '../owners.ts';
import type { PodKinds } from '../pod-kinds.ts';
import { createDomainIndex, type Domains } from '../topology/domains.ts';
import { groupBy } from './group-by.ts';
import { attracts, indexTerms, type TermIndex } from './term-index.ts';

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
  readonly domainsOf: (topologyKey: string) => Domains;
  /** Nodes that have an image. */
  readonly nodesWith: (image: string) => number;
  /** Index from affinity terms to the pods that they match. */
  readonly terms: () => TermIndex;
  /** Whether any pod has terms that have a say in where other pods go. */
  readonly anyAttracts: () => boolean;
  /** Pods of the controller of a pod that are not being deleted, itself included; none without a controller. */
  readonly siblingsOf: (pod: PodIndex) => IndexTable<number, PodIndex>;
}

/** A cluster at one moment, without the pod that looks for a node. */
export interface ScoreContext {
  readonly index: ScoreIndex;
  readonly assumed: AssumedRequests;
  /** What a node has left. */
  readonly freeCapacityOf: (site: SiteIndex) => FreeCapacity;
  /** Node of a pod; -1 for a pod that is nowhere, the one that looks for a node among them. */
  readonly siteOf: (pod: PodIndex) => SiteIndex;
}

/** Indexes a cluster; what few scores need is worked out when they first ask. */
export function indexScores({ nodes, pods, namespaces, counts }: IndexedNodes, owners: Owners): ScoreIndex {
  const siblings = once(() => groupBy(remaining(counts.topologyIndex.kinds, owners.ofPod), owners.list.length));
  const images = once(() => countImages(nodes));
  return {
    nodes,
    pods,
    domainsOf: createDomainIndex(nodes),
    nodesWith: (image) => images().get(image) ?? 0,
    terms: once(() => indexTerms(counts.topologyIndex.kinds, namespaces)),
    anyAttracts: once(() => counts.topologyIndex.kinds.list.some(attracts)),
    siblingsOf: (pod) => siblings()(at(owners.ofPod, pod)),
  };
}

/** Controllers of the pods; -1 for those that are being deleted. */
function remaining({ list, ofPod: kindOf }: PodKinds, ofPod: Owners['ofPod']): Owners['ofPod'] {
  return list.some(({ terminating }) => terminating)
    ? ofPod.map((owner, pod) => (itemAt(list, at(kindOf, pod)).terminating ? -1 : owner))
    : ofPod;
}

/** The pod at a place. Throws RangeError for a place that there is not. */
export function podAt({ pods }: ScoreIndex, pod: PodIndex): PodInfo {
  return itemAt(pods, pod);
}

function once<Value>(make: () => Value): () => Value {
  let known: { readonly value: Value } | undefined;
  return () => {
    known ??= { value: make() };
    return known.value;
  };
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
