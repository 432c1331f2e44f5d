import type { NodeInfo } from '../model/node.ts';
import { type PodInfo, podKey } from '../model/pod.ts';
import type { ClusterSnapshot, UsageSample } from '../model/snapshot.ts';
import { controllerAbove } from '../plan/owners.ts';
import { isBelievable } from '../plan/promises.ts';
import { classNameOf } from '../qos/class-of.ts';
import { serviceLevelAt } from '../qos/service-level.ts';

/** Cores in thousandths, and bytes; `null`: not measured. */
export interface TopAmounts {
  readonly cpu: number | null;
  readonly memory: number | null;
}

/** One node. */
export interface TopNode {
  readonly name: string;
  readonly ready: boolean;
  readonly schedulable: boolean;
  /** Pods that are bound to it and have not ended. */
  readonly pods: number;
  readonly usage: TopAmounts;
  readonly requests: TopAmounts;
  readonly allocatable: TopAmounts;
}

/** One workload, or a pod without a controller. */
export interface TopWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Pods that have not ended, and those of them that are Ready. */
  readonly pods: number;
  readonly ready: number;
  readonly usage: TopAmounts;
  readonly requests: TopAmounts;
  /** Name of its ServiceClass. */
  readonly serviceClass: string | null;
  /** Promised availability, a fraction. */
  readonly slo: number | null;
  /** Availability since admission and over the window of the class, fractions; `null` without a ledger. */
  readonly availability: number | null;
  readonly availabilityOverWindow: number | null;
  /** Seconds until it can no longer keep its SLO, negative when it cannot already; `null`: never, or not known. */
  readonly timeToViolate: number | null;
  readonly preemptions: number | null;
}

/** What each node has, gives away and uses, in the order of the snapshot. */
export function topNodes({ nodes, pods, usage }: ClusterSnapshot): readonly TopNode[] {
  const byNode = Map.groupBy(pods, ({ nodeName }) => nodeName);
  return nodes.map((node) => topNode(node, byNode.get(node.name) ?? [], usage?.nodes.get(node.name)));
}

function topNode(node: NodeInfo, pods: readonly PodInfo[], sample: UsageSample | undefined): TopNode {
  const { name, ready, unschedulable, allocatable } = node;
  return {
    name,
    ready,
    schedulable: !unschedulable,
    pods: pods.length,
    usage: sample === undefined ? UNKNOWN : amounts(sample),
    requests: requestsOf(pods),
    allocatable: { cpu: allocatable.cpu, memory: allocatable.memory },
  };
}

const UNKNOWN: TopAmounts = { cpu: null, memory: null };

/** What each workload has and was promised, of one namespace or all, by namespace, name and kind. */
export function topWorkloads(snapshot: ClusterSnapshot, namespace?: string): readonly TopWorkload[] {
  const inScope = snapshot.pods.filter((pod) => namespace === undefined || pod.namespace === namespace);
  const groups = Map.groupBy(inScope, (pod) => topOf(pod, snapshot).uid);
  return [...groups.values()]
    .flatMap((pods) => (pods[0] === undefined ? [] : [topWorkload(pods[0], pods, snapshot)]))
    .sort(byName);
}

function byName(left: TopWorkload, right: TopWorkload): number {
  const key = ({ namespace, name, kind }: TopWorkload): string => [namespace, name, kind].join('\0');
  return key(left) < key(right) ? -1 : 1;
}

