import type { Cluster } from '../cluster.ts';
import type { BudgetOptions } from '../options.ts';
import type { BudgetName } from '../rejection-codes.ts';
import type { Budget } from './budget.ts';
import { maxMoves, smallestMaxMoves } from './max-moves.ts';
import { perNamespace } from './per-namespace.ts';
import { perNode } from './per-node.ts';
import { perOwner } from './per-owner.ts';
import { type PdbLookup, podDisruptionBudget } from './pod-disruption-budget.ts';

/** The budgets of one plan. */
export interface Budgets {
  readonly budgets: readonly Budget[];
  /** Moves that the plan may have at most. */
  readonly maxMoves: number;
}

/** All budgets of one plan, unspent. All apply, so the most restrictive wins; the widest refusal is reported first. */
export function createBudgets(entries: readonly BudgetOptions[], cluster: Cluster, pdbs: PdbLookup): Budgets {
  const limit = smallestMaxMoves(entries);
  const budgets = {
    MaxMoves: maxMoves(limit),
    PerNode: perNode(entries, cluster),
    PerNamespace: perNamespace(entries, cluster.pods),
    PerOwner: perOwner(entries, cluster.owners),
    PodDisruptionBudget: podDisruptionBudget(pdbs, cluster.pods),
  } satisfies Record<BudgetName, Budget | undefined>;
  return { budgets: Object.values(budgets).filter((budget) => budget !== undefined), maxMoves: limit };
}
