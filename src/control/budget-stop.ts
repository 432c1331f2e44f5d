import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { entries } from '../execute/journal.ts';
import type { StopReason } from '../execute/stop-rules.ts';
import { parseInstant } from '../model/instant.ts';
import { isDisruption } from '../model/move.ts';
import type { EpochSeconds } from '../model/units.ts';
import { type ActiveBudget, budgetsInForce } from '../plan/budgets/in-force.ts';
import { lostService } from '../plan/budgets/overhead.ts';
import { inSeconds } from '../plan/format.ts';
import type { BudgetOptions, PolicyOptions } from '../plan/options.ts';
import { NO_PODS, startupTimes } from '../plan/startup.ts';
import type { MoveHistory } from './past-overhead.ts';

/**
 * Why no further pod may be evicted for a plan although it was within all budgets when it was made; `undefined` when it still
 * is. An entry has come into force since: another plan, made within it, takes this one's place. Or moves have cost more
 * service than was expected, so that the next one would exceed `maxOverhead`.
 */
export function budgetStop(
  plan: RebalancePlan,
  { budgets }: PolicyOptions,
  history: MoveHistory,
  now: EpochSeconds,
): StopReason | undefined {
  const inForce = budgetsInForce(budgets, now);
  return windowStop(plan, budgets, inForce) ?? overheadStop(plan, inForce, history, now);
}

function windowStop(
  plan: RebalancePlan,
  budgets: readonly BudgetOptions[],
  inForce: readonly ActiveBudget[],
): StopReason | undefined {
  const before = new Set(budgetsInForce(budgets, parseInstant(plan.spec.takenAt)).map(({ place }) => place));
  const fresh = inForce.find((entry) => !before.has(entry.place) && limitsPlans(entry));
  if (fresh === undefined) {
    return undefined;
  }
  const message = `budgets[${fresh.place}] came into force after the plan was made, ${fresh.until}`;
  return { reason: 'BudgetExhausted', message, stops: 'Budgeted' };
}

/** Moves in flight are counted as they begin; everything else is about the plan as a whole. */
type PlanLimit = Exclude<keyof BudgetOptions, 'place' | 'window' | 'maxConcurrent'>;

function limitsPlans({ maxMoves, perOwner, perNode, perNamespace, overhead }: BudgetOptions): boolean {
  const limits = { maxMoves, perOwner, perNode, perNamespace, overhead } satisfies Record<PlanLimit, unknown>;
  return Object.values(limits).some((limit) => limit !== undefined);
}

function overheadStop(
  plan: RebalancePlan,
  inForce: readonly ActiveBudget[],
  { pastMoves, spent: forgotten }: MoveHistory,
  now: EpochSeconds,
): StopReason | undefined {
  const next = entries(plan).find(({ move, run }) => run.phase === 'Planned' && isDisruption(move))?.move;
  const limited = inForce.flatMap(({ place, overhead }) => (overhead === undefined ? [] : [{ place, ...overhead }]));
  if (next === undefined || limited.length === 0) {
    return undefined;
  }
  const startup = startupTimes(pastMoves, NO_PODS);
  const cost = next.cost === undefined ? startup.of(next.owner.uid) : Number(next.cost);
  for (const { place, limit, window } of limited) {
    const lost = lostService(pastMoves, startup, window, now, forgotten);
    if (!(lost + cost <= limit)) {
      const spent = `${inSeconds(lost)} of service were lost in the last ${inSeconds(window)}`;
      const message = `${spent}, the next move would cost ${inSeconds(cost)}: maxOverhead of budgets[${place}] allows ${inSeconds(limit)}`;
      return { reason: 'BudgetExhausted', message, stops: 'Disruptions' };
    }
  }
  return undefined;
}
