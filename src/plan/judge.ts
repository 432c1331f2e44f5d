import { type Budget, type BudgetRefusal, REACH } from './budgets/budget.ts';
import type { Budgets } from './budgets/index.ts';
import type { TargetRefusal } from './filters/refusal.ts';
import { at, type NodeIndex, type PodIndex } from './indices.ts';
import type { State } from './state.ts';
import { type Pair, pairGain, pairMinimum } from './strategies/pairs.ts';
import type { Proposal, Reach, Strategy, Terms, Verdict } from './strategies/strategy.ts';

/** A move that the planner has accepted, with what it was worth at its position. Places and loads. */
export interface AcceptedMove {
  readonly pod: PodIndex;
  readonly from: NodeIndex;
  readonly to: NodeIndex;
  /** What the pod added to the load of its node. */
  readonly load: number;
  /** By how much the higher of the two nodes falls; of two moves that go together, half of what they gain together. */
  readonly gain: number;
  /** Loads of the two nodes before and after. */
  readonly before: { readonly from: number; readonly to: number };
  readonly after: { readonly from: number; readonly to: number };
  /** The pod of the other move when two go together. */
  readonly partner: PodIndex | undefined;
}

/** What stands in the way of a move. */
export type Objection =
  | { readonly kind: 'NotMovable' }
  | { readonly kind: 'Filter'; readonly refusal: TargetRefusal }
  | { readonly kind: 'Budget'; readonly refusal: BudgetRefusal }
  | { readonly kind: 'NoGain' };

/** Disposes of what a strategy proposes, whatever the strategy believes. */
export interface Judge {
  readonly accepted: readonly AcceptedMove[];
  /** Budgets that refused pods, by place of the pod. */
  readonly refused: ReadonlyMap<PodIndex, BudgetRefusal>;
  /** What strategies are told beforehand. */
  readonly terms: Terms;
  /** Accepts a proposal and carries it out on the state, or refuses it. */
  readonly judge: (proposal: Proposal) => Verdict;
}

/**
 * A judge over `state`, which it changes. A move must be of a movable pod that the plan has not moved yet, to another
 * node on which all filters let it run at this position of the plan, within all budgets, and, unless the strategy is
 * judged by the whole plan, it must gain at least `minGain` (a load): the higher of its two nodes falls by that much. So
 * the loads of all nodes, sorted from the highest, fall with every move, and a plan ends. Two moves that go together must
 * gain at least `pairMinimum` together, each feasible in its turn.
 */
export function createJudge(state: State, budgets: Budgets, judgedBy: Strategy['judgedBy'], minGain: number): Judge {
  const accepted: AcceptedMove[] = [];
  const refused = new Map<PodIndex, BudgetRefusal>();
  const gains = ({ pod, to }: Proposal): boolean =>
    judgedBy === 'WholePlan' || state.gain(pod, to) >= Math.max(minGain, 1);
  const objectionTo = (proposal: Proposal): Objection | undefined =>
    movability(state, proposal) ??
    (proposal.then === undefined
      ? (infeasibility(state, proposal) ?? (gains(proposal) ? undefined : NO_GAIN))
      : objectionToPair(state, [proposal, proposal.then], minGain)) ??
    overBudget(budgets, proposal);
  let reserved = 0;
  const mayMove = (pod: PodIndex): boolean => {
    const refusal = budgets.check(pod);
    if (refusal !== undefined && reserved === 0) {
      refused.set(pod, refusal);
    }
    return refusal === undefined;
  };
  const reserve = (pod: PodIndex): void => {
    reserved += 1;
    budgets.spend(pod);
  };
  const release = (pod: PodIndex): void => {
    reserved -= 1;
    budgets.refund(pod);
  };
  const accept = ({ then, ...first }: Proposal): void => {
    const moves = then === undefined ? [first] : [first, then];
    const gain = then === undefined ? state.gain(first.pod, first.to) : pairGain(state, [first, then]) / 2;
    for (const [place, move] of moves.entries()) {
      accepted.push({ ...carryOut(state, move, gain), partner: moves[1 - place]?.pod });
      budgets.spend(move.pod);
    }
  };
  return {
    terms: { minGain, mayMove, reserve, release, movesLeft: () => budgets.maxMoves - accepted.length },
    accepted,
    refused,
    judge: (proposal) => {
      const objection = objectionTo(proposal);
      if (objection === undefined) {
        accept(proposal);
        return { accepted: true };
      }
      if (objection.kind === 'Budget') {
        refused.set(proposal.pod, objection.refusal);
      }
      return { accepted: false, reach: reachOf(objection) };
    },
  };
}

const NO_GAIN: Objection = { kind: 'NoGain' };

function objectionToPair(state: State, pair: Pair, minGain: number): Objection | undefined {
  return movability(state, pair[1]) ?? (pairGain(state, pair) >= pairMinimum(minGain) ? undefined : NO_GAIN);
}

function movability({ cluster, nodeOf }: State, { pod, to }: Proposal): Objection | undefined {
  if (cluster.movable[pod] !== 1 || cluster.nodes[to] === undefined) {
    return { kind: 'NotMovable' };
  }
  const home = at(cluster.home, pod);
  return nodeOf(pod) === home && to !== home ? undefined : { kind: 'NotMovable' };
}

function infeasibility(state: State, { pod, to }: Proposal): Objection | undefined {
  const refusal = state.refusal(pod, to);
  return refusal === undefined ? undefined : { kind: 'Filter', refusal };
}

/** Of two moves that go together, the second must be within what the first leaves. */
function overBudget(budgets: Budget, { pod, to, then }: Proposal): Objection | undefined {
  const refusal = budgets.check(pod, to) ?? (then === undefined ? undefined : refusalAfter(budgets, pod, then));
  return refusal === undefined ? undefined : { kind: 'Budget', refusal };
}

function refusalAfter(budgets: Budget, first: number, { pod, to }: Proposal): BudgetRefusal | undefined {
  budgets.spend(first);
  const refusal = budgets.check(pod, to);
  budgets.refund(first);
  return refusal;
}

function reachOf(objection: Objection): Reach {
  switch (objection.kind) {
    case 'NotMovable':
      return 'Pod';
    case 'Filter':
    case 'NoGain':
      return 'Move';
    case 'Budget':
      return REACH[objection.refusal.code];
    default:
      return objection satisfies never;
  }
}

/** Makes the move on the state, and records what it was worth there. */
export function carryOut(state: State, { pod, to }: Proposal, gain: number): Omit<AcceptedMove, 'partner'> {
  const from = state.nodeOf(pod);
  const load = state.load(from) - state.loadWithout(pod);
  const before = { from: state.load(from), to: state.load(to) };
  state.move(pod, to);
  return { pod, from, to, load, gain, before, after: { from: state.load(from), to: state.load(to) } };
}
