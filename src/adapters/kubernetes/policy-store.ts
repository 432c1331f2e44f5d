import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { formatProblem, validatePolicy } from '../../api/validate.ts';
import { isObject } from '../../observe/json.ts';
import type { PolicyStore, StoredPolicy } from '../../ports.ts';
import type { ApiClient } from './client.ts';
import { listObjects } from './list.ts';
import { MERGE_PATCH, replacingPatch } from './merge-patch.ts';
import { orConflict } from './plan-store.ts';
import { RESOURCES } from './resource.ts';
import { followChanges } from './watch.ts';

/** RebalancePolicies on an API server. `report` hears of watches that failed; they are begun anew all the same. */
export function createPolicyStore(client: ApiClient, report: (error: unknown) => void): PolicyStore {
  return {
    list: async (signal) => (await listObjects(client, RESOURCES.policies, {}, signal)).flatMap(toStoredPolicy),
    async writeStatus(policy, status, signal) {
      const { name, uid } = policy.metadata;
      const body = { metadata: { uid }, status: replacingPatch(policy.status, status) };
      const target = { ...RESOURCES.policies, name, subresource: 'status' };
      await orConflict(client.send({ verb: 'patch', target, body, contentType: MERGE_PATCH }, signal));
    },
    async watch(changed, signal) {
      await Promise.all(
        [RESOURCES.policies, RESOURCES.plans].map((target) => followChanges(client, target, changed, report, signal)),
      );
    },
  };
}

/** Sets `spec.suspend`: no new runs and no new evictions. Rejects with ApiError NotFound when there is no such policy. */
export async function suspendPolicy(client: ApiClient, name: string, signal: AbortSignal): Promise<void> {
  const body = { spec: { suspend: true } };
  await client.send({ verb: 'patch', target: { ...RESOURCES.policies, name }, body, contentType: MERGE_PATCH }, signal);
}

function toStoredPolicy(object: unknown): readonly StoredPolicy[] {
  if (!isObject(object)) {
    return [];
  }
  const { value, problems } = validatePolicy({ ...object, apiVersion: API_VERSION, kind: 'RebalancePolicy' });
  return [{ policy: value, invalid: problems.map(formatProblem) }];
}
