import { offeredOf, requestedOf } from '../../model/resources.ts';
import type { Subject } from '../filters/refusal.ts';
import { roomFor } from '../free-capacity.ts';
import { amountAt, at, itemAt, type NodeIndex } from '../indices.ts';
import type { PackedResource, PackingOptions } from '../options.ts';
import type { StateView } from '../state.ts';

/** A resource of which a node has as much requested as it may have and still be emptied, or more. */
export interface WellUsed {
  readonly resource: PackedResource;
  /** Requests over allocatable. */
  readonly share: number;
}

/** The first resource by which the node is used too well to be emptied; `undefined`: all are below their share. */
export function wellUsed(state: StateView, node: NodeIndex, { resources }: PackingOptions): WellUsed | undefined {
  for (const resource of resources) {
    const { offered, free } = stockOf(state, node, resource.name);
    const share = offered > 0 ? 1 - free / offered : 0;
    if (offered > 0 && share >= resource.below) {
      return { resource, share };
    }
  }
  return undefined;
}

/** Whether a pod of some requests leaves `headroom` on a node of each resource that it takes. */
export function headroomTest(
  { cluster, whereabouts }: StateView,
  { resources, headroom }: PackingOptions,
): (subject: Subject, node: NodeIndex) => boolean {
  const reserves = resources.map(({ name }) => ({
    name,
    ofNode: Float64Array.from(cluster.nodes, ({ allocatable }) => headroom * offeredOf(allocatable, name)),
  }));
  return ({ constraints: { requests } }, node) => {
    const room = whereabouts.freeCapacityOf(at(cluster.siteOf, node));
    for (const { name, ofNode } of reserves) {
      const wanted = requestedOf(requests, name);
      if (wanted > 0 && roomFor(room, name) - wanted < amountAt(ofNode, node)) {
        return false;
      }
    }
    return true;
  };
}

function stockOf({ cluster, whereabouts }: StateView, node: NodeIndex, name: string) {
  const offered = offeredOf(itemAt(cluster.nodes, node).allocatable, name);
  return { offered, free: roomFor(whereabouts.freeCapacityOf(at(cluster.siteOf, node)), name) };
}
