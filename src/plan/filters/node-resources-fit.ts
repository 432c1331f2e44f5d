import type { NodeInfo } from '../../model/node.ts';
import type { FreeCapacity } from '../free-capacity.ts';
import type { Refusal, Subject } from './refusal.ts';

/**
 * kube-scheduler's NodeResourcesFit: a free pod slot, and requests within what other pods' requests leave of
 * allocatable, never usage. A resource that is not requested does not count, however overcommitted it is
 * (noderesources.fitsRequest).
 */
export function nodeResourcesFit({ constraints }: Subject, _node: NodeInfo, room: FreeCapacity): Refusal | undefined {
  const { cpu, memory, ephemeralStorage, extended } = constraints.requests;
  if (room.slots < 1) {
    return short('pods', 1, room.slots);
  }
  if (cpu > 0 && cpu > room.cpu) {
    return short('cpu', cpu, room.cpu);
  }
  if (memory > 0 && memory > room.memory) {
    return short('memory', memory, room.memory);
  }
  if (ephemeralStorage > 0 && ephemeralStorage > room.ephemeralStorage) {
    return short('ephemeral-storage', ephemeralStorage, room.ephemeralStorage);
  }
  return extended.size === 0 ? undefined : extendedFit(extended, room);
}

function extendedFit(requests: ReadonlyMap<string, number>, room: FreeCapacity): Refusal | undefined {
  for (const [name, need] of requests) {
    const free = room.extended.get(name) ?? 0;
    if (need > 0 && need > free) {
      return short(name, need, free);
    }
  }
  return undefined;
}

function short(resource: string, need: number, free: number): Refusal {
  return { filter: 'NodeResourcesFit', resource, need, free };
}
