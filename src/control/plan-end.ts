import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { planFields } from '../execute/move-log.ts';
import { formatInstant } from '../model/instant.ts';
import type { Clock, Log, PlanStore } from '../ports.ts';

interface PlanEndPorts {
  readonly plans: PlanStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Marks a plan that will not be carried out. Resolves to the plan as stored. */
export async function supersede(
  plan: RebalancePlan,
  message: string,
  { plans, clock, log }: PlanEndPorts,
  signal: AbortSignal,
): Promise<RebalancePlan> {
  const phase = 'Superseded';
  const status = { ...plan.status, phase, message, finishedAt: formatInstant(clock.now()) } as const;
  const stored = await plans.writeStatus(plan, status, signal);
  log('plan finished', { ...planFields(plan), phase, result: message });
  return stored;
}

/** Deletes a plan that is not kept any more. */
export async function deletePlan(
  plan: RebalancePlan,
  { plans, log }: Pick<PlanEndPorts, 'plans' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  await plans.remove(plan.metadata.name, signal);
  log('plan deleted', planFields(plan));
}
