import { isObject, type JsonObject } from '../model/json.ts';

/** Names the instant of a snapshot in the metadata of its List. RFC 3339. */
export const TAKEN_AT_ANNOTATION = 'evenkeel.dev/taken-at';

/** Most levels of lists within lists. */
const MAX_DEPTH = 8;

/**
 * The objects in `object`: those of a List or PodList and the like, lists within lists included, else `object` itself.
 * An item of a typed list that names no kind has that of the list. The lists themselves come too, before their items.
 */
export function* expandLists(object: unknown, depth = 0): Generator<unknown> {
  yield object;
  if (!isObject(object) || !isList(object) || depth >= MAX_DEPTH) {
    return;
  }
  for (const item of object.items) {
    yield* expandLists(withKindOf(object, item), depth + 1);
  }
}

/** Whether `object` is a list of objects rather than an object. */
export function isList(object: JsonObject): object is JsonObject & { readonly items: readonly unknown[] } {
  return typeof object.kind === 'string' && object.kind.endsWith('List') && Array.isArray(object.items);
}

function withKindOf({ apiVersion, kind }: JsonObject, item: unknown): unknown {
  if (!isObject(item) || item.kind !== undefined || typeof kind !== 'string' || kind === 'List') {
    return item;
  }
  return { ...item, apiVersion: item.apiVersion ?? apiVersion, kind: kind.slice(0, -'List'.length) };
}
