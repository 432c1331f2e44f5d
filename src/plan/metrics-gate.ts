import type { NodeInfo } from '../model/node.ts';
import type { PodInfo } from '../model/pod.ts';
import type { MeasuredResource } from '../model/resources.ts';
import type { ClusterSnapshot, UsageSample, UsageSamples } from '../model/snapshot.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import { percent } from './format.ts';
import type { MetricsCoverage } from './plan.ts';

/** A sample may lie this far in the future: kubelets' clocks and ours differ a little. */
export const FUTURE_TOLERANCE: Seconds = seconds(30);
/** A sample above this many times allocatable is a broken sample (algorithms.md 1). */
export const MAX_OVERUSE = 4;

/** What the metrics gate found for one node. */
export type NodeSample =
  | { readonly kind: 'Valid'; readonly sample: UsageSample }
  /** Ready, without a sample and without pods that run: metrics-server drops nodes whose usage is zero. */
  | { readonly kind: 'Idle' }
  | { readonly kind: 'Unusable'; readonly problem: string };

/** The most that a sample may be. */
export type SampleLimits = Readonly<Record<MeasuredResource, number>>;

/** Limits that let every sample pass. */
export const NO_LIMITS: SampleLimits = { cpu: Number.POSITIVE_INFINITY, memory: Number.POSITIVE_INFINITY };

/**
 * The limits of samples, node by node: MAX_OVERUSE times what the node offers. A node may leave out a resource, which then
 * does not count there; its samples must not be more than the largest node could hold all the same.
 */
export function sampleLimits(nodes: readonly NodeInfo[]): readonly SampleLimits[] {
  const largest = (name: MeasuredResource): number =>
    nodes.reduce((most, { allocatable }) => Math.max(most, allocatable[name]), 0) || Number.POSITIVE_INFINITY;
  const [cpu, memory] = [largest('cpu'), largest('memory')];
  return nodes.map(({ allocatable }) => ({
    cpu: MAX_OVERUSE * (allocatable.cpu > 0 ? allocatable.cpu : cpu),
    memory: MAX_OVERUSE * (allocatable.memory > 0 ? allocatable.memory : memory),
  }));
}

/** Why a sample does not count, in words; `undefined` when it does (algorithms.md 1). */
export function sampleProblem(
  { cpu, memory, timestamp }: UsageSample,
  limits: SampleLimits,
  now: EpochSeconds,
  maxAge: Seconds,
): string | undefined {
  if (!Number.isFinite(cpu) || !Number.isFinite(memory)) {
    return 'its sample is not a number';
  }
  if (cpu < 0 || memory < 0) {
    return 'its sample is negative';
  }
  const age = elapsed(timestamp, now);
  if (!(age <= maxAge)) {
    return Number.isNaN(age)
      ? 'its sample names no time'
      : `its sample is ${Math.round(age)} s old, load.maxAge is ${maxAge} s`;
  }
  if (age < -FUTURE_TOLERANCE) {
    return `its sample is ${Math.round(-age)} s in the future`;
  }
  if (cpu <= limits.cpu && memory <= limits.memory) {
    return undefined;
  }
  return `its sample is above ${MAX_OVERUSE} x allocatable ${cpu > limits.cpu ? 'cpu' : 'memory'}`;
}

/** Judges the sample of a Ready node. `isIdle` tells an idle node from a missing sample. */
export function judgeNode(
  node: NodeInfo,
  samples: ReadonlyMap<string, UsageSample>,
  limits: SampleLimits,
  isIdle: (nodeName: string) => boolean,
  now: EpochSeconds,
  maxAge: Seconds,
): NodeSample {
  const sample = samples.get(node.name);
  if (sample === undefined) {
    return isIdle(node.name) ? { kind: 'Idle' } : { kind: 'Unusable', problem: 'it has no sample' };
  }
  const problem = sampleProblem(sample, limits, now, maxAge);
  return problem === undefined ? { kind: 'Valid', sample } : { kind: 'Unusable', problem };
}

/** Judges the samples of Ready nodes, in their order. */
export function judgeNodes(
  nodes: readonly NodeInfo[],
  pods: readonly PodInfo[],
  usage: Pick<UsageSamples, 'nodes'>,
  now: EpochSeconds,
  maxAge: Seconds,
): readonly NodeSample[] {
  const isIdle = idleTest(pods);
  const limits = sampleLimits(nodes);
  return nodes.map((node, place) => judgeNode(node, usage.nodes, limits[place] ?? NO_LIMITS, isIdle, now, maxAge));
}

/** Whether no pod runs on a node: bound, Running, not terminating. Looks at the pods when it is first asked. */
export function idleTest(pods: readonly PodInfo[]): (nodeName: string) => boolean {
  let busy: ReadonlySet<string> | undefined;
  return (nodeName) => {
    busy ??= nodesWithRunningPods(pods);
    return !busy.has(nodeName);
  };
}

function nodesWithRunningPods(pods: readonly PodInfo[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { nodeName, phase, terminating } of pods) {
    if (nodeName !== undefined && phase === 'Running' && !terminating) {
      names.add(nodeName);
    }
  }
  return names;
}

/** Coverage over the judged nodes: Ready, not cordoned, in the policy's scope. */
export function coverageOf(judged: readonly NodeSample[], now: EpochSeconds): MetricsCoverage {
  const sampledNodes = judged.filter(({ kind }) => kind !== 'Unusable').length;
  let maxAge: Seconds | undefined;
  for (const verdict of judged) {
    if (verdict.kind === 'Valid') {
      maxAge = seconds(Math.max(maxAge ?? 0, elapsed(verdict.sample.timestamp, now)));
    }
  }
  const readyNodes = judged.length;
  return { readyNodes, sampledNodes, ratio: readyNodes === 0 ? 1 : sampledNodes / readyNodes, maxAge };
}

/** Coverage of a policy that reads no metrics. */
export function coverageWithoutMetrics(readyNodes: number): MetricsCoverage {
  return { readyNodes, sampledNodes: readyNodes, ratio: 1, maxAge: undefined };
}

/** Coverage when the Metrics API is not served. */
export function noCoverage(readyNodes: number): MetricsCoverage {
  return { readyNodes, sampledNodes: 0, ratio: readyNodes === 0 ? 1 : 0, maxAge: seconds(0) };
}

/** Why there is no plan, or `undefined` when the samples suffice. */
export function gateMessage(
  { usage, usageProblem }: Pick<ClusterSnapshot, 'usage' | 'usageProblem'>,
  { readyNodes, sampledNodes, ratio }: MetricsCoverage,
  minCoverage: number,
): { readonly kind: 'MetricsUnavailable' | 'MetricsIncomplete'; readonly message: string } | undefined {
  if (usage === undefined) {
    return {
      kind: 'MetricsUnavailable',
      message:
        usageProblem ??
        'there are no metrics: install metrics-server, or add to the files what kubectl get nodes.metrics.k8s.io and pods.metrics.k8s.io -A -o yaml print, or write load.source: Requests',
    };
  }
  if (ratio >= minCoverage) {
    return undefined;
  }
  const share = `${sampledNodes} of ${readyNodes} Ready nodes have a valid sample (${percent(ratio)})`;
  return { kind: 'MetricsIncomplete', message: `${share}, load.minCoverage is ${percent(minCoverage)}` };
}
