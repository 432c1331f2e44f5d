import type { NodeInfo } from '../model/node.ts';
import type { PodInfo, SchedulingConstraints } from '../model/pod.ts';
import { offeredOf } from '../model/resources.ts';
import { matches } from '../model/selector.ts';
import type { ClusterSnapshot, UsageSample } from '../model/snapshot.ts';
import type { EpochSeconds } from '../model/units.ts';
import { repels, taintToleration } from './filters/taint-toleration.ts';
import { coverageOf, coverageWithoutMetrics, judgeNodes, type NodeSample, noCoverage } from './metrics-gate.ts';
import type { PolicyOptions } from './options.ts';
import type { MetricsCoverage } from './plan.ts';

/** A node that takes part, as source and as target. */
export interface Participant {
  readonly node: NodeInfo;
  /** `undefined`: idle, or the policy reads no metrics. */
  readonly sample: UsageSample | undefined;
}

/** Which nodes take part, and why the others do not. */
export interface Participation {
  /** By name. */
  readonly participants: readonly Participant[];
  /** Why a node takes no part, by node name: a clause such as `it is cordoned`. */
  readonly absent: ReadonlyMap<string, string>;
  readonly coverage: MetricsCoverage;
  /** Those of the absent nodes whose load is known all the same, in the order of the nodes. */
  readonly leftOut: readonly LeftOut[];
}

/** A node that takes no part although its load is known. */
export interface LeftOut extends Participant {
  /** It may give pods when it is overloaded: it is only cordoned or tainted, and pods that may be moved run there. */
  readonly maySource: boolean;
}

/**
 * Taints with which others mark nodes that they are about to remove (execution.md, anti-thrash). The candidate of the
 * cluster autoscaler is marked softly (PreferNoSchedule) before it is drained; a pod that came would keep it.
 */
const DRAIN_TAINTS: ReadonlySet<string> = new Set([
  // cluster-autoscaler, utils/taints.
  'ToBeDeletedByClusterAutoscaler',
  'DeletionCandidateOfClusterAutoscaler',
  // Karpenter since v1, and its v1beta1.
  'karpenter.sh/disrupted',
  'karpenter.sh/disruption',
  // GKE, before maintenance of the host or the end of a spot instance.
  'cloud.google.com/impending-node-termination',
  // AWS node termination handler with TAINT_NODE.
  'aws-node-termination-handler/spot-itn',
  'aws-node-termination-handler/scheduled-maintenance',
  'aws-node-termination-handler/asg-lifecycle-termination',
  'aws-node-termination-handler/rebalance-recommendation',
]);

/** Why a node takes no pods any more, and gives none to us: it is being removed; `undefined` when it is not. */
export function drainOf({ taints, terminating }: NodeInfo): string | undefined {
  if (terminating) {
    return 'it is being deleted';
  }
  const taint = taints.find(({ key }) => DRAIN_TAINTS.has(key));
  return taint === undefined ? undefined : `an autoscaler is draining it (taint ${taint.key})`;
}

/** What participation is judged by. `nodes` and `pods` are those of the snapshot, in order. */
export interface ParticipationInput {
  readonly snapshot: ClusterSnapshot;
  readonly nodes: readonly NodeInfo[];
  readonly pods: readonly PodInfo[];
  /** Constraints of the pods that no protection holds. */
  readonly movable: ReadonlySet<SchedulingConstraints>;
  /** Whether a pod that no protection holds runs on the node of this name. */
  readonly hasMovablePods: (node: string) => boolean;
  readonly options: PolicyOptions;
}

const CORDONED = 'it is cordoned';
const NOT_TOLERATED = 'no pod that may be moved tolerates its taints';

/**
 * A node takes part when it is in the policy's scope, Ready, not cordoned, not being drained by an autoscaler, offers a
 * resource of the policy, has a valid sample or is idle, and when at least one movable pod tolerates its taints. So a
 * control-plane node that no pod could join does not drag the mean down, and a node that is added cordoned or NotReady
 * changes nothing (quality.md 9). Of the nodes left out, overloaded ones may join as sources (overloaded-sources.ts).
 */
