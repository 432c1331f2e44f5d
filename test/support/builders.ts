import type { Allocatable, NodeInfo } from '../../src/model/node.ts';
import type { PastMove } from '../../src/model/past-move.ts';
import { NO_CONTAINER_STATES, type OwnerRef, type PodInfo, type SchedulingConstraints } from '../../src/model/pod.ts';
import type { ResourceVector } from '../../src/model/resources.ts';
import { EVERYTHING, type Labels, type Selector } from '../../src/model/selector.ts';
import { NO_SERVICE_LEVELS } from '../../src/model/service-level.ts';
import type { ClusterSnapshot, UsageSample } from '../../src/model/snapshot.ts';
import { NO_STORAGE } from '../../src/model/storage.ts';
import { bytes, type EpochSeconds, epochSeconds, milliCpu, seconds } from '../../src/model/units.ts';
import type { PdbInfo, RolloutState, WorkloadInfo } from '../../src/model/workload.ts';
import type { Owner } from '../../src/plan/owners.ts';
import { NOON } from './test-clock.ts';

/** When every built snapshot is taken: the fakes' clocks begin then. Pods and nodes are an hour old by default. */
export const NOW: EpochSeconds = NOON;
const AN_HOUR_AGO = epochSeconds(NOW - 3600);
const MIB = 2 ** 20;

/** Requests or allocatable with what matters; cpu in millicores, memory in bytes. */
export interface Resources {
  readonly cpu?: number;
  readonly memory?: number;
  readonly ephemeralStorage?: number;
  readonly extended?: Readonly<Record<string, number>>;
}

/** A resource vector; absent resources are 0. */
export function resources({
  cpu = 0,
  memory = 0,
  ephemeralStorage = 0,
  extended = {},
}: Resources = {}): ResourceVector {
  return {
    cpu: milliCpu(cpu),
    memory: bytes(memory),
    ephemeralStorage: bytes(ephemeralStorage),
    extended: new Map(Object.entries(extended)),
  };
}

/** Labels out of an object literal. */
export function labels(entries: Readonly<Record<string, string>> = NO_ENTRIES): Labels {
  const pairs = Object.entries(entries);
  return pairs.length === 0 ? NO_LABELS : new Map(pairs);
}

const NO_ENTRIES: Readonly<Record<string, string>> = {};
/** One for all, as the projection interns it. */
const NO_LABELS: Labels = new Map();

/** A selector for exact labels. */
export function selecting(entries: Readonly<Record<string, string>>): Selector {
  return { requirements: Object.entries(entries).map(([key, value]) => ({ key, operator: 'In', values: [value] })) };
}

/** Constraints of a pod that requests 100m and 64 MiB and asks for nothing else. */
export function constraints(
  fields: Partial<Omit<SchedulingConstraints, 'requests'>> & { requests?: Resources } = {},
): SchedulingConstraints {
  const { requests = { cpu: 100, memory: 64 * MIB }, ...rest } = fields;
  return {
    nodeSelector: new Map(),
    nodeAffinity: undefined,
    preferredNodeAffinity: [],
    tolerations: [],
    hostPorts: [],
    podAffinity: [],
    podAntiAffinity: [],
    preferredPodAffinity: [],
    spread: [],
    images: [],
    unsupported: [],
    ...rest,
    requests: resources(requests),
  };
}

/** Fields of a built node: allocatable and labels as plain values. */
export type NodeFields = Partial<Omit<NodeInfo, 'allocatable' | 'labels'>> & {
  readonly allocatable?: Resources & { readonly pods?: number };
  readonly labels?: Readonly<Record<string, string>>;
};

/** A Ready node of 4 cores, 16 GiB and 110 pod slots. */
export function aNode(name: string, { allocatable = {}, labels: entries = {}, ...rest }: NodeFields = {}): NodeInfo {
  const { pods = 110, ...given } = allocatable;
  const vector = resources({ cpu: 4000, memory: 16 * 1024 * MIB, ephemeralStorage: 100 * 1024 * MIB, ...given });
  const offered: Allocatable = { ...vector, pods };
  return {
    name,
    uid: `uid-${name}`,
    labels: labels({ 'kubernetes.io/hostname': name, ...entries }),
    taints: [],
    unschedulable: false,
    terminating: false,
    ready: true,
    allocatable: offered,
    images: new Map(),
    createdAt: AN_HOUR_AGO,
    ...rest,
  };
}

