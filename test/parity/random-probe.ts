import type { NodeInfo } from '../../src/model/node.ts';
import type { PodInfo } from '../../src/model/pod.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { createRandom, type Random } from '../support/random.ts';
import { between, chance, pick, pickSome, weighted } from './choice.ts';
import type { Json, LabelsJson, PodObject } from './kube-object.ts';
import { randomAffinityTerm, randomAntiAffinityTerm, randomSpread } from './random-affinity.ts';
import { addPorts, claimVolume, type RandomCluster, randomPort } from './random-cluster.ts';
import { type Amounts, randomContainers } from './random-containers.ts';
import { randomNodeRequirements, tolerationsOf } from './random-node-affinity.ts';
import { type Storage, waitingStorage } from './random-storage.ts';
import { GPU, NAMESPACES, PRIORITY_CLASSES, randomPodLabels } from './vocabulary.ts';

/** A pod to ask the scheduler about. */
export interface Probe {
  readonly pod: PodObject;
  /** The only node that it may run on; `undefined`: any. */
  readonly node: string | undefined;
  /** Volumes and claims that exist for it alone. */
  readonly storage: Storage;
}

/** What probes are made for. */
export interface ProbeContext {
  readonly cluster: RandomCluster;
  readonly snapshot: ClusterSnapshot;
}

interface Making extends ProbeContext {
  readonly random: Random;
  readonly name: string;
  readonly namespace: string;
  readonly labels: LabelsJson;
  /** The node that the probe is made for. */
  readonly target: NodeInfo;
}

/** Part of a probe. */
interface Part {
  readonly spec: Json;
  readonly storage?: Storage;
}

/** Makes one constraint that the target mostly meets, or mostly does not. */
type Ingredient = (making: Making, meet: boolean) => Part;

const NO_STORAGE: Storage = { volumes: [], claims: [] };

/** Weight and maker of every kind of constraint. */
const INGREDIENTS: readonly (readonly [number, Ingredient])[] = [
  [2, nodeRequirements],
  [2, ports],
  [2, podAffinity],
  [2, podAntiAffinity],
  [3, spread],
  [3, boundClaims],
  [0.25, waitingClaim],
  [0.1, ephemeralVolume],
  [0.3, runtimeClass],
];

/** The probe of this number in this cluster: always the same. Four of five are pinned to a node, unless none is to be. */
export function randomProbe(context: ProbeContext, index: number, where: 'Mixed' | 'Anywhere' = 'Mixed'): Probe {
  const random = createRandom((context.cluster.seed + 1) * 7919 + index * 104_729);
  const target = pick(random, context.snapshot.nodes);
  const name = `probe-${index}`;
  const namespace = pick(random, NAMESPACES);
  const making: Making = { ...context, random, name, namespace, labels: randomPodLabels(random), target };
  const parts = randomParts(making);
  const spec = mergeSpecs(parts.map((part) => part.spec));
  const pod: PodObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: making.labels },
    spec: {
      priorityClassName: pick(random, Object.values(PRIORITY_CLASSES)),
      terminationGracePeriodSeconds: 0,
      ...spec,
    },
  };
  const storage = parts.find((part) => part.storage !== undefined)?.storage ?? NO_STORAGE;
  return where === 'Mixed' && chance(random, 0.8)
    ? { pod: pinned(pod, target.name), node: target.name, storage }
    : { pod, node: undefined, storage };
}

/** Resources and tolerations always, and up to three more; in four of ten probes, one of them is made to be refused. */
function randomParts(making: Making): readonly Part[] {
  const { random } = making;
  const chosen = Array.from({ length: between(random, 0, 3) }, () => weighted(random, INGREDIENTS));
  const ingredients = [...new Set([resources, tolerations, ...chosen])];
  const refused = chance(random, 0.35) ? random.below(ingredients.length) : -1;
  return ingredients.map((ingredient, index) => ingredient(making, index !== refused));
}

