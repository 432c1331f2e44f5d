import type { PlacementHint } from '../../src/api/v1alpha1/placement-hint.ts';
import type { NodeInfo } from '../../src/model/node.ts';
import type { PastMove } from '../../src/model/past-move.ts';
import { type PodInfo, type PodRef, podKey } from '../../src/model/pod.ts';
import type { Labels } from '../../src/model/selector.ts';
import { NO_SERVICE_LEVELS, type ServiceLevels } from '../../src/model/service-level.ts';
import type { ClusterSnapshot, UsageSample } from '../../src/model/snapshot.ts';
import { NO_STORAGE } from '../../src/model/storage.ts';
import { bytes, epochSeconds, milliCpu, seconds } from '../../src/model/units.ts';
import type { WorkloadInfo } from '../../src/model/workload.ts';
import type { ClusterReader, EvictionAnswer, Evictor, Gates, Steering, WaitingPod } from '../../src/ports.ts';
import type { FakeClock } from './fake-clock.ts';

/** What an eviction answers instead of what the cluster would say. */
export type Script =
  | Exclude<EvictionAnswer, { kind: 'Accepted' } | { kind: 'Ambiguous' }>
  /** The connection breaks; the server has acted, or never got the request. */
  | { readonly kind: 'Ambiguous'; readonly message: string; readonly acted: boolean };

/** Delays in seconds; Infinity means never. */
export interface Delays {
  /** From the eviction until the pod is gone. */
  grace: number;
  /** From the eviction until its controller makes another pod; a StatefulSet waits for `grace` as well. */
  recreate: number;
  /** From there until it is bound. */
  bind: number;
  /** From there until it is Ready. */
  ready: number;
}

/** A cluster in memory, as the API server, controllers, scheduler and kubelets would keep it. */
export interface FakeCluster {
  readonly reader: ClusterReader;
  readonly evictor: Evictor;
  readonly steering: Steering;
  readonly gates: Gates;
  readonly nodes: Map<string, NodeInfo>;
  /** By uid. */
  readonly pods: Map<string, PodInfo>;
  /** By uid. */
  readonly workloads: Map<string, WorkloadInfo>;
  /** By uid of the evicted pod. */
  readonly hints: Map<string, PlacementHint>;
  readonly delays: Delays;
  /** Pods of an owner, by uid, that its PDB keeps available. */
  readonly minAvailable: Map<string, number>;
  /** Every eviction that the server accepted, by pod uid, lost answers included. */
  readonly accepted: string[];
  /** Says otherwise than the cluster would; undefined lets the cluster answer. */
  script: (pod: PodRef, dryRun: boolean) => Script | undefined;
  /** Where the scheduler binds a new pod; by default where the hint says, else to the Ready node with the fewest pods. */
  bindTo: (pod: PodInfo, hinted: string | undefined) => string | undefined;
  /** Whether our admission policy is installed. */
  steerable: boolean;
  /** Owners, by uid, whose new pods carry our gate. */
  readonly gated: Set<string>;
  /** Whether gates may be opened. */
  opensGates: boolean;
  /** Nodes on which the scheduler finds no room for a pod that is tied to them. */
  readonly full: Set<string>;
  /** Whether the Metrics API is served. */
  metered: boolean;
  /** Whether snapshots have usage while it is; without, no plan begins, and those under way go on. */
  plannable: boolean;
  /** What the plans on the cluster remember. */
  history: () => readonly PastMove[];
  /** What workloads were promised, and what they got. */
  serviceLevels: ServiceLevels;
  /** Somebody deletes a pod, by uid; its controller makes another. */
  remove(uid: string): void;
  /** Somebody scales a workload, by uid: its controller makes a pod more, or takes the newest ones away. */
  scale(uid: string, replicas: number): void;
}

/** What a cluster needs of a clock. */
export type ClusterClock = Pick<FakeClock, 'now' | 'at'>;

const NAMESPACES: ReadonlyMap<string, Labels> = new Map([['shop', new Map()]]);
/** Time until the API server sees a new hint. */
const HINT_DELAY = 1;
/** Time over which a sample is taken; it ends now. */
const WINDOW = 15;

