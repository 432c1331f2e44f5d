/** Conditions of a RebalancePolicy. */
export const CONDITION_TYPES = [
  /** The spec is valid and no older policy owns its scope. */
  'Accepted',
  /** The last run had enough valid samples. */
  'MetricsFresh',
  /** It is known what service the workloads in scope got that have a ServiceClass. */
  'LedgerFresh',
  /** More was promised to the workloads in scope than nodes have; of policies that improve service. */
  'Oversold',
  /** There is a plan that the mode allows to carry out, or to look at. */
  'PlanReady',
  /** A plan is being carried out. */
  'Executing',
  /** The last run found nothing to do. */
  'Converged',
  /** Something failed that needs a person, or time. */
  'Degraded',
  /** Summary: accepted, metrics fresh, ledgers kept, and not degraded. */
  'Ready',
] as const;
/** Type of a condition. */
export type ConditionType = (typeof CONDITION_TYPES)[number];

/** Every reason that a condition can give. */
export const CONDITION_REASONS = [
  'Valid',
  'InvalidSpec',
  'InvalidSchedule',
  'Conflicting',
  'Suspended',
  'Fresh',
  'MetricsUnavailable',
  'MetricsIncomplete',
  'AwaitingSamples',
  'NotNeeded',
  'LedgersUnavailable',
  'LedgersIncomplete',
  'UnknownServiceClass',
  'PromisesExceedCapacity',
  'AwaitingFirstRun',
  'Balanced',
  'NoBeneficialMove',
  'BudgetExhausted',
  'Blocked',
  'NothingToBalance',
  'NothingToRepair',
  'NothingToPack',
  'NothingToReroute',
  'DryRun',
  'AwaitingConsecutive',
  'AwaitingApproval',
  'Planned',
  'Executing',
  'Idle',
  'MovesPending',
  'TooManyFailures',
  'ClusterUnhealthy',
  'ServiceLevelMissed',
  'EvictionForbidden',
  'PolicyChanged',
  'SteeringUnavailable',
  'ObserveFailed',
  'ExecuteFailed',
  'HintsRemain',
  'AsExpected',
] as const;
/** Reason of a condition. */
export type ConditionReason = (typeof CONDITION_REASONS)[number];