/** Merges objects, and appends lists; of other values the last counts. */
function mergeSpecs(specs: readonly Json[]): Json {
  const merged: Record<string, unknown> = {};
  for (const spec of specs) {
    for (const [key, value] of Object.entries(spec)) {
      merged[key] = mergeValues(merged[key], value);
    }
  }
  return merged;
}

function mergeValues(left: unknown, right: unknown): unknown {
  if (Array.isArray(left) && Array.isArray(right)) {
    return [...left, ...right];
  }
  return isJson(left) && isJson(right) ? mergeSpecs([left, right]) : right;
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The pod with the name of the node in each of its required node-affinity terms, which are ORed. This changes what
 * topology spread counts under nodeAffinityPolicy Honor: the verdict to compare is that for the pinned pod.
 */
export function pinned(pod: PodObject, node: string): PodObject {
  const field = { key: 'metadata.name', operator: 'In', values: [node] };
  const affinity = asJson(pod.spec['affinity']);
  const nodeAffinity = asJson(affinity['nodeAffinity']);
  const required = asJson(nodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']);
  const terms = Array.isArray(required['nodeSelectorTerms']) ? required['nodeSelectorTerms'].map(asJson) : [{}];
  const nodeSelectorTerms = terms.map((term) => ({
    ...term,
    matchFields: [...(Array.isArray(term['matchFields']) ? term['matchFields'] : []), field],
  }));
  const pinning = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return {
    ...pod,
    spec: { ...pod.spec, affinity: { ...affinity, nodeAffinity: { ...nodeAffinity, ...pinning } } },
  };
}

function asJson(value: unknown): Json {
  return isJson(value) ? value : {};
}

/** Requests at the edge of what is free, or well within. */
function resources({ random, snapshot, target }: Making, meet: boolean): Part {
  const free = freeOn(target, snapshot);
  const amounts: Amounts = {
    cpu: share(random, free.cpu),
    memory: share(random, free.memory),
    ...(chance(random, 0.2) ? { ephemeralStorage: share(random, free.ephemeralStorage) } : {}),
    ...(chance(random, 0.15) ? { gpu: share(random, free.gpu) } : {}),
    ...(chance(random, 0.1) ? { hugePages: 2 * Math.floor(share(random, free.hugePages) / 2) } : {}),
  };
  const excess = pick(random, ['cpu', 'memory', 'ephemeralStorage', 'gpu'] as const);
  const wanted = meet ? amounts : { ...amounts, [excess]: Math.max(0, free[excess]) + pick(random, [1, 1, 50]) };
  return { spec: randomContainers(random, wanted) };
}

/** All of it, or a little. */
function share(random: Random, free: number): number {
  const most = Math.max(0, Math.floor(free));
  return chance(random, 0.15) ? most : Math.min(most, between(random, 0, Math.ceil(most / 4)));
}

const MIB = 2 ** 20;

/** What the pods of the snapshot leave of the node, in the units of Amounts. */
function freeOn({ name, allocatable }: NodeInfo, { pods }: ClusterSnapshot): Required<Amounts> {
  const there = pods.filter(({ nodeName }) => nodeName === name).map(({ constraints }) => constraints.requests);
  const sum = (amount: (requests: PodInfo['constraints']['requests']) => number): number =>
    there.reduce((total, requests) => total + amount(requests), 0);
  const extended = (key: string): number =>
    (allocatable.extended.get(key) ?? 0) - sum((requests) => requests.extended.get(key) ?? 0);
  return {
    cpu: allocatable.cpu - sum(({ cpu }) => cpu),
    memory: (allocatable.memory - sum(({ memory }) => memory)) / MIB,
    ephemeralStorage: (allocatable.ephemeralStorage - sum(({ ephemeralStorage }) => ephemeralStorage)) / MIB,
    gpu: extended(GPU),
    hugePages: extended('hugepages-2Mi') / MIB,
  };
}

/** Tolerations of the target's taints, in one of the forms there are, or of others. */
function tolerations({ random, target }: Making, meet: boolean): Part {
  return { spec: { tolerations: tolerationsOf(random, target, meet) } };
}

function nodeRequirements({ random, target }: Making, meet: boolean): Part {
  return { spec: randomNodeRequirements(random, target, meet) };
}

function ports({ random, snapshot, target }: Making, meet: boolean): Part {
  const used = snapshot.pods
    .filter(({ nodeName }) => nodeName === target.name)
    .flatMap(({ constraints }) => constraints.hostPorts);
  const taken = used.length > 0 && !meet ? pick(random, used) : undefined;
  const port =
    taken === undefined
      ? randomPort(random)
      : {
          containerPort: 80,
          hostPort: taken.port,
          protocol: taken.protocol,
          ...(chance(random, 0.5) ? { hostIP: taken.ip } : {}),
        };
  return { spec: addPorts(random, { containers: [{ name: 'door', image: 'registry.invalid/door:1' }] }, [port]) };
}

/** Pods that a term should find: near the target to be met, or any. */
function neighbours({ snapshot, target }: Making, near: boolean): readonly PodInfo[] {
  return snapshot.pods.filter(({ nodeName }) => !near || nodeName === target.name);
}

function podAffinity(making: Making, meet: boolean): Part {
  const { random } = making;
  const others = neighbours(making, meet);
  // One of eight terms finds its own pod, and with luck no other: the first of a group may go anywhere.
  const labels = others.length === 0 || chance(random, 0.12) ? making.labels : labelsOf(pick(random, others));
  return requiredPodTerms('podAffinity', [reaching(making, randomAffinityTerm(random, labels), meet)]);
}

/** Terms about pods of any namespace are met more often. */
function reaching({ random }: Making, term: Json, meet: boolean): Json {
  return meet && chance(random, 0.6) ? { ...term, namespaceSelector: {} } : term;
}

function podAntiAffinity(making: Making, meet: boolean): Part {
  const { random } = making;
  const others = neighbours(making, !meet);
  const labels = meet || others.length === 0 ? making.labels : labelsOf(pick(random, others));
  const terms = Array.from({ length: between(random, 1, 2) }, () => randomAntiAffinityTerm(random, labels));
  return requiredPodTerms('podAntiAffinity', meet ? terms : terms.map((term) => reaching(making, term, true)));
}

function labelsOf(pod: PodInfo): LabelsJson {
  return Object.fromEntries(pod.labels);
}

function requiredPodTerms(direction: 'podAffinity' | 'podAntiAffinity', terms: readonly Json[]): Part {
  return { spec: { affinity: { [direction]: { requiredDuringSchedulingIgnoredDuringExecution: terms } } } };
}

function spread({ random, labels }: Making): Part {
  return { spec: { topologySpreadConstraints: randomSpread(random, labels) } };
}

/** One or two claims of the pod's namespace; to be met, mostly of those that have a volume. */
function boundClaims({ random, cluster, namespace }: Making, meet: boolean): Part {
  const inside = cluster.claims.filter(({ metadata }) => metadata.namespace === namespace);
  const good = inside.filter(({ spec }) => spec?.['volumeName'] !== undefined && spec['volumeName'] !== 'gone');
  const chosen = pickSome(random, meet || chance(random, 0.7) ? good : inside, between(random, 1, 3));
  const missing = !meet && chance(random, 0.1) ? [claimVolume('not-there')] : [];
  return { spec: { volumes: [...chosen.map(({ metadata }) => claimVolume(metadata.name)), ...missing] } };
}

function waitingClaim({ random, name, namespace, cluster }: Making): Part {
  const own = `c${cluster.seed}-${name}`;
  return {
    spec: { volumes: [claimVolume(own)] },
    storage: waitingStorage(random, own, namespace, cluster.nodes),
  };
}

function ephemeralVolume({ random }: Making): Part {
  const storageClassName = pick(random, ['dynamic', 'dynamic-zonal', 'dynamic-now']);
  const resources = { requests: { storage: '1Gi' } };
  const volumeClaimTemplate = { spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources } };
  return { spec: { volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate } }] } };
}

/** A RuntimeClass that chooses nodes: admission adds its selector to the pod's. */
function runtimeClass(): Part {
  return { spec: { runtimeClassName: 'on-ssd' } };
}
