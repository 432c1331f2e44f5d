import { RUN_REQUEST_ANNOTATION } from '../../api/v1alpha1/run-request.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { formatProblem, validatePolicy } from '../../api/validate.ts';
import { isObject } from '../../model/json.ts';
import { ConflictError, type PolicyStore, type StoredPolicy } from '../../ports.ts';
import { isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { listObjects } from './list.ts';
import { MERGE_PATCH } from './merge-patch.ts';
import { followMetadata } from './metadata-watch.ts';
import { orConflict } from './plan-store.ts';
import { RESOURCES } from './resource.ts';

/** RebalancePolicies on an API server. `report` hears of watches that failed; they are begun anew all the same. */
export function createPolicyStore(client: ApiClient, report: (error: unknown) => void): PolicyStore {
  return {
    list: async (signal) => (await listObjects(client, RESOURCES.RebalancePolicy, {}, signal)).flatMap(toStoredPolicy),
    async writeStatus(policy, status, signal) {
      const { name, uid } = policy.metadata;
      const target = { ...RESOURCES.RebalancePolicy, name, subresource: 'status' };
      // A merge patch of status does not look at metadata.uid, and would write to a policy that was made anew.
      const body = [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'add', path: '/status', value: status },
      ];
      await orConflict(
        orOtherUid(client.sendIdempotent({ verb: 'patch', target, body, contentType: JSON_PATCH }, signal)),
      );
    },
    watch: (changed, signal) => followMetadata(client, RESOURCES.RebalancePolicy, changed, report).run(signal),
  };
}

const JSON_PATCH = 'application/json-patch+json';

/** A failed test is a 422 that names no object, unlike one for a status that the schema refuses. */
async function orOtherUid<Answer>(request: Promise<Answer>): Promise<Answer> {
  try {
    return await request;
  } catch (error) {
    const tested = isApiError(error, 'Invalid') && error.status === 422 && error.about === undefined;
    throw tested ? new ConflictError('the policy was deleted and made anew', { cause: error }) : error;
  }
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