/** A cluster of these objects. Names of new pods count up per cluster, so that equal histories are equal. */
export function fakeCluster(
  clock: ClusterClock,
  nodes: readonly NodeInfo[],
  workloads: readonly WorkloadInfo[],
  pods: readonly PodInfo[],
): FakeCluster {
  const cluster: FakeCluster = {
    reader: {
      ...liveReader(() => cluster, clock),
      snapshot: async () => {
        const snapshot = snapshotOf(cluster, clock);
        return cluster.plannable ? snapshot : { ...snapshot, usage: undefined };
      },
      placements: async () => ({ ...snapshotOf(cluster, clock), usage: undefined, pastMoves: [] }),
      measured: async () => snapshotOf(cluster, clock),
      nodeUsage: async () => {
        const { usage, takenAt } = snapshotOf(cluster, clock);
        return usage === undefined ? undefined : { nodes: usage.nodes, serverTime: takenAt };
      },
    },
    evictor: { evict: async (pod, { dryRun }) => evict(cluster, clock, pod, dryRun) },
    steering: steeringOf(() => cluster, clock),
    gates: gatesOf(() => cluster, clock),
    nodes: new Map(nodes.map((node) => [node.name, node])),
    pods: new Map(pods.map((pod) => [pod.uid, pod])),
    workloads: new Map(workloads.map((workload) => [workload.uid, workload])),
    hints: new Map(),
    delays: { grace: 3, recreate: 1, bind: 1, ready: 2 },
    minAvailable: new Map(),
    accepted: [],
    script: () => undefined,
    bindTo: (_, hinted) => hinted ?? emptiest(cluster),
    steerable: true,
    gated: new Set(),
    opensGates: true,
    full: new Set(),
    metered: true,
    plannable: true,
    history: () => [],
    serviceLevels: NO_SERVICE_LEVELS,
    remove: (uid) => {
      const pod = cluster.pods.get(uid);
      if (pod !== undefined) {
        terminate(cluster, clock, pod);
      }
    },
    scale: (uid, replicas) => scale(cluster, clock, uid, replicas),
  };
  return cluster;
}

/** Pods on each node, sorted: what two histories are compared by. */
export function placements({ pods }: FakeCluster): readonly string[] {
  return [...pods.values()].map(({ owner, nodeName }) => `${owner?.name} on ${nodeName}`).sort();
}

function liveReader(
  of: () => FakeCluster,
  clock: ClusterClock,
): Omit<ClusterReader, 'snapshot' | 'placements' | 'measured' | 'nodeUsage'> {
  const all = () => [...of().pods.values()];
  return {
    promises: async () => ({ namespaces: NAMESPACES, serviceLevels: of().serviceLevels }),
    pod: async (ref) => ({ pod: all().find((pod) => podKey(pod) === podKey(ref)), serverTime: serverTime(clock) }),
    node: async (name) => of().nodes.get(name),
    nodes: async () => [...of().nodes.values()],
    podsOnNode: async (name) => all().filter(({ nodeName }) => nodeName === name),
    podsOfOwner: async (namespace, { uid }) =>
      all().filter((pod) => pod.namespace === namespace && pod.owner?.uid === uid),
    workload: async (_, { uid }) => of().workloads.get(uid),
  };
}

/** The Date header has whole seconds, as creation timestamps do. */
function serverTime(clock: ClusterClock) {
  return epochSeconds(Math.floor(clock.now()));
}

