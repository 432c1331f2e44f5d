import type { NodeInfo } from '../../model/node.ts';
import type { PodInfo, SchedulingConstraints } from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { addsToSpread, createRegistry, hasTerms, type PodKind, type Registry, type Tracker } from './trackers.ts';

/** A number of pods in the target's domain that a filter asks for. */
export interface Need {
  /** Place of the tracker. */
  readonly tracker: number;
  /** The tracker counts the pod itself, which must not stand in its own way. */
  readonly self: boolean;
}

/** A spread constraint as a filter needs it. */
export interface SpreadNeed extends Need {
  readonly maxSkew: number;
  readonly minDomains: number;
  /** 1 when the pod would count where it lands. */
  readonly adds: 0 | 1;
}

/** What InterPodAffinity and PodTopologySpread ask for one kind of pod. */
export interface TopologyNeeds {
  /** Pods that match all terms must be in each of these domains, or nowhere at all while the pod matches its own terms. */
  readonly affinity: readonly Need[];
  readonly matchesItself: boolean;
  /** A required affinity term selects no pods. */
  readonly hopeless: boolean;
  /** None of these may be in the domain: pods that the pod's own terms match, and pods whose terms match the pod. */
  readonly antiAffinity: readonly Need[];
  readonly repelledBy: readonly Need[];
  readonly spread: readonly SpreadNeed[];
}

/** What most pods need. */
export const NO_NEEDS: TopologyNeeds = {
  affinity: [],
  matchesItself: false,
  hopeless: false,
  antiAffinity: [],
  repelledBy: [],
  spread: [],
};

/** Which pods matter to the affinity and spread of which others. Pods and nodes are named by their place. */
export interface Census {
  readonly trackers: readonly Tracker[];
  /** The pods by kind; where no pod has terms they are sorted when somebody first asks. */
  readonly sorted: () => Kinds;
  /** Trackers that count a pod. */
  readonly countedBy: (pod: number) => Int32Array;
  /** Remembered per kind of pod. */
  readonly needsOf: (pod: number) => TopologyNeeds;
}

const NOWHERE = new Int32Array();

/**
 * Sorts all pods of a cluster into kinds that affinity and spread cannot tell apart, and finds out which kind counts for
 * which terms. `nodes` are all nodes, those included that take no part. Costs nothing where no pod has such terms.
 */
export function takeCensus(
  nodes: readonly NodeInfo[],
  pods: readonly PodInfo[],
  namespaces: ClusterSnapshot['namespaces'],
): Census {
  if (!pods.some(({ constraints }) => hasTerms(constraints))) {
    return withoutTerms(pods);
  }
  const registry = createRegistry(nodes, namespaces);
  const sorted = sortIntoKinds(pods);
  const { kinds, ofPod } = sorted;
  for (const { constraints, namespace } of kinds) {
    registry.register(constraints, namespace);
  }
  const counting = kinds.map(registry.counting);
  const needs: (TopologyNeeds | undefined)[] = [];
  return {
    trackers: registry.trackers,
    sorted: () => sorted,
    countedBy: (pod) => counting[ofPod[pod] ?? -1] ?? NOWHERE,
    needsOf: (pod) => {
      const place = ofPod[pod] ?? -1;
      const kind = kinds[place];
      if (kind === undefined) {
        return NO_NEEDS;
      }
      const found = needs[place] ?? needsOfKind(registry, kind, counting[place] ?? NOWHERE);
      needs[place] = found;
      return found;
    },
  };
}

function withoutTerms(pods: readonly PodInfo[]): Census {
  let known: Kinds | undefined;
  const sorted = (): Kinds => {
    known ??= sortIntoKinds(pods);
    return known;
  };
  return { trackers: [], sorted, countedBy: () => NOWHERE, needsOf: () => NO_NEEDS };
}

function needsOfKind(registry: Registry, kind: PodKind, counting: Int32Array): TopologyNeeds {
  const own = registry.register(kind.constraints, kind.namespace);
  const repelling = registry.repelling(kind);
  const need = (tracker: number): Need => ({ tracker, self: counting.includes(tracker) });
  const isFree = own.affinity.length + own.antiAffinity.length + own.spread.length + repelling.length === 0;
  if (isFree && !own.hopeless) {
    return NO_NEEDS;
  }
  return {
    affinity: own.affinity.map(need),
    matchesItself: own.affinity.every((tracker) => counting.includes(tracker)),
    hopeless: own.hopeless,
    antiAffinity: own.antiAffinity.map(({ matching }) => need(matching)),
    repelledBy: repelling.map(need),
    spread: own.spread.map(({ constraint, tracker }) => ({
      ...need(tracker),
      maxSkew: constraint.maxSkew,
      minDomains: constraint.minDomains,
      adds: addsToSpread(constraint, kind) ? 1 : 0,
    })),
  };
}

/** Pods sorted into kinds that affinity and spread cannot tell apart. */
export interface Kinds {
  readonly kinds: readonly PodKind[];
  /** Place of the kind by place of the pod. */
  readonly ofPod: Int32Array;
}

/** By identity, since pods of one template share labels and constraints; pods are in order, so the last kind is tried first. */
function sortIntoKinds(pods: readonly PodInfo[]): Kinds {
  const kinds: PodKind[] = [];
  const byLabels = new Map<Labels, Map<SchedulingConstraints, number[]>>();
  const ofPod = new Int32Array(pods.length);
  const find = (pod: PodInfo): number => {
    const byConstraints = byLabels.get(pod.labels) ?? new Map<SchedulingConstraints, number[]>();
    byLabels.set(pod.labels, byConstraints);
    const candidates = byConstraints.get(pod.constraints) ?? [];
    byConstraints.set(pod.constraints, candidates);
    const known = candidates.find((place) => isOfKind(pod, kinds[place]));
    if (known !== undefined) {
      return known;
    }
    const { labels, namespace, terminating, constraints } = pod;
    const place = kinds.push({ labels, namespace, terminating, constraints }) - 1;
    candidates.push(place);
    return place;
  };
  let last = -1;
  pods.forEach((pod, place) => {
    last = isOfKind(pod, kinds[last]) ? last : find(pod);
    ofPod[place] = last;
  });
  return { kinds, ofPod };
}

function isOfKind(pod: PodInfo, kind: PodKind | undefined): boolean {
  return (
    kind !== undefined &&
    pod.labels === kind.labels &&
    pod.constraints === kind.constraints &&
    pod.namespace === kind.namespace &&
    pod.terminating === kind.terminating
  );
}
