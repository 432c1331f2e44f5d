import type { NodeInfo } from '../model/node.ts';
import { type PodInfo, podKey } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { refusalsOf } from './filters/index.ts';
import type { Refusal, Subject } from './filters/refusal.ts';
import { locatePods } from './order.ts';
import { copyRoom, occupy, vacate } from './room.ts';
import { indexSites, type Sites } from './sites.ts';

/** What the filters say to one pod on one node. */
export interface NodeVerdict {
  readonly node: string;
  /** One per filter that refuses, in the scheduler's order. Empty: the pod fits. */
  readonly refusals: readonly Refusal[];
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
  let stranger: { readonly pod: PodInfo; readonly sites: Sites } | undefined;
  return (pod, node) => {
    const site = nodePlaces.get(node.name) ?? -1;
    const place = podPlaces.get(podKey(pod));
    if (place !== undefined) {
      return { node: node.name, refusals: refusalsAt(snapshot, known, place, site) };
    }
    stranger = stranger?.pod === pod ? stranger : { pod, sites: sitesOf(snapshot, [...snapshot.pods, pod]) };
    return { node: node.name, refusals: refusalsAt(snapshot, stranger.sites, snapshot.pods.length, site) };
  };
}

function sitesOf({ nodes, storage, namespaces }: ClusterSnapshot, pods: readonly PodInfo[]): Sites {
  return indexSites({ nodes, pods, located: locatePods(pods, nodes), storage, namespaces });
}

function refusalsAt({ workloads }: ClusterSnapshot, sites: Sites, pod: number, site: number): readonly Refusal[] {
  const pinnedNode = workloads.get(sites.pods[pod]?.owner?.uid ?? '')?.pinnedNode;
  const subject = sites.subjectOf(pod, pinnedNode);
  const nominees = nomineesBefore(sites, pod, site);
  const crowded = nominees.length === 0 ? [] : refusalsWith(sites, subject, pod, site, nominees);
  return crowded.length > 0 ? crowded : refusalsWith(sites, subject, pod, site, []);
}

/** Other pods of the same or a higher priority for which the scheduler keeps room on the node. */
function nomineesBefore({ nominees, pods }: Sites, pod: number, site: number): readonly number[] {
  const priority = pods[pod]?.priority ?? 0;
  return (nominees.get(site) ?? []).filter((other) => other !== pod && (pods[other]?.priority ?? 0) >= priority);
}

/** All refusals once these pending pods are on the node. */
function refusalsWith(
  sites: Sites,
  subject: Subject,
  pod: number,
  site: number,
  nominees: readonly number[],
): readonly Refusal[] {
  const { nodes, located, storage, rooms } = sites;
  const [node, known] = [nodes[site], rooms[site]];
  if (node === undefined || known === undefined) {
    throw new RangeError(`node ${site} is not one of the snapshot's`);
  }
  const home = located[pod] ?? -1;
  const room = copyRoom(known);
  const counts = nominees.length === 0 ? sites.counts : sites.counts.fork();
  if (site === home) {
    vacate(room, subject.constraints, sites.attachmentsOf(pod));
  }
  for (const nominee of nominees) {
    const constraints = sites.pods[nominee]?.constraints;
    if (constraints !== undefined) {
      occupy(room, constraints, sites.attachmentsOf(nominee));
      counts.add(nominee, site);
    }
  }
  return refusalsOf({ subject, node, storage, room, place: { counts, site, home } });
}
