import { PACK_DEFAULTS, type RebalancePolicySpec, TRAFFIC_DEFAULTS } from '../api/v1alpha1/rebalance-policy.ts';
import type { LabelSelectorField } from '../api/v1alpha1/schema.ts';
import { bitsPerSecond } from '../model/bandwidth.ts';
import { parseDuration } from '../model/duration.ts';
import { EXCLUDED_NAMESPACES } from '../model/excluded-namespaces.ts';
import { type Quantity, quantityOf, toBytes, toMilliCpu } from '../model/quantity.ts';
import { isMeasured, type LoadResource } from '../model/resources.ts';
import type { Labels, Requirement, Selector } from '../model/selector.ts';
import { type Seconds, seconds } from '../model/units.ts';
import { STRATEGY_TRAITS, type StrategyThatImproves } from './strategies/traits.ts';

/** Settings of the strategy that a policy names. */
export type StrategyOptions =
  | { readonly type: 'RefineLB'; readonly overload: number; readonly refinements: 'Standard' | 'None' }
  | { readonly type: 'GreedyLB'; readonly minimizeMoves: boolean; readonly tolerance: number }
  | {
      readonly type: 'QoSDriven';
      readonly refinements: 'Standard' | 'None';
      /** `undefined`: no pod is moved because its node is overloaded. */
      readonly pressure: PressureOptions | undefined;
    }
  | {
      readonly type: 'Pack';
      readonly resources: readonly PackedResource[];
      /** Share of allocatable that stays free of requests on targets. */
      readonly headroom: number;
      /** Younger nodes are not emptied. */
      readonly minNodeAge: Seconds;
    }
  | {
      readonly type: 'TrafficAware';
      /** Node label whose values are the domains. */
      readonly domain: string;
      /** Of one GiB between domains that no link names; `undefined`: traffic is counted in bits per second. */
      readonly perGiB: number | undefined;
      readonly links: readonly TrafficLink[];
      /** The first that selects a node is its price; all nodes have one where there are any. */
      readonly nodes: readonly NodePrice[];
      /** Bits per second for each move. */
      readonly minSaving: number;
    }
  | { readonly type: 'None' };

/** What it costs in an hour to run on the nodes of a group. */
export interface NodePrice {
  readonly nodeSelector: Selector;
  /** Of a core. */
  readonly cpuHour: number;
  readonly memoryGiBHour: number;
}

/** What is known of the traffic between two domains. */
export interface TrafficLink {
  readonly between: readonly [string, string];
  /** `undefined`: as between others. */
  readonly perGiB: number | undefined;
  /** Bits per second; Infinity without a limit. */
  readonly capacity: number;
}

/** A resource by whose requests nodes are judged. */
export interface PackedResource {
  readonly name: LoadResource;
  /** A node may be emptied while its pods request less than this share of its allocatable. */
  readonly below: number;
}

/** What `spec.repair` asks for. */
export interface RepairOptions {
  readonly taints: TaintRepair | undefined;
  readonly nodeAffinity: 'Required' | 'Preferred' | undefined;
  readonly podAntiAffinity: boolean;
  readonly topologySpread: SpreadRepair | undefined;
  readonly duplicates: boolean;
  readonly restarts: RestartsRepair | undefined;
  readonly maxLifetime: LifetimeRepair | undefined;
  readonly failed: FailedRepair | undefined;
}

/** Nothing is repaired. */
export const NO_REPAIRS: RepairOptions = {
  taints: undefined,
  nodeAffinity: undefined,
  podAntiAffinity: false,
  topologySpread: undefined,
  duplicates: false,
  restarts: undefined,
  maxLifetime: undefined,
  failed: undefined,
};

/** Which pods start anew elsewhere because they fail again and again. */
export interface RestartsRepair extends StateFilter {
  readonly atLeast: number;
}

/** Which pods start anew elsewhere because they have existed for long. */
export interface LifetimeRepair extends StateFilter {
  readonly age: Seconds;
}

/** Pods by what their status and their containers' say. */
export interface StateFilter {
  /** `undefined`: all. */
  readonly states: ReadonlySet<string> | undefined;
  /** Init containers, too. */
  readonly includingInit: boolean;
}

/** Which failed pods are removed. */
export interface FailedRepair {
  /** `undefined`: all. */
  readonly reasons: ReadonlySet<string> | undefined;
  /** `undefined`: all. */
  readonly exitCodes: ReadonlySet<number> | undefined;
  readonly includingInit: boolean;
  readonly minAge: Seconds;
  readonly excludedOwnerKinds: ReadonlySet<string>;
}

