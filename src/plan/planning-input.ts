import type { NodeInfo } from '../model/node.ts';
import type { PodInfo, SchedulingConstraints } from '../model/pod.ts';
import { matches } from '../model/selector.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { failedNodes, isStranded } from '../model/stranded.ts';
import { measuredStartup } from '../qos/startup.ts';
import { cooldowns } from './budgets/cooldown.ts';
import type { BudgetHistory } from './budgets/index.ts';
import { lostService } from './budgets/overhead.ts';
import { type PdbLookup, pdbLookup } from './budgets/pod-disruption-budget.ts';
import { isForReadiness, isForService } from './budgets/protections.ts';
import { serviceLevel } from './budgets/service-level.ts';
import { type Cluster, indexCluster } from './cluster.ts';
import { assessEvictability, type Evictability } from './evictability.ts';
import { at, type PodIndex } from './indices.ts';
import { gateMessage } from './metrics-gate.ts';
import { type IndexedNodes, indexNodes } from './node-index.ts';
import { once } from './once.ts';
import {
  improvesService,
  NO_REPAIRS,
  type PolicyOptions,
  packs,
  planningOptions,
  type RepairOptions,
} from './options.ts';
import { locatePods, sortNodes, sortPods } from './order.ts';
import { withOverloadedSources } from './overloaded-sources.ts';
import { indexOwners, type Owners, ownerOf } from './owners.ts';
import { drainOf, type Participation, participation } from './participation.ts';
import { type PodKinds, sortIntoKinds } from './pod-kinds.ts';
import { measurePods, type PodUsage, type Subjects } from './pod-usage.ts';
import { promisesIn } from './promises.ts';
import { createGuard, type RepairGuard } from './repair/guard.ts';
import { hostCounter } from './repair/hosts.ts';
import { createShapeRegistry, type ShapeRegistry } from './shapes.ts';
import { type StartupTimes, startupTimes } from './startup.ts';
import { STRATEGY_TRAITS } from './strategies/traits.ts';
import type { CountedForRepairs } from './topology/topology-index.ts';

/** The snapshot in order, and what can be said before loads are known. */
export interface PlanningInput {
  readonly snapshot: ClusterSnapshot;
  readonly pods: readonly PodInfo[];
  readonly subjects: Subjects;
  readonly pdbs: PdbLookup;
  readonly history: BudgetHistory;
  readonly holds: Evictability;
  readonly participation: Participation;
  /** Pods that wait at our gate and may be let through, by place; empty unless the strategy admits such pods. */
  readonly queue: readonly PodIndex[];
  /** Pods that may be moved if their node is overloaded, not Ready ones among them, by place; empty unless overload is measured. */
  readonly mobile: readonly PodIndex[];
  /** Pods that are down with their nodes, and may be placed anew, by place; empty unless the strategy admits pods that wait. */
  readonly stranded: readonly PodIndex[];
  /** What pods use; worked out when first asked for. */
  readonly usage: () => PodUsage;
  /** All nodes with what runs there; indexed when first asked for. */
  readonly sites: () => IndexedNodes;
  /** Shapes of pods; interned as clusters ask for them. */
  readonly shapes: () => ShapeRegistry;
  /** Nodes that pods may be moved to whatever their load: those in scope that are Ready and stay. */
  readonly hosts: readonly NodeInfo[];
  /** Keeps what the policy repairs; `undefined`: it neither repairs nor makes room. */
  readonly guard: RepairGuard | undefined;
}

