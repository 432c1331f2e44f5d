import { ConflictError } from '../../ports.ts';
import { isApiError, orConflict } from './api-error.ts';
import type { ApiClient } from './client.ts';
import type { ResourceRef } from './resource.ts';

/**
 * Replaces the status of an object of this uid. Throws ConflictError when it is gone, or was made anew. A merge patch of status
 * does not look at metadata.uid, and would write to the new one.
 */
export async function replaceStatus(
  client: ApiClient,
  object: ResourceRef,
  uid: string | undefined,
  status: object,
  signal: AbortSignal,
): Promise<void> {
  const target = { ...object, subresource: 'status' };
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'add', path: '/status', value: status },
  ];
  const request = client.sendIdempotent({ verb: 'patch', target, body, contentType: JSON_PATCH }, signal);
  await orConflict(orOtherUid(request, object));
}

const JSON_PATCH = 'application/json-patch+json';

/** A failed test is a 422 that names no object, unlike one for a status that the schema refuses. */
async function orOtherUid<Answer>(request: Promise<Answer>, { resource, name }: ResourceRef): Promise<Answer> {
  try {
    return await request;
  } catch (error) {
    const tested = isApiError(error, 'Invalid') && error.status === 422 && error.about === undefined;
    throw tested ? new ConflictError(`${resource} ${name} was deleted and made anew`, { cause: error }) : error;
  }
}
