import { isObject, type JsonObject } from '../../model/json.ts';
import { ApiError, ifThere } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { RESOURCES } from './resource.ts';

/** A Secret as it is stored. */
export interface StoredSecret {
  /** Its entries, decoded as UTF-8. */
  readonly data: Readonly<Record<string, string>>;
  /** Replaces all entries. Rejects with an ApiError: `Conflict` when somebody else wrote in between, or it is gone. */
  write(data: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void>;
}

/** Reads a Secret; undefined when there is none. Rejects with an ApiError. */
export async function readSecret(
  client: ApiClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<StoredSecret | undefined> {
  const target = { ...RESOURCES.Secret, namespace, name };
  const answer = await ifThere(client.read({ verb: 'get', target }, signal));
  if (answer === undefined) {
    return undefined;
  }
  const { body } = answer;
  if (!isObject(body)) {
    throw new ApiError('BadAnswer', 'the API server answered with something that is no Secret');
  }
  return {
    data: decoded(body.data),
    async write(data, ownSignal) {
      await client.sendIdempotent({ verb: 'update', target, body: { ...body, data: encoded(data) } }, ownSignal);
    },
  };
}

function decoded(data: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(isObject(data) ? data : {});
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString('utf8')]),
  );
}

function encoded(data: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  );
}
