import { RUN_REQUEST_ANNOTATION } from '../../api/v1alpha1/run-request.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { formatProblem, validatePolicy } from '../../api/validate.ts';
import { isObject } from '../../model/json.ts';
import type { PolicyStore, StoredPolicy } from '../../ports.ts';
import type { ApiClient } from './client.ts';
import { listObjects } from './list.ts';
import { MERGE_PATCH } from './merge-patch.ts';
import { followMetadata } from './metadata-watch.ts';
import { replaceStatus } from './replace-status.ts';
import { RESOURCES } from './resource.ts';

/** RebalancePolicies on an API server. `report` hears of watches that failed; they are begun anew all the same. */
export function createPolicyStore(client: ApiClient, report: (error: unknown) => void): PolicyStore {
  return {
    list: async (signal) => (await listObjects(client, RESOURCES.RebalancePolicy, {}, signal)).flatMap(toStoredPolicy),
    writeStatus({ metadata: { name, uid } }, status, signal) {
      return replaceStatus(client, { ...RESOURCES.RebalancePolicy, name }, uid, status, signal);
    },
    watch: (changed, signal) => followMetadata(client, RESOURCES.RebalancePolicy, changed, report).run(signal),
  };
}

/** Sets `spec.suspend`: no new runs and no new evictions. Rejects with ApiError NotFound when there is no such policy. */
export async function suspendPolicy(client: ApiClient, name: string, signal: AbortSignal): Promise<void> {
  await patchPolicy(client, name, { spec: { suspend: true } }, signal);
}

/**
 * Asks for a run now: the operator makes one when it has answered no request of this text yet. Rejects with ApiError NotFound
 * when there is no such policy.
 */
export async function requestRun(client: ApiClient, name: string, request: string, signal: AbortSignal): Promise<void> {
  await patchPolicy(client, name, { metadata: { annotations: { [RUN_REQUEST_ANNOTATION]: request } } }, signal);
}

async function patchPolicy(client: ApiClient, name: string, body: object, signal: AbortSignal): Promise<void> {
  const target = { ...RESOURCES.RebalancePolicy, name };
  await client.send({ verb: 'patch', target, body, contentType: MERGE_PATCH }, signal);
}

function toStoredPolicy(object: unknown): readonly StoredPolicy[] {
  if (!isObject(object)) {
    return [];
  }
  const { value, problems } = validatePolicy({ ...object, apiVersion: API_VERSION, kind: 'RebalancePolicy' });
  return [{ policy: value, invalid: problems.map(formatProblem) }];
}
