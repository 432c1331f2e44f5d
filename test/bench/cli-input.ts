import { POPULATIONS } from './full-size-objects.ts';

type Raw = Readonly<Record<string, unknown>>;

/** Where the pods of Deployments begin, thirty for each, in the population of pods. */
const FIRST_DEPLOYED = 25_000;
const REPLICAS = 30;
const REVISIONS = 6;

function made(path: string, apiVersion: string, kind: string, index: number): Raw {
  const population = POPULATIONS.get(path);
  if (population === undefined) {
    throw new RangeError(`no population ${path}`);
  }
  const object = population.make(index);
  const { managedFields: _hidden, ...metadata } = object['metadata'] as Raw;
  return { apiVersion, kind, ...object, metadata };
}

function each(count: number, make: (index: number) => Raw): readonly Raw[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/**
 * Objects as `kubectl get -o json` prints them, which hides managedFields, of a cluster whose nodes are unevenly loaded: nodes,
 * pods of Deployments dealt out to them, ReplicaSets, Deployments, PodDisruptionBudgets, namespaces and metrics at `takenAt`.
 */
export function fullSizeCluster(nodes: number, pods: number, takenAt: string): readonly Raw[] {
  const deployments = Math.ceil(pods / REPLICAS);
  const nameOf = (index: number): string =>
    (made('/api/v1/nodes', 'v1', 'Node', index % nodes)['metadata'] as { name: string }).name;
  return [
    ...each(nodes, (index) => made('/api/v1/nodes', 'v1', 'Node', index)),
    ...each(pods, (index) => {
      const pod = made('/api/v1/pods', 'v1', 'Pod', FIRST_DEPLOYED + index);
      return { ...pod, spec: { ...(pod['spec'] as Raw), nodeName: nameOf(index) } };
    }),
    ...each(deployments * REVISIONS, (index) => made('/apis/apps/v1/replicasets', 'apps/v1', 'ReplicaSet', index)),
    ...each(deployments, (index) => made('/apis/apps/v1/deployments', 'apps/v1', 'Deployment', index)),
    ...each(deployments, (index) =>
      made('/apis/policy/v1/poddisruptionbudgets', 'policy/v1', 'PodDisruptionBudget', index),
    ),
    ...each(250, (index) => made('/api/v1/namespaces', 'v1', 'Namespace', index)),
    ...each(nodes, (index) => ({
      ...made('/apis/metrics.k8s.io/v1beta1/nodes', 'metrics.k8s.io/v1beta1', 'NodeMetrics', index),
      timestamp: takenAt,
      usage: { cpu: `${loadOf(index) * (pods / nodes)}m`, memory: '31457280Ki' },
    })),
    ...each(pods, (index) => ({
      ...made('/apis/metrics.k8s.io/v1beta1/pods', 'metrics.k8s.io/v1beta1', 'PodMetrics', FIRST_DEPLOYED + index),
      timestamp: takenAt,
      containers: [{ name: 'main', usage: { cpu: `${loadOf(index % nodes)}m`, memory: '98304Ki' } }],
    })),
  ];
}

/** Millicores of each pod on the node: from 100 to 400. */
function loadOf(node: number): number {
  return 100 + ((node * 37) % 301);
}
