import type { PlacementHint } from '../../src/api/v1alpha1/placement-hint.ts';
import type { NodeInfo } from '../../src/model/node.ts';
import { type PodInfo, type PodRef, podKey } from '../../src/model/pod.ts';
import { NO_SERVICE_LEVELS, type ServiceLevels } from '../../src/model/service-level.ts';
import type { ClusterSnapshot, UsageSample, UsageSamples } from '../../src/model/snapshot.ts';
import { bytes, milliCpu, seconds } from '../../src/model/units.ts';
import type { WorkloadInfo } from '../../src/model/workload.ts';
import type { ClusterReader, EvictionAnswer, Evictor, Gates, LiveNamespace, Steering } from '../../src/ports.ts';
import { createEvictor } from '../../src/simulate/api-server/evictor.ts';
import { createGates } from '../../src/simulate/api-server/gates.ts';
import type { PlanObjects } from '../../src/simulate/api-server/plans.ts';
import { createReader } from '../../src/simulate/api-server/reader.ts';
import { createSteering } from '../../src/simulate/api-server/steering.ts';
import { type Cluster, createCluster } from '../../src/simulate/cluster.ts';
import type { EventQueue } from '../../src/simulate/event-queue.ts';
import { randomStreams } from '../../src/simulate/random.ts';
import type { SimulatedPod, World } from '../../src/simulate/world.ts';
import { fakePlans } from './fake-stores.ts';
import { bareSpecs, type Settings, specsOf, standingScenario } from './standing-scenario.ts';

/** What an eviction answers instead of what the cluster would say. */
export type Script =
  | Exclude<EvictionAnswer, { kind: 'Accepted' } | { kind: 'Ambiguous' }>
  /** The connection breaks; the server has acted, or never got the request. */
  | { readonly kind: 'Ambiguous'; readonly message: string; readonly acted: boolean };

/** The modelled cluster of the simulator, with a scheduler that does as it is told. */
export interface FakeCluster extends Settings {
  readonly reader: ClusterReader;
  readonly evictor: Evictor;
  readonly steering: Steering;
  readonly gates: Gates;
  /** By uid. */
  readonly pods: ReadonlyMap<string, PodInfo>;
  /** By uid. */
  readonly workloads: ReadonlyMap<string, WorkloadInfo>;
  /** By uid of the evicted pod. */
  readonly hints: ReadonlyMap<string, PlacementHint>;
  /** Every eviction that the server accepted, by pod uid, lost answers included. */
  readonly accepted: string[];
  /** Says otherwise than the cluster would; undefined lets the cluster answer. */
  script: (pod: PodRef, dryRun: boolean) => Script | undefined;
  /** Where the scheduler binds a new pod; by default where the hint says, else to the Ready node with the fewest pods. */
  bindTo: (pod: PodInfo, hinted: string | undefined) => string | undefined;
  /** Whether our admission policy is installed. */
  steerable: boolean;
  /** Whether gates may be opened. */
  opensGates: boolean;
  /** Nodes on which the scheduler finds no room for a pod that is tied to them. */
  readonly full: Set<string>;
  /** Whether the Metrics API is served. */
  metered: boolean;
  /** Namespaces that are not as the scenario has them, by name. */
  readonly namespaces: Map<string, LiveNamespace>;
  /** Whether snapshots have usage while it is; without, no plan begins, and those under way go on. */
  plannable: boolean;
  /** What workloads were promised, and what they got. */
  serviceLevels: ServiceLevels;
  /** Somebody makes an object, or changes it. */
  putPod(pod: PodInfo): void;
  putNode(node: NodeInfo): void;
  putWorkload(workload: WorkloadInfo): void;
  /** Takes an object away, by uid, a node by name; no controller notices. */
  vanish(kind: 'pod' | 'node' | 'workload', id: string): void;
  /** Somebody deletes a pod, by uid; its controller makes another. */
  remove(uid: string): void;
  /** Somebody scales a workload, by uid: its controller makes pods more, or takes some away. */
  scale(uid: string, replicas: number): void;
}

/** Time over which a sample is taken; it ends now. */
const WINDOW = 15;

