import type { AppGraph, AppGraphStatus } from './api/v1alpha1/app-graph.ts';
import type { PlacementHint, PlacementHintSpec } from './api/v1alpha1/placement-hint.ts';
import type { QoSLedger } from './api/v1alpha1/qos-ledger.ts';
import type { MovePhase, RebalancePlan, RebalancePlanStatus } from './api/v1alpha1/rebalance-plan.ts';
import type {
  DEFAULT_QUERIES,
  RebalancePolicy,
  RebalancePolicyStatus,
  SteeringMode,
  StrategyName,
} from './api/v1alpha1/rebalance-policy.ts';
import type { FieldsOf, LogLine } from './log-lines.ts';
import type { TrafficSample } from './model/app-graph.ts';
import type { NodeInfo } from './model/node.ts';
import type { Placement } from './model/placement.ts';
import type { OwnerRef, PodInfo, PodRef } from './model/pod.ts';
import type { MeasuredResource } from './model/resources.ts';
import type { Labels } from './model/selector.ts';
import type { ServiceClass } from './model/service-level.ts';
import type { ClusterSnapshot, UsageSample } from './model/snapshot.ts';
import type { EpochSeconds, Seconds } from './model/units.ts';
import type { WorkloadInfo } from './model/workload.ts';
import type { BudgetsLeft } from './plan/budgets/left.ts';
import type { Plan } from './plan/plan.ts';
import type { ServiceReport } from './plan/service-report.ts';
import type { Measured } from './plan/usage-history.ts';
import type { Promised, RequestRecord } from './qos/ledger-record.ts';
import type { KeptLedger } from './qos/ledger-state.ts';

/** Wall clock for records, monotonic clock for durations. */
export interface Clock {
  /** Wall-clock time. */
  now(): EpochSeconds;
  /** Seconds on a clock that never goes back; only differences mean anything. */
  monotonic(): Seconds;
  /** Resolves after `span`; rejects with the signal's reason when aborted. */
  sleep(span: Seconds, signal: AbortSignal): Promise<void>;
}

/** Where the operator reports what it does, by the vocabulary of LOG_LINES. Never fails. */
export type Log = <Line extends LogLine>(line: Line, fields: FieldsOf<Line>) => void;

/**
 * Calls `fire` whenever a cron expression comes round in a time zone, until stopped. Local times that do not exist in spring
 * are skipped, and an hour is skipped in autumn.
 */
export type StartCron = (schedule: string, timeZone: string, fire: () => void) => CronTimer;

/** A cron expression that fires. Owns its timer. */
export interface CronTimer {
  /** When it fires next; `undefined` when it never does. */
  next(): EpochSeconds | undefined;
  stop(): void;
}

/**
 * Reads the cluster. Every method rejects with an ApiError when the server cannot be read; `snapshot`, `measured` and `nodes`
 * with a StaleCacheError when they come from caches that are not filled, or were cut off for too long.
 */
export interface ClusterReader {
  /**
   * Everything that a plan needs, listed page by page or from caches; `takenAt` is the server's time when that began. The Metrics
   * API is not asked with `usage: false`.
   */
  snapshot(signal: AbortSignal, options?: { readonly usage: boolean }): Promise<ClusterSnapshot>;
  /** The same without usage and past moves, which the filters do not look at. */
  placements(signal: AbortSignal): Promise<ClusterSnapshot>;
  /** What nodes and pods use, and what pods there are. */
  measured(signal: AbortSignal): Promise<Measured>;
  /** What decides the class of a pod, as it is now: ServiceClasses, and the labels of namespaces. Without ledgers. */
  promises(signal: AbortSignal): Promise<Promises>;
  /** One pod and the server's time of the answer; `pod` undefined when there is none of that name. */
  pod(ref: Pick<PodRef, 'namespace' | 'name'>, signal: AbortSignal): Promise<LivePod>;
  /** One namespace; undefined when it is gone. */
  namespace(name: string, signal: AbortSignal): Promise<LiveNamespace | undefined>;
  /** One node; undefined when it is gone. */
  node(name: string, signal: AbortSignal): Promise<NodeInfo | undefined>;
  /** Pods bound to a node. */
  podsOnNode(name: string, signal: AbortSignal): Promise<readonly PodInfo[]>;
  /** Pods of a namespace whose controller is `owner`, terminating ones included. */
  podsOfOwner(namespace: string, owner: OwnerRef, signal: AbortSignal): Promise<readonly PodInfo[]>;
  /** The controller `owner` of pods in `namespace`; undefined when it is gone, or of a kind that cannot be read. */
  workload(namespace: string, owner: OwnerRef, signal: AbortSignal): Promise<WorkloadInfo | undefined>;
  /** All nodes. */
  nodes(signal: AbortSignal): Promise<readonly NodeInfo[]>;
  /** What nodes use, never from a cache; undefined where the Metrics API is not served, or its server does not answer. */
  nodeUsage(signal: AbortSignal): Promise<NodeUsage | undefined>;
}

