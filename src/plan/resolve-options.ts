import { PACK_DEFAULTS, type RebalancePolicySpec, TRAFFIC_DEFAULTS } from '../api/v1alpha1/rebalance-policy.ts';
import type { LabelSelectorField } from '../api/v1alpha1/schema.ts';
import { bitsPerSecond } from '../model/bandwidth.ts';
import { parseDuration } from '../model/duration.ts';
import { EXCLUDED_NAMESPACES } from '../model/excluded-namespaces.ts';
import { type Quantity, quantityOf, toBytes, toMilliCpu } from '../model/quantity.ts';
import type { Requirement, Selector } from '../model/selector.ts';
import {
  type BudgetOptions,
  type HeadroomAmount,
  type HeadroomOptions,
  type Limit,
  type PackingOptions,
  type PolicyOptions,
  planningOptions,
  type RepairOptions,
  type RunTiming,
  type StrategyOptions,
  type TrafficOptions,
} from './options.ts';

/** The zone of a cron expression that names none. */
export const DEFAULT_ZONE = 'Etc/UTC';
/** Time between runs when a policy names neither interval nor schedule. */
export const DEFAULT_INTERVAL = '5m';

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
