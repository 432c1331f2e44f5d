import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import type { AppGraphInfo } from '../model/app-graph.ts';
import type { NodeInfo, Taint } from '../model/node.ts';
import type { PodInfo } from '../model/pod.ts';
import type { ServiceClass } from '../model/service-level.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { EpochSeconds, Seconds } from '../model/units.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import type { ProjectedPdb } from '../observe/project/pdb.ts';
import type { Trace } from './trace.ts';

/** A span of time that is drawn anew each time. */
export type Delay =
  | { readonly kind: 'Fixed'; readonly value: Seconds }
  /** Log-normal with this mean and 95th percentile, as start-up times were measured (algorithms.md 5). */
  | { readonly kind: 'LogNormal'; readonly mean: Seconds; readonly p95: Seconds };

/** How long things take on the cluster. */
export interface Timing {
  /** From the binding until the pod is Ready: where its images are on the node, and where not. */
  readonly startup: { readonly hot: Delay; readonly cold: Delay };
  /** From the eviction until the pod is gone and its room is free. */
  readonly termination: Delay;
  /** From the eviction, or of a StatefulSet from when the pod is gone, until its controller makes another. */
  readonly recreation: Seconds;
  /** From when a pod can be scheduled until the scheduler looks at it. */
  readonly scheduling: Seconds;
  /** Between two looks of the operator at a plan that it carries out; 0: it sees every change at once. */
  readonly reaction: Seconds;
  /** From when a node falls silent until its condition Ready is Unknown (node-monitor-grace-period). */
  readonly nodeGrace: Seconds;
  /** From there until its pods are deleted (tolerationSeconds of the taint unreachable). */
  readonly nodeToleration: Seconds;
}

/** How the Metrics API sees the cluster. */
export interface MetricsTiming {
  /** Time between two samples, over which each is taken; the first window is half as long, so that it is in no step with rounds. */
  readonly window: Seconds;
  readonly served: boolean;
}

/** How the memory of pods behaves (see grownWorkingSet and relieveMemory). */
export interface MemoryBehaviour {
  /** Until a working set has grown by 1 - 1/e of what is missing. */
  readonly fill: Seconds;
}

/** Requests that users send to a workload; those that meet no serving pod fail. */
export interface RequestLoad {
  /** Requests per second to the workload as a whole. */
  readonly rate: Trace;
  /** Even: exactly that many. Poisson: independent arrivals, drawn for each window of the metrics. */
  readonly arrivals: 'Even' | 'Poisson';
  /** Millicores, and bytes, that one request per second takes. */
  readonly cpu: number;
  readonly memory: number;
}

/** What one instance uses while it runs, apart from requests: millicores and bytes. */
export interface InstanceUsage {
  readonly cpu: Trace;
  readonly memory: Trace;
}

/** A workload: a controller that makes its pods again. */
export interface WorkloadSpec {
  /** Its counts of pods are kept by the cluster. */
  readonly info: WorkloadInfo;
  /** False: pods that nobody makes again. */
  readonly recreates: boolean;
  /** What its pods are made from. */
  readonly template: PodInfo;
  /** Pods that are there from the beginning; the place in the list is the instance. */
  readonly standing: readonly PodInfo[];
  /** Seconds after the beginning. */
  readonly arrivesAt: number;
  /** Seconds since then after which it is gone; `undefined`: it stays. */
  readonly endsAfter: number | undefined;
  /** Seconds that each pod of a Job runs without a break; `undefined` for services. */
  readonly runTime: number | undefined;
  /** By instance; the last one holds for all further ones. */
  readonly usage: readonly InstanceUsage[];
  readonly requests: RequestLoad | undefined;
  /** Name of its ServiceClass. */
  readonly className: string | undefined;
}

/** Something that befalls the cluster. */
export type Incident = { readonly at: number } & (
  | { readonly kind: 'NodeFails' | 'NodeReturns' | 'Cordon' | 'Uncordon'; readonly node: string }
  | { readonly kind: 'Taint' | 'Untaint'; readonly node: string; readonly taint: Taint }
  | { readonly kind: 'NodeJoins'; readonly node: NodeInfo }
  | { readonly kind: 'Scale'; readonly workload: string; readonly replicas: number }
);

/** What is compared: the cluster by itself, or with policies. */
export interface Variant {
  readonly name: string;
  /** None: the scheduler alone, without preemption. Priority: with its preemption by priority. */
  readonly scheduler: 'None' | 'Priority';
  /** Without policies, scheduling gates are left out, since nobody would open them. */
  readonly policies: readonly RebalancePolicy[];
}

/** What applications say, and what links carry. */
export interface ScenarioTraffic {
  /** By namespace and name; their edges are given. */
  readonly graphs: readonly AppGraphInfo[];
  /** Node label whose values are the domains. */
  readonly domain: string;
  /** Bits per second between two domains; others carry everything. */
  readonly links: readonly { readonly between: readonly [string, string]; readonly capacity: number }[];
}

/** Everything that a simulation plays, in base units. */
export interface Scenario {
  readonly name: string;
  readonly seed: number;
  readonly duration: Seconds;
  /** Wall-clock time of the beginning. */
  readonly start: EpochSeconds;
  readonly nodes: readonly NodeInfo[];
  readonly workloads: readonly WorkloadSpec[];
  readonly incidents: readonly Incident[];
  readonly pdbs: readonly ProjectedPdb[];
  readonly namespaces: ClusterSnapshot['namespaces'];
  readonly storage: ClusterSnapshot['storage'];
  readonly classes: readonly ServiceClass[];
  readonly timing: Timing;
  readonly metrics: MetricsTiming;
  /** Whether pods that want more CPU than they request are not Ready while their node has too little (see starvePods). */
  readonly starvation: boolean;
  /** `undefined`: pods use at once what they want, give back what they no longer want, and share what a node has. */
  readonly memory: MemoryBehaviour | undefined;
  /** `undefined` without AppGraphs. */
  readonly traffic?: ScenarioTraffic | undefined;
  /** Seconds that images take on a node that has not run them, by name; the sizes that ImageLocality counts, in bytes. */
  readonly imageSize: number;
  readonly variants: readonly Variant[];
}
