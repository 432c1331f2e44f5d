import type { Cluster } from '../cluster.ts';
import type { BudgetOptions } from '../options.ts';
import type { BudgetName } from '../rejection-codes.ts';
import type { Budget } from './budget.ts';
import { maxMoves } from './max-moves.ts';
import { perNamespace } from './per-namespace.ts';
import { perNode } from './per-node.ts';
import { perOwner } from './per-owner.ts';
import { type PdbLookup, podDisruptionBudget } from './pod-disruption-budget.ts';

/** All budgets of one plan, unspent. All apply, so the most restrictive wins; the widest refusal is reported first. */
export function createBudgets(entries: readonly BudgetOptions[], cluster: Cluster, pdbs: PdbLookup): readonly Budget[] {
  const budgets = {
    MaxMoves: maxMoves(entries),
    PerNode: perNode(entries, cluster),
    PerNamespace: perNamespace(entries, cluster.pods),
    PerOwner: perOwner(entries, cluster.owners),
    PodDisruptionBudget: podDisruptionBudget(pdbs, cluster.pods),
  } satisfies Record<BudgetName, Budget>;
  return Object.values(budgets);
}
