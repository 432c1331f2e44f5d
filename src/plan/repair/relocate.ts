import { copyCapacity, occupy, vacate } from '../free-capacity.ts';
import { itemAt, type PodIndex, type SiteIndex } from '../indices.ts';
import type { IndexedNodes } from '../node-index.ts';

/** A pod that goes from node to node, by place among all of the cluster. */
export interface Relocation {
  readonly pod: PodIndex;
  readonly from: SiteIndex;
  readonly to: SiteIndex;
}

/** The nodes with these pods where they go. */
export function relocated(sites: IndexedNodes, relocations: readonly Relocation[]): IndexedNodes {
  const located = sites.located.slice();
  const rooms = sites.rooms.slice();
  const counts = sites.counts.fork();
  for (const { from, to } of relocations) {
    rooms[from] = copyCapacity(itemAt(sites.rooms, from));
    rooms[to] = copyCapacity(itemAt(sites.rooms, to));
  }
  for (const { pod, from, to } of relocations) {
    const { constraints } = itemAt(sites.pods, pod);
    vacate(itemAt(rooms, from), constraints, sites.attachmentsOf(pod));
    occupy(itemAt(rooms, to), constraints, sites.attachmentsOf(pod));
    counts.remove(pod, from);
    counts.add(pod, to);
    located[pod] = to;
  }
  return { ...sites, located, rooms, counts };
}
