import type { Allocatable, NodeInfo } from '../model/node.ts';
import type { HostPort, PodInfo, SchedulingConstraints } from '../model/pod.ts';
import { amountOf, type LoadResource } from '../model/resources.ts';
import type { Attachment } from './volume-needs.ts';

/**
 * What a node still has: allocatable minus the requests of the pods on it, as kube-scheduler's NodeInfo keeps it.
 * Mutable, and owned by one plan. A value may be negative on a node that was overcommitted behind the scheduler's back.
 */
export interface FreeCapacity {
  /** Pod slots. */
  slots: number;
  /** Millicores. */
  cpu: number;
  /** Bytes. */
  memory: number;
  /** Bytes. */
  ephemeralStorage: number;
  /** Pods that request no cpu, and no memory: scores count something for them all the same. */
  withoutCpu: number;
  withoutMemory: number;
  /**
   * Extended resources by name; a name that is absent is not offered at all. Replaced, never changed: copies share it.
   */
  extended: ReadonlyMap<string, number>;
  /** Host ports in use. */
  ports: readonly HostPort[];
  /** CSI volumes by driver and id, with the number of pods that use each. Replaced, never changed: copies share it. */
  attached: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Volumes that each driver can attach; `undefined`: the node has no limits. */
  readonly attachLimits: ReadonlyMap<string, number> | undefined;
}

const NOTHING_ATTACHED: FreeCapacity['attached'] = new Map();

/** The room of a node without pods. */
export function emptyNodeCapacity(allocatable: Allocatable, attachLimits?: ReadonlyMap<string, number>): FreeCapacity {
  return {
    slots: allocatable.pods,
    cpu: allocatable.cpu,
    memory: allocatable.memory,
    ephemeralStorage: allocatable.ephemeralStorage,
    withoutCpu: 0,
    withoutMemory: 0,
    extended: allocatable.extended,
    ports: [],
    attached: NOTHING_ATTACHED,
    attachLimits,
  };
}

/** The room that `pods`, all of which must be bound to `node`, leave there; volumes are not counted. */
export function freeCapacityOf(node: NodeInfo, pods: Iterable<PodInfo>): FreeCapacity {
  const room = emptyNodeCapacity(node.allocatable);
  for (const pod of pods) {
    occupy(room, pod.constraints);
  }
  return room;
}

/** What is left of a resource, in its unit; 0 of one that is not offered. */
export function roomFor(room: FreeCapacity, name: LoadResource): number {
  return name === 'pods' ? room.slots : amountOf(room, name);
}

/** A copy that can be changed on its own. */
export function copyCapacity(room: FreeCapacity): FreeCapacity {
  return { ...room };
}

/** Takes what a pod requests, and a place for each of its volumes. */
export function occupy(room: FreeCapacity, pod: SchedulingConstraints, attachments: readonly Attachment[] = []): void {
  shift(room, pod, attachments, 1);
}

/** Gives back what `occupy` took. */
export function vacate(room: FreeCapacity, pod: SchedulingConstraints, attachments: readonly Attachment[] = []): void {
  shift(room, pod, attachments, -1);
}

function shift(
  room: FreeCapacity,
  { requests, hostPorts }: SchedulingConstraints,
  attachments: readonly Attachment[],
  pods: 1 | -1,
): void {
  room.slots -= pods;
  room.cpu -= pods * requests.cpu;
  room.memory -= pods * requests.memory;
  room.ephemeralStorage -= pods * requests.ephemeralStorage;
  room.withoutCpu += requests.cpu === 0 ? pods : 0;
  room.withoutMemory += requests.memory === 0 ? pods : 0;
  if (requests.extended.size > 0) {
    room.extended = shifted(room.extended, requests.extended, -pods);
  }
  if (hostPorts.length > 0) {
    room.ports = pods > 0 ? [...room.ports, ...hostPorts] : without(room.ports, hostPorts);
  }
  if (attachments.length > 0) {
    room.attached = reattached(room.attached, attachments, pods);
  }
}

/** With one user more or less of each volume; a volume that nobody uses is detached. */
function reattached(
  attached: FreeCapacity['attached'],
  attachments: readonly Attachment[],
  sign: 1 | -1,
): FreeCapacity['attached'] {
  const result = new Map(attached);
  for (const { driver, id } of attachments) {
    const volumes = new Map(result.get(driver));
    const users = (volumes.get(id) ?? 0) + sign;
    if (users > 0) {
      volumes.set(id, users);
    } else {
      volumes.delete(id);
    }
    result.set(driver, volumes);
  }
  return result;
}

function shifted(
  free: ReadonlyMap<string, number>,
  requests: ReadonlyMap<string, number>,
  sign: number,
): ReadonlyMap<string, number> {
  const result = new Map(free);
  for (const [name, value] of requests) {
    result.set(name, (result.get(name) ?? 0) + sign * value);
  }
  return result;
}

function without(ports: readonly HostPort[], gone: readonly HostPort[]): readonly HostPort[] {
  const rest = [...ports];
  for (const { ip, protocol, port } of gone) {
    const index = rest.findIndex((used) => used.port === port && used.protocol === protocol && used.ip === ip);
    if (index >= 0) {
      rest.splice(index, 1);
    }
  }
  return rest;
}
