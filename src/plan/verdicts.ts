import type { NodeInfo } from '../model/node.ts';
import { type PodInfo, podKey } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { refusalsOf } from './filters/index.ts';
import type { Refusal, Subject } from './filters/refusal.ts';
import { copyCapacity, type FreeCapacity, occupy, vacate } from './free-capacity.ts';
import { at, itemAt, type PodIndex, type SiteIndex } from './indices.ts';
import { type IndexedNodes, indexNodes } from './node-index.ts';
import { locatePods } from './order.ts';
import { sortIntoKinds } from './pod-kinds.ts';
import type { TopologyCounts } from './topology/counts.ts';

/** What the filters say to one pod on one node. */
export interface NodeVerdict {
  readonly node: string;
  /** One per filter that refuses, in the scheduler's order. Empty: the pod fits. */
  readonly refusals: readonly Refusal[];
}

/** What runs where on all nodes of a cluster at one moment. Nodes and pods are named by their place among all. */
export interface Whereabouts {
  readonly sites: IndexedNodes;
  readonly counts: TopologyCounts;
  readonly freeCapacityOf: (site: SiteIndex) => FreeCapacity;
  /** Node of a pod; -1 without one. */
  readonly siteOf: (pod: PodIndex) => SiteIndex;
}

/**
 * Verdicts of all filters, with every other pod where the snapshot has it. A pod that runs counts on its own node no
 * longer, as if it had been evicted; a pod that the snapshot does not have is asked for as if it were pending. `node` is
 * one of the snapshot's. Where the scheduler keeps room for pending pods of the same or a higher priority, the pod must fit
 * with them and without (schedule_one RunFilterPluginsWithNominatedPods).
 */
export function verdictsIn(snapshot: ClusterSnapshot): (pod: PodInfo, node: NodeInfo) => NodeVerdict {
  const podPlaces = new Map(snapshot.pods.map((pod, place) => [podKey(pod), place]));
  const nodePlaces = new Map(snapshot.nodes.map(({ name }, place) => [name, place]));
  const known = sitesOf(snapshot, snapshot.pods);
  let stranger: { readonly pod: PodInfo; readonly sites: IndexedNodes } | undefined;
  return (pod, node) => {
    const site = nodePlaces.get(node.name) ?? -1;
    const place = podPlaces.get(podKey(pod));
    if (place !== undefined) {
      return { node: node.name, refusals: refusalsIn(snapshot, known, place, site) };
    }
    stranger = stranger?.pod === pod ? stranger : { pod, sites: sitesOf(snapshot, [...snapshot.pods, pod]) };
    return { node: node.name, refusals: refusalsIn(snapshot, stranger.sites, snapshot.pods.length, site) };
  };
}

function sitesOf({ nodes, storage, namespaces }: ClusterSnapshot, pods: readonly PodInfo[]): IndexedNodes {
  return indexNodes({ nodes, pods, located: locatePods(pods, nodes), kinds: sortIntoKinds(pods), storage, namespaces });
}

function refusalsIn(
  { workloads }: ClusterSnapshot,
  sites: IndexedNodes,
  pod: PodIndex,
  site: SiteIndex,
): readonly Refusal[] {
  const subject = sites.subjectOf(pod, workloads.get(sites.pods[pod]?.owner?.uid ?? '')?.pinnedNode);
  const siteOf = (other: PodIndex): SiteIndex => at(sites.located, other);
  const freeCapacityOf = (at: SiteIndex): FreeCapacity => itemAt(sites.rooms, at);
  return refusalsAt({ sites, counts: sites.counts, freeCapacityOf, siteOf }, pod, subject, site);
}

/**
 * Every filter's refusal of a pod on any node of the cluster; the pod counts where it is no longer. Where the scheduler keeps
 * room for pending pods of the same or a higher priority, the pod must fit with them and without
 * (schedule_one RunFilterPluginsWithNominatedPods).
 */
export function refusalsAt(at: Whereabouts, pod: PodIndex, subject: Subject, site: SiteIndex): readonly Refusal[] {
  const { sites } = at;
  const room = roomWithout(at, pod, site);
  const nominees = nomineesBefore(sites, pod, site);
  const crowded = nominees.length === 0 ? [] : refusalsBeside(at, pod, subject, site, nominees, room);
  return crowded.length > 0 ? crowded : refusalsNow(at, pod, subject, site, room);
}

/** All refusals once these pending pods are on the node. */
function refusalsBeside(
  at: Whereabouts,
  pod: PodIndex,
  subject: Subject,
  site: SiteIndex,
  nominees: readonly PodIndex[],
  room: FreeCapacity,
): readonly Refusal[] {
  const crowd = crowdOn(at, site, nominees, room);
  return refusalsNow({ ...at, counts: crowd.counts }, pod, subject, site, crowd.room);
}

/** What a node has left, and who runs where, once these pending pods are on it; `room` is what it has left without them. */
export function crowdOn(
  { sites, counts }: Pick<Whereabouts, 'sites' | 'counts'>,
  site: SiteIndex,
  nominees: readonly PodIndex[],
  room: FreeCapacity,
): { readonly room: FreeCapacity; readonly counts: TopologyCounts } {
  const [reserved, crowd] = [copyCapacity(room), counts.fork()];
  for (const nominee of nominees) {
    occupy(reserved, itemAt(sites.pods, nominee).constraints, sites.attachmentsOf(nominee));
    crowd.add(nominee, site);
  }
  return { room: reserved, counts: crowd };
}

/** What a node has left once the pod is gone. */
export function roomWithout(
  { sites, freeCapacityOf, siteOf }: Omit<Whereabouts, 'counts'>,
  pod: PodIndex,
  site: SiteIndex,
): FreeCapacity {
  if (siteOf(pod) !== site) {
    return freeCapacityOf(site);
  }
  const room = copyCapacity(freeCapacityOf(site));
  vacate(room, itemAt(sites.pods, pod).constraints, sites.attachmentsOf(pod));
  return room;
}

function refusalsNow(
  at: Whereabouts,
  pod: PodIndex,
  subject: Subject,
  site: SiteIndex,
  room: FreeCapacity,
): readonly Refusal[] {
  const { nodes, storage } = at.sites;
  return refusalsOf({
    subject,
    node: itemAt(nodes, site),
    storage,
    room,
    place: { counts: at.counts, site, home: at.siteOf(pod) },
  });
}

/** Other pods of the same or a higher priority for which the scheduler keeps room on the node. */
export function nomineesBefore({ nominees, pods }: IndexedNodes, pod: PodIndex, site: SiteIndex): readonly PodIndex[] {
  const { priority } = itemAt(pods, pod);
  return (nominees.get(site) ?? []).filter((other) => other !== pod && itemAt(pods, other).priority >= priority);
}
