import { createRandom, type Random } from '../support/random.ts';
import { between, chance, pick, pickAny, pickSome, sample, weighted } from './choice.ts';
import { type Json, type KubeObject, keyOf, type LabelsJson, type PodObject } from './kube-object.ts';
import { randomAntiAffinityTerm } from './random-affinity.ts';
import { type Amounts, randomContainers } from './random-containers.ts';
import { randomCsiNodes, randomNodes } from './random-nodes.ts';
import { randomStorage } from './random-storage.ts';
import {
  FINALIZER,
  NAMESPACE_LABELS,
  NAMESPACES,
  PRIORITY_CLASSES,
  randomLabels,
  randomPodLabels,
} from './vocabulary.ts';

/** A cluster as a test asks for it. Pods are named by `namespace/name`. */
export interface RandomCluster {
  readonly seed: number;
  readonly namespaceLabels: ReadonlyMap<string, LabelsJson>;
  readonly nodes: readonly KubeObject[];
  readonly csiNodes: readonly KubeObject[];
  readonly volumes: readonly KubeObject[];
  readonly claims: readonly KubeObject[];
  /** Bound from the start by `spec.nodeName`, but for those that are nominated. */
  readonly pods: readonly PodObject[];
  /** Pods that are deleted and stay, held by a finalizer. */
  readonly terminating: readonly string[];
  /** Pods that have run to their end. */
  readonly finished: readonly string[];
  /** Statuses of pods whose containers are being resized in place. */
  readonly resized: ReadonlyMap<string, Json>;
  /** Pods that fit nowhere, with the node that is kept for them. */
  readonly nominated: ReadonlyMap<string, string>;
}

/** The cluster of this seed: always the same. */
export function randomCluster(seed: number): RandomCluster {
  const random = createRandom(seed);
  const prefix = `c${seed}`;
  const nodes = randomNodes(random, prefix);
  const csiNodes = randomCsiNodes(random, nodes);
  const { volumes, claims } = randomStorage(random, prefix, nodes);
  const bound = Array.from({ length: between(random, 10, 40) }, (_, index) =>
    randomPod(random, `pod-${index}`, nodes, claims),
  );
  const nominee = chance(random, 0.7) ? [nominatedPod(random)] : [];
  return {
    seed,
    namespaceLabels: new Map(NAMESPACES.map((name) => [name, randomLabels(random, NAMESPACE_LABELS, 0.8)])),
    nodes,
    csiNodes,
    volumes,
    claims,
    pods: [...bound, ...nominee],
    terminating: bound.filter(({ metadata }) => metadata.finalizers !== undefined).map(keyOf),
    finished: pickSome(random, bound.filter(isPlain), 1).map(keyOf),
    resized: new Map(pickSome(random, bound.filter(isPlain).slice(2), 2).map((pod) => [keyOf(pod), resize(random)])),
    nominated: new Map(nominee.map((pod) => [keyOf(pod), pick(random, nodes).metadata.name])),
  };
}

/** Neither held by a finalizer nor made of several containers. */
function isPlain({ metadata, spec }: PodObject): boolean {
  const { containers, initContainers, resources } = spec;
  const several = Array.isArray(containers) && containers.length > 1;
  return metadata.finalizers === undefined && !several && initContainers === undefined && resources === undefined;
}

function randomPod(
  random: Random,
  name: string,
  nodes: readonly KubeObject[],
  claims: readonly KubeObject[],
): PodObject {
  const namespace = pick(random, NAMESPACES);
  const labels = randomPodLabels(random);
  const antiAffinity = chance(random, 0.12) ? [randomAntiAffinityTerm(random)] : [];
  const usable = claims.filter(({ metadata, spec }) => metadata.namespace === namespace && spec?.['volumeName']);
  const claim = chance(random, 0.2) ? pickAny(random, usable) : undefined;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels, ...(chance(random, 0.08) ? { finalizers: [FINALIZER] } : {}) },
    spec: {
      nodeName: pick(random, nodes).metadata.name,
      terminationGracePeriodSeconds: 0,
      tolerations: [{ operator: 'Exists' }],
      ...withPorts(random, randomContainers(random, randomAmounts(random))),
      ...(antiAffinity.length === 0
        ? {}
        : { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: antiAffinity } } }),
      ...(claim === undefined ? {} : { volumes: [claimVolume(claim.metadata.name)] }),
    },
  };
}

/** A volume of a pod that mounts this claim. */
export function claimVolume(claimName: string): Json {
  return { name: claimName, persistentVolumeClaim: { claimName } };
}

function randomAmounts(random: Random): Amounts {
  return {
    // Half a millicore is rounded up.
    cpu: between(random, 0, 400) + pick(random, [0, 0.5]),
    memory: 16 * between(random, 0, 40) + pick(random, [0, 0.5]),
    ...(chance(random, 0.3) ? { ephemeralStorage: 100 * between(random, 1, 15) } : {}),
    ...(chance(random, 0.1) ? { gpu: 1 } : {}),
    ...(chance(random, 0.1) ? { hugePages: 2 * between(random, 1, 4) } : {}),
  };
}

/** A host port, as one container of a pod names it. */
export function randomPort(random: Random): Json {
  return {
    containerPort: 80,
    hostPort: pick(random, [8080, 8081, 9090]),
    protocol: pick(random, ['TCP', 'TCP', 'UDP']),
    ...weighted<Json>(random, [
      [3, {}],
      [1, { hostIP: '0.0.0.0' }],
      [2, { hostIP: '127.0.0.1' }],
      [1, { hostIP: '10.0.0.7' }],
    ]),
  };
}

/** The first container, sometimes a sidecar, gets a host port. */
function withPorts(random: Random, fields: Json): Json {
  return chance(random, 0.25) ? addPorts(random, fields, [randomPort(random)]) : fields;
}

/** Containers of which one, sometimes a sidecar, has these ports. */
export function addPorts(random: Random, fields: Json, ports: readonly Json[]): Json {
  const list = Array.isArray(fields['initContainers']) && chance(random, 0.5) ? 'initContainers' : 'containers';
  const [first, ...rest] = fields[list] as readonly Json[];
  return { ...fields, [list]: [{ ...first, ports }, ...rest] };
}

/** What the kubelet has allocated is not what the spec asks; the container is called `main`. */
function resize(random: Random): Json {
  const requests = { cpu: `${between(random, 1, 60) * 10}m`, memory: `${between(random, 1, 60) * 16}Mi` };
  const status = { name: 'main', image: 'main', imageID: '', ready: true, restartCount: 0, resources: { requests } };
  const infeasible = { type: 'PodResizePending', status: 'True', reason: pick(random, ['Infeasible', 'Deferred']) };
  return {
    containerStatuses: [{ ...status, ...(chance(random, 0.6) ? { allocatedResources: requests } : {}) }],
    ...(chance(random, 0.5) ? { conditions: [infeasible] } : {}),
  };
}

/** The scheduler keeps room for it, and finds no node that it would accept. */
function nominatedPod(random: Random): PodObject {
  const ports = sample(random, [randomPort(random)], 0.4);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: pick(random, NAMESPACES), name: 'nominated', labels: randomPodLabels(random) },
    spec: {
      priorityClassName: pick(random, Object.values(PRIORITY_CLASSES)),
      nodeSelector: { nowhere: 'yes' },
      ...addPorts(random, randomContainers(random, { cpu: between(random, 1, 15) * 100, memory: 512 }), ports),
    },
  };
}
