import type { Budget } from '../budgets/budget.ts';
import { describeRefusal } from '../filters/refusal.ts';
import { dislikedTaints } from '../filters/taint-toleration.ts';
import { count } from '../format.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { Reason } from '../plan.ts';
import type { RefusalName } from '../rejection-codes.ts';
import { shapeOf } from '../shapes.ts';
import type { State } from '../state.ts';
import { createLoadOrder } from '../strategies/load-order.ts';
import type { Found, Wish } from './rule.ts';

/** The target, and nodes that would be good ones, too. */
const MOST_FOUND = 3;

/** Where pods can go. */
export interface TargetSearch {
  /** The best targets, the best first: by rank, then by taints that only rank nodes, then by the load with the pod. */
  readonly best: (pod: PodIndex, wish: Wish) => readonly Found[];
  /** Why there is none. */
  readonly whyNone: (pod: PodIndex, wish: Wish) => Reason;
}

interface Candidate extends Found {
  /** PreferNoSchedule taints that the pod does not tolerate: the scheduler goes by them, too. */
  readonly taints: number;
  /** The lower the better: the load with the pod, negated where full nodes are preferred. */
  readonly worth: number;
}

/**
 * Looks from the least loaded node upwards, and no further than something better can be; with `prefersFull` from the fullest
 * downwards, so that repairs do not fill nodes that the strategy is to empty.
 */
export function createTargetSearch(state: State, budgets: Budget, prefersFull: boolean): TargetSearch {
  const { nodes, load } = state.cluster;
  const order = createLoadOrder(state, nodes.keys());
  const bounds = load.boundsOver(nodes.keys());
  const reasons = new Map<string, Reason>();
  let reasonsAt = 0;
  const among = (pod: PodIndex, { rankOf, bestRank = 0 }: Wish, allows: (node: NodeIndex) => boolean): Candidate[] => {
    order.sync();
    const home = state.nodeOf(pod);
    const { constraints } = itemAt(state.cluster.pods, pod);
    const [sign, added] = prefersFull ? [-1, bounds.most(pod)] : [1, bounds.least(pod)];
    let found: Candidate[] = [];
    for (let step = 0; step < order.size; step += 1) {
      const position = prefersFull ? order.size - 1 - step : step;
      const last = found[MOST_FOUND - 1];
      const isBest = last !== undefined && last.rank <= bestRank && last.taints === 0;
      if (isBest && sign * (order.loadAt(position) + added) >= last.worth) {
        break;
      }
      const node = order.at(position);
      const rank = rankOf === undefined ? 0 : rankOf(node);
      if (node === home || rank === Number.POSITIVE_INFINITY || (last !== undefined && rank > last.rank)) {
        continue;
      }
      const taints = dislikedTaints(constraints, itemAt(nodes, node));
      const candidate = { node, rank, taints, worth: sign * state.loadWith(pod, node) };
      // The filters cost most: nodes that would not be among the best are not asked.
      if ((last === undefined || byWorth(candidate, last) < 0) && allows(node)) {
        found = [...found, candidate].sort(byWorth).slice(0, MOST_FOUND);
      }
    }
    return found;
  };
  const isFeasible = (pod: PodIndex, node: NodeIndex): boolean =>
    state.couldHold(pod, node) && state.passes(pod, node) && budgets.check(pod, node) === undefined;
  return {
    best: (pod, wish) => {
      const kept = among(pod, wish, (node) => isFeasible(pod, node) && state.breach(pod, node) === undefined);
      const { rankOf = () => 0, lenientUpTo = Number.NEGATIVE_INFINITY } = wish;
      return kept.length > 0 || lenientUpTo === Number.NEGATIVE_INFINITY
        ? kept
        : among(
            pod,
            wish,
            (node) => rankOf(node) <= lenientUpTo && isFeasible(pod, node) && state.breach(pod, node)?.soft !== false,
          );
    },
    whyNone: (pod, wish) => {
      if (reasonsAt !== state.changes.count()) {
        reasons.clear();
        reasonsAt = state.changes.count();
      }
      const key = `${shapeOf(state.cluster.shapes, pod)} ${state.nodeOf(pod)} ${wish.rankOf !== undefined}`;
      const known = reasons.get(key) ?? explain(state, budgets, pod, wish);
      reasons.set(key, known);
      return known;
    },
  };
}

function byWorth(left: Candidate, right: Candidate): number {
  return left.rank - right.rank || left.taints - right.taints || left.worth - right.worth || left.node - right.node;
}

/** What refuses the pod on each node, counted; of one alone, what it says. */
function explain(state: State, budgets: Budget, pod: PodIndex, { rankOf }: Wish): Reason {
  const { nodes } = state.cluster;
  const home = state.nodeOf(pod);
  const refusals = new Map<RefusalName | 'no improvement' | 'Cooldown', number>();
  for (const node of nodes.keys()) {
    if (node !== home) {
      const isNoHelp = rankOf !== undefined && rankOf(node) === Number.POSITIVE_INFINITY;
      const name = state.refusedBy(pod, node) ?? (isNoHelp ? 'no improvement' : budgetName(budgets, pod, node));
      refusals.set(name, (refusals.get(name) ?? 0) + 1);
    }
  }
  const others = nodes.length - 1;
  const [only] = refusals.keys();
  const example = [...nodes.keys()].find((node) => node !== home);
  const refusal = example === undefined ? undefined : state.refusal(pod, example);
  if (refusals.size === 1 && refusal !== undefined && example !== undefined && only === refusal.filter) {
    const text = `${itemAt(nodes, example).name} ${describeRefusal(refusal)}`;
    return {
      code: refusal.filter,
      message: `fits on none of ${count(others, 'other node')}: ${text}`,
      numbers: { nodes: others },
    };
  }
  const parts = [...refusals]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, times]) => `${name} on ${times}`);
  const list = parts.length === 0 ? '' : `: ${parts.join(', ')}`;
  return {
    code: 'NoFeasibleNode',
    message: `can be repaired on none of ${count(others, 'other node')}${list}`,
    numbers: { nodes: others },
  };
}

function budgetName(budgets: Budget, pod: PodIndex, node: NodeIndex): 'Cooldown' | 'no improvement' {
  return budgets.check(pod, node) === undefined ? 'no improvement' : 'Cooldown';
}
