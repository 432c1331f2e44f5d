import type { NodeInfo, NodeSelectorTerm } from '../../model/node.ts';
import type { SchedulingConstraints } from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import type { FreeCapacity } from '../free-capacity.ts';
import { itemAt, type NodeIndex } from '../indices.ts';
import type { HeadroomAmount, HeadroomOptions } from '../options.ts';
import type { Subject, TargetRefusal } from './refusal.ts';

/** What moves leave free of requests on their targets (`spec.thresholds.headroom`). Nodes are named by their place. */
export interface Headroom {
  /** Why the pod would leave less free; `undefined`: it leaves enough, or the node is kept free for pods like it. */
  readonly refusalOf: (subject: Subject, node: NodeIndex, room: FreeCapacity) => TargetRefusal | undefined;
}

const RESOURCES = ['cpu', 'memory'] as const;

/** One entry on one node. */
interface Reserve {
  readonly group: Labels;
  /** Millicores. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

/** The headroom of these nodes; `undefined` without entries. Of several entries that select a node each applies by itself. */
export function createHeadroom(entries: readonly HeadroomOptions[], nodes: readonly NodeInfo[]): Headroom | undefined {
  if (entries.length === 0) {
    return undefined;
  }
  const reserves = nodes.map((node) => reservesOf(entries, node));
  return {
    refusalOf: ({ constraints }, node, room) => {
      for (const reserve of itemAt(reserves, node)) {
        const refusal = shortage(reserve, constraints, room);
        if (refusal !== undefined) {
          return refusal;
        }
      }
      return undefined;
    },
  };
}

function reservesOf(entries: readonly HeadroomOptions[], { labels, allocatable }: NodeInfo): readonly Reserve[] {
  return entries
    .filter(({ nodeSelector }) => [...nodeSelector].every(([key, value]) => labels.get(key) === value))
    .map(({ nodeSelector, cpu, memory }) => ({
      group: nodeSelector,
      cpu: amountOn(cpu, allocatable.cpu),
      memory: amountOn(memory, allocatable.memory),
    }));
}

function amountOn(amount: HeadroomAmount, allocatable: number): number {
  return amount.kind === 'Share' ? amount.share * allocatable : amount.amount;
}

/** As in NodeResourcesFit, a resource that is not requested does not count. */
function shortage(reserve: Reserve, constraints: SchedulingConstraints, room: FreeCapacity): TargetRefusal | undefined {
  for (const resource of RESOURCES) {
    const need = constraints.requests[resource];
    const [free, headroom] = [room[resource], reserve[resource]];
    if (need > 0 && headroom > 0 && free - need < headroom) {
      return namesGroup(constraints, reserve.group)
        ? undefined
        : { filter: 'Headroom', resource, need, free, headroom };
    }
  }
  return undefined;
}

/**
 * Whether the nodeSelector or the required node affinity of a pod names every label of the group, so that the pod runs nowhere
 * else. Nobody names the group of all nodes.
 */
export function namesGroup({ nodeSelector, nodeAffinity }: SchedulingConstraints, group: Labels): boolean {
  const isNamed = ([key, value]: readonly [string, string]): boolean =>
    nodeSelector.get(key) === value || everyTermNames(nodeAffinity ?? [], key, value);
  return group.size > 0 && [...group].every(isNamed);
}

function everyTermNames(terms: readonly NodeSelectorTerm[], key: string, value: string): boolean {
  const names = ({ expressions }: NodeSelectorTerm): boolean =>
    expressions.some(
      (term) =>
        term.key === key &&
        term.operator === 'In' &&
        term.values.length > 0 &&
        term.values.every((own) => own === value),
    );
  return terms.length > 0 && terms.every(names);
}
