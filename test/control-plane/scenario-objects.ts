import type { ScenarioNode, ScenarioWorkload } from './scenario-parse.ts';
import type { NamespaceEntry } from './scenario-schema.ts';

/** The label that every pod of a workload carries, with the workload's name. */
export const workloadLabel = 'app';

/** A Namespace. */
export function namespaceObject({ name, labels, annotations }: NamespaceEntry): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, annotations } };
}

/** A Node that kwok takes care of. */
export function nodeObject(node: ScenarioNode): object {
  const size = { cpu: node.cpu, memory: node.memory, pods: String(node.pods) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node.name,
      labels: { 'kubernetes.io/hostname': node.name, 'kubernetes.io/os': 'linux', ...node.labels },
      annotations: { 'metrics.k8s.io/resource-metrics-path': `/metrics/nodes/${node.name}/metrics/resource` },
    },
    spec: { taints: node.taints },
    status: { capacity: size, allocatable: size },
  };
}

/** The Deployment, StatefulSet or DaemonSet, and its PodDisruptionBudget if it has one. */
export function workloadObjects(workload: ScenarioWorkload): readonly object[] {
  const { name, namespace, kind, pdb } = workload;
  const selector = { matchLabels: { [workloadLabel]: name } };
  const controller = {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace, labels: { ...workload.labels, [workloadLabel]: name } },
    spec: {
      ...(kind === 'DaemonSet' ? {} : { replicas: workload.replicas }),
      ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
      selector,
      template: podTemplate(workload),
    },
  };
  if (pdb === undefined) {
    return [controller];
  }
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec: { ...pdb, selector },
  };
  return [budget, controller];
}

function podTemplate(workload: ScenarioWorkload): object {
  const { name, usage, startup, termination } = workload;
  return {
    metadata: {
      labels: { ...workload.labels, [workloadLabel]: name },
      annotations: {
        'kwok.x-k8s.io/usage-cpu': usage.cpu,
        'kwok.x-k8s.io/usage-memory': usage.memory,
        ...(startup === undefined ? {} : { 'evenkeel.dev/test-startup': startup }),
        ...(termination === undefined ? {} : { 'evenkeel.dev/test-termination': termination }),
        ...workload.annotations,
      },
    },
    spec: {
      containers: [{ name: 'main', image: 'simulated', resources: { requests: workload.requests } }],
      ...workload.podSpec,
    },
  };
}
