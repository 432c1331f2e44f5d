import { compareText } from '../model/compare-text.ts';
import { escapeText } from '../model/escape.ts';
import type { NodeInfo } from '../model/node.ts';
import type { PodInfo } from '../model/pod.ts';
import type { ClusterSnapshot, UsageSample } from '../model/snapshot.ts';
import { type ClaimInfo, DRIVER_MISSING, type StorageInfo } from '../model/storage.ts';
import { type EpochSeconds, epochSeconds } from '../model/units.ts';
import type { PdbInfo, WorkloadInfo } from '../model/workload.ts';
import { assembleServiceLevels } from './assemble-service-levels.ts';
import type { Collection } from './collection.ts';
import { compareNames, sortByKey } from './order.ts';
import { allowsUnready, budgetHealth, disruptionsAllowed } from './pdb-allowance.ts';
import { byStart } from './project/past-moves.ts';
import { priorityOf } from './project/priority-class.ts';
import type { ProjectedStorageClass } from './project/storage-class.ts';

/** Puts a collection in order and resolves what one object says about another. `problems` gains what is found amiss. */
export function assembleSnapshot(
  collection: Collection,
  takenAt: EpochSeconds | undefined,
  problems: Set<string>,
): ClusterSnapshot {
  const { pods, failedPods } = assemblePods(collection, problems);
  const workloads = assembleWorkloads(collection, [...pods, ...failedPods], problems);
  const instant = takenAt ?? newestInstant(collection);
  const appGraphs = [...collection.of('AppGraph').values()].sort(compareNames);
  return {
    takenAt: instant,
    nodes: assembleNodes(collection, pods),
    pods,
    ...(failedPods.length === 0 ? {} : { failedPods }),
    workloads,
    namespaces: sortByKey(mapValues(collection.of('Namespace'), ({ labels }) => labels)),
    pdbs: assemblePdbs(collection, pods, workloads),
    storage: assembleStorage(collection),
    pastMoves: [...collection.of('RebalancePlan').values()].flatMap(({ moves }) => moves).sort(byStart),
    ...(appGraphs.length === 0 ? {} : { appGraphs }),
    serviceLevels: assembleServiceLevels(collection, instant, problems),
    usage: collection.metricsServed()
      ? { nodes: assembleSamples(collection, 'NodeMetrics'), pods: assembleSamples(collection, 'PodMetrics') }
      : undefined,
    problems: sortProblems(problems),
  };
}

/** By name, each with those of its images that some pod runs: nodes list many more. */
function assembleNodes(collection: Collection, pods: readonly PodInfo[]): readonly NodeInfo[] {
  const run = new Set([...new Set(pods.map(({ constraints }) => constraints))].flatMap(({ images }) => images));
  return [...collection.of('Node').values()]
    .map((node) => ({ ...node, images: new Map([...node.images].filter(([name]) => run.has(name))) }))
    .sort((left, right) => compareText(left.name, right.name));
}

function assemblePods(
  collection: Collection,
  problems: Set<string>,
): Required<Pick<ClusterSnapshot, 'pods' | 'failedPods'>> {
  const defaultClass = defaultStorageClass(collection);
  const byUid = new Map<string, PodInfo>();
  for (const { pod: projected, priorityUnknown, claimsWithoutClass } of collection.of('Pod').values()) {
    const pod = withDefaultClass(projected, claimsWithoutClass, defaultClass);
    if (pod.phase === 'Succeeded') {
      continue;
    }
    if (byUid.has(pod.uid)) {
      problems.add(`Pod ${pod.namespace}/${pod.name}: another pod has the same uid: the last one counts`);
    }
    byUid.set(pod.uid, priorityUnknown ? withPriority(pod, collection, problems) : pod);
  }
  const all = [...byUid.values()].sort((left, right) => compareNames(left, right) || compareText(left.uid, right.uid));
  return {
    pods: all.filter(({ phase }) => phase !== 'Failed'),
    failedPods: all.filter(({ phase }) => phase === 'Failed'),
  };
}

function withPriority(pod: PodInfo, collection: Collection, problems: Set<string>): PodInfo {
  const priority = priorityOf(pod.priorityClassName, collection.of('PriorityClass'));
  if (priority === undefined) {
    problems.add(
      `Pod ${pod.namespace}/${pod.name}: spec.priorityClassName: there is no PriorityClass ` +
        `${JSON.stringify(pod.priorityClassName)}: the priority counts as 0; write spec.priority, or add the class`,
    );
  }
  return { ...pod, priority: priority ?? 0 };
}

/** By uid, in the order of uids. ReplicaSets of earlier revisions, scaled to zero and without pods, are left out. */
function assembleWorkloads(
  collection: Collection,
  pods: readonly PodInfo[],
  problems: Set<string>,
): ReadonlyMap<string, WorkloadInfo> {
  const withPods = new Set(pods.map(({ owner }) => owner?.uid));
  const byUid = new Map<string, WorkloadInfo>();
  for (const workload of collection.workloads()) {
    if (workload.kind === 'ReplicaSet' && workload.replicas === 0 && !withPods.has(workload.uid)) {
      continue;
    }
    if (byUid.has(workload.uid)) {
      const { kind, namespace, name } = workload;
      problems.add(`${kind} ${namespace}/${name}: another controller has the same uid: the last one counts`);
    }
    byUid.set(workload.uid, workload);
  }
  return sortByKey(byUid);
}