/** Which taints pods have to tolerate. */
export interface TaintRepair {
  /** PreferNoSchedule, too. */
  readonly soft: boolean;
  /** Each as key or key=value; `undefined`: all. */
  readonly includedTaints: ReadonlySet<string> | undefined;
  readonly excludedTaints: ReadonlySet<string>;
}

/** Which spread constraints have to hold. */
export interface SpreadRepair {
  /** ScheduleAnyway, too. */
  readonly soft: boolean;
  /** Pods by which the skew may exceed maxSkew. */
  readonly tolerance: number;
}

/** When pods are moved off a node because of what is measured there. */
export interface PressureOptions {
  /** A node is overloaded above this measured load, a fraction of its allocatable. */
  readonly overload: number;
  readonly runs: RunTiming;
}

/** When a policy runs at the latest: again after so many seconds, or when its cron expression says so. */
export type RunTiming = { readonly interval: Seconds } | { readonly schedule: string; readonly timeZone: string };

/** Settings of a strategy that balances. */
export type BalancingOptions = Extract<StrategyOptions, { type: StrategyThatImproves<'Balance'> }>;

/** Settings of a strategy that plans by what ServiceClasses promise. */
export type ServiceOptions = Extract<StrategyOptions, { type: StrategyThatImproves<'Service'> }>;

/** Settings of a strategy that empties nodes. */
export type PackingOptions = Extract<StrategyOptions, { type: StrategyThatImproves<'Packing'> }>;

/** Whether a strategy empties nodes. */
export function packs(strategy: StrategyOptions): strategy is PackingOptions {
  return STRATEGY_TRAITS[strategy.type].improves === 'Packing';
}

/** Settings of a strategy that reduces traffic between domains. */
export type TrafficOptions = Extract<StrategyOptions, { type: StrategyThatImproves<'Traffic'> }>;

/** Whether a strategy reduces traffic between domains. */
export function reducesTraffic(strategy: StrategyOptions): strategy is TrafficOptions {
  return STRATEGY_TRAITS[strategy.type].improves === 'Traffic';
}

/** Whether a strategy plans by what ServiceClasses promise; otherwise it balances. */
export function improvesService(strategy: StrategyOptions): strategy is ServiceOptions {
  return STRATEGY_TRAITS[strategy.type].improves === 'Service';
}

/** Whether a strategy balances the load of nodes. */
export function balances(strategy: StrategyOptions): strategy is BalancingOptions {
  return STRATEGY_TRAITS[strategy.type].improves === 'Balance';
}

/** A limit that is a count, or a share of the replicas that is rounded up. */
export type Limit =
  | { readonly kind: 'Count'; readonly count: number }
  | { readonly kind: 'Share'; readonly share: number };

/** One entry of `spec.budgets`; what is absent does not limit. */
export interface BudgetOptions {
  /** Place in `spec.budgets`, for messages. */
  readonly place: number;
  readonly maxMoves: number | undefined;
  readonly maxConcurrent: number | undefined;
  readonly perOwner: Limit | undefined;
  readonly perNode: number | undefined;
  readonly perNamespace: number | undefined;
  readonly overhead: OverheadLimit | undefined;
  /** `undefined`: the entry applies always. */
  readonly window: BudgetWindow | undefined;
}

/** Lost service that moves may cost within a sliding window. */
export interface OverheadLimit {
  /** Pod-seconds. */
  readonly limit: Seconds;
  readonly window: Seconds;
}

/** When a budget applies: for `duration` from each instant that the cron expression names in the zone. */
export interface BudgetWindow {
  readonly schedule: string;
  readonly timeZone: string;
  readonly duration: Seconds;
}

/** What moves leave free of requests on the nodes with these labels; without labels on all. */
export interface HeadroomOptions {
  readonly nodeSelector: Labels;
  /** In millicores, where it is no share. */
  readonly cpu: HeadroomAmount;
  /** In bytes, where it is no share. */
  readonly memory: HeadroomAmount;
}

/** An amount of a resource, or a share of what is allocatable in [0, 1]. */
export type HeadroomAmount =
  | { readonly kind: 'Amount'; readonly amount: number }
  | { readonly kind: 'Share'; readonly share: number };

/** What a policy is about. */
export interface ScopeOptions {
  readonly namespaceSelector: Selector;
  readonly podSelector: Selector;
  readonly nodeSelector: Selector;
  /** Namespaces that never take part: kube-system and the operator's own. */
  readonly excludedNamespaces: ReadonlySet<string>;
  /** UIDs of pods in the scope that an older policy owns. */
  readonly foreignPods: ReadonlySet<string>;
}

