import type { Cluster } from '../cluster.ts';
import type { BudgetName } from '../rejection-codes.ts';
import { allOf, type Budget, type CompositeBudget } from './budget.ts';
import { type Cooldowns, targetCooldown } from './cooldown.ts';
import type { ActiveBudget } from './in-force.ts';
import { maxMoves, smallestMaxMoves } from './max-moves.ts';
import { maxOverhead, type OverheadHistory } from './max-overhead.ts';
import { perNamespace, perNode, perOwner } from './per-key.ts';
import { type PdbLookup, podDisruptionBudget } from './pod-disruption-budget.ts';

/** The budgets of one plan. */
export interface Budgets extends CompositeBudget {
  /** Moves that the plan may have at most. */
  readonly maxMoves: number;
}

/** What was moved before, as far as budgets depend on it. */
export interface BudgetHistory extends OverheadHistory {
  readonly cooldowns: Cooldowns;
  /** Unspent; `undefined` where no move counts against a service level. */
  readonly serviceLevel: () => Budget | undefined;
}

/**
 * All budgets of one plan, unspent. `entries` are those in force at its time. All apply, so the most restrictive wins;
 * the widest refusal is reported first.
 */
export function createBudgets(
  entries: readonly ActiveBudget[],
  cluster: Cluster,
  pdbs: PdbLookup,
  history: BudgetHistory,
): Budgets {
  const budgets = {
    MaxMoves: maxMoves(entries),
    MaxOverhead: maxOverhead(entries, cluster.owners, history),
    PerNode: perNode(entries, cluster),
    PerNamespace: perNamespace(entries, cluster.pods),
    PerOwner: perOwner(entries, cluster.owners),
    PodDisruptionBudget: podDisruptionBudget(pdbs, cluster.pods),
    Cooldown: targetCooldown(history.cooldowns, cluster),
    ServiceLevel: history.serviceLevel(),
  } satisfies Record<BudgetName, Budget | undefined>;
  return {
    ...allOf(Object.values(budgets).filter((budget) => budget !== undefined)),
    maxMoves: smallestMaxMoves(entries),
  };
}
