import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import { formatInstant } from '../../model/instant.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import type { StoredPolicy } from '../../ports.ts';
import { nodeRows } from './nodes.ts';
import { policyRow } from './policies.ts';
import { serviceRows } from './services.ts';
import { emptyState, type PageRole, type PageState } from './state.ts';

/** What the page is made from. */
export interface PageFacts {
  readonly title: string;
  readonly role: PageRole;
  /** `undefined` before the first could be made. */
  readonly snapshot: ClusterSnapshot | undefined;
  readonly policies: readonly StoredPolicy[];
  /** Of all policies. */
  readonly plans: readonly RebalancePlan[];
  /** Why any of this is old or missing. */
  readonly trouble: string | undefined;
}

/** What the page shows. Pure; equal facts give an equal state. */
export function pageState({ title, role, snapshot, policies, plans, trouble }: PageFacts): PageState {
  const rows = policies.map((stored) => [stored.policy.metadata.name, policyRow(stored, plans, snapshot)]);
  const observed =
    snapshot === undefined
      ? {}
      : {
          takenAt: formatInstant(snapshot.takenAt),
          basis: snapshot.usage === undefined ? ('Requests' as const) : ('Usage' as const),
          pods: snapshot.pods.length,
          nodes: nodeRows(snapshot),
          services: serviceRows(snapshot.serviceLevels, snapshot.takenAt),
        };
  return {
    ...emptyState(title, role),
    ...observed,
    ...(trouble === undefined ? {} : { trouble }),
    policies: Object.fromEntries(rows),
  };
}