/** Ten cores, 32 GiB and 20 pod slots: with pods of half a core, each of them is 5 % of a node. */
export const TEN_CORES: NodeFields = {
  allocatable: { cpu: 10_000, memory: 32 * 1024 * MIB, ephemeralStorage: 0, pods: 20 },
};

/** Fields of a built pod. `owner` is the name of its ReplicaSet; `undefined` leaves it without a controller. */
export type PodFields = Partial<Omit<PodInfo, 'labels' | 'annotations' | 'owner' | 'constraints'>> & {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: string | PodInfo['owner'];
  readonly constraints?: Parameters<typeof constraints>[0] | SchedulingConstraints;
};

/** A Ready pod of ReplicaSet `web` in namespace `shop`, an hour old, which any plan may move. */
export function aPod(name: string, fields: PodFields = {}): PodInfo {
  const { labels: entries = {}, annotations = {}, constraints: asked = {}, ...rest } = fields;
  const owner = 'owner' in fields ? fields.owner : 'web';
  return {
    namespace: 'shop',
    name,
    uid: `uid-${fields.namespace ?? 'shop'}-${name}`,
    nodeName: undefined,
    phase: 'Running',
    reason: undefined,
    states: NO_CONTAINER_STATES,
    initStates: NO_CONTAINER_STATES,
    uncounted: false,
    ready: true,
    readySince: AN_HOUR_AGO,
    createdAt: AN_HOUR_AGO,
    terminating: false,
    mirror: false,
    priority: 0,
    priorityClassName: undefined,
    qosClass: 'Burstable',
    deletionCost: 0,
    restarts: 0,
    initRestarts: 0,
    localStorage: false,
    claims: [],
    nominatedNode: undefined,
    waiting: undefined,
    placement: undefined,
    ...rest,
    labels: labels(entries),
    annotations: labels(annotations),
    owner: typeof owner === 'string' ? { kind: 'ReplicaSet', name: owner, uid: `uid-${owner}` } : owner,
    constraints: isConstraints(asked) ? asked : constraints(asked),
  };
}

/** A pod of `workload` that has run on `nodeName` for an hour and requests `cpu` millicores. */
export function aPodOf(workload: WorkloadInfo, name: string, nodeName: string, cpu = 500): PodInfo {
  return aPod(name, {
    namespace: workload.namespace,
    uid: `uid-${name}`,
    labels: { app: workload.name },
    owner: ownerOf(workload),
    nodeName,
    readySince: epochSeconds(NOW - 3500),
    constraints: { requests: { cpu } },
  });
}

/** The same pod while it waits at our gate. */
export function atGate(pod: PodInfo): PodInfo {
  return {
    ...pod,
    nodeName: undefined,
    phase: 'Pending',
    ready: false,
    readySince: undefined,
    waiting: { gated: true, pinnedTo: undefined, unschedulable: false },
  };
}

/** The owner reference that pods of a workload carry. */
export function ownerOf({ kind, name, uid }: WorkloadInfo): OwnerRef {
  return { kind, name, uid };
}

function isConstraints(asked: NonNullable<PodFields['constraints']>): asked is SchedulingConstraints {
  return asked.requests !== undefined && asked.requests.extended instanceof Map;
}

/** A workload; a ReplicaSet with 10 replicas unless it says otherwise. Its uid is that of `aPod({ owner: name })`. */
export function aWorkload(name: string, fields: Partial<WorkloadInfo> = {}): WorkloadInfo {
  return {
    kind: 'ReplicaSet',
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    owner: undefined,
    replicas: 10,
    minReadySeconds: seconds(0),
    pinnedNode: undefined,
    gated: false,
    toleratesDisruption: false,
    replacesTerminating: true,
    rollout: undefined,
    changedAt: epochSeconds(NOW - 86_400),
    ...fields,
  };
}

/** A ReplicaSet of two replicas, as the plan knows controllers. Its uid is that of `aPod({ owner: name })`. */
export function anOwner(name: string, fields: Partial<Owner> = {}): Owner {
  const ref = { kind: 'ReplicaSet', name, uid: `uid-${name}` };
  return { ref, workload: undefined, top: undefined, replicas: 2, ...fields };
}

/** A controller that has reached its spec of `replicas` pods. */
export function aRollout(replicas: number, fields: Partial<RolloutState> = {}): RolloutState {
  const counts = { updated: replicas, toUpdate: replicas, current: replicas, ready: replicas, available: replicas };
  return { observed: true, ...counts, ...fields };
}

