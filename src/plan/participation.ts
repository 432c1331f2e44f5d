import type { NodeInfo } from '../model/node.ts';
import type { PodInfo, SchedulingConstraints } from '../model/pod.ts';
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
  readonly options: PolicyOptions;
}

/**
 * A node takes part when it is in the policy's scope, Ready, not cordoned, not being drained by an autoscaler, offers a
 * resource of the policy, has a valid sample or is idle, and when at least one movable pod tolerates its taints. So a
 * control-plane node that no pod could join does not drag the mean down, and a node that is added cordoned or NotReady
 * changes nothing (quality.md 9).
 */
export function participation(input: ParticipationInput): Participation {
  const { snapshot, nodes, pods, options } = input;
  const absent = new Map<string, string>();
  const candidates = nodes.filter((node) => {
    const reason = barred(node, options);
    if (reason !== undefined) {
      absent.set(node.name, reason);
    }
    return reason === undefined;
  });
  const samples = judge(candidates, snapshot, pods, options);
  const toleration = tolerationTest(input.movable);
  const participants = candidates.flatMap((node, index): readonly Participant[] => {
    const sample = samples?.[index] ?? { kind: 'Idle' };
    const reason = sample.kind === 'Unusable' ? sample.problem : unfit(node, options, toleration);
    if (reason !== undefined) {
      absent.set(node.name, reason);
      return [];
    }
    return [{ node, sample: sample.kind === 'Valid' ? sample.sample : undefined }];
  });
  return { participants, absent, coverage: coverage(candidates, samples, options, snapshot.takenAt) };
}

/** Why a node is left out before anybody asks for its sample. */
function barred(node: NodeInfo, { scope }: PolicyOptions): string | undefined {
  if (!matches(scope.nodeSelector, node.labels)) {
    return 'it is outside scope.nodeSelector';
  }
  if (!node.ready) {
    return 'it is not Ready';
  }
  return node.unschedulable ? 'it is cordoned' : undefined;
}

/** Why a node with a valid sample is left out all the same. */
function unfit(node: NodeInfo, { load }: PolicyOptions, tolerated: (node: NodeInfo) => boolean): string | undefined {
  if (!load.resources.some(({ name }) => node.allocatable[name] > 0)) {
    return `it offers no ${load.resources.map(({ name }) => name).join(' and no ')}`;
  }
  return drainOf(node) ?? (tolerated(node) ? undefined : 'no pod that may be moved tolerates its taints');
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
