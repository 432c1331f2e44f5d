/** Names of the filters, kube-scheduler's own. */
export const FILTER_NAMES = [
  'NodeUnschedulable',
  'NodeName',
  'TaintToleration',
  'NodeAffinity',
  'NodePorts',
  'NodeResourcesFit',
  'VolumeRestrictions',
  'NodeVolumeLimits',
  'VolumeBinding',
  'VolumeZone',
  'PodTopologySpread',
  'InterPodAffinity',
] as const;
/** A kube-scheduler filter plugin that the planner evaluates. */
export type FilterName = (typeof FILTER_NAMES)[number];

/** What a plan keeps besides the filters, since the policy repairs it. */
const REPAIR_RULES = ['Duplicates'] as const;
/** Why a node is no target: a filter, a rule of `spec.repair`, or what moves leave free there. */
export type RefusalName = FilterName | (typeof REPAIR_RULES)[number] | 'Headroom';

/** What is never moved (execution.md, what is never moved). */
export const PROTECTION_NAMES = [
  'MirrorPod',
  'DaemonSetPod',
  'NoController',
  'CriticalPriority',
  'PriorityThreshold',
  'Terminating',
  'Pending',
  'NotReady',
  'MinPodAge',
  'MinReplicas',
  'LocalStorage',
  'PersistentVolumeClaim',
  'NoPodDisruptionBudget',
  'Job',
  'DoNotEvict',
  'OutOfScope',
  'Rollout',
  'Cooldown',
  'Quarantine',
  'UnsupportedConstraint',
] as const;
/** A rule that forbids to move a pod whatever the plan. */
export type ProtectionName = (typeof PROTECTION_NAMES)[number];

/** Budgets of a policy, and the PodDisruptionBudgets of the cluster. */
export const BUDGET_NAMES = [
  'MaxMoves',
  'MaxOverhead',
  'PerOwner',
  'PerNode',
  'PerNamespace',
  'PodDisruptionBudget',
  'Cooldown',
  'ServiceLevel',
] as const;
const BUDGET_CODES: ReadonlySet<string> = new Set(BUDGET_NAMES);

/** Whether a budget is the reason. */
export function isBudgetCode(code: string): boolean {
  return BUDGET_CODES.has(code);
}

/** A budget that a move would exceed. */
export type BudgetName = (typeof BUDGET_NAMES)[number];

/** Reasons that lie in the balance itself. */
export const BALANCE_NAMES = [
  'NoUsage',
  'NodeNotParticipating',
  'NotHeavy',
  'TooLarge',
  'GainTooSmall',
  'NoFeasibleNode',
  'InBalance',
] as const;
/** A pod stays because moving it would not help. */
export type BalanceName = (typeof BALANCE_NAMES)[number];

/** Reasons that lie in what was promised to whom. */
export const SERVICE_NAMES = [
  'NoServiceClass',
  'NoLedger',
  'AllOrNone',
  'MayWait',
  'NoEligibleVictim',
  'NotNeeded',
  'CannotAfford',
  'MinRunTime',
  'TooManyNodesFailed',
] as const;
/** A pod waits on, or runs on, for the sake of service levels. */
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** Reasons that lie in the nodes that are to be emptied. */
export const PACKING_NAMES = ['NotUnderutilized', 'MinNodeAge', 'NodeNotEmptied'] as const;
/** A pod stays because its node is not emptied. */
export type PackingName = (typeof PACKING_NAMES)[number];

/** Reasons that lie in the traffic of an application. */
export const TRAFFIC_NAMES = ['NotWorthMoving', 'TrafficUnknown', 'SharedWorkload'] as const;
/** A pod stays because moving it saves too little traffic, or its application is left alone. */
export type TrafficName = (typeof TRAFFIC_NAMES)[number];

/** Every reason why a pod is not moved; the same words in plan, `explain`, page and documentation. */
export type RejectionCode =
  | RefusalName
  | ProtectionName
  | BudgetName
  | BalanceName
  | ServiceName
  | PackingName
  | TrafficName;