export function participation(input: ParticipationInput): Participation {
  const { snapshot, nodes, pods, options } = input;
  const absent = new Map<string, string>();
  const ready = nodes.filter((node) => {
    const reason = barred(node, options);
    if (reason !== undefined) {
      absent.set(node.name, reason);
    }
    return reason === undefined;
  });
  const samples = judge(ready, snapshot, pods, options);
  const toleration = tolerationTest(input.movable);
  const participants: Participant[] = [];
  const leftOut: LeftOut[] = [];
  ready.forEach((node, index) => {
    const judged = samples?.[index] ?? { kind: 'Idle' };
    const reason = absence(node, judged, options, toleration);
    const participant = { node, sample: judged.kind === 'Valid' ? judged.sample : undefined };
    if (reason === undefined) {
      participants.push(participant);
      return;
    }
    absent.set(node.name, reason);
    if (judged.kind !== 'Unusable' && offersLoad(node, options)) {
      const mayGive = reason === CORDONED || reason === NOT_TOLERATED;
      leftOut.push({ ...participant, maySource: mayGive && input.hasMovablePods(node.name) });
    }
  });
  const open = ready.map(({ unschedulable }) => !unschedulable);
  const covered = coverage(
    ready.filter((_, index) => open[index]),
    samples?.filter((_, index) => open[index]),
    options,
    snapshot.takenAt,
  );
  return { participants, absent, coverage: covered, leftOut };
}

/** Why a node is left out whatever its sample. */
function barred(node: NodeInfo, { scope }: PolicyOptions): string | undefined {
  if (!matches(scope.nodeSelector, node.labels)) {
    return 'it is outside scope.nodeSelector';
  }
  return node.ready ? undefined : 'it is not Ready';
}

/** Why a Ready node is left out; the wider reason first. */
function absence(
  node: NodeInfo,
  judged: NodeSample,
  options: PolicyOptions,
  tolerated: (node: NodeInfo) => boolean,
): string | undefined {
  const drain = drainOf(node);
  if (node.unschedulable) {
    return drain ?? CORDONED;
  }
  if (judged.kind === 'Unusable') {
    return judged.problem;
  }
  if (!offersLoad(node, options)) {
    return `it offers no ${options.load.resources.map(({ name }) => name).join(' and no ')}`;
  }
  return drain ?? (tolerated(node) ? undefined : NOT_TOLERATED);
}

function offersLoad(node: NodeInfo, { load }: PolicyOptions): boolean {
  return load.resources.some(({ name }) => offeredOf(node.allocatable, name) > 0);
}

/** Remembers verdicts per combination of taints, of which there are few. */
function tolerationTest(movable: ReadonlySet<SchedulingConstraints>): (node: NodeInfo) => boolean {
  const verdicts = new Map<string, boolean>();
  const candidates = [...movable];
  return (node) => {
    if (!node.taints.some(repels)) {
      return true;
    }
    const key = JSON.stringify(node.taints);
    const known = verdicts.get(key);
    if (known !== undefined) {
      return known;
    }
    const verdict = candidates.some((constraints) => {
      return taintToleration({ constraints }, node) === undefined;
    });
    verdicts.set(key, verdict);
    return verdict;
  };
}

/** `undefined`: there are no metrics, or the policy reads none. */
function judge(
  nodes: readonly NodeInfo[],
  { usage, takenAt }: ClusterSnapshot,
  pods: readonly PodInfo[],
  { load }: PolicyOptions,
): readonly NodeSample[] | undefined {
  if (load.source === 'Requests' || usage === undefined) {
    return undefined;
  }
  return judgeNodes(nodes, pods, usage, takenAt, load.maxAge);
}

function coverage(
  nodes: readonly NodeInfo[],
  samples: readonly NodeSample[] | undefined,
  { load }: PolicyOptions,
  now: EpochSeconds,
): MetricsCoverage {
  if (samples !== undefined) {
    return coverageOf(samples, now);
  }
  return load.source === 'Requests' ? coverageWithoutMetrics(nodes.length) : noCoverage(nodes.length);
}
