import type { ClusterSnapshot } from '../../model/snapshot.ts';
import type { PolicyOptions } from '../options.ts';
import type { Plan } from '../plan.ts';
import { NO_PODS, startupTimes } from '../startup.ts';
import { budgetsInForce } from './in-force.ts';
import { lostService } from './overhead.ts';

/** Budgets of a plan that may run out, with what it leaves of them: moves, or pod-seconds. Negative when overspent. */
export type BudgetsLeft = ReadonlyMap<'maxMoves' | 'maxOverhead', number>;

/** What is left of the budgets in force when the plan was made, and is to be carried out; of several entries the least. */
export function budgetsLeft(
  { budgets }: PolicyOptions,
  { moves, takenAt }: Pick<Plan, 'moves' | 'takenAt'>,
  { pastMoves, spent, underWay = [] }: Pick<ClusterSnapshot, 'pastMoves' | 'spent' | 'underWay'>,
): BudgetsLeft {
  const entries = budgetsInForce(budgets, takenAt);
  const startup = startupTimes(pastMoves, NO_PODS);
  const ahead = [...moves, ...underWay.filter(({ isSent }) => !isSent)];
  const planned = ahead.reduce((sum, { cost }) => sum + cost, 0);
  const left = {
    maxMoves: entries.flatMap(({ maxMoves }) =>
      maxMoves === undefined ? [] : [maxMoves - moves.length - underWay.length],
    ),
    maxOverhead: entries.flatMap(({ overhead }) =>
      overhead === undefined
        ? []
        : [overhead.limit - lostService(pastMoves, startup, overhead.window, takenAt, spent) - planned],
    ),
  };
  return new Map(
    (['maxMoves', 'maxOverhead'] as const).flatMap((budget) =>
      left[budget].length === 0 ? [] : [[budget, Math.min(...left[budget])] as const],
    ),
  );
}
