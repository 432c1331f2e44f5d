import { compareText } from '../../model/compare-text.ts';
import type { PodRef } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { describeRefusal, refusalNumbers } from '../filters/refusal.ts';
import { at, type NodeIndex, type PodIndex, type SiteIndex } from '../indices.ts';
import type { PolicyOptions } from '../options.ts';
import type { Reason } from '../plan.ts';
import { type ScoreName, scoresOf } from '../scores/index.ts';
import { SCHEDULER_ASSUMES } from '../scores/score-index.ts';
import { roomWithout } from '../verdicts.ts';
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

/** Why a pod stays or goes, and what every node of the cluster says to it. */
export interface PodExplanation extends PodStanding {
  /** Those that fit first, then as kube-scheduler would rank them, then by name; none for a pod that has failed. */
  readonly nodes: readonly NodeForPod[];
}

/** What a node says to a pod, with every other pod where it is. */
export interface NodeForPod {
  readonly node: string;
  /** Whether the pod runs there. */
  readonly current: boolean;
  /** Fraction of the node's capacity; `undefined` when it takes no part. */
  readonly load: number | undefined;
  /** Why no plan moves the pod to this node; `undefined` when it takes part. */
  readonly absent: string | undefined;
  /** Whether kube-scheduler's filters let the pod run there; its own node is looked at as if it had left. */
  readonly fits: boolean;
  readonly rejections: readonly FilterRejection[];
  /** Budgets that forbid this move although none is spent, and what the policy keeps that it would break. */
  readonly budgets: readonly Reason[];
  /** By which kube-scheduler would rank the node among those that fit: the sum of `scores`. `undefined`: does not fit. */
  readonly score: number | undefined;
  /** Of each score plugin, times its weight. */
  readonly scores: Readonly<Partial<Record<ScoreName, number>>>;
  /** Points of node capacity by which the higher of the two nodes would fall. */
  readonly gain: number | undefined;
}

/** Explains the pod with this uid; `undefined` when the snapshot has none. */
export function explainPod(
  snapshot: ClusterSnapshot,
  options: PolicyOptions,
  uid: PodRef['uid'],
): PodExplanation | undefined {
  return explainPodIn(inquire(snapshot, options), uid);
}

/** The same from an inquiry, for whoever asks several times. */
export function explainPodIn(inquiry: Inquiry, uid: PodRef['uid']): PodExplanation | undefined {
  const pod = inquiry.planningInput.pods.findIndex((candidate) => candidate.uid === uid);
  return pod < 0 ? failedPodIn(inquiry, uid) : { ...inquiry.standingOf(pod), nodes: nodesFor(inquiry, pod) };
}

function failedPodIn({ planningInput, failed }: Inquiry, uid: PodRef['uid']): PodExplanation | undefined {
  const known = failed.find(({ pod }) => pod.uid === uid);
  const info = planningInput.snapshot.failedPods?.find((pod) => pod.uid === uid);
  if (known !== undefined || info === undefined) {
    return known && { ...known, nodes: [] };
  }
  const { namespace, name, owner, nodeName } = info;
  const standing = { failed: true, movable: false, protections: [], violations: [], load: undefined };
  const decision = { kind: 'NotConsidered' } as const;
  return { pod: { namespace, name, uid }, owner, node: nodeName, ...standing, decision, nodes: [] };
}

function nodesFor(inquiry: Inquiry, pod: PodIndex): readonly NodeForPod[] {
  const isViolator = inquiry.standingOf(pod).violations.length > 0;
  const verdicts = inquiry.cluster.sites.nodes.map((_, site) => rejectionsOf(inquiry, pod, site));
  const feasible = [...verdicts.keys()].filter((site) => verdicts[site]?.length === 0);
  const scores = rankings(inquiry, pod, feasible);
  return verdicts
    .map((rejections, site) => nodeFor(inquiry, pod, site, rejections, scores(site), isViolator))
    .sort((left, right) => (right.score ?? -1) - (left.score ?? -1) || compareText(left.node, right.node));
}

/** The scores of the nodes that fit, when kube-scheduler chooses among all of them. */
function rankings(
  { cluster, state }: Inquiry,
  pod: PodIndex,
  feasible: readonly number[],
): (site: SiteIndex) => Pick<NodeForPod, 'score' | 'scores'> {
  const { whereabouts } = state;
  const ground = {
    index: cluster.scores,
    assumed: SCHEDULER_ASSUMES,
    freeCapacityOf: (site: SiteIndex) => roomWithout(whereabouts, pod, site),
    siteOf: (other: PodIndex) => (other === pod ? -1 : whereabouts.siteOf(other)),
  };
  const byPlugin = Object.entries(scoresOf(pod, Int32Array.from(feasible), ground));
  return (site) => {
    const place = feasible.indexOf(site);
    if (place < 0) {
      return { score: undefined, scores: {} };
    }
    const scores = byPlugin.map(([name, values]) => [name, values[place] ?? 0] as const);
    return { score: scores.reduce((sum, [, value]) => sum + value, 0), scores: Object.fromEntries(scores) };
  };
}

function nodeFor(
  inquiry: Inquiry,
  pod: PodIndex,
  site: SiteIndex,
  rejections: readonly FilterRejection[],
  ranking: Pick<NodeForPod, 'score' | 'scores'>,
  isViolator: boolean,
): NodeForPod {
  const { cluster, planningInput, budgets } = inquiry;
  const { name } = nodeInfoAt(inquiry, site);
  const target = at(cluster.nodeAt, site);
  const current = cluster.sites.located[pod] === site;
  const { hosts } = planningInput;
  const takesPart = target >= 0 || (isViolator && hosts.some((host) => host.name === name));
  const isTarget = target >= 0 && !current && cluster.movable[pod] === 1;
  return {
    node: name,
    current,
    fits: rejections.length === 0,
    rejections,
    ...ranking,
    gain: gainOf(inquiry, pod, site),
    load: loadOf(inquiry, site),
    absent: takesPart ? undefined : (planningInput.participation.absent.get(name) ?? 'it is not in the snapshot'),
    budgets: isTarget ? [...budgets.refusals(pod, target), ...breaches(inquiry, pod, target)] : [],
  };
}

function breaches({ state }: Inquiry, pod: PodIndex, target: NodeIndex): readonly Reason[] {
  const refusal = state.breach(pod, target)?.refusal;
  return refusal === undefined
    ? []
    : [{ code: refusal.filter, message: describeRefusal(refusal), numbers: refusalNumbers(refusal) }];
}
