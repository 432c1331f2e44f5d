import type { NodeInfo } from '../../model/node.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { at, type IndexTable, itemAt, type PodIndex, type TrackerIndex } from '../indices.ts';
import type { PodKind, PodKinds } from '../pod-kinds.ts';
import { type Need, NO_NEEDS, type TopologyNeeds } from './needs.ts';
import { addsToSpread, createRegistry, hasTerms, type Registry, type Tracker } from './trackers.ts';

/** Which pods matter to the affinity and spread of which others. Pods and nodes are named by their place. */
export interface TopologyIndex {
  readonly trackers: readonly Tracker[];
  readonly kinds: PodKinds;
  /** Trackers that count a pod. */
  readonly countedBy: (pod: PodIndex) => IndexTable<number, TrackerIndex>;
  /** Remembered per kind of pod. */
  readonly needsOf: (pod: PodIndex) => TopologyNeeds;
}

const NOWHERE = new Int32Array();

/**
 * Finds out which kind of pod counts for which terms of affinity and spread. `nodes` are all nodes, those included that take
 * no part. Costs nothing where no pod has such terms.
 */
export function indexTopology(
  nodes: readonly NodeInfo[],
  kinds: PodKinds,
  namespaces: ClusterSnapshot['namespaces'],
): TopologyIndex {
  const { list, ofPod } = kinds;
  if (!list.some(({ constraints }) => hasTerms(constraints))) {
    return { trackers: [], kinds, countedBy: () => NOWHERE, needsOf: () => NO_NEEDS };
  }
  const registry = createRegistry(nodes, namespaces);
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
      const found = needs[kind] ?? needsOfKind(registry, itemAt(list, kind), itemAt(counting, kind));
      needs[kind] = found;
      return found;
    },
  };
}

function needsOfKind(registry: Registry, kind: PodKind, counting: IndexTable<number, TrackerIndex>): TopologyNeeds {
  const own = registry.register(kind.constraints, kind.namespace);
  const repelling = registry.repelling(kind);
  const need = (tracker: TrackerIndex): Need => ({ tracker, self: counting.includes(tracker) });
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