/** What a policy asks of the planner, with text turned into numbers. */
export interface PolicyOptions {
  readonly strategy: StrategyOptions;
  /** `undefined`: nothing is repaired. */
  readonly repair: RepairOptions | undefined;
  /** Whether pods are moved away from nodes that pods without a node are pinned to (`spec.makeRoom: Pinned`). */
  readonly makesRoom: boolean;
  readonly load: {
    readonly source: 'Measured' | 'Requests';
    readonly resources: readonly { readonly name: LoadResource; readonly weight: number }[];
    readonly aggregate: 'Weighted' | 'Dominant';
    readonly maxAge: Seconds;
    /** Time constant of the exponentially weighted mean that stands in for samples; 0: samples count as they are. */
    readonly smoothing: Seconds;
    readonly minCoverage: number;
  };
  /** The numbers are fractions in [0, 1]: of node capacity, but `minReduction` of the standard deviation. */
  readonly thresholds: {
    readonly trigger: number;
    readonly minGain: number;
    readonly minImprovement: number;
    readonly minReduction: number;
    readonly headroom: readonly HeadroomOptions[];
  };
  readonly scope: ScopeOptions;
  readonly budgets: readonly BudgetOptions[];
  readonly protections: {
    readonly minPodAge: Seconds;
    readonly minReplicas: number;
    readonly priorityThreshold: number;
    readonly localStorage: 'Protect' | 'Allow';
    readonly pvc: 'Protect' | 'Allow';
    /** Names of StorageClasses. */
    readonly protectedStorageClasses: ReadonlySet<string>;
    readonly withoutPDB: 'Protect' | 'Allow';
    /** How long a controller is left alone after a rollout or a change of scale; 0: not at all. */
    readonly stabilization: Seconds;
    /** How long a move is not undone; 0: neither cooldown nor quarantine. */
    readonly cooldown: Seconds;
    /** Whether our scheduling gate is opened to where the plan says (steering mode Gate). */
    readonly opensGates: boolean;
  };
}

/**
 * The planner's view of a policy's spec.
 * `spec` has passed `validate` and is defaulted, so nothing here can fail for a user's mistake.
 */
export function resolveOptions(
  spec: RebalancePolicySpec,
  excludedNamespaces: ReadonlySet<string> = EXCLUDED_NAMESPACES,
  foreignPods: ReadonlySet<string> = new Set(),
): PolicyOptions {
  return planningOptions({
    strategy: resolveStrategy(spec),
    repair: resolveRepair(spec),
    makesRoom: spec.makeRoom === 'Pinned',
    load: {
      source: spec.load.source === 'Requests' ? 'Requests' : 'Measured',
      resources: spec.load.resources,
      aggregate: spec.load.aggregate,
      maxAge: parseDuration(spec.load.maxAge),
      smoothing: parseDuration(spec.load.smoothing),
      minCoverage: Number(spec.load.minCoverage),
    },
    thresholds: {
      trigger: Number(spec.thresholds.trigger),
      minGain: Number(spec.thresholds.minGain),
      minImprovement: Number(spec.thresholds.minImprovement),
      minReduction: Number(spec.thresholds.minReduction),
      headroom: (spec.thresholds.headroom ?? []).map(resolveHeadroom),
    },
    scope: {
      namespaceSelector: resolveSelector(spec.scope.namespaceSelector),
      podSelector: resolveSelector(spec.scope.podSelector),
      nodeSelector: resolveSelector(spec.scope.nodeSelector),
      excludedNamespaces,
      foreignPods,
    },
    budgets: spec.budgets.map(resolveBudget),
    protections: {
      minPodAge: parseDuration(spec.protections.minPodAge),
      minReplicas: spec.protections.minReplicas,
      priorityThreshold: spec.protections.priorityThreshold,
      localStorage: spec.protections.localStorage,
      pvc: spec.protections.pvc,
      protectedStorageClasses: new Set(spec.protections.protectedStorageClasses),
      withoutPDB: spec.protections.withoutPDB,
      stabilization: parseDuration(spec.protections.stabilization),
      cooldown: parseDuration(spec.protections.cooldown),
      opensGates: spec.steering.mode === 'Gate',
    },
  });
}

/** The same policy without its strategy: it only repairs, and makes room. */
export function repairsAlone(options: PolicyOptions): PolicyOptions {
  return { ...options, strategy: { type: 'None' } };
}