/** Puts a snapshot in order and judges its pods and nodes. */
export function planningInputOf(snapshot: ClusterSnapshot, policy: PolicyOptions): PlanningInput {
  const options = planningOptions(policy);
  const nodes = sortNodes(snapshot.nodes);
  const pods = sortPods(snapshot.pods);
  const kinds = sortIntoKinds(pods);
  const owners = indexOwners(kinds, snapshot.workloads);
  const pdbs = pdbLookup(snapshot.pdbs);
  const history = historyOf(snapshot, { pods, owners, kinds }, options);
  const subjects = { pods, nodes, owners, kinds, located: locatePods(pods, nodes) };
  const holds = assessEvictability(snapshot, subjects, pdbs, options, history.cooldowns);
  const { admitsWaitingPods } = STRATEGY_TRAITS[options.strategy.type];
  const queue = admitsWaitingPods ? queueOf(pods, holds) : [];
  const stranded = admitsWaitingPods ? strandedOf(snapshot, { pods, owners }, holds) : [];
  const down = new Set(stranded);
  const mobile = mobileOf(snapshot, pods, holds, options).filter((pod) => !down.has(pod));
  const movable = movableConstraints(kinds, holds, [...queue, ...mobile, ...stranded]);
  const hasMovablePods = nodesOfFree(subjects, holds);
  const base = participation({ snapshot, nodes, pods, movable, hasMovablePods, options });
  const usage = once(() => measurePods(subjects, snapshot, options));
  const { storage, namespaces } = snapshot;
  const repair = options.repair ?? (options.makesRoom ? NO_REPAIRS : undefined);
  const extra = repair && countedFor(repair);
  const sites = once(() => indexNodes({ ...subjects, storage, namespaces, ...(extra && { extra }) }));
  const hosts = nodes.filter(
    (node) => node.ready && drainOf(node) === undefined && matches(options.scope.nodeSelector, node.labels),
  );
  const guard = repair && createGuard(repair, hostCounter({ nodes: hosts, storage, sites, samples: kinds.firstOf }));
  const asFound = improvesService(options.strategy) || packs(options.strategy);
  const takesPart = asFound ? base : withOverloadedSources(base, subjects, usage, options);
  const known = { snapshot, pods, subjects, pdbs, history, holds, queue, mobile, stranded };
  const shapes = once(() => createShapeRegistry({ sites: sites(), kinds, owners, guard }));
  return { ...known, participation: takesPart, usage, sites, shapes, hosts, guard };
}

function countedFor({ topologySpread, duplicates }: RepairOptions): CountedForRepairs {
  return { keepsSpread: topologySpread !== undefined, softSpread: topologySpread?.soft === true, duplicates };
}

/** Which nodes run pods that nothing holds there; the pods are looked at when it is first asked. */
function nodesOfFree({ nodes, located }: Subjects, holds: Evictability): (node: string) => boolean {
  const names = once(() => {
    const hasFree = new Uint8Array(nodes.length);
    located.forEach((site, pod) => {
      if (site >= 0 && isFree(holds, pod)) {
        hasFree[site] = 1;
      }
    });
    return new Set(nodes.filter((_, site) => hasFree[site] === 1).map(({ name }) => name));
  });
  return (node) => names().has(node);
}

/** Pods in scope that nothing holds on their nodes, or nothing but that they are not Ready. */
function mobileOf(
  { usage, serviceLevels }: ClusterSnapshot,
  pods: readonly PodInfo[],
  holds: Evictability,
  { strategy }: PolicyOptions,
): readonly PodIndex[] {
  const isMeasured = improvesService(strategy) && strategy.pressure !== undefined && usage !== undefined;
  if (!isMeasured || serviceLevels.ledgers.size === 0) {
    return [];
  }
  const mobile: PodIndex[] = [];
  pods.forEach((pod, place) => {
    const isBound = holds.inScope[place] === 1 && pod.nodeName !== undefined;
    const mayLeave = (): boolean =>
      holds.of(place) === undefined || (!pod.ready && holds.all(place).every((hold) => isForReadiness(hold, pod)));
    if (isBound && mayLeave()) {
      mobile.push(place);
    }
  });
  return mobile;
}

/** Pods in scope on nodes that are not Ready, whose controllers replace them at once, and that only protections of service hold. */
function strandedOf(
  { nodes, serviceLevels }: ClusterSnapshot,
  { pods, owners }: { readonly pods: readonly PodInfo[]; readonly owners: Owners },
  holds: Evictability,
): readonly PodIndex[] {
  const failed = failedNodes(nodes);
  if (failed.size === 0 || serviceLevels.ledgers.size === 0) {
    return [];
  }
  return [...pods.keys()].filter((place) => {
    const pod = pods[place];
    return (
      pod !== undefined &&
      isStranded(pod, failed) &&
      holds.inScope[place] === 1 &&
      ownerOf(owners, place)?.workload?.replacesTerminating === true &&
      holds.all(place).every((hold) => isForService(hold, pod))
    );
  });
}

