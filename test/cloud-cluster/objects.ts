import { createRandom, type Random } from '../support/random.ts';
import { CLOUD_WORKLOADS, type CloudWorkload } from './workloads.ts';

/** An object as `kubectl get -o json` prints it. */
export type CloudObject = Readonly<Record<string, unknown>>;

const TAKEN_AT = '2026-01-20T14:00:00Z';
const SAMPLED_AT = '2026-01-20T13:59:50Z';
const CREATED_AT = '2026-01-08T09:12:40Z';
const READY_AT = '2026-01-08T09:12:52Z';
const REGION = 'eu-central-1';
const ZONES = ['a', 'b', 'c'] as const;
const NODE = { cpu: 7910, memory: 29_500, pods: 58 };

/** A node with what is placed on it. */
interface Place {
  readonly name: string;
  readonly zone: string;
  /** How much more than elsewhere pods are given to it. */
  readonly pull: number;
  requested: number;
  used: [cpu: number, memory: number];
}

/**
 * A cluster as clouds have them, as one List: so many nodes in three zones, named by their addresses, with the pods of a shop
 * and metrics of all of them. Some nodes are much fuller than others. The same for the same seed.
 */
export function cloudCluster(nodes: number, seed = 7): CloudObject {
  const random = createRandom(seed);
  const places = Array.from({ length: nodes }, (_, index) => aPlace(index, nodes, random));
  const namespaces = [...new Set(CLOUD_WORKLOADS.map(({ namespace }) => namespace))];
  const workloads = CLOUD_WORKLOADS.flatMap((workload) => workloadObjects(workload, places, random));
  const items = [
    ...places.flatMap(nodeObjects),
    ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...workloads,
  ];
  return {
    apiVersion: 'v1',
    kind: 'List',
    metadata: { annotations: { 'evenkeel.dev/taken-at': TAKEN_AT } },
    items,
  };
}

/** Zones have neighbouring subnets, and a node some address of its own. */
function aPlace(index: number, nodes: number, random: Random): Place {
  const perZone = Math.ceil(nodes / ZONES.length);
  const zone = Math.floor(index / perZone);
  const host = 1 + (index % perZone) * 2 + random.below(2);
  const address = `10-0-${zone * 32 + Math.floor(host / 250)}-${4 + (host % 250)}`;
  return {
    name: `ip-${address}.${REGION}.compute.internal`,
    zone: `${REGION}${ZONES[zone] ?? 'a'}`,
    pull: Math.exp(0.45 * random.normal()),
    requested: 0,
    used: [120, 900],
  };
}

function nodeObjects({ name, zone, used: [cpu, memory] }: Place): readonly CloudObject[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        uid: `node-${name}`,
        creationTimestamp: CREATED_AT,
        labels: {
          'kubernetes.io/hostname': name,
          'node.kubernetes.io/instance-type': 'm6i.2xlarge',
          'eks.amazonaws.com/nodegroup': 'general',
          'topology.kubernetes.io/region': REGION,
          'topology.kubernetes.io/zone': zone,
        },
      },
      status: {
        allocatable: { cpu: `${NODE.cpu}m`, memory: `${NODE.memory}Mi`, pods: String(NODE.pods) },
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: READY_AT }],
      },
    },
    {
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'NodeMetrics',
      metadata: { name },
      timestamp: SAMPLED_AT,
      window: '15s',
      usage: usageOf(cpu, memory),
    },
  ];
}

function usageOf(cpu: number, memory: number): CloudObject {
  return { cpu: `${Math.round(cpu)}m`, memory: `${Math.round(memory)}Mi` };
}