function resolveStrategy(spec: RebalancePolicySpec): StrategyOptions {
  const { strategy } = spec;
  switch (strategy.type) {
    case 'RefineLB':
      return {
        type: 'RefineLB',
        overload: Number(strategy.refineLB?.overload ?? '1.05'),
        refinements: strategy.refineLB?.refinements ?? 'Standard',
      };
    case 'GreedyLB':
      return {
        type: 'GreedyLB',
        minimizeMoves: strategy.greedyLB?.minimizeMoves ?? true,
        tolerance: Number(strategy.greedyLB?.tolerance ?? '0.02'),
      };
    case 'QoSDriven':
      return resolveQosDriven(spec);
    case 'Pack':
      return resolvePack(strategy.pack ?? PACK_DEFAULTS);
    case 'TrafficAware':
      return resolveTraffic(strategy.trafficAware ?? TRAFFIC_DEFAULTS);
    case 'None':
      return { type: 'None' };
    default:
      return strategy.type satisfies never;
  }
}

function resolvePack({ resources, headroom, minNodeAge }: PackSettings): PackingOptions {
  return {
    type: 'Pack',
    resources: resources.map(({ name, below }) => ({ name, below: Number(below) })),
    headroom: Number(headroom),
    minNodeAge: parseDuration(minNodeAge),
  };
}

function resolveTraffic({ domain, perGiB, links, nodes, minSaving }: TrafficSettings): TrafficOptions {
  return {
    type: 'TrafficAware',
    domain,
    perGiB: perGiB === undefined ? undefined : Number(perGiB),
    links: links.map(({ between: [one = '', other = ''], perGiB: own, capacity }) => ({
      between: [one, other],
      perGiB: own === undefined ? undefined : Number(own),
      capacity: capacity === undefined ? Number.POSITIVE_INFINITY : bitsPerSecond(capacity),
    })),
    nodes: nodes.map(({ nodeSelector, cpuHour, memoryGiBHour }) => ({
      nodeSelector: resolveSelector(nodeSelector),
      cpuHour: Number(cpuHour),
      memoryGiBHour: Number(memoryGiBHour),
    })),
    minSaving: bitsPerSecond(minSaving),
  };
}

type TrafficFields = NonNullable<RebalancePolicySpec['strategy']['trafficAware']>;

interface TrafficSettings extends Omit<TrafficFields, 'links' | 'nodes'> {
  readonly links: readonly TrafficFields['links'][number][];
  readonly nodes: readonly TrafficFields['nodes'][number][];
}

type PackSettings = NonNullable<RebalancePolicySpec['strategy']['pack']> | typeof PACK_DEFAULTS;

/** `undefined` when none of it is on. */
function resolveRepair({ repair = {} }: RebalancePolicySpec): RepairOptions | undefined {
  const { taints, nodeAffinity, podAntiAffinity, topologySpread, duplicates = false } = repair;
  const { restarts, maxLifetime, failed } = repair;
  const resolved: RepairOptions = {
    taints: taints && {
      soft: taints.effect === 'PreferNoSchedule',
      includedTaints: taints.includedTaints && new Set(taints.includedTaints),
      excludedTaints: new Set(taints.excludedTaints),
    },
    nodeAffinity,
    podAntiAffinity: podAntiAffinity === 'Required',
    topologySpread: topologySpread && {
      soft: topologySpread.constraints === 'All',
      tolerance: topologySpread.tolerance,
    },
    duplicates,
    restarts: restarts && { ...restarts, states: restarts.states && new Set(restarts.states) },
    maxLifetime: maxLifetime && {
      age: parseDuration(maxLifetime.age),
      states: maxLifetime.states && new Set(maxLifetime.states),
      includingInit: maxLifetime.includingInit,
    },
    failed: failed && {
      reasons: failed.reasons && new Set(failed.reasons),
      exitCodes: failed.exitCodes && new Set(failed.exitCodes),
      includingInit: failed.includingInit,
      minAge: parseDuration(failed.minAge),
      excludedOwnerKinds: new Set(failed.excludedOwnerKinds),
    },
  };
  return Object.values(resolved).some((repaired) => repaired !== undefined && repaired !== false)
    ? resolved
    : undefined;
}

/** The published policy looks at nobody who runs but to evict them, and requests say nothing of how loaded a node is. */
function resolveQosDriven(spec: RebalancePolicySpec) {
  const { refinements = 'Standard', overload = '0.90' } = spec.strategy.qosDriven ?? {};
  const isMeasured = refinements === 'Standard' && spec.load.source !== 'Requests';
  const pressure = isMeasured ? { overload: Number(overload), runs: runTiming(spec) } : undefined;
  return { type: 'QoSDriven', refinements, pressure } as const;
}

