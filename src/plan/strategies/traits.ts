import type { StrategyName } from '../../api/v1alpha1/rebalance-policy.ts';

/** How a strategy differs from others outside its own files. */
interface Traits {
  /**
   * What moves improve: the balance of the nodes, the service of workloads, which their ledgers measure, the number of nodes
   * that are needed, or the traffic between domains.
   */
  readonly improves: 'Balance' | 'Service' | 'Packing' | 'Traffic' | 'Nothing';
  /** Plans by the load that `load.source` names; otherwise by requests. */
  readonly readsMetrics: boolean;
  /** Does not plan, or go on with a plan, without metrics that suffice, where `load.source` names any. */
  readonly needsMetrics: boolean;
  /** Acts once the spread has been above `thresholds.trigger` for `thresholds.consecutive` runs; otherwise at once. */
  readonly awaitsTrigger: boolean;
  /** Lets pods through the scheduling gate whatever the steering mode, and runs when that queue changes. */
  readonly admitsWaitingPods: boolean;
  /** Moves pods that are not Ready, too. */
  readonly movesUnreadyPods: boolean;
  /** Plans anew at every news also while a plan is carried out, which then only finishes what it has begun. */
  readonly replansInFlight: boolean;
  /** Moves need each other, also those that one PodDisruptionBudget does not allow at the same time. */
  readonly movesInWaves: boolean;
  /** What limits how often pods are moved: `protections` of the policy, or the ServiceClass of the pod. */
  readonly restBy: 'Protections' | 'ServiceClass';
}

/** The traits of every strategy. Code outside a strategy asks these, and never for its name. */
export const STRATEGY_TRAITS = {
  GreedyLB: {
    improves: 'Balance',
    readsMetrics: true,
    needsMetrics: true,
    awaitsTrigger: true,
    admitsWaitingPods: false,
    movesUnreadyPods: false,
    replansInFlight: false,
    movesInWaves: false,
    restBy: 'Protections',
  },
  RefineLB: {
    improves: 'Balance',
    readsMetrics: true,
    needsMetrics: true,
    awaitsTrigger: true,
    admitsWaitingPods: false,
    movesUnreadyPods: false,
    replansInFlight: false,
    movesInWaves: false,
    restBy: 'Protections',
  },
  QoSDriven: {
    improves: 'Service',
    readsMetrics: false,
    needsMetrics: false,
    awaitsTrigger: false,
    admitsWaitingPods: true,
    movesUnreadyPods: true,
    replansInFlight: true,
    movesInWaves: false,
    restBy: 'ServiceClass',
  },
  Pack: {
    improves: 'Packing',
    readsMetrics: false,
    needsMetrics: false,
    awaitsTrigger: false,
    admitsWaitingPods: false,
    movesUnreadyPods: false,
    replansInFlight: false,
    movesInWaves: false,
    restBy: 'Protections',
  },
  TrafficAware: {
    improves: 'Traffic',
    readsMetrics: true,
    needsMetrics: true,
    awaitsTrigger: false,
    admitsWaitingPods: false,
    movesUnreadyPods: false,
    replansInFlight: false,
    movesInWaves: true,
    restBy: 'Protections',
  },
  None: {
    improves: 'Nothing',
    readsMetrics: true,
    needsMetrics: false,
    awaitsTrigger: false,
    admitsWaitingPods: false,
    movesUnreadyPods: false,
    replansInFlight: false,
    movesInWaves: false,
    restBy: 'Protections',
  },
} as const satisfies Record<StrategyName, Traits>;

/** Names of the strategies that improve this. */
export type StrategyThatImproves<Goal extends Traits['improves']> = {
  [Name in StrategyName]: (typeof STRATEGY_TRAITS)[Name]['improves'] extends Goal ? Name : never;
}[StrategyName];
