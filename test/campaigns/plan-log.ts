import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { getPlans, getPolicy } from '../support/resources.ts';
import { hasEnded } from './evidence.ts';

/** Every plan that was seen, as it was last seen: the operator deletes old ones. */
export interface PlanLog {
  readonly all: () => readonly RebalancePlan[];
  readonly look: () => Promise<void>;
}

/** Waits until the policy is Converged and every plan has ended, for five minutes at most. */
export async function untilConverged(
  cp: ControlPlane,
  policy: string,
  plans: PlanLog,
  log: (line: string) => void,
): Promise<void> {
  await waitUntil(
    'balance',
    async () => {
      await plans.look();
      const { status } = await getPolicy(cp, policy);
      const isConverged = status?.conditions?.some((each) => each.type === 'Converged' && each.status === 'True');
      const open = plans.all().filter((plan) => !hasEnded(plan));
      const phases = open.map(({ metadata, status: { phase } = {} }) => `${metadata.name} is ${phase}`);
      return isConverged === true && open.length === 0 ? undefined : `converged ${isConverged}; ${phases.join(', ')}`;
    },
    { timeoutMilliseconds: 300_000, log },
  );
}

/** An empty log. */
export function createPlanLog(cp: ControlPlane): PlanLog {
  const seen = new Map<string, RebalancePlan>();
  return {
    all: () => [...seen.values()],
    look: async () => {
      for (const plan of await getPlans(cp)) {
        seen.set(plan.metadata.uid ?? plan.metadata.name, plan);
      }
    },
  };
}