/** The controllers of a workload, its pods on their nodes, and its PodDisruptionBudget. */
function workloadObjects(workload: CloudWorkload, places: readonly Place[], random: Random): readonly CloudObject[] {
  const { namespace, name, kind, perHundred } = workload;
  const isDaemonSet = kind === 'DaemonSet';
  const replicas = isDaemonSet ? places.length : Math.max(2, Math.round((perHundred * places.length) / 100));
  const hash = random
    .below(2 ** 31)
    .toString(36)
    .padStart(6, 'x');
  const own = {
    name,
    namespace,
    uid: `${kind}-${namespace}-${name}`,
    generation: 1,
    creationTimestamp: CREATED_AT,
  };
  const status = {
    observedGeneration: 1,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  };
  const top = { apiVersion: 'apps/v1', kind, metadata: own, spec: isDaemonSet ? {} : { replicas }, status };
  const set = {
    ...top,
    kind: 'ReplicaSet',
    metadata: {
      ...own,
      name: `${name}-${hash}`,
      uid: `ReplicaSet-${namespace}-${name}`,
      ownerReferences: [ownedBy(top)],
    },
  };
  const owner = kind === 'Deployment' ? set : top;
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace, generation: 1 },
    spec: { selector: { matchLabels: { app: name } }, maxUnavailable: '25%' },
    status: { observedGeneration: 1, disruptionsAllowed: Math.max(1, Math.floor(replicas / 4)) },
  };
  const pods = Array.from({ length: replicas }, (_, index) => {
    const place = isDaemonSet ? places[index] : chosen(places, workload, random);
    const suffix = kind === 'StatefulSet' ? String(index) : letters(random);
    return podObjects(workload, `${owner.metadata.name}-${suffix}`, ownedBy(owner), place, random);
  });
  return [...pods.flat(), top, ...(kind === 'Deployment' ? [set] : []), ...(isDaemonSet ? [] : [budget])];
}

function ownedBy({ kind, metadata }: { readonly kind: string; readonly metadata: { name: string; uid: string } }) {
  return { apiVersion: 'apps/v1', kind, name: metadata.name, uid: metadata.uid, controller: true };
}

/** Of three nodes with room for what a pod requests and uses the one that pulls most. */
function chosen(places: readonly Place[], { request, use }: CloudWorkload, random: Random): Place | undefined {
  const withRoom = places.filter(
    ({ requested, used }) => Math.max(requested + request[0], used[0] + use[0]) <= 0.93 * NODE.cpu,
  );
  const [first, second, third] = [0, 1, 2].map(() => withRoom[random.below(withRoom.length)]);
  return [first, second, third].reduce((best, each) => ((each?.pull ?? 0) > (best?.pull ?? 0) ? each : best));
}

/** Five of the letters and digits that Kubernetes makes names of. */
function letters(random: Random): string {
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
  return Array.from({ length: 5 }, () => alphabet[random.below(alphabet.length)]).join('');
}

function podObjects(
  { namespace, name: app, request, use }: CloudWorkload,
  name: string,
  owner: CloudObject,
  place: Place | undefined,
  random: Random,
): readonly CloudObject[] {
  if (place === undefined) {
    throw new RangeError(`no node has room for ${namespace}/${name}`);
  }
  const factor = Math.exp(0.25 * random.normal());
  const [cpu, memory] = [use[0] * factor, use[1] * (0.85 + 0.3 * random.next())];
  place.requested += request[0];
  place.used = [place.used[0] + cpu, place.used[1] + memory];
  const metadata = { name, namespace };
  const resources = { requests: { cpu: `${request[0]}m`, memory: `${request[1]}Mi` } };
  return [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...metadata,
        uid: `pod-${namespace}-${name}`,
        creationTimestamp: CREATED_AT,
        labels: { app },
        ownerReferences: [owner],
      },
      spec: { nodeName: place.name, containers: [{ name: 'main', image: `registry.example/${app}:4`, resources }] },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: READY_AT }] },
    },
    {
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'PodMetrics',
      metadata,
      timestamp: SAMPLED_AT,
      window: '15s',
      containers: [{ name: 'main', usage: usageOf(cpu, memory) }],
    },
  ];
}
