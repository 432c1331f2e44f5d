import type { NodeInfo } from '../../model/node.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { at, type IndexTable, itemAt, type PodIndex, type TrackerIndex } from '../indices.ts';
import type { PodKind, PodKinds } from '../pod-kinds.ts';
import { type KeptSpread, type Need, NO_NEEDS, type TopologyNeeds } from './needs.ts';
import {
  addsToSpread,
  createRegistry,
  type ExtraTrackers,
  hasTerms,
  NO_EXTRA_TRACKERS,
  type PodTerms,
  type Registry,
  type Tracker,
} from './trackers.ts';

/** Index from pods to the pods that count for their affinity and spread constraints. Pods and nodes are named by their place. */
export interface TopologyIndex {
  readonly trackers: readonly Tracker[];
  readonly kinds: PodKinds;
  /** Trackers that count a pod. */
  readonly countedBy: (pod: PodIndex) => IndexTable<number, TrackerIndex>;
  /** Remembered per kind of pod. */
  readonly needsOf: (pod: PodIndex) => TopologyNeeds;
}

const NOWHERE = new Int32Array();

/** What is counted so that a plan can repair it, and keeps it. */
export interface CountedForRepairs extends ExtraTrackers {
  /** Needs name every spread constraint that a move of the pod may break. */
  readonly keepsSpread: boolean;
}

const NOTHING_MORE: CountedForRepairs = { ...NO_EXTRA_TRACKERS, keepsSpread: false };

/**
 * Finds out which kind of pod counts for which terms of affinity and spread. `nodes` are all nodes, those included that take
 * no part. Costs nothing where no pod has such terms.
 */
export function indexTopology(
  nodes: readonly NodeInfo[],
  kinds: PodKinds,
  namespaces: ClusterSnapshot['namespaces'],
  extra: CountedForRepairs = NOTHING_MORE,
): TopologyIndex {
  const { list, ofPod } = kinds;
  const { keepsSpread, softSpread, duplicates } = extra;
  if (!duplicates && !list.some(({ constraints }) => hasTerms(constraints, softSpread))) {
    return { trackers: [], kinds, countedBy: () => NOWHERE, needsOf: () => NO_NEEDS };
  }
  const registry = createRegistry(nodes, namespaces, extra);
  for (const { constraints, namespace } of list) {
    registry.register(constraints, namespace);
  }
  const counting = list.map(registry.counting);
  const needs: (TopologyNeeds | undefined)[] = [];
  return {
    trackers: registry.trackers,
    kinds,
    countedBy: (pod) => itemAt(counting, at(ofPod, pod)),
    needsOf: (pod) => {
      const kind = at(ofPod, pod);
      const found = needs[kind] ?? needsOfKind(registry, itemAt(list, kind), itemAt(counting, kind), keepsSpread);
      needs[kind] = found;
      return found;
    },
  };
}

function needsOfKind(
  registry: Registry,
  kind: PodKind,
  counting: IndexTable<number, TrackerIndex>,
  keepsSpread: boolean,
): TopologyNeeds {
  const own = registry.register(kind.constraints, kind.namespace);
  const repelling = registry.repelling(kind);
  const need = (tracker: TrackerIndex): Need => ({ tracker, self: counting.includes(tracker) });
  const same = registry.duplicatesOf(kind);
  const kept = keepsSpread ? keptBy(registry, own, counting) : [];
  const isFree = own.affinity.length + own.antiAffinity.length + own.spread.length + repelling.length === 0;
  if (isFree && !own.hopeless && kept.length === 0 && same === undefined) {
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
    kept,
    duplicates: same === undefined ? undefined : need(same),
  };
}

/** Constraints that the pod carries, and those of others that count it: a move may break either. */
function keptBy(
  { constraintsOf }: Registry,
  own: PodTerms,
  counting: IndexTable<number, TrackerIndex>,
): readonly KeptSpread[] {
  const carried = [...own.spread, ...own.softSpread].map(({ tracker }) => tracker);
  return [...new Set([...carried, ...counting])].flatMap((tracker) => {
    const self = counting.includes(tracker);
    return constraintsOf(tracker).map(({ maxSkew, minDomains, whenUnsatisfiable }) => ({
      tracker,
      self,
      maxSkew,
      minDomains,
      adds: self ? 1 : 0,
      soft: whenUnsatisfiable === 'ScheduleAnyway',
    }));
  });
}