/** What of load is asked for. */
export interface UsageRequest {
  readonly resources: readonly MeasuredResource[];
  /** How far back the oldest measurement may lie. */
  readonly window: Seconds;
  /** PromQL in place of the defaults; `$window` stands for the window. */
  readonly queries: Readonly<Partial<Record<keyof typeof DEFAULT_QUERIES, string>>>;
}

/** Measures load in place of the Metrics API, and traffic. Every method rejects with UsageError when it cannot. */
export interface UsageServer {
  /** By name of the node. What was not asked for is 0. */
  nodes(request: UsageRequest, signal: AbortSignal): Promise<ReadonlyMap<string, UsageSample>>;
  /** What PromQL of a policy says of nodes, by name of the node; `$window` stands for the window. */
  nodeLoads(promql: string, window: Seconds, signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /** What PromQL of an AppGraph says of the traffic between workloads. */
  traffic(promql: string, signal: AbortSignal): Promise<readonly TrafficSample[]>;
  /** By `namespace/name` of the pod. */
  pods(request: UsageRequest, signal: AbortSignal): Promise<ReadonlyMap<string, UsageSample>>;
}

/** By the name that policies call them by. */
export type UsageServers = ReadonlyMap<string, UsageServer>;

/** Thrown by a UsageServer that gives no usage, for people: what is wrong and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What decides the class of a pod. */
export type Promises = Pick<ClusterSnapshot, 'namespaces' | 'serviceLevels'>;

/** What nodes use. */
export interface NodeUsage {
  /** By name of the node. */
  readonly nodes: ReadonlyMap<string, UsageSample>;
  /** The server's time when the samples were listed. */
  readonly serverTime: EpochSeconds;
}

/** The deletion of a pod that is under way. */
export interface Deletion {
  /** When its grace period ends. */
  readonly due: EpochSeconds;
  /** Names of its finalizers. */
  readonly finalizers: readonly string[];
}

/** A pod as it is now. */
export interface LivePod {
  readonly pod: PodInfo | undefined;
  /** What keeps a pod that is being deleted; `undefined` for one that is not, or where nothing is known of it. */
  readonly deletion?: Deletion | undefined;
  /** Time of the API server (its Date header), to compare with creation timestamps. */
  readonly serverTime: EpochSeconds;
}

/** A namespace as it is now. */
export interface LiveNamespace {
  readonly labels: Labels;
  /** It is being deleted: nothing can be created in it any more. */
  readonly terminating: boolean;
}

/** What the API server said to an eviction (execution.md, answers). */
export type EvictionAnswer =
  /** 201: the pod is being deleted. */
  | { readonly kind: 'Accepted' }
  /** 404, or 409 for another UID: this incarnation is gone. */
  | { readonly kind: 'Gone' }
  /** 429 with cause DisruptionBudget. */
  | { readonly kind: 'RefusedByBudget'; readonly message: string }
  /** 429 otherwise: the server is overloaded, or an admission webhook refuses. Also a conflict of the server with itself, and what was not sent. */
  | { readonly kind: 'TryLater'; readonly message: string; readonly retryAfter: Seconds }
  /** 403 because the operator may not evict at all: no other pod fares better. */
  | { readonly kind: 'Forbidden'; readonly message: string }
  /** 500 because two PDBs match the pod, 403 of an admission step, or 4xx: will not change by trying again. */
  | { readonly kind: 'Refused'; readonly message: string }
  /** Time-out, 5xx or a reset after the request was sent: it may have been accepted. */
  | { readonly kind: 'Ambiguous'; readonly message: string };

/** Sends evictions; never deletes, never forces. */
export interface Evictor {
  /** Evicts with a UID precondition. A dry run consults PDBs and changes nothing. Rejects only when aborted. */
  evict(pod: PodRef, options: { readonly dryRun: boolean }, signal: AbortSignal): Promise<EvictionAnswer>;
}

/** What came and went on the cluster, counted. */
export interface Turnover {
  /** Pods, nodes and storage: when it has changed, room may have been freed or taken. */
  readonly room: number;
  /** Controllers, and nodes that came, went, or may take other pods than before: no pod was merely replaced. */
  readonly requests: number;
  /** UIDs of the pods that are down with their nodes (see stranded.ts): they wait for room like those at the gate. */
  readonly stranded: readonly string[];
}

/** Modes of steering in which an admission step goes by hints. */
export type HintedMode = Extract<SteeringMode, 'AdmissionPolicy' | 'Webhook'>;

/** Whether the cluster offers a mode of steering. */
export interface SteeringOffer {
  readonly available: boolean;
  /** What it rests on, or what is missing; for people, without a full stop. */
  readonly why: string;
}

/** Places and removes hints for the admission step. */
export interface Steering {
  /** Which modes the cluster offers now. Rejects with an ApiError when the server cannot be asked. */
  offers(signal: AbortSignal): Promise<Readonly<Record<HintedMode, SteeringOffer>>>;
  /** Makes the hint; a hint for the same pod that is there already is left as it is. */
  place(namespace: string, hint: PlacementHintSpec, plan: RebalancePlan, signal: AbortSignal): Promise<void>;
  /** Removes the hint for an evicted pod; none there is fine. */
  remove(namespace: string, podUID: string, signal: AbortSignal): Promise<void>;
  /** Removes this hint, whatever its name and whoever made it; none there is fine. */
  discard(hint: PlacementHint, signal: AbortSignal): Promise<void>;
  /** All hints on the cluster. */
  list(signal: AbortSignal): Promise<readonly PlacementHint[]>;
}

/** Where a pod may run whose gate is opened. */
export type GateOpening =
  /** Wherever the scheduler likes. */
  | { readonly kind: 'Anywhere' }
  /** On this node alone. */
  | { readonly kind: 'Pinned'; readonly node: string }
  /** Preferably on the target, and on no node but its alternatives. */
  | { readonly kind: 'Steered'; readonly placement: Placement };

/** What became of a pod that was to be changed: it was, or it is gone or another one meanwhile. */
export type GateAnswer = 'Done' | 'Gone' | 'Changed';

/** Opens our scheduling gate. Every method rejects with an ApiError when the server refuses or cannot be reached. */
export interface Gates {
  /** Whether this process may open gates (the right to patch pods). */
  available(signal: AbortSignal): Promise<boolean>;
  /** Pending pods of all namespaces that carry our gate, or were kept to a planned node and its alternatives. */
  list(signal: AbortSignal): Promise<readonly PodInfo[]>;
  /**
   * Removes our gate from a pod and, in the same patch, says where it may run. A pod without our gate is left as it is and
   * `Changed`.
   */
  open(pod: PodRef, opening: GateOpening, signal: AbortSignal): Promise<GateAnswer>;
  /**
   * Evicts a pod that has no node, exactly as it is when it is looked at, so that its controller makes another that is tied to
   * none. Nothing runs in it, so that no budget is spent. One that has a node by now is left as it is and `Changed`.
   */
  release(pod: PodRef, signal: AbortSignal): Promise<GateAnswer>;
}

/** Thrown by a store when somebody else has written in between, or the object is gone. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
}

/** Thrown by a reader when its cache is not filled yet, or has been cut off from the API server for too long. */
export class StaleCacheError extends Error {
  override readonly name = 'StaleCacheError';
}

/** Thrown by a store when the namespace that it writes to does not exist: trying again does not help. */
export class NamespaceMissingError extends Error {
  override readonly name = 'NamespaceMissingError';
}

/** Who leads, as `spec` of a Lease (coordination.k8s.io/v1) says it. Its times are the holder's, by its own clock: never compare them with another one's. */
export interface LeaseRecord {
  /** Identity of the leader; empty when nobody leads. */
  readonly holder: string;
  /** How long candidates wait after the last change that they saw; whole seconds. */
  readonly duration: Seconds;
  readonly acquiredAt: EpochSeconds;
  readonly renewedAt: EpochSeconds;
  /** `leaseTransitions`: counts up with every change of the holder. */
  readonly transitions: number;
}

/** A Lease as stored. */
export interface StoredLease {
  readonly record: LeaseRecord;
  /** With its resourceVersion; an update sends it back, so that labels of others survive. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** One Lease. No request is repeated here, and each has a deadline of its own. */
export interface LeaseStore {
  /** The Lease as it is now, never from a cache; undefined when there is none. */
  get(signal: AbortSignal): Promise<StoredLease | undefined>;
  /** Throws ConflictError when there is one already, NamespaceMissingError when its namespace does not exist. */
  create(record: LeaseRecord, signal: AbortSignal): Promise<StoredLease>;
  /** Replaces the record of `lease`. Throws ConflictError when somebody else wrote in between, or it is gone. */
  update(lease: StoredLease, record: LeaseRecord, signal: AbortSignal): Promise<StoredLease>;
  /** Deletes this very version of the Lease. Throws ConflictError when somebody else wrote in between; gone already is fine. */
  remove(lease: StoredLease, signal: AbortSignal): Promise<void>;
}

/** The Leases in the operator's own namespace that replicas share their work by. */
export interface SharedLeases {
  /** The Lease of this name, whose labels it gets when it is created. */
  of(name: string, labels: Labels): LeaseStore;
  /** Those that have the label evenkeel.dev/lease, by name, as the watch has brought them. */
  readonly seen: ReadonlyMap<string, StoredLease>;
  /** Those that have the label as they are now. Rejects with ApiError. */
  list(signal: AbortSignal): Promise<readonly StoredLease[]>;
  /** Calls `changed` after every change until aborted; then resolves. */
  watch(changed: () => void, signal: AbortSignal): Promise<void>;
  /** Lists them anew, at once, and watches from there: what the watch has brought is old. */
  renew(): void;
}

/** The containers that replicas run in, as the kubelets of their nodes report them. */
export interface ReplicaContainers {
  /**
   * Whether the container in which the holder got the Lease has ended: no process is left then that could act for it. False where that
   * is not known.
   */
  hasEnded(record: LeaseRecord): boolean;
  /** Calls `changed` when a container has begun or ended. */
  onChange(changed: () => void): void;
  /** Keeps what is reported current until aborted; then resolves. */
  watch(signal: AbortSignal): Promise<void>;
}

/** Says at the last moment whether a request that changes the cluster may still be sent. */
export interface Fence {
  /** Throws when this process may change nothing any more. Cheap, and never waits. */
  assertOpen(): void;
}

/** RebalancePlans on the cluster. */
export interface PlanStore {
  /** Creates the plan, then writes its status. Resolves to the stored object. */
  create(plan: RebalancePlan, signal: AbortSignal): Promise<RebalancePlan>;
  /**
   * All plans, each as the last write through this store left it or newer. Of those that have ended, the rejections and the
   * words of their moves may be missing. Throws StaleCacheError where that is not known.
   */
  list(signal: AbortSignal): Promise<readonly RebalancePlan[]>;
  /** The plan as it is now; undefined when it is gone. */
  get(name: string, signal: AbortSignal): Promise<RebalancePlan | undefined>;
  /**
   * Writes status by merge patch with the resourceVersion of `plan`. Resolves to the stored object.
   * Throws ConflictError when the stored object is newer or gone.
   */
  writeStatus(plan: RebalancePlan, status: RebalancePlanStatus, signal: AbortSignal): Promise<RebalancePlan>;
  /** Sets spec.approved. */
  approve(name: string, signal: AbortSignal): Promise<RebalancePlan>;
  /** Deletes the plan; gone already is fine. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  /**
   * Calls `changed` after every change of a plan until aborted; re-lists after gaps, with jittered back-off. Resolves when
   * aborted.
   */
  watch(changed: () => void, signal: AbortSignal): Promise<void>;
}

/** Plans whose journals are not written at every change: each write of a status writes the whole plan. */
export interface Journals extends PlanStore {
  /**
   * Keeps the status for reads through this store and for the next write of the plan. It is lost when the process ends, or when
   * somebody else writes the status first: nothing may depend on it that the next leader could not find out by looking.
   * Resolves to the plan with it. Rejects as `writeStatus`, where it is written at once.
   */
  noteStatus(plan: RebalancePlan, status: RebalancePlanStatus, signal: AbortSignal): Promise<RebalancePlan>;
  /** Writes what has been noted of the plan for long enough. Resolves to the plan as it stands then. Rejects as `writeStatus`. */
  writeDue(plan: RebalancePlan, signal: AbortSignal): Promise<RebalancePlan>;
  /** Writes all that is noted, however lately: nothing more will be. Rejects as `writeStatus`. */
  writeAll(signal: AbortSignal): Promise<void>;
}

/** A policy as it stands on the cluster; `invalid` lists what is wrong with it, if anything. */
export interface StoredPolicy {
  readonly policy: RebalancePolicy;
  readonly invalid: readonly string[];
}

/** RebalancePolicies on the cluster. */
export interface PolicyStore {
  /** All policies, defaulted and validated. */
  list(signal: AbortSignal): Promise<readonly StoredPolicy[]>;
  /** Replaces status. Throws ConflictError when the policy is gone, or was made anew. */
  writeStatus(policy: RebalancePolicy, status: RebalancePolicyStatus, signal: AbortSignal): Promise<void>;
  /**
   * Calls `changed` after every change of a policy until aborted; re-lists after gaps, with jittered back-off.
   * Resolves when aborted.
   */
  watch(changed: () => void, signal: AbortSignal): Promise<void>;
}

/** AppGraphs on the cluster. Every method rejects with an ApiError when the server refuses or cannot be reached. */
export interface AppGraphStore {
  /** All AppGraphs. */
  list(signal: AbortSignal): Promise<readonly AppGraph[]>;
  /** Replaces status. Throws ConflictError when the AppGraph is gone, or was made anew. */
  writeStatus(graph: AppGraph, status: AppGraphStatus, signal: AbortSignal): Promise<void>;
}

/** A QoSLedger on the cluster. */
export interface StoredLedger {
  readonly namespace: string;
  readonly name: string;
  readonly resource: QoSLedger;
  /** What it says; `undefined` before its status is written, and when it cannot be read. */
  readonly ledger: KeptLedger | undefined;
  /** What is wrong with it, for people. */
  readonly problem: string | undefined;
}

/** QoSLedgers on the cluster. Every method rejects with an ApiError when the server refuses or cannot be reached. */
export interface LedgerStore {
  list(signal: AbortSignal): Promise<readonly StoredLedger[]>;
  /** As it is now; undefined when it is gone. */
  get(ledger: Pick<StoredLedger, 'namespace' | 'name'>, signal: AbortSignal): Promise<StoredLedger | undefined>;
  /** Creates the QoSLedger of a workload, and writes its status. Throws ConflictError when there is one. */
  create(ledger: KeptLedger, terms: ServiceClass, signal: AbortSignal): Promise<StoredLedger>;
  /**
   * Writes what has changed, by merge patches with the resourceVersion of `stored`. Throws ConflictError when the stored
   * object is newer or gone.
   */
  write(
    stored: StoredLedger,
    ledger: KeptLedger,
    terms: ServiceClass | undefined,
    signal: AbortSignal,
  ): Promise<StoredLedger>;
  /** Deletes this very QoSLedger; gone already is fine. */
  remove(stored: StoredLedger, signal: AbortSignal): Promise<void>;
}

/** A workload with the class that its pods name, whether there is such a class or not. */
export interface ClassedRequest {
  readonly record: RequestRecord;
  readonly className: string;
}

/** What the API server records of service, at one moment. */
export interface ServiceView {
  /** By name. */
  readonly classes: ReadonlyMap<string, Promised>;
  /** Workloads that have a class. */
  readonly requests: readonly ClassedRequest[];
  /** What is recorded of the workload of this UID, whether it has a class or not; without replicas when it is gone. */
  readonly recordOf: (ledger: Pick<KeptLedger, 'namespace' | 'owner'>) => RequestRecord;
  /** ServiceClasses that cannot be read, for people. */
  readonly problems: readonly string[];
}

/** Watches what ledgers are kept by: classes, and as soon as there is one, workloads and their pods. */
export interface ServiceRecords {
  /** Watches until aborted; then resolves. A replica that waits to lead watches, too: it need not list anything when it begins to. */
  watch(signal: AbortSignal): Promise<void>;
  /** Until aborted calls `changed` as soon as everything is known, and after each change. There is one follower at a time. */
  follow(changed: () => void, signal: AbortSignal): void;
  /** What is known now; undefined where there can be no classes, since the kind is not served. Throws StaleCacheError while it is not known well enough. */
  view(): ServiceView | undefined;
  /** The ledger of this workload has counted what its pods did: those that have ended are told of no more. */
  counted(record: RequestRecord): void;
}

/** An event for `kubectl describe` and `kubectl events`. */
export interface EventRecord {
  readonly type: 'Normal' | 'Warning';
  readonly reason:
    | 'PlanComputed'
    | 'MoveStarted'
    | 'MoveLanded'
    | 'MoveMissed'
    | 'MoveSkipped'
    | 'MoveFailed'
    | 'TargetGivenUp'
    | 'PlanAborted'
    | 'BudgetExhausted';
  readonly note: string;
  readonly regarding:
    | { readonly kind: 'RebalancePolicy'; readonly name: string; readonly uid: string }
    | ({ readonly kind: 'Pod' } & PodRef);
}

/** Sends events; losing one is logged by the adapter and never fails a caller. */
export interface EventSink {
  send(event: EventRecord, signal: AbortSignal): Promise<void>;
}

/** What was done with a pod at our gate. */
export type GateAction =
  /** Opened to the node of its move. */
  | 'OpenedToTarget'
  /** Opened without a node, since the one of its move can take it no more. */
  | 'OpenedToAny'
  /** Opened because neither a move nor a policy of QoSDriven waits for it. */
  | 'OpenedUnplanned'
  /** Evicted because it was tied to a node that has no room for it. */
  | 'Released';

/**
 * What a move was for: to balance nodes, to replace a pod whose node has failed, to make room for another pod, to let a pod in
 * that waited at the gate, or to remove one that has failed.
 */
export type MoveReason = 'Balance' | 'Failover' | 'Preemption' | 'Admission' | 'Removal';

/** A run that came to a plan, with or without moves. */
export interface PlannedRun {
  /** Name of the policy. */
  readonly policy: string;
  readonly plan: Plan;
  /** Time that planning took. */
  readonly duration: Seconds;
  readonly budgetsLeft: BudgetsLeft;
  /** What the workloads in its scope got. */
  readonly services: Pick<ServiceReport, 'classes'>;
}

/** A pod that waits at the gate for its turn. */
export interface WaitingPod extends Pick<PodInfo, 'uid' | 'createdAt'> {
  /** Name of its ServiceClass. */
  readonly className: string;
}

/** What the metrics count; nothing here can fail. */
export interface Telemetry {
  moveEnded(move: {
    readonly strategy: StrategyName;
    readonly result: MovePhase;
    readonly reason: MoveReason;
    /** From the intent to its end. */
    readonly duration: Seconds | undefined;
    /** Service that it cost, where it evicted. */
    readonly unavailable: Seconds | undefined;
  }): void;
  /** When the next run of a policy is due; `undefined` when none is. */
  nextRun(policy: string, at: EpochSeconds | undefined): void;
  steered(move: { readonly mode: SteeringMode; readonly landed: boolean }): void;
  planned(run: PlannedRun): void;
  /** All policies, as they are stored; none where another replica tells of them. */
  policies(policies: readonly StoredPolicy[]): void;
  /** Names of the policies that this replica leads. */
  led(names: readonly string[]): void;
  gate(action: GateAction): void;
  /** All pods that wait at the gate for their turn at this moment. */
  waiting(queue: readonly WaitingPod[], now: EpochSeconds): void;
  /** Share of the replacements that landed as planned, by steering, over all plans on the cluster; absent without any. */
  hitRatios(ratios: ReadonlyMap<SteeringMode, number>): void;
}
