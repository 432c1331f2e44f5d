import type { NodeInfo } from '../../model/node.ts';
import { type LoadResource, MEASURED_RESOURCES, offeredOf } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { roomFor } from '../free-capacity.ts';
import { at, itemAt, type SiteIndex } from '../indices.ts';
import { toFraction } from '../load.ts';
import type { PolicyOptions } from '../options.ts';
import {
  type FilterRejection,
  gainOf,
  type Inquiry,
  inquire,
  loadOf,
  nodeInfoAt,
  type PodStanding,
  rejectionsOf,
} from './inquiry.ts';

/** Why pods leave a node or stay there, and which could come. */
export interface NodeExplanation {
  readonly node: string;
  /** Why no strategy moves pods from or to this node; `undefined` when it takes part. */
  readonly absent: string | undefined;
  /** Whether repairs of the policy move pods from and to this node. */
  readonly repaired: boolean;
  /** Fraction of the node's capacity; `undefined` when it takes no part or loads are not known. */
  readonly load: number | undefined;
  /** Of all nodes that take part, weighted by capacity. */
  readonly mean: number | undefined;
  /** CPU, memory, and those of the policy. */
  readonly resources: readonly NodeResource[];
  /** Those that run there, the ones that add most first; behind them failed pods that the policy would remove. */
  readonly pods: readonly PodStanding[];
  /** Movable pods of other nodes, those that fit first, then by what the move would gain. */
  readonly candidates: readonly Candidate[];
}

/** One resource of a node, in its base unit: millicores, bytes, or its own. */
export interface NodeResource {
  readonly name: LoadResource;
  readonly allocatable: number;
  /** By the pods that run there, as kube-scheduler counts. */
  readonly requested: number;
}

/** A pod that might come to the node. */
export interface Candidate extends PodStanding {
  readonly fits: boolean;
  readonly rejections: readonly FilterRejection[];
  /** Points of node capacity by which the higher of the two nodes would fall. */
  readonly gain: number | undefined;
}

/** Explains the node of this name; `undefined` when the snapshot has none. */
export function explainNode(
  snapshot: ClusterSnapshot,
  options: PolicyOptions,
  name: NodeInfo['name'],
): NodeExplanation | undefined {
  return explainNodeIn(inquire(snapshot, options), name);
}

/** The same from an inquiry, for whoever asks several times; with other candidates if `choose` names them. */
export function explainNodeIn(
  inquiry: Inquiry,
  name: NodeInfo['name'],
  choose: (inquiry: Inquiry, site: SiteIndex) => readonly Candidate[] = candidatesFor,
): NodeExplanation | undefined {
  const { cluster, planningInput, unmeasured } = inquiry;
  const site = cluster.sites.nodes.findIndex((node) => node.name === name);
  if (site < 0) {
    return undefined;
  }
  const takesPart = at(cluster.nodeAt, site) >= 0;
  return {
    node: name,
    absent: takesPart ? unmeasured : (planningInput.participation.absent.get(name) ?? unmeasured),
    repaired: planningInput.guard !== undefined && planningInput.hosts.some((host) => host.name === name),
    load: loadOf(inquiry, site),
    mean: unmeasured === undefined && cluster.nodes.length > 0 ? toFraction(cluster.load.mean) : undefined,
    resources: resourcesOf(inquiry, site),
    pods: [...podsOn(inquiry, site), ...inquiry.failed.filter((pod) => pod.node === name)],
    candidates: takesPart && unmeasured === undefined ? choose(inquiry, site) : [],
  };
}

function resourcesOf(inquiry: Inquiry, site: SiteIndex): readonly NodeResource[] {
  const { allocatable } = nodeInfoAt(inquiry, site);
  const room = itemAt(inquiry.cluster.sites.rooms, site);
  const names = new Set([...MEASURED_RESOURCES, ...inquiry.cluster.tables.usage.resources]);
  return [...names].map((name) => {
    const offered = offeredOf(allocatable, name);
    return { name, allocatable: offered, requested: offered - roomFor(room, name) };
  });
}

function podsOn({ cluster, standingOf }: Inquiry, site: SiteIndex): readonly PodStanding[] {
  const pods = [...cluster.pods.keys()].filter((pod) => cluster.sites.located[pod] === site);
  return pods.map(standingOf).sort((left, right) => (right.load ?? 0) - (left.load ?? 0));
}

/** Pods that the filters are asked about before the search for candidates is given up. */
const MOST_ASKED = 2000;

/**
 * Chooses the `most` pods that fit and would gain the most by coming, without asking the filters about all the others: what a
 * process that has more to do can afford on a large cluster.
 */
export function bestCandidates(most: number): (inquiry: Inquiry, site: SiteIndex) => readonly Candidate[] {
  return (inquiry, site) => {
    const { cluster, standingOf } = inquiry;
    const gaining = [...cluster.pods.keys()]
      .filter((pod) => cluster.movable[pod] === 1 && cluster.sites.located[pod] !== site)
      .map((pod) => ({ pod, gain: gainOf(inquiry, pod, site) ?? 0 }))
      .filter(({ gain }) => gain > 0)
      .sort((left, right) => right.gain - left.gain);
    const found: Candidate[] = [];
    for (const { pod, gain } of gaining.slice(0, MOST_ASKED)) {
      if (found.length < most && rejectionsOf(inquiry, pod, site).length === 0) {
        found.push({ ...standingOf(pod), fits: true, rejections: [], gain });
      }
    }
    return found;
  };
}

function candidatesFor(inquiry: Inquiry, site: SiteIndex): readonly Candidate[] {
  const { cluster, standingOf } = inquiry;
  const pods = [...cluster.pods.keys()].filter(
    (pod) => cluster.movable[pod] === 1 && cluster.sites.located[pod] !== site,
  );
  return pods
    .map((pod) => {
      const rejections = rejectionsOf(inquiry, pod, site);
      return { ...standingOf(pod), fits: rejections.length === 0, rejections, gain: gainOf(inquiry, pod, site) };
    })
    .sort((left, right) => Number(right.fits) - Number(left.fits) || (right.gain ?? 0) - (left.gain ?? 0));
}
