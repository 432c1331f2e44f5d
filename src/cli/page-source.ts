import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import type { PageSource, PolicyPlans } from '../control/page-feed.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { EXCLUDED_NAMESPACES, resolveOptions } from '../plan/options.ts';
import { plan as computePlan } from '../plan/planner.ts';
import type { ClusterReader } from '../ports.ts';
import type { PageRole } from '../report/page/state.ts';
import { toRebalancePlan } from '../report/plan-resource.ts';
import type { Cluster } from './cluster.ts';

/** Where what an operator does is read. */
export interface OperatedFields {
  readonly cluster: Pick<Cluster, 'url' | 'policies' | 'plans'>;
  /** From caches. */
  readonly reader: Pick<ClusterReader, 'snapshot'>;
  readonly role: () => PageRole;
  readonly excludedNamespaces: ReadonlySet<string>;
  /** Only this policy; default all. */
  readonly only?: string | undefined;
}

/** Policies and plans as they stand on a cluster, where an operator carries them out. */
export function operatedSource({ cluster, reader, role, excludedNamespaces, only }: OperatedFields): PageSource {
  return {
    title: cluster.url,
    role,
    excludedNamespaces,
    snapshot: (signal) => reader.snapshot(signal),
    plans: async (_, signal) => {
      const [policies, plans] = await Promise.all([cluster.policies.list(signal), cluster.plans.list(signal)]);
      return { policies: policies.filter(({ policy }) => only === undefined || policy.metadata.name === only), plans };
    },
    watch: (changed, signal) => cluster.policies.watch(changed, signal),
  };
}

/** A plan that is computed here for each snapshot, and carried out by nobody. */
export function computedSource(
  title: string,
  policy: RebalancePolicy,
  reader: Pick<ClusterReader, 'snapshot'>,
): PageSource {
  let computed: { readonly of: ClusterSnapshot; readonly plans: PolicyPlans } | undefined;
  const policies = [{ policy, invalid: [] }];
  return {
    title,
    role: () => 'Planner',
    excludedNamespaces: EXCLUDED_NAMESPACES,
    snapshot: (signal) => reader.snapshot(signal),
    plans: async (snapshot) => {
      if (snapshot === undefined) {
        return { policies, plans: [] };
      }
      if (computed?.of !== snapshot) {
        const plan = computePlan(snapshot, resolveOptions(policy.spec));
        const resource = toRebalancePlan(plan, policy, 1, snapshot);
        computed = { of: snapshot, plans: { policies, plans: [resource] } };
      }
      return computed.plans;
    },
    // Nothing changes but with the next snapshot.
    watch: async () => undefined,
  };
}
