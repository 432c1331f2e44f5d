import type { EpochSeconds } from '../../model/units.ts';
import { formatLocalTime, windowAt } from '../cron.ts';
import type { BudgetOptions } from '../options.ts';

/** A budget that applies at the time of a plan. */
export interface ActiveBudget extends BudgetOptions {
  /** For people: how long it applies, such as `until 18:00 Europe/Rome`; `undefined` for one without a window. */
  readonly until: string | undefined;
}

/**
 * The entries that apply at instant `now`: those without a window, and those whose window is open. One whose window
 * cannot be evaluated applies, and allows nothing (api.md, budgets).
 */
export function budgetsInForce(entries: readonly BudgetOptions[], now: EpochSeconds): readonly ActiveBudget[] {
  return entries.flatMap((entry) => activate(entry, now) ?? []);
}

function activate(entry: BudgetOptions, now: EpochSeconds): ActiveBudget | undefined {
  const { window } = entry;
  if (window === undefined) {
    return { ...entry, until: undefined };
  }
  try {
    const open = windowAt(window, now);
    if (open === undefined) {
      return undefined;
    }
    const { closesAt } = open;
    const end = closesAt === undefined ? undefined : `until ${formatLocalTime(closesAt, window.timeZone, now)}`;
    return { ...entry, until: end ?? 'for good, since its windows follow without a gap' };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...entry, maxMoves: 0, until: `until its window can be evaluated (${why})` };
  }
}
