import { isObject } from '../../model/json.ts';

/** Content type of a JSON merge patch (RFC 7386), the only patch besides server-side apply that custom resources take well. */
export const MERGE_PATCH = 'application/merge-patch+json';

/**
 * `next` as a merge patch that turns `previous` into exactly it: what is in `previous` and no longer in `next` becomes null,
 * at every level of objects. Lists are replaced whole. Undefined counts as absent.
 */
export function replacingPatch(previous: unknown, next: unknown): unknown {
  if (!isObject(next)) {
    return next;
  }
  const before = isObject(previous) ? previous : {};
  const removed = Object.keys(before).map((key): [string, unknown] => [key, null]);
  const present = Object.entries(next).filter(([, value]) => value !== undefined);
  const replaced = present.map(([key, value]): [string, unknown] => [key, replacingPatch(before[key], value)]);
  return Object.fromEntries([...removed, ...replaced]);
}
