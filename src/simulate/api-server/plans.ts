import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import { aborted } from '../../control/periodic.ts';
import { ConflictError, type PlanStore } from '../../ports.ts';

/** RebalancePlans on the modelled cluster. */
export interface PlanObjects {
  readonly store: PlanStore;
  /** By name. */
  readonly stored: ReadonlyMap<string, RebalancePlan>;
  /** Somebody writes a plan, whatever is stored. Returns it with its resourceVersion. */
  readonly put: (plan: RebalancePlan) => RebalancePlan;
}

/** No plans yet. `changed` is called after each change, and `admit` before it: it may throw, as admission refuses. */
export function createPlanObjects(
  changed: () => void,
  admit: (plan: RebalancePlan) => void = () => undefined,
): PlanObjects {
  const stored = new Map<string, RebalancePlan>();
  let version = 0;
  const put = (plan: RebalancePlan): RebalancePlan => {
    version += 1;
    const next = { ...plan, metadata: { ...plan.metadata, resourceVersion: String(version) } };
    admit(next);
    stored.set(plan.metadata.name, next);
    changed();
    return next;
  };
  const store: PlanStore = {
    async create(plan) {
      if (stored.has(plan.metadata.name)) {
        throw new ConflictError(`rebalanceplans "${plan.metadata.name}" already exists`);
      }
      return put(plan);
    },
    list: async () => [...stored.values()],
    get: async (name) => stored.get(name),
    async writeStatus({ metadata: { name, resourceVersion } }, status) {
      const now = stored.get(name);
      if (now === undefined || now.metadata.resourceVersion !== resourceVersion) {
        throw new ConflictError(`plan ${name} is gone or newer`);
      }
      return put({ ...now, status });
    },
    async approve(name) {
      const plan = stored.get(name);
      if (plan === undefined) {
        throw new ConflictError(`plan ${name} is gone`);
      }
      return put({ ...plan, spec: { ...plan.spec, approved: true } });
    },
    async remove(name) {
      stored.delete(name);
      changed();
    },
    // Who watches policies hears of plans, too.
    watch: (_, signal) => aborted(signal),
  };
  return { store, stored, put };
}