/** When a policy runs at the latest. */
export function runTiming({ interval, schedule, timeZone = DEFAULT_ZONE }: RebalancePolicySpec): RunTiming {
  return schedule === undefined ? { interval: parseDuration(interval ?? DEFAULT_INTERVAL) } : { schedule, timeZone };
}

/**
 * What the strategy plans by. QoSDriven plans by requests, since those decide where a pod that waits can run. How long a pod
 * has run and when it was last moved are for its ServiceClass to judge, by minRunTime and the limit of preemption overhead,
 * and a workload whose pods wait is not one that rolls out. All of its pods wait at our gate, so it is opened whatever the
 * mode of steering. Only overload is measured, whatever `load.source` then says (see PressureOptions). Where no resource of the
 * policy is one that is measured, no metrics are read either. Pack plans by requests, since those decide where pods can run and
 * whether an autoscaler removes a node.
 */
export function planningOptions(options: PolicyOptions): PolicyOptions {
  const { readsMetrics, restBy, admitsWaitingPods } = STRATEGY_TRAITS[options.strategy.type];
  const reads = readsMetrics && options.load.resources.some(({ name }) => isMeasured(name));
  const load = {
    ...options.load,
    ...resourcesOf(options.strategy),
    ...(reads ? {} : ({ source: 'Requests' } as const)),
  };
  const rests = restBy === 'Protections' ? {} : NO_REST;
  const opensGates = admitsWaitingPods || options.protections.opensGates;
  return { ...options, load, protections: { ...options.protections, ...rests, opensGates } };
}

/** A strategy that empties nodes goes by resources of its own, of which a node's load is the mean. */
function resourcesOf(strategy: StrategyOptions): Partial<PolicyOptions['load']> {
  return packs(strategy)
    ? { resources: strategy.resources.map(({ name }) => ({ name, weight: 1 })), aggregate: 'Weighted' }
    : {};
}

const NO_REST = { minPodAge: seconds(0), stabilization: seconds(0), cooldown: seconds(0) };

/** The zone of a cron expression that names none. */
export const DEFAULT_ZONE = 'Etc/UTC';
/** Time between runs when a policy names neither interval nor schedule. */
export const DEFAULT_INTERVAL = '5m';

function resolveBudget(budget: RebalancePolicySpec['budgets'][number], place: number): BudgetOptions {
  const { perOwner, maxOverhead, window, schedule, duration, timeZone = DEFAULT_ZONE } = budget;
  return {
    place,
    maxMoves: budget.maxMoves,
    maxConcurrent: budget.maxConcurrent,
    perOwner: perOwner === undefined ? undefined : resolveLimit(perOwner),
    perNode: budget.perNode,
    perNamespace: budget.perNamespace,
    overhead:
      maxOverhead === undefined || window === undefined
        ? undefined
        : { limit: parseDuration(maxOverhead), window: parseDuration(window) },
    window:
      schedule === undefined || duration === undefined
        ? undefined
        : { schedule, timeZone, duration: parseDuration(duration) },
  };
}

function resolveHeadroom({ nodeSelector, cpu, memory }: HeadroomEntry): HeadroomOptions {
  return {
    nodeSelector: new Map(Object.entries(nodeSelector)),
    cpu: resolveAmount(cpu, toMilliCpu),
    memory: resolveAmount(memory, toBytes),
  };
}

type HeadroomEntry = NonNullable<RebalancePolicySpec['thresholds']['headroom']>[number];

/** Throws RangeError for what the schema does not let through. */
function resolveAmount(written: number | string = 0, unitsOf: (quantity: Quantity) => number): HeadroomAmount {
  const text = String(written);
  if (text.endsWith('%')) {
    return { kind: 'Share', share: Number(text.slice(0, -1)) / 100 };
  }
  return { kind: 'Amount', amount: unitsOf(quantityOf(text)) };
}

function resolveLimit(limit: number | string): Limit {
  return typeof limit === 'number'
    ? { kind: 'Count', count: limit }
    : { kind: 'Share', share: Number(limit.slice(0, -1)) / 100 };
}

/** A selector of our resources as the model's Selector. */
export function resolveSelector(field: LabelSelectorField): Selector {
  const labels = Object.entries(field.matchLabels ?? {}).map(
    ([key, value]): Requirement => ({ key, operator: 'In', values: [value] }),
  );
  const expressions = (field.matchExpressions ?? []).map(
    ({ key, operator, values }): Requirement => ({ key, operator, values: values ?? [] }),
  );
  return { requirements: [...labels, ...expressions] };
}
