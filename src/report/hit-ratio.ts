import type { MovePhase, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { SteeringMode } from '../api/v1alpha1/rebalance-policy.ts';
import { oncePer } from '../model/once-per.ts';

/**
 * Share of the replacements of `plans` that run on their planned node, in [0, 1]; `undefined` while none runs anywhere. Worked
 * out from the journals, so that a restart forgets nothing.
 */
export function hitRatio(plans: readonly RebalancePlan[]): number | undefined {
  const counts = plans.map(countLandings);
  const landed = counts.reduce((sum, count) => sum + count.landed, 0);
  const ended = counts.reduce((sum, { missed }) => sum + missed, landed);
  return ended === 0 ? undefined : landed / ended;
}

const countLandings = oncePer(({ status }: RebalancePlan) => {
  const count = (phase: MovePhase): number => (status?.moves ?? []).filter((run) => run.phase === phase).length;
  return { landed: count('Landed'), missed: count('Missed') };
});

/** The same by the steering that was in force; modes without a replacement are left out. */
export function hitRatiosByMode(plans: readonly RebalancePlan[]): ReadonlyMap<SteeringMode, number> {
  const byMode = Map.groupBy(plans, ({ status }) => status?.steering ?? 'None');
  return new Map(
    [...byMode].flatMap(([mode, own]) => {
      const ratio = hitRatio(own);
      return ratio === undefined ? [] : [[mode, ratio] as const];
    }),
  );
}
