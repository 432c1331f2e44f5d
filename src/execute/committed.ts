import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { isBudgeted, isDisruption, kindOf } from '../model/move.ts';
import { oncePer } from '../model/once-per.ts';
import type { MoveUnderWay } from '../model/past-move.ts';
import { seconds } from '../model/units.ts';
import { entries } from './journal.ts';
import type { JournalEntry } from './move.ts';
import { isInFlight } from './transitions.ts';

/** The moves of a plan that have not ended. */
export interface OpenMoves {
  /** Those that stay with the plan whatever a later one says: they are in flight, or a preemption for them has begun. */
  readonly committed: readonly JournalEntry[];
  /** Those for which nothing was done yet. */
  readonly pending: readonly JournalEntry[];
}

/**
 * Sorts the moves of a plan by whether anything was done for them. Who waits and the preemptions for it begin together: once a pod
 * was evicted for it, the room is promised. All are empty for a plan that is not being carried out.
 */
export const openMoves = oncePer((plan: RebalancePlan): OpenMoves => {
  if (plan.status?.phase !== 'Executing') {
    return NOTHING_OPEN;
  }
  const all = entries(plan);
  const beneficiaryOf = beneficiaries(plan);
  const served = new Set(
    all.flatMap((entry) => (hasBegunPreemption(entry) ? (beneficiaryOf.get(entry.index) ?? []) : [])),
  );
  const isServed = ({ index }: JournalEntry): boolean => served.has(beneficiaryOf.get(index) ?? index);
  const planned = all.filter(({ run }) => run.phase === 'Planned');
  return {
    committed: [...all.filter(({ run }) => isInFlight(run.phase)), ...planned.filter(isServed)],
    pending: planned.filter((entry) => !isServed(entry)),
  };
});

const NOTHING_OPEN: OpenMoves = { committed: [], pending: [] };

/**
 * Which admission, or move from a failed node, each preemption makes room for, by index: the first that needs it. Later ones that
 * need it as well go where it has left room besides.
 */
export const beneficiaries = oncePer((plan: RebalancePlan): ReadonlyMap<number, number> => {
  const all = entries(plan);
  const found = new Map<number, number>();
  for (const { index, move } of all) {
    for (const need of isDisruption(move) ? [] : (move.after ?? [])) {
      const needed = all[need];
      if (needed !== undefined && kindOf(needed.move) === 'Preemption' && !found.has(need)) {
        found.set(need, index);
      }
    }
  }
  return found;
});

/** The evictions that count against budgets which plans have begun, or are bound to make, and that have not ended. */
export function movesUnderWay(plans: readonly RebalancePlan[]): readonly MoveUnderWay[] {
  return plans.flatMap((plan) =>
    openMoves(plan).committed.flatMap(({ index, move, run }) =>
      move.from === undefined || !isBudgeted(move)
        ? []
        : [
            {
              purpose: `${plan.metadata.name} ${beneficiaries(plan).get(index) ?? index}`,
              from: move.from,
              namespace: move.pod.namespace,
              owner: move.owner.uid,
              isSent: isInFlight(run.phase),
              cost: seconds(Number(move.cost ?? 0)),
            },
          ],
    ),
  );
}

function hasBegunPreemption({ move, run: { phase } }: JournalEntry): boolean {
  return kindOf(move) === 'Preemption' && (isInFlight(phase) || phase === 'Vacated');
}
