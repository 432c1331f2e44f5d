import { convertHighNodeUtilization } from './high-node-utilization.ts';
import { convertLowNodeUtilization } from './low-node-utilization.ts';
import type { ConvertPlugin } from './part.ts';
import {
  convertAntiAffinity,
  convertDuplicates,
  convertFailed,
  convertLifetime,
  convertNodeAffinity,
  convertRestarts,
  convertTaints,
  convertTopologySpread,
} from './repairs.ts';

/** A plugin of the descheduler, and what does its work here. */
export interface KnownPlugin {
  readonly name: string;
  /** Field of a RebalancePolicy that does the same. */
  readonly becomes: string;
  /** Its arguments, each with the field that it becomes, or `none`. */
  readonly settings: readonly (readonly [theirs: string, ours: string])[];
  /** Parameter of descheduler/v1alpha1 that holds most of its arguments. */
  readonly group?: string;
  /** Arguments that descheduler/v1alpha1 has under other names, beside the group. */
  readonly oldNames?: Readonly<Record<string, string>>;
  /** Other names that it has for arguments in the group. */
  readonly synonyms?: Readonly<Record<string, string>>;
  readonly convert: ConvertPlugin;
}

const NAMESPACES = ['namespaces', 'scope.namespaceSelector'] as const;
const LABELS = ['labelSelector', 'scope.podSelector'] as const;
const UTILIZATION = {
  group: 'nodeResourceUtilizationThresholds',
  oldNames: { evictableNamespaces: 'namespaces' },
} as const;

/** Every plugin of the descheduler up to 0.36 that evicts, by its documentation's order. docs/descheduler.md has this table. */
export const PLUGINS: readonly KnownPlugin[] = [
  {
    name: 'RemoveDuplicates',
    becomes: 'repair.duplicates',
    settings: [NAMESPACES, ['excludeOwnerKinds', 'none']],
    group: 'removeDuplicates',
    convert: convertDuplicates,
  },
  {
    name: 'LowNodeUtilization',
    becomes: 'strategy.type: RefineLB',
    settings: [
      ['thresholds', 'thresholds.trigger'],
      ['targetThresholds', 'thresholds.trigger'],
      ['useDeviationThresholds', 'thresholds.trigger'],
      ['metricsUtilization', 'load.source'],
      ['evictableNamespaces', 'scope.namespaceSelector'],
      ['evictionLimits', 'budgets[].perNode'],
      ['numberOfNodes', 'none'],
    ],
    ...UTILIZATION,
    convert: convertLowNodeUtilization,
  },
  {
    name: 'HighNodeUtilization',
    becomes: 'strategy.type: Pack',
    settings: [
      ['thresholds', 'strategy.pack.resources[].below'],
      ['evictableNamespaces', 'scope.namespaceSelector'],
      ['evictionModes', 'none'],
      ['numberOfNodes', 'none'],
    ],
    ...UTILIZATION,
    convert: convertHighNodeUtilization,
  },
  {
    name: 'RemovePodsViolatingInterPodAntiAffinity',
    becomes: 'repair.podAntiAffinity',
    settings: [NAMESPACES, LABELS],
    convert: convertAntiAffinity,
  },
  {
    name: 'RemovePodsViolatingNodeAffinity',
    becomes: 'repair.nodeAffinity',
    settings: [NAMESPACES, LABELS, ['nodeAffinityType', 'repair.nodeAffinity']],
    convert: convertNodeAffinity,
  },
  {
    name: 'RemovePodsViolatingNodeTaints',
    becomes: 'repair.taints',
    settings: [
      NAMESPACES,
      LABELS,
      ['includePreferNoSchedule', 'repair.taints.effect'],
      ['includedTaints', 'repair.taints.includedTaints'],
      ['excludedTaints', 'repair.taints.excludedTaints'],
    ],
    convert: convertTaints,
  },
  {
    name: 'RemovePodsViolatingTopologySpreadConstraint',
    becomes: 'repair.topologySpread',
    settings: [
      NAMESPACES,
      LABELS,
      ['constraints', 'repair.topologySpread.constraints'],
      ['includeSoftConstraints', 'repair.topologySpread.constraints'],
      ['topologyBalanceNodeFit', 'none'],
    ],
    convert: convertTopologySpread,
  },
  {
    name: 'RemovePodsHavingTooManyRestarts',
    becomes: 'repair.restarts',
    settings: [
      NAMESPACES,
      LABELS,
      ['podRestartThreshold', 'repair.restarts.atLeast'],
      ['includingInitContainers', 'repair.restarts.includingInit'],
      ['states', 'repair.restarts.states'],
    ],
    group: 'podsHavingTooManyRestarts',
    convert: convertRestarts,
  },
  {
    name: 'PodLifeTime',
    becomes: 'repair.maxLifetime',
    settings: [
      NAMESPACES,
      LABELS,
      ['maxPodLifeTimeSeconds', 'repair.maxLifetime.age'],
      ['states', 'repair.maxLifetime.states'],
      ['includingInitContainers', 'repair.maxLifetime.includingInit'],
      ['includingEphemeralContainers', 'none'],
      ['conditions', 'none'],
      ['exitCodes', 'none'],
      ['ownerKinds', 'none'],
    ],
    group: 'podLifeTime',
    synonyms: { podStatusPhases: 'states' },
    convert: convertLifetime,
  },
  {
    name: 'RemoveFailedPods',
    becomes: 'repair.failed',
    settings: [
      NAMESPACES,
      LABELS,
      ['reasons', 'repair.failed.reasons'],
      ['exitCodes', 'repair.failed.exitCodes'],
      ['includingInitContainers', 'repair.failed.includingInit'],
      ['minPodLifetimeSeconds', 'repair.failed.minAge'],
      ['excludeOwnerKinds', 'repair.failed.excludedOwnerKinds'],
    ],
    group: 'failedPods',
    convert: convertFailed,
  },
];

/** Plugins by name. */
export const PLUGIN_BY_NAME: ReadonlyMap<string, KnownPlugin> = new Map(PLUGINS.map((each) => [each.name, each]));

/** Parameters of descheduler/v1alpha1 that stand beside the group of a strategy. */
const UNGROUPED = ['namespaces', 'labelSelector'];

/** Where descheduler/v1alpha1 has an argument, below `params`. */
export function oldNameOf({ group, oldNames = {} }: KnownPlugin, setting: string): string {
  const renamed = oldNames[setting];
  return renamed ?? (group === undefined || UNGROUPED.includes(setting) ? setting : `${group}.${setting}`);
}