/** A cluster of these objects, which stand from now on. */
export function fakeCluster(
  { queue }: { readonly queue: EventQueue },
  nodes: readonly NodeInfo[],
  workloads: readonly WorkloadInfo[],
  pods: readonly PodInfo[],
  plans: PlanObjects = fakePlans(),
): FakeCluster {
  const settings: Settings = {
    delays: { grace: 3, recreate: 1, bind: 1, ready: 2 },
    minAvailable: new Map(),
    gated: new Set(),
  };
  const scenario = standingScenario(settings, nodes, workloads, pods);
  const modelled = createCluster(scenario, queue, { gates: true, random: randomStreams(1)('delays') });
  const { world } = modelled;
  const hints = new Map<string, PlacementHint>();
  const cluster: FakeCluster = {
    ...settings,
    reader: readerOf(world, plans, () => cluster),
    evictor: evictorOf(modelled, () => cluster),
    steering: {
      ...createSteering(modelled, hints),
      offers: async () => ({
        AdmissionPolicy: { available: cluster.steerable, why: 'as the test says' },
        Webhook: { available: false, why: 'the operator serves no webhook' },
      }),
    },
    gates: { ...createGates(modelled), available: async () => cluster.opensGates },
    get pods() {
      return new Map(world.pods.map(({ info }) => [info.uid, info]));
    },
    get workloads() {
      return new Map([...world.workloads].map(([uid, { info }]) => [uid, info]));
    },
    hints,
    accepted: [],
    script: () => undefined,
    bindTo: (_, hinted) => hinted ?? emptiest(world),
    steerable: true,
    opensGates: true,
    full: new Set(),
    metered: true,
    namespaces: new Map(),
    plannable: true,
    serviceLevels: NO_SERVICE_LEVELS,
    putPod: (pod) => putPod(modelled, pod, settings),
    putNode: (node) => putNode(world, node),
    putWorkload: (workload) => putWorkload(modelled, workload, settings),
    vanish: (kind, id) => vanish(world, kind, id),
    remove(uid) {
      const pod = world.podOf(uid);
      if (pod !== undefined) {
        modelled.terminate(pod);
      }
    },
    scale(uid, replicas) {
      const workload = world.workloads.get(uid);
      if (workload !== undefined) {
        modelled.scale(workload, replicas);
      }
    },
  };
  startScheduler(modelled, cluster);
  queue.run(queue.now());
  workloads.forEach(cluster.putWorkload);
  return cluster;
}

/** Pods on each node, sorted: what two histories are compared by. */
export function placements({ pods }: FakeCluster): readonly string[] {
  return [...pods.values()].map(({ owner, nodeName }) => `${owner?.name} on ${nodeName}`).sort();
}

function readerOf(world: World, plans: PlanObjects, of: () => FakeCluster): ClusterReader {
  const reader = createReader(world, {
    plans,
    usage: () => (of().metered ? usageOf(world) : undefined),
    serviceLevels: () => of().serviceLevels,
  });
  const withNamespaces = (snapshot: ClusterSnapshot): ClusterSnapshot => {
    const set = [...of().namespaces].map(([name, { labels }]) => [name, labels] as const);
    return { ...snapshot, namespaces: new Map([...snapshot.namespaces, ...set]) };
  };
  return {
    ...reader,
    namespace: async (name, signal) => of().namespaces.get(name) ?? (await reader.namespace(name, signal)),
    placements: async (signal) => withNamespaces(await reader.placements(signal)),
    async snapshot(...args) {
      const snapshot = withNamespaces(await reader.snapshot(...args));
      return of().plannable ? snapshot : { ...snapshot, usage: undefined };
    },
  };
}

/** Pods that are Ready use what they request. */
function usageOf(world: World): UsageSamples {
  const ready = world.pods.map(({ info }) => info).filter((pod) => pod.ready);
  const sample = (pods: readonly PodInfo[]): UsageSample => ({
    cpu: milliCpu(pods.reduce((sum, { constraints }) => sum + constraints.requests.cpu, 0)),
    memory: bytes(0),
    timestamp: world.serverTime(),
    window: seconds(WINDOW),
  });
  const onNode = (name: string): readonly PodInfo[] => ready.filter(({ nodeName }) => nodeName === name);
  return {
    nodes: new Map([...world.nodes.keys()].map((name) => [name, sample(onNode(name))])),
    pods: new Map(ready.map((pod) => [podKey(pod), sample([pod])])),
  };
}