function assemblePdbs(
  collection: Collection,
  pods: readonly PodInfo[],
  workloads: ReadonlyMap<string, WorkloadInfo>,
): readonly PdbInfo[] {
  const podsByNamespace = Map.groupBy(pods, ({ namespace }) => namespace);
  return [...collection.of('PodDisruptionBudget').values()].sort(compareNames).map((pdb) => {
    const { namespace, name, selector } = pdb;
    const health = pdb.health ?? budgetHealth(pdb, podsByNamespace.get(namespace) ?? [], workloads);
    return {
      namespace,
      name,
      selector,
      disruptionsAllowed: pdb.disruptionsAllowed ?? disruptionsAllowed(health),
      allowsUnready: allowsUnready(pdb, health),
    };
  });
}

/** The newest sample, else the newest creation or readiness, else 1970. */
function newestInstant(collection: Collection): EpochSeconds {
  const measured = [...collection.of('NodeMetrics').values(), ...collection.of('PodMetrics').values()];
  const samples = measured.map(({ sample }) => sample.timestamp);
  const creations = [...collection.of('Node').values()].map(({ createdAt }) => createdAt);
  const lives = [...collection.of('Pod').values()].flatMap(({ pod }) => [
    pod.createdAt,
    pod.readySince ?? pod.createdAt,
  ]);
  return newest(samples) ?? newest([...creations, ...lives]) ?? epochSeconds(0);
}

/** The largest that is a number; undefined when there is none. */
function newest(instants: readonly EpochSeconds[]): EpochSeconds | undefined {
  let result: EpochSeconds | undefined;
  for (const instant of instants) {
    if (!Number.isNaN(instant) && (result === undefined || instant > result)) {
      result = instant;
    }
  }
  return result;
}

/** Most problem texts that a snapshot lists one by one. */
const MAX_PROBLEMS = 1000;

/** `problems` in a total order, each once, at most a thousand and a line that counts the rest. */
function sortProblems(problems: ReadonlySet<string>): readonly string[] {
  const sorted = [...problems].map(escapeText).sort();
  const rest = sorted.length - MAX_PROBLEMS;
  return rest <= 0 ? sorted : [...sorted.slice(0, MAX_PROBLEMS), `and ${rest} more problems of this sort`];
}

/** Usage by node or pod, in the order of their names. */
function assembleSamples(collection: Collection, kind: 'NodeMetrics' | 'PodMetrics'): ReadonlyMap<string, UsageSample> {
  return sortByKey(mapValues(collection.of(kind), ({ sample }) => sample));
}

/** Volumes, claims and classes of a collection, each by name, and what nodes can attach. */
function assembleStorage(collection: Collection): StorageInfo {
  const defaultClass = defaultStorageClass(collection);
  const drivers = collection.of('CSIDriver');
  return {
    claims: sortByKey(
      mapValues(
        collection.of('PersistentVolumeClaim'),
        ({ claim, classUnknown }): ClaimInfo => (classUnknown ? { ...claim, storageClass: defaultClass } : claim),
      ),
    ),
    volumes: sortByKey(collection.of('PersistentVolume')),
    classes: sortByKey(
      mapValues(collection.of('StorageClass'), ({ storageClass, provisioner }) => ({
        ...storageClass,
        tracksCapacity: drivers.get(provisioner)?.storageCapacity ?? false,
      })),
    ),
    attachLimits: assembleAttachLimits(collection),
  };
}

/** What CSINodes say, and which drivers nodes lack that must be installed (nodevolumelimits checkCSIDriverOnNode). */
function assembleAttachLimits(collection: Collection): StorageInfo['attachLimits'] {
  const needed = [...collection.of('CSIDriver').values()].filter(({ mustBeInstalled }) => mustBeInstalled);
  const csiNodes = collection.of('CSINode');
  const nodes = needed.length === 0 ? [] : collection.of('Node').keys();
  const limitsOf = (node: string): ReadonlyMap<string, number> => {
    const { drivers, limits } = csiNodes.get(node) ?? NO_DRIVERS;
    const missing = needed.filter(({ name }) => !drivers.has(name)).map(({ name }) => [name, DRIVER_MISSING] as const);
    return sortByKey(new Map([...limits, ...missing]));
  };
  return sortByKey(new Map([...new Set([...csiNodes.keys(), ...nodes])].map((node) => [node, limitsOf(node)])));
}

const NO_DRIVERS = { drivers: new Set<string>(), limits: new Map<string, number>() };

function mapValues<From, To>(map: ReadonlyMap<string, From>, change: (value: From) => To): ReadonlyMap<string, To> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}

/**
 * The class that admission, and later the volume controller, gives a claim that names none: the newest default, then the
 * first by name (GetDefaultClass); undefined when there is none.
 */
function defaultStorageClass(collection: Collection): string | undefined {
  const defaults = [...collection.of('StorageClass').values()].filter(({ isDefault }) => isDefault);
  return defaults.sort(byAge)[0]?.storageClass.name;
}

function byAge(left: ProjectedStorageClass, right: ProjectedStorageClass): number {
  return right.createdAt - left.createdAt || compareText(left.storageClass.name, right.storageClass.name);
}

/** The pod, its claims of these names with this class. */
function withDefaultClass(pod: PodInfo, names: readonly string[], storageClass: string | undefined): PodInfo {
  if (names.length === 0) {
    return pod;
  }
  const claims = pod.claims.map(({ name, template }) => ({
    name,
    template: template !== undefined && names.includes(name) ? { ...template, storageClass } : template,
  }));
  return { ...pod, claims };
}
