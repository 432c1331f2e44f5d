import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import type { PageSource, PolicyPlans } from '../control/page-feed.ts';
import { withUsage } from '../control/usage-source.ts';
import { EXCLUDED_NAMESPACES } from '../model/excluded-namespaces.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { plan as computePlan } from '../plan/planner.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import type { ClusterReader, StoredPolicy, UsageServers } from '../ports.ts';
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
  readonly usageServers: UsageServers;
  /** Only this policy; default all. */
  readonly only?: string | undefined;
}

/**
 * Policies and plans as they stand on a cluster, where an operator carries them out. There is one picture of the load: that of
 * the Prometheus server that a policy names, where one does that is known here.
 */
export function operatedSource(fields: OperatedFields): PageSource {
  const { cluster, reader, role, excludedNamespaces, usageServers, only } = fields;
  const shown = async (signal: AbortSignal): Promise<readonly StoredPolicy[]> =>
    (await cluster.policies.list(signal)).filter(({ policy }) => only === undefined || policy.metadata.name === only);
  return {
    title: cluster.url,
    role,
    excludedNamespaces,
    snapshot: async (signal) => {
      const snapshot = await reader.snapshot(signal);
      const servers = (await shown(signal)).filter(
        ({ policy, invalid }) => invalid.length === 0 && usageServers.has(policy.spec.load.prometheus?.server ?? ''),
      );
      return servers[0] === undefined ? snapshot : withUsage(servers[0].policy.spec, snapshot, usageServers, signal);
    },
    plans: async (_, signal) => {
      const [policies, plans] = await Promise.all([shown(signal), cluster.plans.list(signal)]);
      return { policies, plans };
    },
    watch: async (changed, signal) => {
      await Promise.all([cluster.policies.watch(changed, signal), cluster.plans.watch(changed, signal)]);
    },
  };
}

/** A plan that is computed here for each snapshot: a preview that nothing executes. */
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
