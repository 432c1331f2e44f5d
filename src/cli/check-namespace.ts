import { Failure } from '../app/failure.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { suggestion } from './suggestion.ts';

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
