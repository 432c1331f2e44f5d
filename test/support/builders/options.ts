import { EVERYTHING } from '../../../src/model/selector.ts';
import { seconds } from '../../../src/model/units.ts';
import {
  type BudgetOptions,
  NO_REPAIRS,
  type PolicyOptions,
  type RepairOptions,
  type TaintRepair,
} from '../../../src/plan/options.ts';

/** Budgets that never bind but for the 1000 moves that a plan can hold. */
export const NO_BUDGETS: readonly BudgetOptions[] = [];

/** Everything is, with the soft rules and without a tolerance, but for the lifetime of pods. */
export const ALL_REPAIRS: RepairOptions = {
  taints: { soft: true, includedTaints: undefined, excludedTaints: new Set() },
  nodeAffinity: 'Preferred',
  podAntiAffinity: true,
  topologySpread: { soft: true, tolerance: 0 },
  duplicates: true,
  restarts: undefined,
  maxLifetime: undefined,
  failed: undefined,
};

/** Repairs what taints that are not soft keep off a node, whatever their keys. */
export const HARD_TAINTS: TaintRepair = { soft: false, includedTaints: undefined, excludedTaints: new Set() };

/** One budget entry. */
export function aBudget(fields: Partial<BudgetOptions>): BudgetOptions {
  return {
    place: 0,
    maxMoves: undefined,
    maxConcurrent: undefined,
    perOwner: undefined,
    perNode: undefined,
    perNamespace: undefined,
    overhead: undefined,
    window: undefined,
    ...fields,
  };
}

/** Options with overridable groups. */
export interface OptionFields {
  readonly strategy?: PolicyOptions['strategy'];
  readonly repair?: Partial<RepairOptions>;
  readonly makesRoom?: boolean;
  readonly load?: Partial<PolicyOptions['load']>;
  readonly thresholds?: Partial<PolicyOptions['thresholds']>;
  readonly scope?: Partial<PolicyOptions['scope']>;
  readonly budgets?: PolicyOptions['budgets'];
  readonly protections?: Partial<PolicyOptions['protections']>;
}

/** The defaults of a RebalancePolicy, but without budgets. */
export function someOptions(fields: OptionFields = {}): PolicyOptions {
  return {
    strategy: fields.strategy ?? refineLb(),
    repair: fields.repair && { ...NO_REPAIRS, ...fields.repair },
    makesRoom: fields.makesRoom ?? false,
    load: {
      source: 'Measured',
      resources: [{ name: 'cpu', weight: 1 }],
      aggregate: 'Weighted',
      maxAge: seconds(90),
      smoothing: seconds(0),
      minCoverage: 0.95,
      ...fields.load,
    },
    thresholds: {
      trigger: 0.1,
      minGain: 0.005,
      minImprovement: 0.02,
      minReduction: 0.05,
      headroom: [],
      ...fields.thresholds,
    },
    scope: {
      namespaceSelector: EVERYTHING,
      podSelector: EVERYTHING,
      nodeSelector: EVERYTHING,
      excludedNamespaces: new Set(['kube-system', 'evenkeel-system']),
      foreignPods: new Set(),
      ...fields.scope,
    },
    budgets: fields.budgets ?? NO_BUDGETS,
    protections: {
      minPodAge: seconds(300),
      minReplicas: 2,
      priorityThreshold: 1_000_000,
      localStorage: 'Protect',
      pvc: 'Allow',
      protectedStorageClasses: new Set(),
      withoutPDB: 'Allow',
      stabilization: seconds(600),
      cooldown: seconds(600),
      opensGates: false,
      ...fields.protections,
    },
  };
}

type StrategyOf<Type extends PolicyOptions['strategy']['type']> = Extract<PolicyOptions['strategy'], { type: Type }>;

/** RefineLB with its defaults. */
export function refineLb(fields: Partial<StrategyOf<'RefineLB'>> = {}): StrategyOf<'RefineLB'> {
  return { type: 'RefineLB', overload: 1.05, refinements: 'Standard', ...fields };
}

/** GreedyLB with its defaults. */
export function greedyLb(fields: Partial<StrategyOf<'GreedyLB'>> = {}): StrategyOf<'GreedyLB'> {
  return { type: 'GreedyLB', minimizeMoves: true, tolerance: 0.02, ...fields };
}

/** TrafficAware with its defaults. */
export function trafficAware(fields: Partial<StrategyOf<'TrafficAware'>> = {}): StrategyOf<'TrafficAware'> {
  const domain = 'topology.kubernetes.io/zone';
  return { type: 'TrafficAware', domain, perGiB: undefined, links: [], nodes: [], minSaving: 1e6, ...fields };
}

/** Pack with its defaults. */
export function pack(fields: Partial<StrategyOf<'Pack'>> = {}): StrategyOf<'Pack'> {
  const resources = [
    { name: 'cpu', below: 0.5 },
    { name: 'memory', below: 0.5 },
  ];
  return { type: 'Pack', resources, headroom: 0.1, minNodeAge: seconds(600), ...fields };
}
