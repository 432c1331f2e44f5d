import type { MoveUnderWay } from '../../model/past-move.ts';
import type { Seconds } from '../../model/units.ts';
import { inSeconds } from '../format.ts';
import type { PodIndex } from '../indices.ts';
import { type Owners, ownerOf } from '../owners.ts';
import type { StartupTimes } from '../startup.ts';
import type { Budget } from './budget.ts';
import type { ActiveBudget } from './in-force.ts';

/** What earlier moves cost, and what a move of some controller's pod will cost. */
export interface OverheadHistory {
  readonly startup: StartupTimes;
  /** Pod-seconds lost in the window that ends at the time of the plan. */
  readonly lost: (window: Seconds) => Seconds;
  /** What older plans have begun; of these, `lost` counts those that were sent. */
  readonly underWay: readonly MoveUnderWay[];
}

interface Account {
  readonly place: number;
  readonly limit: number;
  readonly window: Seconds;
  /** By earlier moves. */
  readonly lost: number;
}

/**
 * Pod-seconds of service that moves cost in a sliding window: those of earlier moves inside it and the start-up times of
 * the plan's moves, as if all of them happened at once. `undefined` when no entry limits them.
 */
export function maxOverhead(
  entries: readonly ActiveBudget[],
  owners: Owners,
  { startup, lost, underWay }: OverheadHistory,
): Budget | undefined {
  const accounts = entries.flatMap(({ place, overhead }): readonly Account[] =>
    overhead === undefined ? [] : [{ place, ...overhead, lost: lost(overhead.window) }],
  );
  if (accounts.length === 0) {
    return undefined;
  }
  let planned = underWay.reduce((sum, { isSent, cost }) => sum + (isSent ? 0 : cost), 0);
  const costOf = (pod: PodIndex): number => startup.of(ownerOf(owners, pod)?.ref.uid ?? '');
  return {
    check: (pod) => {
      const cost = costOf(pod);
      const account = accounts.find((each) => !(each.lost + planned + cost <= each.limit));
      if (account === undefined) {
        return undefined;
      }
      const { place, limit, window, lost: spent } = account;
      const sum = `${inSeconds(spent)} lost in the last ${inSeconds(window)}, ${inSeconds(planned)} by this plan`;
      const message = `a start takes ${inSeconds(cost)}: with ${sum}, maxOverhead of budgets[${place}] allows ${inSeconds(limit)}`;
      return { code: 'MaxOverhead', message, numbers: { cost, lost: spent, planned, limit, window } };
    },
    spend: (pod) => {
      planned += costOf(pod);
    },
    refund: (pod) => {
      planned -= costOf(pod);
    },
  };
}