/** A move of pod `name` of ReplicaSet `web` from node-1 to node-2, where its replacement landed ten seconds later. */
export function aPastMove(name: string, fields: Partial<PastMove> = {}): PastMove {
  const { from = 'node-1', to = 'node-2', startedAt = epochSeconds(NOW - 7200), unavailable = seconds(10) } = fields;
  return {
    plan: 'default-0123456789',
    pod: { namespace: 'shop', name, uid: `uid-shop-${name}` },
    owner: { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' },
    from,
    to,
    replacement: { uid: `uid-after-${name}`, node: to },
    phase: 'Landed',
    startedAt,
    endedAt: epochSeconds(startedAt + unavailable),
    unavailable,
    cost: seconds(30),
    ...fields,
  };
}

/** A PodDisruptionBudget in namespace `shop` that selects everything and allows one disruption. */
export function aPdb(name: string, fields: Partial<PdbInfo> = {}): PdbInfo {
  return { namespace: 'shop', name, selector: EVERYTHING, disruptionsAllowed: 1, allowsUnready: false, ...fields };
}

/** A sample of 20 s ago over 15 s. */
export function aSample(cpu: number, memory = 0, fields: Partial<UsageSample> = {}): UsageSample {
  return {
    cpu: milliCpu(cpu),
    memory: bytes(memory),
    timestamp: epochSeconds(NOW - 20),
    window: seconds(15),
    ...fields,
  };
}

/** What a built snapshot is made of. Usage in millicores, or [millicores, bytes]. */
export interface SnapshotFields extends Partial<Omit<ClusterSnapshot, 'usage' | 'workloads'>> {
  readonly workloads?: readonly WorkloadInfo[];
  /** By pod name in namespace `shop`, or by namespace/name. Nodes get the sum of their pods and `daemons`. */
  readonly uses?: Readonly<Record<string, number | readonly [cpu: number, memory: number]>>;
  /** Usage by node that belongs to no pod. */
  readonly daemons?: Readonly<Record<string, number>>;
  /** Samples as they are; `undefined` for no Metrics API. Takes precedence over `uses`. */
  readonly usage?: ClusterSnapshot['usage'];
}

/** A snapshot at NOW. ReplicaSets of the pods exist with 10 replicas unless `workloads` says otherwise. */
export function aSnapshot(fields: SnapshotFields = {}): ClusterSnapshot {
  const { workloads, uses = {}, daemons = {}, ...rest } = fields;
  const pods = rest.pods ?? [];
  const nodes = rest.nodes ?? [];
  const known = workloads ?? replicaSetsOf(pods);
  return {
    takenAt: NOW,
    nodes,
    pods,
    workloads: new Map(known.map((workload) => [workload.uid, workload])),
    namespaces: new Map(),
    pdbs: [],
    storage: NO_STORAGE,
    pastMoves: [],
    serviceLevels: NO_SERVICE_LEVELS,
    usage: 'usage' in fields ? fields.usage : samplesOf(nodes, pods, uses, daemons),
    problems: [],
    ...omit(rest, 'usage'),
  };
}

function omit<Value extends object, Key extends keyof Value>(value: Value, key: Key): Omit<Value, Key> {
  const { [key]: _, ...rest } = value;
  return rest;
}

function replicaSetsOf(pods: readonly PodInfo[]): readonly WorkloadInfo[] {
  const names = new Set(pods.flatMap(({ owner }) => (owner?.kind === 'ReplicaSet' ? [owner.name] : [])));
  return [...names].map((name) => aWorkload(name));
}

function samplesOf(
  nodes: readonly NodeInfo[],
  pods: readonly PodInfo[],
  uses: NonNullable<SnapshotFields['uses']>,
  daemons: NonNullable<SnapshotFields['daemons']>,
): ClusterSnapshot['usage'] {
  const totals = new Map(nodes.map(({ name }): [string, [number, number]] => [name, [daemons[name] ?? 0, 0]]));
  const samples = new Map<string, UsageSample>();
  for (const { namespace, name, nodeName } of pods) {
    const use = uses[`${namespace}/${name}`] ?? uses[name];
    if (use === undefined) {
      continue;
    }
    const [cpu, memory] = typeof use === 'number' ? [use, 0] : use;
    samples.set(`${namespace}/${name}`, aSample(cpu, memory));
    const total = totals.get(nodeName ?? '');
    if (total !== undefined) {
      total[0] += cpu;
      total[1] += memory;
    }
  }
  return { nodes: new Map([...totals].map(([name, [cpu, memory]]) => [name, aSample(cpu, memory)])), pods: samples };
}
