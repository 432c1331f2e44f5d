import { compareText } from '../model/compare-text.ts';
import type { NodeInfo } from '../model/node.ts';
import { type PodInfo, type PodRef, podKey } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { failedNodes, isStranded } from '../model/stranded.ts';
import { type EpochSeconds, epochSeconds } from '../model/units.ts';
import type { PdbInfo, WorkloadInfo } from '../model/workload.ts';
import { compareNames } from '../observe/order.ts';
import { allowsUnready, budgetHealth, disruptionsAllowed } from '../observe/pdb-allowance.ts';
import type { BudgetHealth } from '../observe/project/pdb.ts';
import { budgetOpens, nodeTakesOthers } from '../observe/room-change.ts';
import { itemAt } from '../plan/indices.ts';
import type { Turnover } from '../ports.ts';
import type { EventQueue } from './event-queue.ts';
import type { Scenario, WorkloadSpec } from './scenario.ts';

/** A workload with the pods that it has. */
export interface SimulatedWorkload {
  readonly spec: WorkloadSpec;
  info: WorkloadInfo;
  /** Instances that it wants now. */
  replicas: number;
  /** Pod of each instance, those that are going left out; `undefined` while there is none. */
  readonly instances: (SimulatedPod | undefined)[];
  /** Instances of a Job that have come to their end. */
  readonly completed: Set<number>;
  /** It is gone, or all of its Job is done. */
  ended: boolean;
  /** Pods made so far, for their names. */
  made: number;
}

/** What the scheduler's view of a cluster is made from. */
const LAYOUT = ['nodeName', 'terminating', 'nominatedNode', 'placement'] as const;

/** One incarnation of an instance. */
export interface SimulatedPod {
  info: PodInfo;
  readonly workload: SimulatedWorkload;
  readonly instance: number;
  /** Counts the pods in the order in which they were made. */
  readonly sequence: number;
  /** It is there as the API server has it; false once it is gone. */
  exists: boolean;
  /** It is not Ready because its node has too little CPU for it; it uses what it gets all the same. */
  starved: boolean;
}

/** A node; `info` is what the API server has. */
export interface SimulatedNode {
  info: NodeInfo;
  /** It has fallen silent: what runs there serves nobody, whatever the API server thinks. */
  down: boolean;
  /** Counts failures and returns, so that what a failure began can see whether it has ended. */
  turns: number;
}

/** A budget as the disruption controller has it. */
export interface ModelledPdb extends PdbInfo {
  /** `undefined` where the controller cannot tell. */
  readonly health: BudgetHealth | undefined;
}

/** Told of every change of a pod, after it was made. */
export type PodObserver = (pod: SimulatedPod) => void;

/** What stands on the simulated cluster. Changed by controllers, kubelets and the scheduler, through `change`. */
export interface World {
  readonly scenario: Scenario;
  readonly queue: EventQueue;
  /** Wall-clock time, as the API server puts it on record: in whole seconds. */
  readonly serverTime: () => EpochSeconds;
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  /** In the order of a snapshot. */
  readonly pods: readonly SimulatedPod[];
  readonly podOf: (uid: string) => SimulatedPod | undefined;
  readonly podNamed: (ref: Pick<PodRef, 'namespace' | 'name'>) => SimulatedPod | undefined;
  /** By uid of the controller. */
  readonly workloads: ReadonlyMap<string, SimulatedWorkload>;
  /** Pods that run, are not going, and whose node is up: those that serve. */
  readonly isServing: (pod: SimulatedPod) => boolean;
  /** Pods that use resources: those that serve, and those that would if their node had enough for them. */
  readonly isBusy: (pod: SimulatedPod) => boolean;
  readonly addNode: (info: NodeInfo) => void;
  readonly addWorkload: (workload: SimulatedWorkload) => void;
  readonly add: (pod: SimulatedPod) => void;
  readonly change: (pod: SimulatedPod, fields: Partial<PodInfo>) => void;
  readonly remove: (pod: SimulatedPod) => void;
  readonly removeNode: (node: SimulatedNode) => void;
  readonly changeNode: (node: SimulatedNode, info: NodeInfo) => void;
  /** It was deleted; its pods go on their own. */
  readonly removeWorkload: (workload: SimulatedWorkload) => void;
  readonly changeWorkload: (workload: SimulatedWorkload, info: WorkloadInfo) => void;
  /** What came and went. */
  readonly turnover: () => Turnover;
  /** Tells observers that a pod serves or no longer does, although the API server does not know. */
  readonly touch: (pod: SimulatedPod) => void;
  readonly observe: (observer: PodObserver) => void;
  /** Calls back when a node comes, or may take other pods than before. */
  readonly observeNodes: (observer: () => void) => void;
  /** Grows with every change of what runs where, and of nodes: of all that the filters look at. */
  readonly layout: () => number;
  readonly snapshot: (extras: Pick<ClusterSnapshot, 'pastMoves' | 'serviceLevels' | 'usage'>) => ClusterSnapshot;
  /** PodDisruptionBudgets as the disruption controller has them. */
  readonly pdbs: () => readonly ModelledPdb[];
}

