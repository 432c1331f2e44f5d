import { kindOf, type MoveKind } from '../model/move.ts';
import type { NodeInfo } from '../model/node.ts';
import { type PodInfo, podKey } from '../model/pod.ts';
import { matches } from '../model/selector.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { NO_STORAGE } from '../model/storage.ts';
import { after, type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import { NO_COOLDOWNS } from '../plan/budgets/cooldown.ts';
import { pdbLookup } from '../plan/budgets/pod-disruption-budget.ts';
import {
  failedPodProtections,
  type Guards,
  isForReadiness,
  isForService,
  type Protection,
  protectionsOf,
} from '../plan/budgets/protections.ts';
import { rolloutOf } from '../plan/budgets/rollout.ts';
import { capacityRefusal, nodeRefusal } from '../plan/filters/index.ts';
import { describeRefusal, plainSubject, type Refusal } from '../plan/filters/refusal.ts';
import { freeCapacityOf } from '../plan/free-capacity.ts';
import { labelsHash } from '../plan/hash.ts';
import { massFailure } from '../plan/mass-failure.ts';
import type { PolicyOptions } from '../plan/options.ts';
import type { Owner } from '../plan/owners.ts';
import { drainOf } from '../plan/participation.ts';
import { movesUnready } from '../plan/repair/unready.ts';
import { scopeProblem } from '../plan/scope.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import { hasTerms } from '../plan/topology/trackers.ts';
import { verdictsIn } from '../plan/verdicts.ts';
import type { Clock, ClusterReader, LiveNamespace, LivePod } from '../ports.ts';
import { comebackOf, recovery, shortfall } from './availability.ts';
import { withCommitments } from './commitments.ts';
import type { JournalEntry, MoveEvent, PlannedMove } from './move.ts';
import { recordSiblings, type Siblings } from './siblings.ts';

interface LivePorts {
  readonly reader: ClusterReader;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** What a move is checked against, in addition to the cluster. */
export interface CheckInput {
  readonly move: PlannedMove;
  readonly plannedAt: EpochSeconds;
  readonly options: PolicyOptions;
  /** The other moves that are under way, of all plans. */
  readonly inFlight: readonly JournalEntry[];
}

/** What a live check comes to. */
export type Checked =
  /**
   * Nothing stands against the move; `serverTime` gives the API server's clock at any time after the check. `siblings` are the pods
   * that the owner has; undefined for an admission, which has no replacement.
   */
  | { readonly kind: 'Clear'; readonly serverTime: () => EpochSeconds; readonly siblings: Siblings | undefined }
  | Extract<MoveEvent, { readonly kind: 'Hold' | 'Skip' }>;

/**
 * Looks at the cluster right before a move (execution.md, live check): pod, labels and owner unchanged, pod and nodes still in
 * the policy's scope, target Ready and allowed by all filters of the scheduler; and before an eviction protections unchanged and
 * all pods of the owner available. A preemption need not wait for other pods of its owner, which may be queueing themselves.
 * Some repairs move a pod whether or not it is Ready. QoSDriven moves pods that are not Ready, which are not missed any more than
 * before, and leaves those that have become Ready since the plan was made, at `plannedAt`. From a node that has failed it moves what only protections of service
 * hold there, unless the node or the pod is Ready again, or most nodes have failed by now. A removal is kept by what holds a pod that
 * has failed. Room is made only while the scheduler finds no node for a pod in the namespace of the one that it is for.
 * Rejects with ApiError when the cluster cannot be read.
 */
export async function liveCheck(
  input: CheckInput,
  { reader, clock }: LivePorts,
  signal: AbortSignal,
): Promise<Checked> {
  const lookedAt = clock.monotonic();
  const seen = await look(input.move, reader, signal);
  return judge(input, seen, () => reader.placements(signal), since(seen, lookedAt, clock));
}

/**
 * The same by the caches, which may be seconds behind, save for the pod and the pods of its owner: whether an intent is worth writing.
 * `snapshot` is what the caches have.
 */
export async function cachedCheck(
  input: CheckInput,
  snapshot: ClusterSnapshot,
  { reader, clock }: LivePorts,
  signal: AbortSignal,
): Promise<Checked> {
  const lookedAt = clock.monotonic();
  const seen = { ...around(input.move, snapshot), ...(await lookAtPods(input.move, reader, signal)) };
  return judge(input, seen, async () => snapshot, since(seen, lookedAt, clock));
}

function since({ serverTime }: Surroundings, lookedAt: Seconds, clock: Pick<Clock, 'monotonic'>): () => EpochSeconds {
  return () => after(serverTime, seconds(clock.monotonic() - lookedAt));
}

async function judge(
  input: CheckInput,
  seen: Surroundings,
  placements: () => Promise<ClusterSnapshot>,
  serverTime: () => EpochSeconds,
): Promise<Checked> {
  const { move, options, inFlight } = input;
  const { pod, owner, siblings, node, target } = seen;
  const kind = kindOf(move);
  const { waives, comeback } = exceptionFor(input, node);
  const guards = needsGuards(options) ? guardsIn(await placements()) : NO_GUARDS;
  const protections =
    kind === 'Admission' ? [] : protectionsNow(kind, pod, owner, seen.top, options, guards, seen.serverTime);
  const protection = protections.find((each) => pod === undefined || !waives(each, pod));
  const drift = podDrift(move, pod, owner) ?? protection?.message ?? (pod && comeback(pod));
  if (pod === undefined || drift !== undefined) {
    return { kind: 'Skip', why: drift ?? 'the pod is gone' };
  }
  const isLoss = kind === 'Transfer' && pod.ready;
  const shortage = owner === undefined || !isLoss ? undefined : shortfall(owner, siblings ?? [], seen.serverTime);
  if (shortage !== undefined) {
    return { kind: 'Hold', why: shortage };
  }
  const obstacle =
    outOfScope(pod, seen, options) ??
    (kind === 'Failover' && node !== undefined ? massFailure((await placements()).nodes, node)?.message : undefined) ??
    (move.makesRoomFor === undefined ? undefined : needless(move.makesRoomFor, await placements())) ??
    (target === undefined ? undefined : obstacleAt(pod, owner, target, inFlight, await placements()));
  return obstacle === undefined
    ? { kind: 'Clear', serverTime, siblings: siblings && recordSiblings(siblings) }
    : { kind: 'Skip', why: obstacle };
}

/**
 * Why no room need be made for a pod any more. Pods of one workload take each other's room, so one that waits in its place
 * keeps the move going.
 */
function needless(waiting: string, { pods }: ClusterSnapshot): string | undefined {
  const [namespace] = waiting.split('/');
  const isNeeded = pods.some((pod) => pod.namespace === namespace && pod.waiting?.unschedulable === true);
  return isNeeded ? undefined : `${waiting} does not wait for a node any more`;
}

/** What is different about pods that are moved since they do not serve. */
interface Exception {
  /** Whether a protection does not hold the pod for all that. */
  readonly waives: (protection: Protection, pod: PodInfo) => boolean;
  /** Why it stays since it is back. */
  readonly comeback: (pod: PodInfo) => string | undefined;
}

const NO_EXCEPTION: Exception = { waives: () => false, comeback: () => undefined };

/** `node` is that of the pod. */
function exceptionFor({ move, plannedAt, options }: CheckInput, node: NodeInfo | undefined): Exception {
  switch (kindOf(move)) {
    case 'Failover':
      return { waives: isForService, comeback: (pod) => comebackOf(pod, node) };
    case 'Transfer':
      if (move.repairs?.some((name) => movesUnready(name, options.repair ?? {})) === true) {
        return { waives: isForReadiness, comeback: () => undefined };
      }
      return STRATEGY_TRAITS[options.strategy.type].movesUnreadyPods
        ? { waives: isForReadiness, comeback: (pod) => recovery(pod, plannedAt) }
        : NO_EXCEPTION;
    default:
      return NO_EXCEPTION;
  }
}

/** The pod of a move, and those of its owner; undefined for an admission and a removal. */
interface Pods extends Pick<LivePod, 'pod' | 'serverTime'> {
  readonly siblings: readonly PodInfo[] | undefined;
}

/** What stands on the cluster around a move. */
interface Surroundings extends Pods {
  readonly owner: WorkloadInfo | undefined;
  /** The owner of the owner: a Deployment's. */
  readonly top: WorkloadInfo | undefined;
  readonly namespace: LiveNamespace | undefined;
  readonly node: NodeInfo | undefined;
  /** Undefined when the move has no target. */
  readonly target: Target | undefined;
}

/** A node that a pod is to go to, and the pods there. */
interface Target {
  readonly name: string;
  readonly node: NodeInfo | undefined;
  readonly beside: readonly PodInfo[];
}

/** All at once: one after the other the reads of a batch would take longer than its evictions. */
async function look(move: PlannedMove, reader: ClusterReader, signal: AbortSignal): Promise<Surroundings> {
  const [pods, owners, namespace, node, target] = await Promise.all([
    lookAtPods(move, reader, signal),
    ownersOf(move, reader, signal),
    reader.namespace(move.pod.namespace, signal),
    move.from === undefined ? undefined : reader.node(move.from, signal),
    move.to === undefined ? undefined : readTarget(move.to, reader, signal),
  ]);
  return { ...pods, ...owners, namespace, node, target };
}

async function lookAtPods(move: PlannedMove, reader: ClusterReader, signal: AbortSignal): Promise<Pods> {
  const [{ pod, serverTime }, siblings] = await Promise.all([
    reader.pod(move.pod, signal),
    hasReplacement(move) ? reader.podsOfOwner(move.pod.namespace, move.owner, signal) : undefined,
  ]);
  return { pod, serverTime, siblings };
}

/** Whether the controller of its pod is to make another one. */
function hasReplacement(move: PlannedMove): boolean {
  const kind = kindOf(move);
  return kind !== 'Admission' && kind !== 'Removal';
}

/** All but the pods, from a snapshot; it does not say whether a namespace is being deleted. */
function around(
  { pod, owner: { uid }, from, to }: PlannedMove,
  { workloads, namespaces, nodes, pods }: ClusterSnapshot,
): Omit<Surroundings, keyof Pods> {
  const owner = workloads.get(uid);
  const labels = namespaces.get(pod.namespace);
  const named = (wanted: string): NodeInfo | undefined => nodes.find(({ name }) => name === wanted);
  const beside = pods.filter(({ nodeName }) => nodeName === to);
  return {
    owner,
    top: owner?.owner === undefined ? undefined : workloads.get(owner.owner.uid),
    namespace: labels && { labels, terminating: false },
    node: from === undefined ? undefined : named(from),
    target: to === undefined ? undefined : { name: to, node: named(to), beside },
  };
}

async function ownersOf(
  move: PlannedMove,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Pick<Surroundings, 'owner' | 'top'>> {
  const owner = await reader.workload(move.pod.namespace, move.owner, signal);
  const top = owner?.owner === undefined ? undefined : await reader.workload(owner.namespace, owner.owner, signal);
  return { owner, top };
}

async function readTarget(name: string, reader: ClusterReader, signal: AbortSignal): Promise<Target> {
  const [node, beside] = await Promise.all([reader.node(name, signal), reader.podsOnNode(name, signal)]);
  return { name, node, beside };
}

/** Why the move has left the scope of the policy: the namespace or a node has changed; `undefined` while it is in scope. */
function outOfScope(
  pod: PodInfo,
  { namespace, node, target }: Surroundings,
  { scope }: PolicyOptions,
): string | undefined {
  if (namespace === undefined || namespace.terminating) {
    return `its namespace ${pod.namespace} is being deleted`;
  }
  if (pod.nodeName !== undefined && node === undefined) {
    return `its node ${pod.nodeName} is gone`;
  }
  const namespaces = new Map([[pod.namespace, namespace.labels]]);
  const problem = scopeProblem(scope, { nodes: node === undefined ? [] : [node], namespaces })(pod);
  const isOutside = target?.node !== undefined && !matches(scope.nodeSelector, target.node.labels);
  return problem ?? (isOutside ? `${target.name} is outside scope.nodeSelector` : undefined);
}

function podDrift(move: PlannedMove, pod: PodInfo | undefined, owner: WorkloadInfo | undefined): string | undefined {
  if (pod === undefined || pod.uid !== move.pod.uid) {
    return 'the pod is gone';
  }
  if (pod.nodeName !== move.from) {
    return `the pod is on ${pod.nodeName ?? 'no node'}, not on ${move.from ?? 'none'}`;
  }
  if (kindOf(move) === 'Admission' && pod.waiting?.gated !== true) {
    return 'the pod no longer waits at the gate evenkeel.dev/qos';
  }
  if (kindOf(move) === 'Removal' && pod.phase !== 'Failed') {
    return `the pod is in phase ${pod.phase}`;
  }
  if (pod.owner?.uid !== move.owner.uid || (owner === undefined && hasReplacement(move))) {
    return `the pod no longer belongs to ${move.owner.kind} ${move.owner.name}`;
  }
  if (move.labelsHash !== undefined && move.labelsHash !== labelsHash(pod.labels)) {
    return 'the labels of the pod have changed since the plan was made';
  }
  return undefined;
}

/** Policies that are indifferent to both ask for neither, since placements may have to be listed. */
const NO_GUARDS: Guards = { storage: NO_STORAGE, isCovered: () => true };

function needsGuards({ protections }: PolicyOptions): boolean {
  return protections.withoutPDB === 'Protect' || protections.protectedStorageClasses.size > 0;
}

function guardsIn({ storage, pdbs }: ClusterSnapshot): Guards {
  const lookup = pdbLookup(pdbs);
  return { storage, isCovered: (pod) => lookup(pod).length > 0 };
}

/**
 * What came to protect the pod since the plan was made, a rollout of its controller or Deployment included. Cooldown is the
 * plan's affair, since its own moves begin one.
 */
function protectionsNow(
  kind: MoveKind,
  pod: PodInfo | undefined,
  workload: WorkloadInfo | undefined,
  top: WorkloadInfo | undefined,
  options: PolicyOptions,
  guards: Guards,
  now: EpochSeconds,
): readonly Protection[] {
  if (pod?.owner === undefined) {
    return [];
  }
  const owner = { ref: pod.owner, workload, top, replicas: workload?.replicas ?? 0 };
  const { stabilization } = options.protections;
  const rollout = { stabilization, now, countsReplicas: false, newestPod: () => undefined };
  const context = {
    options: options.protections,
    now,
    rollout: (known: Owner) => rolloutOf(known, rollout),
    cooldowns: NO_COOLDOWNS,
    guards,
  };
  return kind === 'Removal' ? failedPodProtections(pod, owner, context) : protectionsOf(pod, owner, context);
}

/**
 * Why the scheduler's filters keep `pod` from the node `target` now; `undefined` when it may go there. First by the node and its
 * pods as they are at this moment, then by all filters with everything else where the caches have it: pods elsewhere have a say by
 * affinity and spread, and may stand where no plan meant them to. Replacements of `inFlight` count where they are to land.
 * Rejects with ApiError, and as `placements` does.
 */
export async function targetObstacle(
  pod: PodInfo,
  owner: WorkloadInfo | undefined,
  target: string,
  inFlight: readonly JournalEntry[],
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<string | undefined> {
  const seen = await readTarget(target, reader, signal);
  return obstacleAt(pod, owner, seen, inFlight, await reader.placements(signal));
}

function obstacleAt(
  pod: PodInfo,
  owner: WorkloadInfo | undefined,
  { name, node, beside }: Target,
  inFlight: readonly JournalEntry[],
  snapshot: ClusterSnapshot,
): string | undefined {
  if (node === undefined || !node.ready) {
    return `${name} is ${node === undefined ? 'gone' : 'not Ready'}`;
  }
  const drain = drainOf(node);
  if (drain !== undefined) {
    return `${name}: ${drain}`;
  }
  const subject = plainSubject(pod.constraints, owner?.pinnedNode);
  const refusal =
    nodeRefusal(subject, node, NO_STORAGE) ??
    capacityRefusal(subject, node, freeCapacityOf(node, beside)) ??
    refusalElsewhere(pod, node, beside, inFlight, snapshot);
  return refusal === undefined ? undefined : `${name} ${describeRefusal(refusal)}`;
}

/**
 * What all filters say, which costs an index of the whole cluster: where no pod has affinity or spread, the pod no volumes,
 * and nobody is waiting for the node, there is nothing that the node and its pods have not said already.
 */
function refusalElsewhere(
  pod: PodInfo,
  node: NodeInfo,
  beside: readonly PodInfo[],
  inFlight: readonly JournalEntry[],
  snapshot: ClusterSnapshot,
): Refusal | undefined {
  const isTied = pod.claims.length > 0 || hasTerms(pod.constraints);
  const othersMatter = snapshot.pods.some(
    ({ constraints, nominatedNode }) => nominatedNode === node.name || hasTerms(constraints),
  );
  return isTied || othersMatter ? firstRefusal(pod, node, beside, inFlight, snapshot) : undefined;
}

/** The pod, the node and the pods there take the place of what the snapshot has of them: they were read live. */
function firstRefusal(
  pod: PodInfo,
  node: NodeInfo,
  beside: readonly PodInfo[],
  inFlight: readonly JournalEntry[],
  snapshot: ClusterSnapshot,
): Refusal | undefined {
  const live = new Map([...beside, pod].map((each) => [podKey(each), each]));
  const elsewhere = snapshot.pods.filter((other) => other.nodeName !== node.name && !live.has(podKey(other)));
  const pods = withCommitments([...elsewhere, ...live.values()], inFlight);
  const nodes = [...snapshot.nodes.filter(({ name }) => name !== node.name), node];
  return verdictsIn({ ...snapshot, pods, nodes })(pod, node).refusals[0];
}
