import type { NodeInfo } from '../model/node.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { Refusal } from './filters/refusal.ts';
import { at, type IndexTable, itemAt, type PodIndex, type SiteIndex } from './indices.ts';
import { indexNodes } from './node-index.ts';
import { locatePods } from './order.ts';
import { indexOwners } from './owners.ts';
import { sortIntoKinds } from './pod-kinds.ts';
import { rank, type ScoreName, scoresOf } from './scores/index.ts';
import { indexScores, SCHEDULER_ASSUMES } from './scores/score-index.ts';
import { refusalsAt, roomWithout } from './verdicts.ts';

/**
 * What kube-scheduler's filters and scores say in a cluster as a snapshot has it. A pod that is asked about counts nowhere, as
 * if it had left its node. Nodes and pods are named by their place in the snapshot.
 */
export interface SchedulerView {
  readonly nodes: readonly NodeInfo[];
  /** The pod with this uid; -1 when the snapshot has none. */
  readonly podOf: (uid: string) => PodIndex;
  /** Every filter that refuses the pod on a node; empty: it fits. */
  readonly refusals: (pod: PodIndex, site: SiteIndex) => readonly Refusal[];
  /** Nodes on which the pod fits, ascending. */
  readonly feasible: (pod: PodIndex) => Int32Array;
  /** The weighted sum by which these nodes are ranked when the scheduler scores all of them, in their order. */
  readonly totals: (pod: PodIndex, feasible: IndexTable<number, SiteIndex>) => Int32Array;
  /** The same, plugin by plugin. */
  readonly scores: (
    pod: PodIndex,
    feasible: IndexTable<number, SiteIndex>,
  ) => Readonly<Record<ScoreName, readonly number[]>>;
}

/** Indexes the snapshot once, which takes time in proportion to its nodes and pods. */
export function schedulerView(
  snapshot: Pick<ClusterSnapshot, 'nodes' | 'pods' | 'storage' | 'namespaces' | 'workloads'>,
): SchedulerView {
  const { nodes, pods, storage, namespaces, workloads } = snapshot;
  const kinds = sortIntoKinds(pods);
  const sites = indexNodes({ nodes, pods, located: locatePods(pods, nodes), kinds, storage, namespaces });
  const index = indexScores(sites, indexOwners(kinds, workloads));
  const whereabouts = {
    sites,
    counts: sites.counts,
    freeCapacityOf: (site: SiteIndex) => itemAt(sites.rooms, site),
    siteOf: (pod: PodIndex): SiteIndex => at(sites.located, pod),
  };
  const places = new Map(pods.map(({ uid }, place) => [uid, place]));
  const refusals = (pod: PodIndex, site: SiteIndex): readonly Refusal[] => {
    const pinnedNode = workloads.get(itemAt(pods, pod).owner?.uid ?? '')?.pinnedNode;
    return refusalsAt(whereabouts, pod, sites.subjectOf(pod, pinnedNode), site);
  };
  const groundFor = (pod: PodIndex) => ({
    index,
    assumed: SCHEDULER_ASSUMES,
    freeCapacityOf: (site: SiteIndex) => roomWithout(whereabouts, pod, site),
    siteOf: (other: PodIndex) => (other === pod ? -1 : whereabouts.siteOf(other)),
  });
  return {
    nodes,
    podOf: (uid) => places.get(uid) ?? -1,
    refusals,
    feasible: (pod) => Int32Array.from(nodes.keys()).filter((site) => refusals(pod, site).length === 0),
    totals: (pod, feasible) => rank(pod, feasible, groundFor(pod)),
    scores: (pod, feasible) => scoresOf(pod, feasible, groundFor(pod)),
  };
}