/** Pods in scope that nothing keeps waiting but gates. */
function queueOf(pods: readonly PodInfo[], { inScope }: Evictability): readonly PodIndex[] {
  const queue: PodIndex[] = [];
  pods.forEach((pod, place) => {
    const { nodeName, waiting, terminating, owner, constraints } = pod;
    const isQueued = nodeName === undefined && waiting?.gated === true && !terminating;
    if (isQueued && inScope[place] === 1 && owner !== undefined && constraints.unsupported.length === 0) {
      queue.push(place);
    }
  });
  return queue;
}

/** Constraints of the pods that no protection holds, and of those that a plan may place all the same. */
function movableConstraints(
  { list, ofPod }: PodKinds,
  holds: Evictability,
  placeable: readonly PodIndex[],
): ReadonlySet<SchedulingConstraints> {
  const isMovable = new Uint8Array(list.length);
  ofPod.forEach((kind, pod) => {
    if (isMovable[kind] === 0 && isFree(holds, pod)) {
      isMovable[kind] = 1;
    }
  });
  for (const pod of placeable) {
    isMovable[at(ofPod, pod)] = 1;
  }
  return new Set(list.filter((_, kind) => isMovable[kind] === 1).map(({ constraints }) => constraints));
}

/** Whether a plan may move the pod as far as scope and protections go. */
export function isFree({ inScope, of }: Evictability, pod: PodIndex): boolean {
  return inScope[pod] === 1 && of(pod) === undefined;
}

/** Why the metrics do not suffice for a plan; `undefined` when they do, or none are needed. */
export function metricsProblem({ snapshot, participation }: PlanningInput, options: PolicyOptions) {
  const { load } = planningOptions(options);
  return load.source === 'Requests' || snapshot.nodes.length === 0
    ? undefined
    : gateMessage(snapshot, participation.coverage, load.minCoverage);
}

/** Indexes what was surveyed, with what pods use; `otherwise` are pods that a plan may place besides those that add to a load. */
export function clusterOf(
  planningInput: PlanningInput,
  policy: PolicyOptions,
  otherwise: readonly PodIndex[] = [],
): Cluster {
  const { subjects, holds, participation, queue, mobile, stranded } = planningInput;
  const options = planningOptions(policy);
  const { participants } = participation;
  const placeable = [...queue, ...mobile, ...stranded, ...otherwise];
  return indexCluster({
    participants,
    sites: planningInput.sites(),
    subjects,
    usage: planningInput.usage(),
    isFree: (pod) => isFree(holds, pod),
    placeable,
    shapes: planningInput.shapes(),
    guard: planningInput.guard,
    options,
  });
}

/** What was moved before the snapshot, as far as a plan depends on it; worked out when first asked for. */
function historyOf(
  snapshot: ClusterSnapshot,
  owned: Pick<Subjects, 'pods' | 'owners' | 'kinds'>,
  { protections, strategy }: PolicyOptions,
): BudgetHistory {
  const { pastMoves, spent, takenAt } = snapshot;
  const startup = withLedgers(startupTimes(pastMoves, owned), snapshot);
  const balances = !improvesService(strategy) && snapshot.serviceLevels.ledgers.size > 0;
  return {
    startup,
    underWay: snapshot.underWay ?? [],
    lost: (window) => lostService(pastMoves, startup, window, takenAt, spent),
    cooldowns: cooldowns(snapshot, protections.cooldown),
    serviceLevel: () => (balances ? serviceLevel(promisesIn(snapshot, owned), takenAt) : undefined),
  };
}

/** What a ledger has measured counts for more than what past moves and running pods say: it has seen every start. */
function withLedgers(startup: StartupTimes, { serviceLevels, workloads }: ClusterSnapshot): StartupTimes {
  const { ledgers } = serviceLevels;
  if (ledgers.size === 0) {
    return startup;
  }
  return {
    of: (owner) => {
      const ledger = ledgers.get(workloads.get(owner)?.owner?.uid ?? '') ?? ledgers.get(owner);
      return (ledger && measuredStartup(ledger)) ?? startup.of(owner);
    },
  };
}
