import type { Budgets } from '../budgets/index.ts';
import type { Cluster } from '../cluster.ts';
import { count } from '../format.ts';
import { at, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { PackingOptions } from '../options.ts';
import type { DescribedMove } from '../outcome.ts';
import type { Reason } from '../plan.ts';
import { isFree, type PlanningInput } from '../planning-input.ts';
import { withNeeds } from '../sequence.ts';
import { initialState, type State } from '../state.ts';
import type { Kept } from './attempts.ts';
import { type Emptied, emptyNodes } from './empty-nodes.ts';
import { type Group, lineUp } from './line-up.ts';
import { isControlPlane, residentsOf } from './residents.ts';
import { createPackTargets } from './targets.ts';

/** What came of emptying nodes. */
export interface Packing {
  readonly moves: readonly DescribedMove[];
  /** Nodes that would be good ones, too, for each move. */
  readonly fallbacks: readonly (readonly NodeIndex[])[];
  /** Before and after the moves. */
  readonly start: State;
  readonly end: State;
  /** In the order in which the plan empties them. */
  readonly emptied: readonly NodeIndex[];
  /** Nodes on which nothing runs after the plan but what goes with them. */
  readonly removable: readonly NodeIndex[];
  /** Why others keep their pods. */
  readonly kept: ReadonlyMap<NodeIndex, Kept>;
}

/**
 * Empties whole nodes onto the fullest others (repair.md, emptying nodes): all pods of a node that an autoscaler would wait for,
 * or none. `budgets` are spent.
 */
export function pack(
  { holds, snapshot }: PlanningInput,
  cluster: Cluster,
  budgets: Budgets,
  options: PackingOptions,
): Packing {
  const start = initialState(cluster);
  const scratch = start.fork();
  const residents = residentsOf(cluster);
  const targets = createPackTargets(scratch, residents, options);
  const holdOf = (pod: PodIndex): Reason | undefined =>
    isFree(holds, pod) ? undefined : (holds.all(pod)[0] ?? REPAIRED);
  const now = snapshot.takenAt;
  const found = emptyNodes({ state: scratch, residents, targets, budgets, holdOf, options, now });
  const groups = groupsOf(cluster, found);
  const end = start.fork();
  const { moves, stuck } = lineUp(end, groups);
  const sizes = new Map(groups.map(({ node, pods }) => [node, pods.length]));
  return {
    moves: withNeeds(start, moves).map((move) => ({
      ...move,
      ended: { repairs: [], clauses: [clauseOf(cluster, move.from, sizes.get(move.from) ?? 1)] },
    })),
    fallbacks: moves.map(({ pod }) => targets.fallbacks(pod)),
    start,
    end,
    emptied: found.nodes.filter((node) => !stuck.has(node)),
    removable: [...cluster.nodes.keys()].filter(
      (node) => residents.isEmpty(node) && !stuck.has(node) && !isControlPlane(itemAt(cluster.nodes, node).labels),
    ),
    kept: new Map([...found.kept, ...[...stuck].map(([node, pod]) => [node, { pod, reason: OUT_OF_ORDER }] as const)]),
  };
}

const REPAIRED: Reason = { code: 'NodeNotEmptied', message: 'comes here by a repair of this plan', numbers: {} };
const OUT_OF_ORDER: Reason = {
  code: 'NoFeasibleNode',
  message: 'is in no order of the moves feasible on its target',
  numbers: {},
};

/** The moves by the nodes that they empty. */
function groupsOf({ home }: Cluster, { nodes, targets }: Emptied): readonly Group[] {
  const byHome = Map.groupBy(targets, ([pod]) => at(home, pod));
  return nodes.map((node) => ({ node, pods: (byHome.get(node) ?? []).map(([pod, to]) => ({ pod, to })) }));
}

function clauseOf({ nodes }: Cluster, node: NodeIndex, moves: number): string {
  const { name } = itemAt(nodes, node);
  return moves === 1 ? `empties ${name}` : `one of ${count(moves, 'move')} that empty ${name}`;
}