/** A world without pods and nodes. */
export function createWorld(scenario: Scenario, queue: EventQueue): World {
  const nodes = new Map<string, SimulatedNode>();
  const pods: SimulatedPod[] = [];
  const byUid = new Map<string, SimulatedPod>();
  const byName = new Map<string, SimulatedPod>();
  const workloads = new Map<string, SimulatedWorkload>();
  const infos = new Map<string, WorkloadInfo>();
  const observers: PodObserver[] = [];
  const nodeObservers: (() => void)[] = [];
  const serverTime = (): EpochSeconds => epochSeconds(Math.floor(scenario.start + queue.now()));
  const turnover = { room: 0, requests: 0 };
  let layout = 0;
  const known: { pods?: readonly PodInfo[]; nodes?: readonly NodeInfo[] } = {};
  const tell = (pod: SimulatedPod): void => {
    for (const observer of observers) {
      observer(pod);
    }
  };
  const tellOfNodes = (): void => {
    for (const observer of nodeObservers) {
      observer();
    }
  };
  const nodesChanged = (): void => {
    layout += 1;
    delete known.nodes;
  };
  const nodesTurned = (): void => {
    turnover.room += 1;
    turnover.requests += 1;
    nodesChanged();
    tellOfNodes();
  };
  const podsTurned = (pod: SimulatedPod): void => {
    turnover.room += 1;
    layout += 1;
    delete known.pods;
    tell(pod);
  };
  const isUp = ({ info, exists }: SimulatedPod): boolean =>
    exists && !info.terminating && nodes.get(info.nodeName ?? '')?.down === false;
  const podInfos = (): readonly PodInfo[] => {
    known.pods ??= pods.map(({ info }) => info);
    return known.pods;
  };
  const nodeInfos = (): readonly NodeInfo[] => {
    known.nodes ??= [...nodes.values()].map(({ info }) => info).sort((a, b) => compareText(a.name, b.name));
    return known.nodes;
  };
  const strandedNow = (): readonly string[] => {
    const failed = failedNodes(nodeInfos());
    return failed.size === 0 ? [] : podInfos().flatMap((pod) => (isStranded(pod, failed) ? [pod.uid] : []));
  };
  const pdbs = (): readonly ModelledPdb[] => allowances(scenario, podInfos, infos);
  let lastPdbs: readonly ModelledPdb[] = [];
  /** Budgets follow from pods, and have no events of their own: one counts when it is open at a look and was not at the last. */
  const countOpened = (): void => {
    const now = pdbs();
    turnover.room += lastPdbs.filter((before, place) => budgetOpens(before, itemAt(now, place))).length;
    lastPdbs = now;
  };
  return {
    scenario,
    queue,
    serverTime,
    nodes,
    pods,
    podOf: (uid) => byUid.get(uid),
    podNamed: (ref) => byName.get(podKey(ref)),
    workloads,
    isServing: (pod) => pod.info.ready && isUp(pod),
    isBusy: (pod) => (pod.info.ready || pod.starved) && isUp(pod),
    addNode: (info) => {
      nodes.set(info.name, { info, down: false, turns: 0 });
      nodesTurned();
    },
    addWorkload: (workload) => {
      workloads.set(workload.info.uid, workload);
      turnover.requests += 1;
      infos.set(workload.info.uid, workload.info);
    },
    add: (pod) => {
      pods.splice(placeOf(pods, pod.info), 0, pod);
      byUid.set(pod.info.uid, pod);
      byName.set(podKey(pod.info), pod);
      podsTurned(pod);
    },
    change: (pod, fields) => {
      pod.info = { ...pod.info, ...fields };
      layout += LAYOUT.some((field) => field in fields) ? 1 : 0;
      delete known.pods;
      tell(pod);
    },
    remove: (pod) => {
      pods.splice(placeOf(pods, pod.info), 1);
      byUid.delete(pod.info.uid);
      byName.delete(podKey(pod.info));
      pod.exists = false;
      podsTurned(pod);
    },
    removeNode: ({ info: { name } }) => {
      nodes.delete(name);
      nodesTurned();
    },
    changeNode: (node, info) => {
      const isTurn = nodeTakesOthers(node.info, info);
      node.info = info;
      if (isTurn) {
        nodesTurned();
      } else {
        nodesChanged();
      }
    },
    removeWorkload: ({ info: { uid } }) => {
      workloads.delete(uid);
      infos.delete(uid);
      turnover.requests += 1;
    },
    changeWorkload: (workload, info) => {
      workload.info = info;
      if (workloads.has(info.uid)) {
        infos.set(info.uid, info);
      }
    },
    turnover: () => {
      countOpened();
      return { ...turnover, stranded: strandedNow() };
    },
    touch: tell,
    observe: (observer) => {
      observers.push(observer);
    },
    observeNodes: (observer) => {
      nodeObservers.push(observer);
    },
    layout: () => layout,
    snapshot: (extras) => ({
      takenAt: serverTime(),
      nodes: nodeInfos(),
      pods: podInfos(),
      workloads: infos,
      namespaces: scenario.namespaces,
      pdbs: pdbs(),
      storage: scenario.storage,
      ...(scenario.traffic === undefined ? {} : { appGraphs: scenario.traffic.graphs }),
      problems: [],
      ...extras,
    }),
    pdbs,
  };
}

function allowances(
  { pdbs }: Scenario,
  pods: () => readonly PodInfo[],
  workloads: ReadonlyMap<string, WorkloadInfo>,
): readonly ModelledPdb[] {
  return pdbs.map((pdb) => {
    const { namespace, name, selector } = pdb;
    const own = pods().filter((pod) => pod.namespace === namespace);
    const health = budgetHealth(pdb, own, workloads);
    return {
      namespace,
      name,
      selector,
      disruptionsAllowed: disruptionsAllowed(health),
      allowsUnready: allowsUnready(pdb, health),
      health,
    };
  });
}

/** Where a pod stands, or would stand, in the order of a snapshot. */
function placeOf(pods: readonly SimulatedPod[], info: PodInfo): number {
  let [low, high] = [0, pods.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = pods[middle]?.info;
    if (other !== undefined && (compareNames(other, info) || compareText(other.uid, info.uid)) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** `namespace/name` of a simulated pod, as samples are found by. */
export function keyOf({ info }: SimulatedPod): string {
  return podKey(info);
}