interface Top {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** The workload at the top of a pod; the pod itself without a controller. */
function topOf({ owner, name, uid }: PodInfo, { workloads }: ClusterSnapshot): Top {
  if (owner === undefined) {
    return { kind: 'Pod', name, uid };
  }
  return controllerAbove(workloads.get(owner.uid), workloads) ?? owner;
}

function topWorkload(first: PodInfo, pods: readonly PodInfo[], snapshot: ClusterSnapshot): TopWorkload {
  const { kind, name, uid } = topOf(first, snapshot);
  return {
    kind,
    namespace: first.namespace,
    name,
    pods: pods.length,
    ready: pods.filter(({ ready }) => ready).length,
    usage: usageOf(pods, snapshot),
    requests: requestsOf(pods),
    ...serviceOf(first, uid, snapshot),
  };
}

type Service = Pick<
  TopWorkload,
  'serviceClass' | 'slo' | 'availability' | 'availabilityOverWindow' | 'timeToViolate' | 'preemptions'
>;

function serviceOf(pod: PodInfo, uid: string, { serviceLevels, namespaces, takenAt }: ClusterSnapshot): Service {
  const className = classNameOf(pod, serviceLevels, namespaces);
  const terms = className === undefined ? undefined : serviceLevels.classes.get(className);
  const ledger = serviceLevels.ledgers.get(uid);
  const known =
    terms === undefined || ledger === undefined || !isBelievable(ledger, takenAt)
      ? undefined
      : serviceLevelAt(ledger, terms, takenAt);
  const left = known?.timeToViolate;
  return {
    serviceClass: className ?? null,
    slo: terms?.slo ?? null,
    availability: known?.availability ?? null,
    availabilityOverWindow: known?.availabilityOverWindow ?? null,
    timeToViolate: left === undefined || !Number.isFinite(left) ? null : left,
    preemptions: known === undefined ? null : (ledger?.preemptions ?? null),
  };
}

/** What the pods with a sample use; `null` when none has one. */
function usageOf(pods: readonly PodInfo[], { usage }: ClusterSnapshot): TopAmounts {
  const samples = pods.flatMap((pod) => usage?.pods.get(podKey(pod)) ?? []);
  return samples.length === 0
    ? UNKNOWN
    : amounts({
        cpu: samples.reduce((sum, { cpu }) => sum + cpu, 0),
        memory: samples.reduce((sum, { memory }) => sum + memory, 0),
      });
}

function requestsOf(pods: readonly PodInfo[]): TopAmounts {
  return {
    cpu: pods.reduce((sum, { constraints }) => sum + constraints.requests.cpu, 0),
    memory: pods.reduce((sum, { constraints }) => sum + constraints.requests.memory, 0),
  };
}

/** Samples may hold NaN, which is as good as nothing. */
function amounts({ cpu, memory }: { readonly cpu: number; readonly memory: number }): TopAmounts {
  return { cpu: Number.isFinite(cpu) ? cpu : null, memory: Number.isFinite(memory) ? memory : null };
}

/** What nodes can be sorted by. */
export const NODE_SORTS = ['name', 'cpu', 'memory', 'cpu-requests', 'memory-requests', 'pods'] as const;
/** What workloads can be sorted by. */
export const WORKLOAD_SORTS = [
  'name',
  'cpu',
  'memory',
  'cpu-requests',
  'memory-requests',
  'pods',
  'availability',
  'time-to-violate',
] as const;

/** The nodes that have most of it first, in shares of what they have; by name they stay as they are. */
export function sortNodes(nodes: readonly TopNode[], by: (typeof NODE_SORTS)[number]): readonly TopNode[] {
  const keys: Record<typeof by, (node: TopNode) => number> = {
    name: () => 0,
    cpu: ({ usage, allocatable }) => shareOf(usage.cpu, allocatable.cpu) ?? -1,
    memory: ({ usage, allocatable }) => shareOf(usage.memory, allocatable.memory) ?? -1,
    'cpu-requests': ({ requests, allocatable }) => shareOf(requests.cpu, allocatable.cpu) ?? -1,
    'memory-requests': ({ requests, allocatable }) => shareOf(requests.memory, allocatable.memory) ?? -1,
    pods: ({ pods }) => pods,
  };
  return nodes.toSorted((left, right) => keys[by](right) - keys[by](left));
}

/** The workloads that have most of it first, or are served worst. */
export function sortWorkloads(
  workloads: readonly TopWorkload[],
  by: (typeof WORKLOAD_SORTS)[number],
): readonly TopWorkload[] {
  const keys: Record<typeof by, (workload: TopWorkload) => number> = {
    name: () => 0,
    cpu: ({ usage }) => usage.cpu ?? -1,
    memory: ({ usage }) => usage.memory ?? -1,
    'cpu-requests': ({ requests }) => requests.cpu ?? -1,
    'memory-requests': ({ requests }) => requests.memory ?? -1,
    pods: ({ pods }) => pods,
    availability: ({ availability }) => -(availability ?? 2),
    'time-to-violate': ({ timeToViolate }) => -(timeToViolate ?? Number.MAX_VALUE),
  };
  return workloads.toSorted((left, right) => keys[by](right) - keys[by](left));
}

/** A share of what there is; `undefined` where either is not known, or there is nothing. */
export function shareOf(amount: number | null, whole: number | null): number | undefined {
  return amount === null || whole === null || whole <= 0 ? undefined : amount / whole;
}
