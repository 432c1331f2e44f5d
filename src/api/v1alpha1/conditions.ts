/** Conditions of a RebalancePolicy. */
export const CONDITION_TYPES = [
  /** The spec is valid and no older policy owns its scope. */
  'Accepted',
  /** The last run had enough valid samples. */
  'MetricsFresh',
  /** There is a plan that the mode allows to carry out, or to look at. */
  'PlanReady',
  /** A plan is being carried out. */
  'Executing',
  /** The last run found nothing to do. */
  'Converged',
  /** Something failed that needs a person, or time. */
  'Degraded',
  /** Summary: accepted, fresh, and not degraded. */
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
  'AwaitingFirstRun',
  'Balanced',
  'NoBeneficialMove',
  'BudgetExhausted',
  'NothingToBalance',
  'DryRun',
  'AwaitingConsecutive',
  'AwaitingApproval',
  'Planned',
  'Executing',
  'Idle',
  'MovesPending',
  'TooManyFailures',
  'ClusterUnhealthy',
  'PolicyChanged',
  'SteeringUnavailable',
  'ObserveFailed',
  'ExecuteFailed',
  'AsExpected',
] as const;
/** Reason of a condition. */
export type ConditionReason = (typeof CONDITION_REASONS)[number];
