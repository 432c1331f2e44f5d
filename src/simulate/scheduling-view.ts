import { capacityRefusal, clusterRefusal, nodeRefusal } from '../plan/filters/index.ts';
import type { Subject } from '../plan/filters/refusal.ts';
import { occupy } from '../plan/free-capacity.ts';
import { indexNodes } from '../plan/node-index.ts';
import { locatePods, sortNodes } from '../plan/order.ts';
import { indexOwners } from '../plan/owners.ts';
import { sortIntoKinds } from '../plan/pod-kinds.ts';
import { rank } from '../plan/scores/index.ts';
import { indexScores, SCHEDULER_ASSUMES } from '../plan/scores/score-index.ts';
import { NO_NEEDS } from '../plan/topology/needs.ts';
import { nomineesBefore, refusalsAt, type Whereabouts } from '../plan/verdicts.ts';
import { asSteered } from '../steer/constraints.ts';
import type { SimulatedPod, World } from './world.ts';

/** The cluster as the scheduler's cache has it: by the planner's own filters and scores. Nodes are named by their place. */
export interface SchedulingView {
  readonly nodeNames: readonly string[];
  readonly at: Whereabouts;
  /** Place of a pod. Throws for one that is not there. */
  readonly placeOf: (pod: SimulatedPod) => number;
  readonly subjectOf: (pod: SimulatedPod) => Subject;
  /** Whether all filters let the pod run on a node. */
  readonly fits: (pod: SimulatedPod, site: number) => boolean;
  /** Whether the filters that no eviction changes do. */
  readonly suits: (pod: SimulatedPod, site: number) => boolean;
  /** Score of each of these nodes, in their order. */
  readonly rank: (pod: SimulatedPod, sites: Int32Array) => Int32Array;
  /** The pod is on a node from now on. */
  readonly assume: (pod: SimulatedPod, site: number) => void;
}

/** Indexes the world as it stands; what is assumed afterwards is added to it. */
function viewOf({ scenario, pods: simulated, nodes: all, workloads }: World): SchedulingView {
  const pods = simulated.map(({ info }) => (info.nodeName === undefined ? asSteered(info) : info));
  const nodes = sortNodes([...all.values()].map(({ info }) => info));
  const { storage, namespaces } = scenario;
  const located = locatePods(pods, nodes);
  const kinds = sortIntoKinds(pods);
  const sites = indexNodes({ nodes, pods, located, kinds, storage, namespaces });
  const infos = new Map([...workloads].map(([uid, { info }]) => [uid, info]));
  const index = indexScores(sites, indexOwners(kinds, infos));
  const freeCapacityOf = (site: number) => {
    const room = sites.rooms[site];
    if (room === undefined) {
      throw new RangeError(`no node ${site}`);
    }
    return room;
  };
  const at: Whereabouts = { sites, counts: sites.counts, freeCapacityOf, siteOf: (pod) => located[pod] ?? -1 };
  const places = new Map(simulated.map((pod, place) => [pod, place]));
  const placeOf = (pod: SimulatedPod): number => {
    const place = places.get(pod);
    if (place === undefined) {
      throw new RangeError(`pod ${pod.info.name} is not there`);
    }
    return place;
  };
  const subjects = new Map<SimulatedPod, Subject>();
  const subjectOf = (pod: SimulatedPod): Subject => {
    const known = subjects.get(pod) ?? sites.subjectOf(placeOf(pod), pod.workload.info.pinnedNode);
    subjects.set(pod, known);
    return known;
  };
  const suits = (pod: SimulatedPod, site: number): boolean => {
    const node = nodes[site];
    const { waiting, placement } = pod.info;
    const pin = placement === undefined ? waiting?.pinnedTo : undefined;
    const isOpen = node !== undefined && (pin === undefined || pin === node.name);
    return isOpen && nodeRefusal(subjectOf(pod), node, storage) === undefined;
  };
  return {
    nodeNames: nodes.map(({ name }) => name),
    at,
    placeOf,
    subjectOf,
    suits,
    fits: (pod, site) => suits(pod, site) && hasRoom(at, placeOf(pod), subjectOf(pod), site),
    rank: (pod, feasible) =>
      rank(placeOf(pod), feasible, { index, assumed: SCHEDULER_ASSUMES, freeCapacityOf, siteOf: at.siteOf }),
    assume: (pod, site) => {
      const place = placeOf(pod);
      occupy(freeCapacityOf(site), pod.info.constraints, sites.attachmentsOf(place));
      sites.counts.add(place, site);
      located[place] = site;
    },
  };
}

/** The filters whose verdicts other pods change, the cheap way where no room is kept for others. */
function hasRoom(at: Whereabouts, pod: number, subject: Subject, site: number): boolean {
  const { sites, counts } = at;
  const node = sites.nodes[site];
  if (node === undefined) {
    return false;
  }
  if (sites.nominees.size > 0 && nomineesBefore(sites, pod, site).length > 0) {
    return refusalsAt(at, pod, subject, site).length === 0;
  }
  const place = { counts, site, home: at.siteOf(pod) };
  const isWelcome = subject.topology === NO_NEEDS || clusterRefusal(subject, place) === undefined;
  return isWelcome && capacityRefusal(subject, node, at.freeCapacityOf(site)) === undefined;
}

/** The view of the world as it stands, made anew only when something has changed that it is made from. */
export interface SchedulingViews {
  readonly current: () => SchedulingView;
  /** What has changed since the last look is in the view already: it was assumed there. */
  readonly keep: () => void;
}

/** Views of this world. */
export function viewsOf(world: World): SchedulingViews {
  let view: SchedulingView | undefined;
  let layout = -1;
  return {
    current: () => {
      if (view === undefined || layout !== world.layout()) {
        view = viewOf(world);
        layout = world.layout();
      }
      return view;
    },
    keep: () => {
      layout = world.layout();
    },
  };
}
