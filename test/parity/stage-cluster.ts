import type { Condition, KubeObject, PodObject } from './kube-object.ts';
import { keyOf } from './kube-object.ts';
import type { RandomCluster } from './random-cluster.ts';
import { NAMESPACE_LABELS, NAMESPACES } from './vocabulary.ts';
import type { World } from './world.ts';

/** Creates a cluster in an empty control plane, and waits until every controller has done with it. */
export async function stageCluster(world: World, cluster: RandomCluster): Promise<void> {
  const { api } = world;
  await relabelNamespaces(world, cluster);
  await api.createAll([...cluster.nodes, ...cluster.csiNodes, ...cluster.volumes]);
  await volumesAvailable(world, cluster.volumes);
  await api.createAll(cluster.claims);
  await Promise.all([nodesSettled(world, cluster), claimsSettled(world, cluster)]);
  await api.createAll(cluster.pods);
  await podsSettled(world, cluster);
  await changePods(world, cluster);
}

async function relabelNamespaces({ api }: World, { namespaceLabels }: RandomCluster): Promise<void> {
  const none = Object.fromEntries(Object.keys(NAMESPACE_LABELS).map((key) => [key, null]));
  for (const [name, labels] of namespaceLabels) {
    const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await api.patch(namespace, { metadata: { labels: { ...none, ...labels } } });
  }
}

/** Ready, and with exactly the taints that the controllers owe to what the node is. */
async function nodesSettled({ nodes }: World, cluster: RandomCluster): Promise<void> {
  await nodes.until('nodes are Ready', () =>
    cluster.nodes.every((node) => isSettledNode(nodes.get(keyOf(node)))) ? true : undefined,
  );
}

function isSettledNode(node: KubeObject | undefined): boolean {
  const taints = (node?.spec?.['taints'] ?? []) as readonly { readonly key: string }[];
  const has = (key: string): boolean => taints.some((taint) => taint.key === `node.kubernetes.io/${key}`);
  const cordoned = node?.spec?.['unschedulable'] === true;
  return conditionOf(node, 'Ready')?.status === 'True' && !has('not-ready') && has('unschedulable') === cordoned;
}

/** The condition of this type in an object's status. */
export function conditionOf(object: KubeObject | undefined, type: string): Condition | undefined {
  const status = object?.['status'] as { readonly conditions?: readonly Condition[] } | undefined;
  return status?.conditions?.find((condition) => condition.type === type);
}

/** The volume controller knows them: a claim that it meets before its volume waits for the next resync. */
export async function volumesAvailable({ volumes }: World, wanted: readonly KubeObject[]): Promise<void> {
  await volumes.until('volumes are Available', () =>
    wanted.every((volume) => phaseOf(volumes.get(keyOf(volume))) === 'Available') ? true : undefined,
  );
}

/** Claims whose volume is there are Bound. */
async function claimsSettled({ claims }: World, cluster: RandomCluster): Promise<void> {
  const volumes = new Set(cluster.volumes.map(keyOf));
  const bound = cluster.claims.filter(({ spec }) => volumes.has(String(spec?.['volumeName'])));
  await claims.until('claims are Bound', () =>
    bound.every((claim) => phaseOf(claims.get(keyOf(claim))) === 'Bound') ? true : undefined,
  );
}

function phaseOf(object: KubeObject | undefined): string | undefined {
  return (object?.['status'] as { readonly phase?: string } | undefined)?.phase;
}

async function podsSettled({ pods }: World, cluster: RandomCluster): Promise<void> {
  const isSettled = (pod: PodObject): boolean => {
    const now = pods.get(keyOf(pod));
    return pod.spec.nodeName === undefined
      ? conditionOf(now, 'PodScheduled')?.reason === 'Unschedulable'
      : phaseOf(now) === 'Running';
  };
  await pods.until('pods run', () => (cluster.pods.every(isSettled) ? true : undefined));
}

/** Brings pods into the states that only a running cluster has. */
async function changePods({ api, pods }: World, cluster: RandomCluster): Promise<void> {
  const podOf = (key: string): KubeObject => {
    const [namespace = '', name = ''] = key.split('/');
    return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name } };
  };
  for (const [key, status] of cluster.resized) {
    await api.patch(podOf(key), { status }, 'status');
  }
  for (const [key, nominatedNodeName] of cluster.nominated) {
    await api.patch(podOf(key), { status: { nominatedNodeName } }, 'status');
  }
  for (const key of cluster.finished) {
    await api.patch(podOf(key), { status: { phase: 'Succeeded' } }, 'status');
  }
  for (const key of cluster.terminating) {
    await api.remove(podOf(key));
  }
  await pods.until('pods are terminating', () =>
    cluster.terminating.every((key) => pods.get(key)?.metadata.deletionTimestamp !== undefined) ? true : undefined,
  );
}

/** Removes the cluster, and waits until nothing is left of it. */
export async function clearCluster(world: World, cluster: RandomCluster): Promise<void> {
  const { api, pods, nodes, claims, volumes } = world;
  for (const pod of pods.all().filter(({ metadata }) => metadata.finalizers !== undefined)) {
    await api.patch(pod, { metadata: { finalizers: null } });
  }
  await api.removeAll(['ReplicaSet', 'Pod', 'PersistentVolumeClaim', 'PersistentVolume', 'CSINode'], NAMESPACES);
  const none = (goal: string, mirror: World['pods']): Promise<true> =>
    mirror.until(`${goal} of cluster ${cluster.seed} are gone`, () => (mirror.all().length === 0 ? true : undefined));
  await none('pods', pods);
  await none('claims', claims);
  await none('volumes', volumes);
  await api.removeAll(['Node'], []);
  await none('nodes', nodes);
}
