import { nearest } from '../api/nearest.ts';
import { Failure } from '../app/failure.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';

/** Names that a message lists. */
const MOST_NAMES = 10;

/** `: web-1?`, or else `; there are a, b` or `; there are none`: what a name that is not there may have been meant to be. */
export function suggestion(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  if (meant !== undefined) {
    return `: ${meant}?`;
  }
  if (names.length === 0) {
    return '; there are none';
  }
  const shown = names.slice(0, MOST_NAMES).join(', ');
  const hidden = names.length - MOST_NAMES;
  return hidden > 0 ? `; there are ${shown} and ${hidden} more` : `; there are ${shown}`;
}

/** Throws a Failure that lists what there is when no pod or namespace of the snapshot has this name. */
export function checkNamespace(
  namespace: string | undefined,
  { namespaces, pods }: Pick<ClusterSnapshot, 'namespaces' | 'pods'>,
): void {
  if (namespace === undefined) {
    return;
  }
  const known = new Set([...namespaces.keys(), ...pods.map((pod) => pod.namespace)]);
  if (!known.has(namespace)) {
    throw new Failure(`there is no namespace ${namespace}${suggestion(namespace, [...known].sort())}`);
  }
}
