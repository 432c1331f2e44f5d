import { Ajv } from 'ajv';
import { type RebalancePlan, RebalancePlanSpec, RebalancePlanStatus } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { RebalancePolicyStatus } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { epochSeconds } from '../../src/model/units.ts';
import type { PolicyStore } from '../../src/ports.ts';
import { createPlanObjects, type PlanObjects } from '../../src/simulate/api-server/plans.ts';
import { createPolicyObjects, type PolicyObjects } from '../../src/simulate/api-server/policies.ts';
import { NOON } from './test-clock.ts';

/** Plans of the modelled cluster, which refuses what the CRD's schema refuses. */
export interface FakePlans extends PlanObjects {
  /** The plan as stored. Throws when there is none. */
  of(name: string): RebalancePlan;
}

/** Policies of the modelled cluster. */
export interface FakePolicies extends PolicyObjects {
  /** Number of times that a status was written. */
  readonly writes: () => number;
}

const ajv = new Ajv({ strict: false, validateFormats: false });
const checks = {
  planSpec: ajv.compile(RebalancePlanSpec),
  planStatus: ajv.compile(RebalancePlanStatus),
  policyStatus: ajv.compile(RebalancePolicyStatus),
};

function refuseInvalid(part: keyof typeof checks, value: unknown): void {
  const check = checks[part];
  if (!check(JSON.parse(JSON.stringify(value)))) {
    throw new Error(`the API server refuses ${part}: ${ajv.errorsText(check.errors)}`);
  }
}

/** Nobody may change what is stored but by storing it. */
function freeze(value: unknown): void {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
}

/** An empty store of plans. */
export function fakePlans(): FakePlans {
  const objects = createPlanObjects(
    () => undefined,
    (plan) => {
      refuseInvalid('planSpec', plan.spec);
      refuseInvalid('planStatus', plan.status ?? {});
      freeze(plan);
    },
  );
  const of = (name: string): RebalancePlan => {
    const plan = objects.stored.get(name);
    if (plan === undefined) {
      throw new Error(`plan ${name} is not stored`);
    }
    return plan;
  };
  return { ...objects, of };
}

/** An empty store of policies. */
export function fakePolicies(): FakePolicies {
  let count = 0;
  const objects = createPolicyObjects(
    () => epochSeconds(NOON - 43_200),
    [],
    (status) => {
      refuseInvalid('policyStatus', status);
      count += 1;
    },
  );
  const store: PolicyStore = {
    ...objects.store,
    async list(signal) {
      const policies = await objects.store.list(signal);
      freeze(policies);
      return policies;
    },
  };
  return { ...objects, store, writes: () => count };
}
