import { clusterRefusal } from '../filters/index.ts';
import { at, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { PlanningInput } from '../planning-input.ts';
import { classOf, subjectOf } from '../shapes.ts';
import type { StateView } from '../state.ts';
import { NO_NEEDS } from '../topology/needs.ts';
import { refusalsAt } from '../verdicts.ts';

/** A pod without a node, and the nodes of the policy on which it could run if they had room. */
export interface PinnedPod {
  readonly pod: PodIndex;
  readonly nodes: readonly NodeIndex[];
}

/**
 * Pods in scope for which kube-scheduler has found no node, by priority, and of equals the oldest first. A pod that waits at a
 * scheduling gate, or that steering keeps to a node, is not among them, nor one for which the scheduler preempts others itself.
 */
export function waitingPods({ pods, holds }: Pick<PlanningInput, 'pods' | 'holds'>): readonly PodIndex[] {
  const waiting: PodIndex[] = [];
  pods.forEach(({ waiting: state, phase, terminating, nominatedNode, constraints }, pod) => {
    const isUnschedulable = state?.unschedulable === true && !state.gated && state.pinnedTo === undefined;
    const isJudged = constraints.unsupported.length === 0 && nominatedNode === undefined;
    if (isUnschedulable && isJudged && phase === 'Pending' && !terminating && holds.inScope[pod] === 1) {
      waiting.push(pod);
    }
  });
  return waiting.sort((left, right) => {
    const [one, other] = [itemAt(pods, left), itemAt(pods, right)];
    return other.priority - one.priority || one.createdAt - other.createdAt || left - right;
  });
}

/**
 * Those of `waiting` that are pinned: every filter that does not look at what is free allows some nodes of the policy, and not
 * all. A cordoned node counts on neither side. A pod that fits on a node outside of the policy is left to the scheduler.
 */
export function pinnedPods(state: StateView, waiting: readonly PodIndex[]): readonly PinnedPod[] {
  const open = [...state.cluster.nodes.keys()].filter((node) => !itemAt(state.cluster.nodes, node).unschedulable);
  return waiting.flatMap((pod) => {
    const nodes = open.filter((node) => isAllowed(state, pod, node));
    const isPinned = nodes.length > 0 && nodes.length < open.length;
    return isPinned && !fitsOutside(state, pod) ? [{ pod, nodes }] : [];
  });
}

function isAllowed({ cluster, whereabouts }: StateView, pod: PodIndex, node: NodeIndex): boolean {
  const { shapes, siteOf } = cluster;
  if (!shapes.allows(classOf(shapes, pod), node)) {
    return false;
  }
  const subject = subjectOf(shapes, pod);
  const place = { counts: whereabouts.counts, site: at(siteOf, node), home: -1 };
  return subject.topology === NO_NEEDS || clusterRefusal(subject, place) === undefined;
}

function fitsOutside({ cluster, whereabouts }: StateView, pod: PodIndex): boolean {
  const { shapes, sites, nodeAt } = cluster;
  return [...sites.nodes.keys()].some(
    (site) => at(nodeAt, site) < 0 && refusalsAt(whereabouts, pod, subjectOf(shapes, pod), site).length === 0,
  );
}
