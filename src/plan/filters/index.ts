import type { NodeInfo } from '../../model/node.ts';
import type { StorageInfo } from '../../model/storage.ts';
import type { FreeCapacity } from '../free-capacity.ts';
import type { FilterName } from '../rejection-codes.ts';
import type { Place } from '../topology/place.ts';
import { interPodAffinity } from './inter-pod-affinity.ts';
import { nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { nodeResourcesFit } from './node-resources-fit.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import { nodeVolumeLimits } from './node-volume-limits.ts';
import { podTopologySpread } from './pod-topology-spread.ts';
import type { Refusal, Subject } from './refusal.ts';
import { taintToleration } from './taint-toleration.ts';
import { volumeBinding } from './volume-binding.ts';
import { volumeRestrictions } from './volume-restrictions.ts';
import { volumeZone } from './volume-zone.ts';

/** Can this pod run there? `undefined`: yes. What a filter looks at says how long its verdict holds. */
export type Filter =
  /** Nothing that a move changes: remembered for the whole plan. */
  | {
      readonly looksAt: 'Node';
      readonly check: (subject: Subject, node: NodeInfo, storage: StorageInfo) => Refusal | undefined;
    }
  /** What runs on the node. */
  | {
      readonly looksAt: 'Room';
      readonly check: (subject: Subject, node: NodeInfo, room: FreeCapacity) => Refusal | undefined;
    }
  /** What runs anywhere in the cluster. */
  | { readonly looksAt: 'Cluster'; readonly check: (subject: Subject, place: Place) => Refusal | undefined };

/** Every filter under the scheduler's name, in the order in which the scheduler runs them (apis/config default plugins). */
export const FILTERS = {
  NodeUnschedulable: { looksAt: 'Node', check: nodeUnschedulable },
  NodeName: { looksAt: 'Node', check: nodeName },
  TaintToleration: { looksAt: 'Node', check: taintToleration },
  NodeAffinity: { looksAt: 'Node', check: nodeAffinity },
  NodePorts: { looksAt: 'Room', check: nodePorts },
  NodeResourcesFit: { looksAt: 'Room', check: nodeResourcesFit },
  VolumeRestrictions: { looksAt: 'Node', check: volumeRestrictions },
  NodeVolumeLimits: { looksAt: 'Room', check: nodeVolumeLimits },
  VolumeBinding: { looksAt: 'Node', check: volumeBinding },
  VolumeZone: { looksAt: 'Node', check: volumeZone },
  PodTopologySpread: { looksAt: 'Cluster', check: podTopologySpread },
  InterPodAffinity: { looksAt: 'Cluster', check: interPodAffinity },
} satisfies Record<FilterName, Filter>;

const ALL: readonly Filter[] = Object.values(FILTERS);
const OF_NODE = ALL.filter((filter) => filter.looksAt === 'Node');
const OF_ROOM = ALL.filter((filter) => filter.looksAt === 'Room');
const OF_CLUSTER = ALL.filter((filter) => filter.looksAt === 'Cluster');

/** Everything that the filters look at for one pod and one node. */
export interface Question {
  readonly subject: Subject;
  readonly node: NodeInfo;
  readonly storage: StorageInfo;
  readonly room: FreeCapacity;
  readonly place: Place;
}

/** The refusal of every filter that refuses, in the scheduler's order. */
export function refusalsOf({ subject, node, storage, room, place }: Question): readonly Refusal[] {
  return ALL.flatMap((filter) => {
    switch (filter.looksAt) {
      case 'Node':
        return filter.check(subject, node, storage) ?? [];
      case 'Room':
        return filter.check(subject, node, room) ?? [];
      case 'Cluster':
        return filter.check(subject, place) ?? [];
      default:
        return filter satisfies never;
    }
  });
}

/** The first refusal of the filters whose verdicts no move changes. */
export function nodeRefusal(subject: Subject, node: NodeInfo, storage: StorageInfo): Refusal | undefined {
  for (const { check } of OF_NODE) {
    const refusal = check(subject, node, storage);
    if (refusal !== undefined) {
      return refusal;
    }
  }
  return undefined;
}

/** The same for a target of a plan, which is stricter: nothing is moved to a cordoned node, whatever the pod tolerates. */
export function targetRefusal(subject: Subject, node: NodeInfo, storage: StorageInfo): Refusal | undefined {
  return node.unschedulable ? { filter: 'NodeUnschedulable' } : nodeRefusal(subject, node, storage);
}

/** The first refusal of the filters that look at what runs on the node. */
export function capacityRefusal(subject: Subject, node: NodeInfo, room: FreeCapacity): Refusal | undefined {
  for (const { check } of OF_ROOM) {
    const refusal = check(subject, node, room);
    if (refusal !== undefined) {
      return refusal;
    }
  }
  return undefined;
}

/** The first refusal of the filters that look at pods anywhere in the cluster. */
export function clusterRefusal(subject: Subject, place: Place): Refusal | undefined {
  for (const { check } of OF_CLUSTER) {
    const refusal = check(subject, place);
    if (refusal !== undefined) {
      return refusal;
    }
  }
  return undefined;
}
