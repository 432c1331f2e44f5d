import type { NodeInfo } from '../../model/node.ts';
import type { FilterName } from '../rejection-codes.ts';
import type { Room } from '../room.ts';
import { nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { nodeResourcesFit } from './node-resources-fit.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import type { Refusal, Subject } from './refusal.ts';
import { taintToleration } from './taint-toleration.ts';

/** Can this pod run there? */
export interface Filter {
  /** Static verdicts depend on subject and node alone and are remembered; dynamic ones also on what runs there. */
  readonly kind: 'Static' | 'Dynamic';
  /** `undefined`: yes. */
  readonly check: (subject: Subject, node: NodeInfo, room: Room) => Refusal | undefined;
}

/** Every filter under the scheduler's name, in the order in which the scheduler runs them. */
export const FILTERS = {
  NodeUnschedulable: { kind: 'Static', check: nodeUnschedulable },
  NodeName: { kind: 'Static', check: nodeName },
  TaintToleration: { kind: 'Static', check: taintToleration },
  NodeAffinity: { kind: 'Static', check: nodeAffinity },
  NodePorts: { kind: 'Dynamic', check: nodePorts },
  NodeResourcesFit: { kind: 'Dynamic', check: nodeResourcesFit },
} satisfies Record<FilterName, Filter>;

const ALL: readonly Filter[] = Object.values(FILTERS);
const STATIC = ALL.filter(({ kind }) => kind === 'Static');
const DYNAMIC = ALL.filter(({ kind }) => kind === 'Dynamic');

/** The first refusal of any filter; `undefined` when the pod fits. */
export function firstRefusal(subject: Subject, node: NodeInfo, room: Room): Refusal | undefined {
  return firstOf(ALL, subject, node, room);
}

/** The refusal of every filter that refuses. */
export function refusalsOf(subject: Subject, node: NodeInfo, room: Room): readonly Refusal[] {
  return ALL.flatMap(({ check }) => check(subject, node, room) ?? []);
}

/** The first refusal of the filters whose verdicts can be remembered. */
export function staticRefusal(subject: Subject, node: NodeInfo, room: Room): Refusal | undefined {
  return firstOf(STATIC, subject, node, room);
}

/** The first refusal of the filters that look at what runs on the node. */
export function dynamicRefusal(subject: Subject, node: NodeInfo, room: Room): Refusal | undefined {
  return firstOf(DYNAMIC, subject, node, room);
}

function firstOf(filters: readonly Filter[], subject: Subject, node: NodeInfo, room: Room): Refusal | undefined {
  for (const { check } of filters) {
    const refusal = check(subject, node, room);
    if (refusal !== undefined) {
      return refusal;
    }
  }
  return undefined;
}
