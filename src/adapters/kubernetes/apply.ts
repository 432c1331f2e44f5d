import { isDeepStrictEqual } from 'node:util';
import { KINDS } from '../../api/v1alpha1/kinds.ts';
import { GROUP, VERSION } from '../../api/v1alpha1/schema.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { ApiError, ifThere } from './api-error.ts';
import type { ApiClient } from './client.ts';
import type { ResourceRef } from './resource.ts';

/** What is asked of an apply. */
export interface ApplyOptions {
  /** Name under which the server notes who set the fields. */
  readonly fieldManager: string;
  /** Become the manager of fields that others manage. */
  readonly force: boolean;
  /** `server`: the server checks the object and stores nothing. `client`: nothing is sent, the server is only read. */
  readonly dryRun: DryRun;
}

/** How much of an apply is left out. */
export type DryRun = 'none' | 'server' | 'client';

type Applied = 'created' | 'configured' | 'unchanged';

/**
 * Server-side apply of an object of one of our kinds. Resolves to what changed; a client dry run cannot tell whether anything
 * would. Rejects with ApiError: Conflict when others manage one of its fields and `force` is off.
 */
export async function applyResource(
  client: ApiClient,
  object: JsonObject,
  { fieldManager, force, dryRun }: ApplyOptions,
  signal: AbortSignal,
): Promise<Applied> {
  const target = targetOf(object, client.connection.namespace);
  const before = (await ifThere(client.read({ verb: 'get', target }, signal)))?.body;
  if (dryRun === 'client') {
    return before === undefined ? 'created' : 'configured';
  }
  const query = { fieldManager, force: String(force), ...(dryRun === 'server' ? { dryRun: 'All' } : {}) };
  const request = { verb: 'patch', target, query, body: object, contentType: 'application/apply-patch+yaml' } as const;
  const { body } = await client.send(request, signal);
  if (before === undefined) {
    return 'created';
  }
  // A dry run gives no new version: there, the specs are compared.
  const isSame =
    dryRun === 'server' ? isDeepStrictEqual(specOf(body), specOf(before)) : versionOf(body) === versionOf(before);
  return isSame ? 'unchanged' : 'configured';
}

/** Where an object of ours lives. Throws ApiError Invalid for any other object. */
function targetOf(object: JsonObject, defaultNamespace: string): ResourceRef {
  const definition = KINDS.find(({ kind }) => kind === object.kind);
  const metadata: JsonObject = isObject(object.metadata) ? object.metadata : {};
  const { name, namespace } = metadata;
  if (definition === undefined || typeof name !== 'string') {
    throw new ApiError(
      'Invalid',
      `cannot apply an object of kind ${JSON.stringify(object.kind)}: only ours, with a name`,
    );
  }
  const target: ResourceRef = { group: GROUP, version: VERSION, resource: definition.plural, name };
  return definition.scope === 'Cluster'
    ? target
    : { ...target, namespace: typeof namespace === 'string' ? namespace : defaultNamespace };
}

function specOf(body: unknown): unknown {
  return isObject(body) ? body.spec : undefined;
}

function versionOf(body: unknown): string | undefined {
  const metadata: JsonObject = isObject(body) && isObject(body.metadata) ? body.metadata : {};
  return typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : undefined;
}
