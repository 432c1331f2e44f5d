import type { NodeIndex, PodIndex } from '../indices.ts';
import type { BudgetName } from '../rejection-codes.ts';
import type { Reach } from '../strategies/strategy.ts';

/** Why a move would exceed a budget. */
export interface BudgetRefusal {
  readonly code: BudgetName;
  readonly message: string;
  readonly numbers: Readonly<Record<string, number>>;
}

/** What a refusal rules out besides the move that was refused. */
export const REACH = {
  MaxMoves: 'Plan',
  MaxOverhead: 'Pod',
  PerNode: 'Node',
  PerNamespace: 'Pod',
  PerOwner: 'Pod',
  PodDisruptionBudget: 'Pod',
  Cooldown: 'Move',
  ServiceLevel: 'Pod',
} as const satisfies Record<BudgetName, Reach>;

/** May we disrupt this pod now? Counts what one plan has spent, so make one per plan. Pods are named by their place. */
export interface Budget {
  /** `undefined`: yes. Without `to`, whether the pod may be moved to any node at all, as far as that can be said. */
  readonly check: (pod: PodIndex, to?: NodeIndex) => BudgetRefusal | undefined;
  /** The pod is moved. */
  readonly spend: (pod: PodIndex) => void;
  /** Takes back what was spent for the pod. */
  readonly refund: (pod: PodIndex) => void;
}

/**
 * A budget that pods are preempted within. Those that are spent until `close` make room for one pod, which limits by node,
 * namespace and controller count as one: it can have no others.
 */
export interface PreemptionBudget extends Budget {
  /** The pods that were spent, and not refunded, are those of one pod; the next are for another. */
  readonly close: () => void;
}

/** Several budgets as one. */
export interface CompositeBudget extends Budget {
  /** What each of them says against the move; `check` gives the first alone. */
  readonly refusals: (pod: PodIndex, to: NodeIndex) => readonly BudgetRefusal[];
}

/** A budget that lets a move through when all of `budgets` do, and refuses it as the first does that refuses it. */
export function allOf(budgets: readonly Budget[]): CompositeBudget {
  return {
    check: (pod, to) => {
      for (const budget of budgets) {
        const refusal = budget.check(pod, to);
        if (refusal !== undefined) {
          return refusal;
        }
      }
      return undefined;
    },
    spend: (pod) => {
      for (const budget of budgets) {
        budget.spend(pod);
      }
    },
    refund: (pod) => {
      for (const budget of budgets) {
        budget.refund(pod);
      }
    },
    refusals: (pod, to) => budgets.flatMap((budget) => budget.check(pod, to) ?? []),
  };
}

/** Counts what has been spent under each key. */
export interface Tally<Key> {
  readonly of: (key: Key) => number;
  readonly add: (key: Key) => void;
  readonly remove: (key: Key) => void;
}

/** A tally of nothing. */
export function createTally<Key>(): Tally<Key> {
  const spent = new Map<Key, number>();
  const of = (key: Key): number => spent.get(key) ?? 0;
  return {
    of,
    add: (key) => spent.set(key, of(key) + 1),
    remove: (key) => spent.set(key, of(key) - 1),
  };
}

/**
 * Whether another move fits. A limit that is not a number allows nothing (api.md, budgets).
 */
export function isSpent(used: number, limit: number): boolean {
  return !(used + 1 <= limit);
}
