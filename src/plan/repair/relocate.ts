import { copyCapacity, occupy, vacate } from '../free-capacity.ts';
import { itemAt, type PodIndex, type SiteIndex } from '../indices.ts';
import type { IndexedNodes } from '../node-index.ts';

/** A pod that goes from node to node, by place among all of the cluster. */
export interface Relocation {
  readonly pod: PodIndex;
  readonly from: SiteIndex;
  readonly to: SiteIndex;
}

/** A node that has, or gets, room for a pod without a node. */
export type Seat = Pick<Relocation, 'pod' | 'to'>;

/** The nodes with these pods where they go, and with those that have seats there. */
export function relocated(
  sites: IndexedNodes,
  relocations: readonly Relocation[],
  seats: readonly Seat[] = [],
): IndexedNodes {
  const located = sites.located.slice();
  const rooms = sites.rooms.slice();
  const counts = sites.counts.fork();
  for (const { from, to } of relocations) {
    rooms[from] = copyCapacity(itemAt(sites.rooms, from));
    rooms[to] = copyCapacity(itemAt(sites.rooms, to));
  }
  for (const { to } of seats) {
    rooms[to] = copyCapacity(itemAt(sites.rooms, to));
  }
  for (const { pod, from } of relocations) {
    const { constraints } = itemAt(sites.pods, pod);
    vacate(itemAt(rooms, from), constraints, sites.attachmentsOf(pod));
    counts.remove(pod, from);
  }
  for (const { pod, to } of [...relocations, ...seats]) {
    occupy(itemAt(rooms, to), itemAt(sites.pods, pod).constraints, sites.attachmentsOf(pod));
    counts.add(pod, to);
    located[pod] = to;
  }
  return { ...sites, located, rooms, counts };
}
