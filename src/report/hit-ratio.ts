import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { SteeringMode } from '../ports.ts';

/**
 * Share of the replacements of `plans` that run on their planned node, in [0, 1]; `undefined` while none runs anywhere. Worked
 * out from the journals, so that a restart forgets nothing.
 */
export function hitRatio(plans: readonly RebalancePlan[]): number | undefined {
  const runs = plans.flatMap((plan) => plan.status?.moves ?? []);
  const landed = runs.filter(({ phase }) => phase === 'Landed').length;
  const ended = landed + runs.filter(({ phase }) => phase === 'Missed').length;
  return ended === 0 ? undefined : landed / ended;
}

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
