import { isObject } from '../../model/json.ts';
import type { OwnerRef } from '../../model/pod.ts';
import { readSelector } from '../../observe/project/selector.ts';
import { isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { RESOURCES, type ResourceRef } from './resource.ts';

/** Label selectors of controllers, so that a wait for one replacement does not list a whole namespace each time. */
export interface OwnerSelectors {
  /** The selector as a query; undefined when the controller is gone, or is of a kind that has none. */
  of(namespace: string, owner: OwnerRef, signal: AbortSignal): Promise<string | undefined>;
}

/** Selectors of these kinds never change. */
const RESOURCE_OF: ReadonlyMap<string, ResourceRef> = new Map<string, ResourceRef>([
  ['ReplicaSet', RESOURCES.ReplicaSet],
  ['StatefulSet', RESOURCES.StatefulSet],
  ['Job', RESOURCES.Job],
]);

/** More controllers than this are not moved at a time. */
const MAX_REMEMBERED = 1000;

/** Reads selectors once per controller. */
export function createOwnerSelectors(client: ApiClient): OwnerSelectors {
  const known = new Map<string, string>();
  return {
    async of(namespace, owner, signal) {
      const target = RESOURCE_OF.get(owner.kind);
      if (target === undefined || known.has(owner.uid)) {
        return known.get(owner.uid);
      }
      const query = await readQuery(client, { ...target, namespace, name: owner.name }, owner.uid, signal);
      if (query !== undefined) {
        known.set(owner.uid, query);
        forgetOldest(known);
      }
      return query;
    },
  };
}

function forgetOldest(known: Map<string, string>): void {
  const [oldest] = known.keys();
  if (known.size > MAX_REMEMBERED && oldest !== undefined) {
    known.delete(oldest);
  }
}

async function readQuery(
  client: ApiClient,
  target: ResourceRef,
  uid: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { body } = await client.read({ verb: 'get', target }, signal);
    const object = isObject(body) ? body : {};
    const metadata = isObject(object.metadata) ? object.metadata : {};
    return metadata.uid === uid && isObject(object.spec) ? formatSelector(object.spec) : undefined;
  } catch (error) {
    if (isApiError(error, 'NotFound')) {
      return undefined;
    }
    throw error;
  }
}

function formatSelector(spec: Readonly<Record<string, unknown>>): string | undefined {
  const requirements = readSelector(spec, 'selector', 'spec')?.requirements ?? [];
  const terms = requirements.map(({ key, operator, values }) => {
    switch (operator) {
      case 'Exists':
        return key;
      case 'DoesNotExist':
        return `!${key}`;
      case 'NotIn':
        return `${key} notin (${values.join(',')})`;
      default:
        return `${key} in (${values.join(',')})`;
    }
  });
  return terms.length === 0 ? undefined : terms.join(',');
}
