import type { ControlPlane } from './start.ts';

/** What the tests read of an object's metadata. */
export interface Metadata {
  readonly name: string;
  readonly creationTimestamp: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: readonly { readonly uid: string }[];
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

/** What the tests read of a Pod. */
export interface PodState {
  readonly metadata: Metadata;
  readonly spec: { readonly nodeName?: string; readonly schedulingGates?: readonly { readonly name: string }[] };
  readonly status: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

/** What the tests read of a Node. */
export interface NodeState {
  readonly metadata: Metadata;
  readonly spec: { readonly unschedulable?: boolean; readonly taints?: readonly { readonly key: string }[] };
  readonly status: {
    readonly conditions?: readonly Condition[];
    readonly allocatable: { readonly cpu: string; readonly memory: string };
  };
}

/** What the tests read of a Deployment, a StatefulSet or a DaemonSet. */
export interface ControllerState {
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: { readonly replicas?: number };
  readonly status: {
    readonly observedGeneration?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
  };
}

/** What the tests read of a PodDisruptionBudget. */
export interface BudgetState {
  readonly metadata: Metadata;
  readonly status?: {
    readonly observedGeneration?: number;
    readonly currentHealthy?: number;
    readonly expectedPods?: number;
    readonly disruptionsAllowed?: number;
  };
}

/** Usage of a node from the metrics API, or of a pod, container by container. */
export interface UsageState {
  readonly metadata: Metadata;
  readonly timestamp: string;
  readonly window: string;
  readonly usage?: { readonly cpu: string; readonly memory: string };
  readonly containers?: readonly { readonly usage: { readonly cpu: string; readonly memory: string } }[];
}

const paths = {
  pods: '/api/v1/pods',
  nodes: '/api/v1/nodes',
  deployments: '/apis/apps/v1/deployments',
  statefulSets: '/apis/apps/v1/statefulsets',
  daemonSets: '/apis/apps/v1/daemonsets',
  budgets: '/apis/policy/v1/poddisruptionbudgets',
  nodeMetrics: '/apis/metrics.k8s.io/v1beta1/nodes',
  podMetrics: '/apis/metrics.k8s.io/v1beta1/pods',
} as const;

/** All pods of the cluster. */
export function listPods(cp: ControlPlane): Promise<readonly PodState[]> {
  return list(cp, paths.pods);
}

/** All nodes of the cluster. */
export function listNodes(cp: ControlPlane): Promise<readonly NodeState[]> {
  return list(cp, paths.nodes);
}

/** All Deployments, StatefulSets and DaemonSets; lists leave out `kind`, which is put back. */
export async function listControllers(cp: ControlPlane): Promise<readonly ControllerState[]> {
  const kinds = [
    ['Deployment', paths.deployments],
    ['StatefulSet', paths.statefulSets],
    ['DaemonSet', paths.daemonSets],
  ] as const;
  const lists = kinds.map(async ([kind, path]) => {
    const controllers = await list<ControllerState>(cp, path);
    return controllers.map((controller) => ({ ...controller, kind }));
  });
  return (await Promise.all(lists)).flat();
}

/** All PodDisruptionBudgets. */
export function listBudgets(cp: ControlPlane): Promise<readonly BudgetState[]> {
  return list(cp, paths.budgets);
}

/** NodeMetrics of all nodes that have them; a node that uses nothing has none. */
export function listNodeMetrics(cp: ControlPlane): Promise<readonly UsageState[]> {
  return list(cp, paths.nodeMetrics);
}

/** PodMetrics of all pods that have them; a new pod has none for some 20 s. */
export function listPodMetrics(cp: ControlPlane): Promise<readonly UsageState[]> {
  return list(cp, paths.podMetrics);
}

/** Whether a condition of that type is True. */
export function hasCondition(
  object: { readonly status: { readonly conditions?: readonly Condition[] } },
  type: string,
) {
  return (object.status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}

/** `namespace/name`, or the bare name of what has no namespace. */
export function qualifiedName({ metadata }: { readonly metadata: Metadata }): string {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}

/** Millicores of a CPU quantity as Kubernetes writes them: `2`, `250m`, `1500000n`, `80u`. */
export function milliCpuOf(quantity: string): number {
  const [, digits = '', suffix = ''] = /^([0-9.]+)([num]?)$/.exec(quantity) ?? [];
  const divisor = { n: 1e6, u: 1e3, m: 1, '': 1e-3 }[suffix];
  if (digits === '' || divisor === undefined) {
    throw new Error(`"${quantity}" is not a CPU quantity`);
  }
  return Number(digits) / divisor;
}

/** CPU in millicores that NodeMetrics or PodMetrics report. */
export function usedMilliCpu({ usage, containers = [] }: UsageState): number {
  const parts = usage === undefined ? containers.map((container) => container.usage) : [usage];
  return parts.reduce((sum, part) => sum + milliCpuOf(part.cpu), 0);
}

async function list<Item>(cp: ControlPlane, path: string): Promise<readonly Item[]> {
  const { items }: { readonly items: readonly Item[] } = JSON.parse(await cp.kubectl(['get', `--raw=${path}`]));
  return items;
}
