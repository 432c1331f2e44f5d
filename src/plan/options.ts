import { isMeasured, type LoadResource } from '../model/resources.ts';
import type { Labels, Selector } from '../model/selector.ts';
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

/** The same policy without its strategy: it only repairs, and makes room. */
export function repairsAlone(options: PolicyOptions): PolicyOptions {
  return { ...options, strategy: { type: 'None' } };
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
