import { withJournal } from '../../src/adapters/kubernetes/with-journal.ts';
import type { MoveJournal } from '../../src/api/v1alpha1/move-journal.ts';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../../src/api/v1alpha1/rebalance-policy.ts';
import type { ControlPlane } from '../control-plane/start.ts';

/** A policy object with these settings in its spec. */
export function policyObject(name: string, spec: Readonly<Record<string, unknown>>): object {
  return { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'RebalancePolicy', metadata: { name }, spec };
}

/** The policy as it stands on the cluster. */
export async function getPolicy(cp: ControlPlane, name: string): Promise<RebalancePolicy> {
  return JSON.parse(await cp.kubectl(['get', 'rbp', name, '-o', 'json'])) as RebalancePolicy;
}

/** All plans on the cluster with what their journals say, oldest first. */
export async function getPlans(cp: ControlPlane): Promise<readonly RebalancePlan[]> {
  const journals = new Map((await list<MoveJournal>(cp, 'movejournals')).map((each) => [each.metadata.name, each]));
  const plans = await list<RebalancePlan>(cp, 'rebalanceplans');
  return plans
    .map((plan) => withJournal(plan, journals.get(plan.metadata.name)))
    .sort((a, b) => a.spec.takenAt.localeCompare(b.spec.takenAt));
}

async function list<Value>(cp: ControlPlane, resource: string): Promise<readonly Value[]> {
  return (JSON.parse(await cp.kubectl(['get', resource, '-o', 'json'])) as { items: readonly Value[] }).items;
}

/** `reason` of a condition of the policy; undefined when it has none of that type. */
export function reasonOf({ status }: RebalancePolicy, type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type)?.reason;
}
