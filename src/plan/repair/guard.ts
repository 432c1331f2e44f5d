import type { NodeInfo, Taint } from '../../model/node.ts';
import type { SchedulingConstraints } from '../../model/pod.ts';
import type { Refusal, Subject, TargetRefusal } from '../filters/refusal.ts';
import { at, itemAt, type TrackerIndex } from '../indices.ts';
import type { RepairOptions } from '../options.ts';
import type { KeptSpread, TopologyNeeds } from '../topology/needs.ts';
import { type Place, podsNear } from '../topology/place.ts';
import { preferenceFor, untolerated } from './conformity.ts';

/** What a move would break that the policy keeps. */
export interface Breach {
  readonly refusal: TargetRefusal;
  /** It only ranks nodes for kube-scheduler: a move that ends something worse may do it. */
  readonly soft: boolean;
}

/** Where a pod would go, and from where. */
export interface Passage {
  readonly node: NodeInfo;
  /** `undefined`: the pod has none that is known. */
  readonly from: NodeInfo | undefined;
  readonly place: Place;
}

/**
 * Keeps what a policy repairs: no move of a plan, whatever it is for, may make a new violation of it (repair.md, what a plan
 * keeps). The filters of the scheduler keep taints, required affinity and anti-affinity by themselves.
 */
export interface RepairGuard {
  /** What the move would break, the worse first; `undefined`: nothing. */
  readonly breachOf: (subject: Subject, passage: Passage) => Breach | undefined;
  /** Whether what it says of pods with these constraints depends on the node that they leave. */
  readonly looksBack: (constraints: SchedulingConstraints) => boolean;
  /** How many duplicates may be on one node. */
  readonly mostPerNode: (subject: Subject, place: Pick<Place, 'counts'>) => number;
}

/** A guard over what the options repair; `hostsOf` says how many nodes the pods may run on that a tracker of duplicates counts. */
export function createGuard(options: RepairOptions, hostsOf: (tracker: TrackerIndex) => number): RepairGuard {
  const { taints, topologySpread, nodeAffinity } = options;
  const tolerance = topologySpread?.tolerance ?? 0;
  const isPreferred = nodeAffinity === 'Preferred';
  const mostPerNode = (subject: Subject, { counts }: Pick<Place, 'counts'>): number => {
    const { duplicates } = subject.topology;
    return duplicates === undefined
      ? 1
      : Math.max(1, Math.ceil(counts.total(duplicates.tracker) / Math.max(1, hostsOf(duplicates.tracker))));
  };
  const spreadBreach = ({ kept }: TopologyNeeds, place: Place, soft: boolean): Breach | undefined => {
    for (const need of kept) {
      const refusal = need.soft === soft ? worsened(need, place, tolerance) : undefined;
      if (refusal !== undefined) {
        return { refusal, soft };
      }
    }
    return undefined;
  };
  const nodeBreach = ({ constraints }: Subject, { node, from }: Passage): Breach | undefined => {
    const taint = taints === undefined ? undefined : softTaint(untolerated(constraints, node, taints));
    if (taint !== undefined) {
      return { refusal: { filter: 'TaintToleration', taint }, soft: true };
    }
    const isWorse =
      isPreferred && from !== undefined && preferenceFor(constraints, node) < preferenceFor(constraints, from);
    return isWorse ? { refusal: { filter: 'NodeAffinity', field: 'preferred nodeAffinity' }, soft: true } : undefined;
  };
  const crowding = (subject: Subject, place: Place): Breach | undefined => {
    const { duplicates } = subject.topology;
    if (duplicates === undefined) {
      return undefined;
    }
    const pods = podsNear(place, duplicates);
    const most = pods === 0 ? 1 : mostPerNode(subject, place);
    return pods + 1 > most ? { refusal: { filter: 'Duplicates', pods, most }, soft: true } : undefined;
  };
  return {
    breachOf: (subject, passage) =>
      spreadBreach(subject.topology, passage.place, false) ??
      nodeBreach(subject, passage) ??
      spreadBreach(subject.topology, passage.place, true) ??
      crowding(subject, passage.place),
    looksBack: ({ preferredNodeAffinity }) => isPreferred && preferredNodeAffinity.length > 0,
    mostPerNode,
  };
}

function softTaint(taints: readonly Taint[]): Taint | undefined {
  return taints.find(({ effect }) => effect === 'PreferNoSchedule');
}

/**
 * The skew that a move would leave, if it is above what is allowed and above what it is. The filter looks at the domain that the
 * pod comes to; a pod that leaves the domain with fewest may break the constraint for every other.
 */
function worsened(need: KeptSpread, { counts, site, home }: Place, tolerance: number): Refusal | undefined {
  if (need.adds === 0) {
    return undefined;
  }
  const { tracker, maxSkew, minDomains } = need;
  const { domains, counted, eligible } = itemAt(counts.topologyIndex.trackers, tracker);
  const [source, target] = [home < 0 ? -1 : at(counted, home), at(counted, site)];
  if (source === target) {
    return undefined;
  }
  const [least, most] = [eligible < minDomains ? 0 : counts.least(tracker), counts.most(tracker)];
  const left = source < 0 ? least : Math.max(0, Math.min(least, counts.inDomain(tracker, source) - 1));
  const highest = target < 0 ? most : Math.max(most, counts.inDomain(tracker, target) + 1);
  const skew = highest - (eligible < minDomains ? 0 : left);
  if (skew <= maxSkew + tolerance || skew <= most - least) {
    return undefined;
  }
  const domain = at(domains.of, site);
  const name = domain < 0 ? undefined : domains.values[domain];
  return { filter: 'PodTopologySpread', topologyKey: domains.key, domain: name, skew, maxSkew };
}
