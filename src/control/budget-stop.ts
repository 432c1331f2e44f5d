import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { PlannedMove } from '../execute/move.ts';
import type { StopReason } from '../execute/stop-rules.ts';
import type { StopRule } from '../execute/together.ts';
import { parseInstant } from '../model/instant.ts';
import { isDisruption } from '../model/move.ts';
import { type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import { type ActiveBudget, budgetsInForce } from '../plan/budgets/in-force.ts';
import { lostService } from '../plan/budgets/overhead.ts';
import { inSeconds } from '../plan/format.ts';
import { once } from '../plan/once.ts';
import type { BudgetOptions, PolicyOptions } from '../plan/options.ts';
import { NO_PODS, type StartupTimes, startupTimes } from '../plan/startup.ts';
import type { MoveHistory } from './past-overhead.ts';

/**
 * Why no further pod may be evicted for a plan although it was within all budgets when it was made; `undefined` when it still
 * is. An entry has come into force since: another plan, made within it, takes this one's place. Or moves have cost more
 * service than was expected, so that those of `next` together would exceed `maxOverhead`.
 */
export function budgetStop(
  plan: RebalancePlan,
  { budgets }: PolicyOptions,
  history: () => MoveHistory,
  now: EpochSeconds,
): StopRule {
  const inForce = budgetsInForce(budgets, now);
  const fresh = windowStop(plan, budgets, inForce);
  const limits = once(() => overheadLimits(inForce, history, now));
  return (next) => fresh ?? overheadStop(next.filter(isDisruption), limits());
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

/** A limit of lost service, and how much of it was lost. */
interface OverheadLimit {
  readonly place: number;
  readonly limit: Seconds;
  readonly window: Seconds;
  readonly lost: Seconds;
  readonly startup: StartupTimes;
}

/** The history of all moves is not put together where no budget in force limits what they cost. */
function overheadLimits(
  inForce: readonly ActiveBudget[],
  history: () => MoveHistory,
  now: EpochSeconds,
): readonly OverheadLimit[] {
  const limited = inForce.flatMap(({ place, overhead }) => (overhead === undefined ? [] : [{ place, ...overhead }]));
  if (limited.length === 0) {
    return [];
  }
  const { pastMoves, spent } = history();
  const startup = startupTimes(pastMoves, NO_PODS);
  return limited.map((each) => ({ ...each, lost: lostService(pastMoves, startup, each.window, now, spent), startup }));
}

function overheadStop(next: readonly PlannedMove[], limits: readonly OverheadLimit[]): StopReason | undefined {
  for (const { place, limit, window, lost, startup } of next.length === 0 ? [] : limits) {
    const cost = seconds(next.reduce((sum, { cost, owner }) => sum + Number(cost ?? startup.of(owner.uid)), 0));
    if (!(lost + cost <= limit)) {
      const spent = `${inSeconds(lost)} of service were lost in the last ${inSeconds(window)}`;
      const would = next.length === 1 ? 'the next move would cost' : `the next ${next.length} moves would cost`;
      const message = `${spent}, ${would} ${inSeconds(cost)}: maxOverhead of budgets[${place}] allows ${inSeconds(limit)}`;
      return { reason: 'BudgetExhausted', message, stops: 'Disruptions' };
    }
  }
  return undefined;
}