/** Asked twice for the same pod, the server accepts twice. */
function evictorOf(modelled: Cluster, of: () => FakeCluster): Evictor {
  const { evict } = createEvictor(modelled, ({ info }) => void of().accepted.push(info.uid));
  const asked: Evictor['evict'] = (pod, options, signal) => {
    if (!options.dryRun && modelled.world.podOf(pod.uid)?.info.terminating === true) {
      of().accepted.push(pod.uid);
    }
    return evict(pod, options, signal);
  };
  return {
    async evict(pod, options, signal) {
      const scripted = of().script(pod, options.dryRun);
      if (scripted === undefined) {
        return await asked(pod, options, signal);
      }
      if (scripted.kind === 'Ambiguous' && scripted.acted) {
        await asked(pod, options, signal);
      }
      return scripted.kind === 'Ambiguous' ? { kind: 'Ambiguous', message: scripted.message } : scripted;
    },
  };
}

/** Looks once at each pod that may be scheduled, after a while. */
function startScheduler({ world, bind }: Cluster, cluster: FakeCluster): void {
  const { queue } = world;
  const looked = new Set<SimulatedPod>();
  const isPending = ({ exists, info }: SimulatedPod): boolean =>
    exists && !info.terminating && info.nodeName === undefined && info.waiting?.gated === false;
  const look = (pod: SimulatedPod): void => {
    const { waiting } = pod.info;
    if (!isPending(pod) || waiting === undefined) {
      return;
    }
    if (waiting.pinnedTo !== undefined && cluster.full.has(waiting.pinnedTo)) {
      world.change(pod, { waiting: { ...waiting, unschedulable: true } });
      return;
    }
    const node = waiting.pinnedTo ?? cluster.bindTo(pod.info, pod.info.placement?.target);
    if (node !== undefined) {
      bind(pod, node);
    }
  };
  world.observe((pod) => {
    if (isPending(pod) && !looked.has(pod)) {
      looked.add(pod);
      queue.at(queue.now() + world.scenario.timing.scheduling, () => look(pod));
    }
  });
}

function emptiest({ nodes, pods }: World): string | undefined {
  const count = (name: string): number => pods.filter(({ info }) => info.nodeName === name).length;
  return [...nodes.values()]
    .filter(({ info }) => info.ready && !info.unschedulable)
    .map(({ info }) => info.name)
    .sort((a, b) => count(a) - count(b) || (a < b ? -1 : 1))[0];
}

function putPod({ world, adopt, admit }: Cluster, pod: PodInfo, settings: Settings): void {
  const known = world.podOf(pod.uid);
  const workload = world.workloads.get(pod.owner?.uid ?? '');
  if (known !== undefined) {
    world.change(known, pod);
  } else if (workload === undefined) {
    specsOf(settings, [], [pod]).forEach(admit);
  } else {
    const free = workload.instances.indexOf(undefined);
    const instance = free < 0 ? workload.instances.length : free;
    workload.replicas = Math.max(workload.replicas, instance + 1);
    adopt(workload, pod, instance);
  }
}

function putNode(world: World, info: NodeInfo): void {
  const node = world.nodes.get(info.name);
  if (node === undefined) {
    world.addNode(info);
  } else {
    world.changeNode(node, info);
  }
}

function putWorkload({ world, admit }: Cluster, info: WorkloadInfo, settings: Settings): void {
  if (!world.workloads.has(info.uid)) {
    bareSpecs(settings, info).forEach(admit);
  }
  const workload = world.workloads.get(info.uid);
  if (workload !== undefined) {
    world.changeWorkload(workload, info);
  }
}

function vanish(world: World, kind: 'pod' | 'node' | 'workload', id: string): void {
  const [pod, node, workload] = [world.podOf(id), world.nodes.get(id), world.workloads.get(id)];
  if (kind === 'pod' && pod !== undefined) {
    pod.workload.instances[pod.instance] = undefined;
    world.remove(pod);
  } else if (kind === 'node' && node !== undefined) {
    world.removeNode(node);
  } else if (kind === 'workload' && workload !== undefined) {
    world.removeWorkload(workload);
  }
}
