import type { ControlPlane } from '../control-plane/start.ts';

/** Kinds that come and go by themselves, or are another view of what is listed already. */
const PASSING = new Set([
  'events',
  'events.events.k8s.io',
  'componentstatuses',
  'endpoints',
  'endpointslices.discovery.k8s.io',
]);

/**
 * Every object on the cluster, of every kind that can be listed: `Kind namespace/name`, sorted. Without Events, which the API
 * server forgets after an hour, and without pods, ReplicaSets and what else is of a controller: they follow what owns them.
 */
export async function inventory(cp: ControlPlane): Promise<readonly string[]> {
  const kinds = (await cp.kubectl(['api-resources', '--verbs=list', '--output=name'])).trim().split('\n');
  const listed = kinds.filter((kind) => !PASSING.has(kind)).join(',');
  const list = JSON.parse(await cp.kubectl(['get', listed, '-A', '-o', 'json'])) as { readonly items: readonly Item[] };
  return list.items
    .filter(({ metadata }) => metadata.ownerReferences === undefined)
    .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`)
    .sort();
}

interface Item {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly ownerReferences?: readonly object[];
  };
}
