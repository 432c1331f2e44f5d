import type { MoveUnderWay } from '../../model/past-move.ts';
import type { Cluster } from '../cluster.ts';
import type { BudgetName } from '../rejection-codes.ts';
import { allOf, type Budget, type CompositeBudget, type PreemptionBudget } from './budget.ts';
import { type Cooldowns, targetCooldown } from './cooldown.ts';
import type { ActiveBudget } from './in-force.ts';
import { maxMoves, smallestMaxMoves } from './max-moves.ts';
import { maxOverhead, type OverheadHistory } from './max-overhead.ts';
import { perNamespace, perNode, perOwner } from './per-key.ts';
import { disruptionsInWaves, type PdbLookup, podDisruptionBudget } from './pod-disruption-budget.ts';

/** The budgets of one plan. */
export interface Budgets extends CompositeBudget {
  /** Moves that the plan may have at most. */
  readonly maxMoves: number;
}

/** The same budgets for those who preempt, too. */
export interface PlanBudgets extends Budgets {
  readonly ofPreemptions: PreemptionBudget;
}

/** What was moved before, as far as budgets depend on it. */
export interface BudgetHistory extends OverheadHistory {
  readonly cooldowns: Cooldowns;
  /** Unspent; `undefined` where no move counts against a service level. */
  readonly serviceLevel: () => Budget | undefined;
}

/**
 * All budgets of one plan, unspent. `entries` are those in force at its time. All apply, so the most restrictive wins;
 * the widest refusal is reported first. `inWaves` says whether PodDisruptionBudgets are to allow all moves at the same time, or one
 * after the other.
 */
export function createBudgets(
  entries: readonly ActiveBudget[],
  cluster: Cluster,
  pdbs: PdbLookup,
  history: BudgetHistory,
  inWaves = false,
): PlanBudgets {
  const { underWay } = history;
  const keyed = {
    PerNode: perNode(entries, { home: cluster.measuredOn, nodes: cluster.nodes }, underWay),
    PerNamespace: perNamespace(entries, cluster.pods, underWay),
    PerOwner: perOwner(entries, cluster.owners, underWay),
  };
  const budgets = {
    MaxMoves: maxMoves(entries, underWay.length),
    MaxOverhead: maxOverhead(entries, cluster.owners, history),
    ...keyed,
    PodDisruptionBudget: (inWaves ? disruptionsInWaves : podDisruptionBudget)(pdbs, cluster.pods),
    Cooldown: targetCooldown(history.cooldowns, cluster),
    ServiceLevel: history.serviceLevel(),
  } satisfies Record<BudgetName, Budget | undefined>;
  const counting = Object.values(keyed).flatMap((budget) => budget?.ofPreemptions ?? []);
  const forPreemptions = {
    ...budgets,
    PerNode: keyed.PerNode?.ofPreemptions,
    PerNamespace: keyed.PerNamespace?.ofPreemptions,
    PerOwner: keyed.PerOwner?.ofPreemptions,
  };
  return {
    ...allOf(given(budgets)),
    maxMoves: smallestMaxMoves(entries),
    ofPreemptions: {
      ...allOf(given(forPreemptions)),
      close: () => {
        for (const { close } of counting) {
          close();
        }
      },
    },
  };
}

/**
 * What limits how many failed pods a plan removes: the budgets that count evictions, and none that is about service. `underWay` is
 * counted before.
 */
export function removalBudgets(
  entries: readonly ActiveBudget[],
  { pods, nodes, owners, home }: Pick<Cluster, 'pods' | 'nodes' | 'owners' | 'home'>,
  underWay: readonly MoveUnderWay[],
): Budget {
  const budgets = {
    MaxMoves: maxMoves(entries, underWay.length),
    PerNode: perNode(entries, { home, nodes }, underWay),
    PerNamespace: perNamespace(entries, pods, underWay),
    PerOwner: perOwner(entries, owners, underWay),
  };
  return allOf(given(budgets));
}

function given(budgets: Readonly<Record<string, Budget | undefined>>): readonly Budget[] {
  return Object.values(budgets).filter((budget) => budget !== undefined);
}