function snapshotOf(
  { nodes, pods, workloads, metered, history, serviceLevels }: FakeCluster,
  clock: ClusterClock,
): ClusterSnapshot {
  const takenAt = serverTime(clock);
  const sorted = [...pods.values()].sort((a, b) => (`${podKey(a)}/${a.uid}` < `${podKey(b)}/${b.uid}` ? -1 : 1));
  const sample = (used: readonly PodInfo[]): UsageSample => ({
    cpu: milliCpu(used.reduce((sum, { constraints }) => sum + constraints.requests.cpu, 0)),
    memory: bytes(0),
    timestamp: takenAt,
    window: seconds(WINDOW),
  });
  const onNode = (name: string) => sorted.filter(({ nodeName, ready }) => ready && nodeName === name);
  const usage = {
    nodes: new Map([...nodes.keys()].map((name) => [name, sample(onNode(name))])),
    pods: new Map(sorted.filter(({ ready }) => ready).map((pod) => [podKey(pod), sample([pod])])),
  };
  return {
    takenAt,
    nodes: [...nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    pods: sorted,
    workloads: new Map(workloads),
    namespaces: NAMESPACES,
    pdbs: [],
    storage: NO_STORAGE,
    pastMoves: history(),
    serviceLevels,
    usage: metered ? usage : undefined,
    problems: [],
  };
}

function evict(cluster: FakeCluster, clock: ClusterClock, ref: PodRef, dryRun: boolean): EvictionAnswer {
  const scripted = cluster.script(ref, dryRun);
  if (scripted?.kind === 'Ambiguous') {
    if (scripted.acted && !dryRun) {
      naturalAnswer(cluster, clock, ref, dryRun);
    }
    return { kind: 'Ambiguous', message: scripted.message };
  }
  return scripted ?? naturalAnswer(cluster, clock, ref, dryRun);
}

function naturalAnswer(cluster: FakeCluster, clock: ClusterClock, ref: PodRef, dryRun: boolean): EvictionAnswer {
  const pod = [...cluster.pods.values()].find((each) => podKey(each) === podKey(ref));
  if (pod === undefined || (ref.uid !== '' && ref.uid !== pod.uid)) {
    return { kind: 'Gone' };
  }
  const needed = cluster.minAvailable.get(pod.owner?.uid ?? '') ?? 0;
  const healthy = [...cluster.pods.values()].filter(
    ({ owner, ready, terminating }) => owner?.uid === pod.owner?.uid && ready && !terminating,
  ).length;
  // A pod that is not Ready may go as long as enough others are (registry/core/pod eviction, IfHealthyBudget).
  if (!pod.terminating && healthy - (pod.ready ? 1 : 0) < needed) {
    const message = `The disruption budget keep-${pod.owner?.name} needs ${needed} healthy pods and has ${healthy} currently`;
    return { kind: 'RefusedByBudget', message };
  }
  if (!dryRun) {
    cluster.accepted.push(pod.uid);
    terminate(cluster, clock, pod);
  }
  return { kind: 'Accepted' };
}

function terminate(cluster: FakeCluster, clock: ClusterClock, pod: PodInfo): void {
  if (pod.terminating) {
    return;
  }
  cluster.pods.set(pod.uid, { ...pod, terminating: true });
  const { grace, recreate } = cluster.delays;
  const ordered = pod.owner?.kind === 'StatefulSet';
  clock.at(clock.now() + grace, () => cluster.pods.delete(pod.uid));
  clock.at(clock.now() + (ordered ? grace + recreate : recreate), () => replace(cluster, clock, pod, ordered));
}

/** Pods of a workload that are not on their way out, the oldest first. */
function alive({ pods }: FakeCluster, owner: string): readonly PodInfo[] {
  return [...pods.values()]
    .filter((pod) => pod.owner?.uid === owner && !pod.terminating)
    .sort((a, b) => a.createdAt - b.createdAt || (a.uid < b.uid ? -1 : 1));
}

function scale(cluster: FakeCluster, clock: ClusterClock, uid: string, replicas: number): void {
  const workload = cluster.workloads.get(uid);
  const [first] = alive(cluster, uid);
  if (workload === undefined || first === undefined) {
    return;
  }
  const before = workload.replicas ?? 0;
  cluster.workloads.set(uid, { ...workload, replicas });
  for (const pod of alive(cluster, uid).slice(replicas)) {
    terminate(cluster, clock, pod);
  }
  for (let index = before; index < replicas; index += 1) {
    const added = {
      ...first,
      name: `${workload.name}-${index}-n`,
      uid: `uid-${workload.name}-${index}-n-${clock.now()}`,
    };
    replace(cluster, clock, added, false);
  }
}

function replace(cluster: FakeCluster, clock: ClusterClock, old: PodInfo, sameName: boolean): void {
  const { uid: owner = '' } = old.owner ?? {};
  if (alive(cluster, owner).length >= (cluster.workloads.get(owner)?.replicas ?? Number.POSITIVE_INFINITY)) {
    return; // its workload was made smaller meanwhile
  }
  const seen = [...cluster.hints.values()].find(
    ({ spec, metadata }) =>
      spec.ownerUID === old.owner?.uid && Number(metadata.annotations?.['placed']) + HINT_DELAY <= clock.now(),
  );
  const name = sameName ? old.name : `${old.name}-r`;
  const uid = `${old.uid}-r`;
  cluster.pods.set(uid, {
    ...old,
    name,
    uid,
    createdAt: serverTime(clock),
    nodeName: undefined,
    ready: false,
    readySince: undefined,
    phase: 'Pending',
    waiting: { gated: cluster.gated.has(old.owner?.uid ?? ''), pinnedTo: undefined, unschedulable: false },
  });
  schedule(cluster, clock, uid, seen?.spec.nodeName);
}

/** Binds a pod after a while, unless it waits at our gate. */
function schedule(cluster: FakeCluster, clock: ClusterClock, uid: string, hinted: string | undefined): void {
  clock.at(clock.now() + cluster.delays.bind, () => {
    const pod = cluster.pods.get(uid);
    if (pod?.waiting === undefined || pod.waiting.gated) {
      return;
    }
    const { pinnedTo } = pod.waiting;
    if (pinnedTo !== undefined && cluster.full.has(pinnedTo)) {
      cluster.pods.set(uid, { ...pod, waiting: { ...pod.waiting, unschedulable: true } });
      return;
    }
    const nodeName = pinnedTo ?? cluster.bindTo(pod, hinted);
    if (nodeName !== undefined) {
      cluster.pods.set(uid, { ...pod, nodeName, waiting: undefined });
      clock.at(clock.now() + cluster.delays.ready, () => start(cluster, clock, uid));
    }
  });
}

function start(cluster: FakeCluster, clock: ClusterClock, uid: string): void {
  const pod = cluster.pods.get(uid);
  if (pod !== undefined) {
    cluster.pods.set(uid, { ...pod, phase: 'Running', ready: true, readySince: serverTime(clock) });
  }
}

function emptiest({ nodes, pods }: FakeCluster): string | undefined {
  const count = (name: string) => [...pods.values()].filter(({ nodeName }) => nodeName === name).length;
  return [...nodes.values()]
    .filter(({ ready, unschedulable }) => ready && !unschedulable)
    .map(({ name }) => name)
    .sort((a, b) => count(a) - count(b) || (a < b ? -1 : 1))[0];
}

function steeringOf(of: () => FakeCluster, clock: ClusterClock): Steering {
  return {
    available: async () => of().steerable,
    async place(namespace, spec) {
      const { hints } = of();
      if (!hints.has(spec.podUID)) {
        const metadata = { name: `hint-${spec.podUID}`, namespace, annotations: { placed: String(clock.now()) } };
        hints.set(spec.podUID, { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'PlacementHint', metadata, spec });
      }
    },
    async remove(_, podUID) {
      of().hints.delete(podUID);
    },
    list: async () => [...of().hints.values()],
  };
}

function gatesOf(of: () => FakeCluster, clock: ClusterClock): Gates {
  return {
    available: async () => of().opensGates,
    list: async () =>
      [...of().pods.values()]
        .filter(({ waiting }) => waiting?.gated === true || waiting?.pinnedTo !== undefined)
        .map((pod) => ({ pod, resourceVersion: versionOf(pod) })),
    async open({ uid }, target) {
      const cluster = of();
      const pod = cluster.pods.get(uid);
      if (pod?.waiting?.gated !== true) {
        return pod === undefined ? 'Gone' : 'Changed';
      }
      cluster.pods.set(uid, { ...pod, waiting: { ...pod.waiting, gated: false, pinnedTo: target } });
      schedule(cluster, clock, uid, undefined);
      return 'Done';
    },
    async release({ pod: { uid }, resourceVersion }: WaitingPod) {
      const cluster = of();
      const pod = cluster.pods.get(uid);
      if (pod === undefined || versionOf(pod) !== resourceVersion) {
        return pod === undefined ? 'Gone' : 'Changed';
      }
      cluster.pods.delete(uid);
      replace(cluster, clock, pod, pod.owner?.kind === 'StatefulSet');
      return 'Done';
    },
  };
}

/** Changes with what a release must not overlook. */
function versionOf({ nodeName, waiting }: PodInfo): string {
  return JSON.stringify([nodeName, waiting]);
}
