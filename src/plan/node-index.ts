import type { NodeInfo } from '../model/node.ts';
import type { PodInfo } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { StorageInfo } from '../model/storage.ts';
import type { Subject } from './filters/refusal.ts';
import { emptyNodeCapacity, type FreeCapacity, occupy } from './free-capacity.ts';
import { at, type IndexTable, itemAt, type PodIndex, type SiteIndex } from './indices.ts';
import type { PodKinds } from './pod-kinds.ts';
import { emptyCounts, type TopologyCounts } from './topology/counts.ts';
import { type CountedForRepairs, indexTopology } from './topology/topology-index.ts';
import { type Attachment, indexVolumes } from './volume-needs.ts';

/** All nodes of a cluster with what runs there: what the filters are asked about. Nodes and pods are named by their place. */
export interface IndexedNodes {
  readonly nodes: readonly NodeInfo[];
  readonly pods: readonly PodInfo[];
  /** Node of each pod; -1 without one that is known. */
  readonly located: IndexTable<PodIndex, SiteIndex>;
  readonly storage: StorageInfo;
  readonly namespaces: ClusterSnapshot['namespaces'];
  /** What each node has left. */
  readonly rooms: readonly FreeCapacity[];
  /** What affinity and spread count. */
  readonly counts: TopologyCounts;
  /** Volumes of a pod that count against the limits of nodes; empty where no node has any. */
  readonly attachmentsOf: (pod: PodIndex) => readonly Attachment[];
  /** Pending pods for which the scheduler keeps room, by node. */
  readonly nominees: ReadonlyMap<SiteIndex, readonly PodIndex[]>;
  /** What the filters look at on the side of the pod. `pinnedNode` is that of its template. */
  readonly subjectOf: (pod: PodIndex, pinnedNode: string | undefined) => Subject;
}

interface IndexNodesInput extends Pick<ClusterSnapshot, 'storage' | 'namespaces' | 'nodes' | 'pods'> {
  readonly located: IndexTable<PodIndex, SiteIndex>;
  readonly kinds: PodKinds;
  /** What repairs need counted; absent: nothing. */
  readonly extra?: CountedForRepairs;
}

const NO_ATTACHMENTS: readonly Attachment[] = [];

/** Puts every pod on its node. */
export function indexNodes(input: IndexNodesInput): IndexedNodes {
  const { nodes, pods, located, kinds, storage, namespaces, extra } = input;
  const volumes = indexVolumes(storage, pods, kinds);
  const topologyIndex = indexTopology(nodes, kinds, namespaces, extra);
  const counts = emptyCounts(topologyIndex);
  const rooms = nodes.map(({ name, allocatable }) => emptyNodeCapacity(allocatable, storage.attachLimits.get(name)));
  const volumesOf = (pod: PodIndex) => volumes.needsOf(itemAt(pods, pod));
  const attachmentsOf = (pod: PodIndex): readonly Attachment[] =>
    volumes.isLimited ? volumesOf(pod).attachments : NO_ATTACHMENTS;
  pods.forEach(({ constraints }, pod) => {
    const site = at(located, pod);
    if (site >= 0) {
      occupy(itemAt(rooms, site), constraints, attachmentsOf(pod));
      counts.add(pod, site);
    }
  });
  return {
    nodes,
    pods,
    located,
    storage,
    namespaces,
    rooms,
    counts,
    attachmentsOf,
    nominees: nomineesOf(nodes, pods, located),
    subjectOf: (pod, pinnedNode) => {
      const { constraints } = itemAt(pods, pod);
      return { constraints, pinnedNode, volumes: volumesOf(pod), topology: topologyIndex.needsOf(pod) };
    },
  };
}

function nomineesOf(
  nodes: readonly NodeInfo[],
  pods: readonly PodInfo[],
  located: IndexTable<PodIndex, SiteIndex>,
): IndexedNodes['nominees'] {
  const nominees = new Map<SiteIndex, PodIndex[]>();
  located.forEach((site, pod) => {
    const nominatedNode = site < 0 ? pods[pod]?.nominatedNode : undefined;
    if (nominatedNode !== undefined) {
      const node = nodes.findIndex(({ name }) => name === nominatedNode);
      nominees.set(node, [...(nominees.get(node) ?? []), pod]);
    }
  });
  return nominees;
}
