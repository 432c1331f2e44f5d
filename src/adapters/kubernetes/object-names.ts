import { isObject } from '../../model/json.ts';
import type { ApiClient } from './client.ts';
import { listAll, METADATA_LIST } from './list.ts';
import type { ResourceRef } from './resource.ts';

/** What an object is called. */
export interface ObjectName {
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Names of all objects of a resource, of which only the metadata is asked for. Rejects with ApiError. */
export async function listNames(
  client: ApiClient,
  target: ResourceRef,
  signal: AbortSignal,
): Promise<readonly ObjectName[]> {
  let names: ObjectName[] = [];
  const listener = {
    item: (object: unknown) => names.push(...nameOf(object)),
    restart: () => {
      names = [];
    },
  };
  await listAll(client, target, {}, listener, signal, { accept: METADATA_LIST });
  return names;
}

function nameOf(object: unknown): readonly ObjectName[] {
  const metadata = isObject(object) && isObject(object['metadata']) ? object['metadata'] : {};
  const { namespace, name } = metadata;
  return typeof name === 'string' ? [{ namespace: typeof namespace === 'string' ? namespace : undefined, name }] : [];
}
