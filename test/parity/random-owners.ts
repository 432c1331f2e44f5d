import { createRandom, type Random } from '../support/random.ts';
import { between, chance, pick, pickSome } from './choice.ts';
import type { Json, KubeObject, LabelsJson, PodObject } from './kube-object.ts';
import { randomAffinityTerm, randomAntiAffinityTerm, randomSpread } from './random-affinity.ts';
import { addPorts, claimVolume, type RandomCluster, randomPort } from './random-cluster.ts';
import { randomContainers } from './random-containers.ts';
import { randomCsiNodes, randomNodes, TAINTS } from './random-nodes.ts';
import { randomStorage } from './random-storage.ts';
import { HOSTNAME, NAMESPACE_LABELS, NAMESPACES, randomLabels, randomPodLabels, ZONE } from './vocabulary.ts';

/** A ReplicaSet to be, and the pods that it starts with. */
export interface RandomOwner {
  readonly name: string;
  readonly namespace: string;
  readonly template: { readonly metadata: { readonly labels: LabelsJson }; readonly spec: Json };
  readonly replicas: number;
}

/** A cluster for whole plans: nodes without pods, and what shall run there. */
export interface PlanScene {
  readonly cluster: RandomCluster;
  readonly owners: readonly RandomOwner[];
  /** Nodes that all pods would like to start on. */
  readonly crowded: readonly string[];
}

/** The scene of this seed: always the same. */
export function randomScene(seed: number): PlanScene {
  const random = createRandom(seed);
  const prefix = `p${seed}`;
  const nodes = randomNodes(random, prefix);
  const { volumes, claims } = randomStorage(random, prefix, nodes);
  const cluster: RandomCluster = {
    seed,
    namespaceLabels: new Map(NAMESPACES.map((name) => [name, randomLabels(random, NAMESPACE_LABELS, 0.8)])),
    nodes,
    csiNodes: randomCsiNodes(random, nodes),
    volumes,
    claims,
    pods: [],
    terminating: [],
    finished: [],
    resized: new Map(),
    nominated: new Map(),
  };
  const owners = Array.from({ length: between(random, 6, 10) }, (_, index) => randomOwner(random, index, claims));
  const crowded = pickSome(random, nodes, 2).map(({ metadata }) => metadata.name);
  return { cluster, owners, crowded };
}

function randomOwner(random: Random, index: number, claims: readonly KubeObject[]): RandomOwner {
  const name = `owner-${index}`;
  const namespace = pick(random, NAMESPACES);
  const labels = { ...randomPodLabels(random), owner: name };
  const spec = templateSpec(random, labels, namespace, claims);
  return { name, namespace, template: { metadata: { labels }, spec }, replicas: between(random, 2, 8) };
}

function templateSpec(random: Random, labels: LabelsJson, namespace: string, claims: readonly KubeObject[]): Json {
  const containers = randomContainers(random, {
    cpu: 10 * between(random, 5, 50),
    memory: 16 * between(random, 1, 30),
  });
  const tolerations = pickSome(random, TAINTS, between(random, 0, 2)).map(({ key }) => ({ key, operator: 'Exists' }));
  return {
    terminationGracePeriodSeconds: 0,
    ...(chance(random, 0.15) ? addPorts(random, containers, [randomPort(random)]) : containers),
    ...(tolerations.length === 0 ? {} : { tolerations }),
    ...(chance(random, 0.5) ? { affinity: randomAffinity(random, labels) } : {}),
    ...(chance(random, 0.4) ? { topologySpreadConstraints: randomSpread(random, labels) } : {}),
    ...(chance(random, 0.2) ? { volumes: sharedVolume(random, namespace, claims) } : {}),
  };
}

function randomAffinity(random: Random, labels: LabelsJson): Json {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  return pick<() => Json>(random, [
    () => ({ podAntiAffinity: { [required]: [spreadOut(labels)] } }),
    () => ({ podAntiAffinity: { [required]: [randomAntiAffinityTerm(random, randomPodLabels(random))] } }),
    () => ({ podAffinity: { [required]: [randomAffinityTerm(random, labels)] } }),
    () => ({ podAffinity: { [required]: [{ ...spreadOut(labels), topologyKey: ZONE }] } }),
    () => ({ nodeAffinity: { [required]: { nodeSelectorTerms: [{ matchExpressions: [nodeExpression(random)] }] } } }),
  ])();
}

/** About the pods of the owner itself. */
function spreadOut({ owner }: LabelsJson): Json {
  return { topologyKey: HOSTNAME, labelSelector: { matchLabels: { owner } } };
}

function nodeExpression(random: Random): Json {
  return pick(random, [
    { key: ZONE, operator: 'In', values: ['zone-a', 'zone-b'] },
    { key: 'disk', operator: 'NotIn', values: ['hdd'] },
    { key: 'gen', operator: 'Gt', values: ['0'] },
    { key: 'rack', operator: 'Exists' },
  ]);
}

/** A claim that several pods may use. */
function sharedVolume(random: Random, namespace: string, claims: readonly KubeObject[]): readonly Json[] {
  const bound = claims.filter(
    ({ metadata, spec }) => metadata.namespace === namespace && String(spec?.['volumeName']).includes('-volume-'),
  );
  return pickSome(random, bound, 1).map(({ metadata }) => claimVolume(metadata.name));
}

/** The first pods of an owner: like its template, but that they start on the crowded nodes where they may. */
export function firstPods(
  { name, namespace, template, replicas }: RandomOwner,
  crowded: readonly string[],
): PodObject[] {
  const preferred = crowded.map((node) => ({
    weight: 100,
    preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] },
  }));
  const affinity = (template.spec['affinity'] ?? {}) as Readonly<Record<string, Json>>;
  const nodeAffinity = { ...affinity['nodeAffinity'], preferredDuringSchedulingIgnoredDuringExecution: preferred };
  return Array.from({ length: replicas }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: `${name}-${index}`, labels: template.metadata.labels },
    spec: { ...template.spec, affinity: { ...affinity, nodeAffinity } },
  }));
}

/** The ReplicaSet that takes over the pods of an owner. */
export function replicaSetOf({ name, namespace, template }: RandomOwner, replicas: number): KubeObject {
  const selector = { matchLabels: { owner: name } };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { namespace, name },
    spec: { replicas, selector, template },
  };
}
