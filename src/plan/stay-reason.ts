import type { Budget, BudgetRefusal } from './budgets/budget.ts';
import { findFeasibleTargets } from './feasible-targets.ts';
import { percent } from './format.ts';
import { itemAt, type NodeIndex, type PodIndex } from './indices.ts';
import { share, toFraction } from './load.ts';
import type { Reason } from './plan.ts';
import { shared } from './rejections.ts';
import type { StateView } from './state.ts';
import type { Bounds } from './strategies/strategy.ts';

/** What the reasons of the pods that stay are worked out from, at the end of a plan. */
export interface ExplainInput {
  readonly state: StateView;
  readonly bounds: Bounds;
  /** A load. */
  readonly minGain: number;
  /** As the plan has spent them. */
  readonly budgets: Budget;
  /** Budgets that refused a proposal, by place of the pod. */
  readonly refused: ReadonlyMap<PodIndex, BudgetRefusal>;
}

/** Why each movable pod stays, with its numbers: place in the balance, budget, filters, size, gain, in this order. */
export function explainStay(input: ExplainInput): (pod: PodIndex) => Reason {
  const { state, bounds, refused } = input;
  const below = shared(
    (pod) => state.nodeOf(pod),
    (node) => belowBounds(state, bounds, node),
  );
  const outlook = findFeasibleTargets(state, bounds.targetBelow);
  return (pod) => {
    if (state.load(state.nodeOf(pod)) <= bounds.sourceAbove) {
      return below(pod);
    }
    const refusal = refused.get(pod);
    if (refusal !== undefined) {
      return refusal;
    }
    const target = outlook.targetOf(pod);
    return target < 0 ? outlook.refusalOf(pod) : weigh(input, pod, target);
  };
}

function belowBounds(state: StateView, { belowCode, sourceAbove, rule }: Bounds, node: NodeIndex): Reason {
  const load = toFraction(state.load(node));
  const limit = toFraction(sourceAbove);
  const text = `${itemAt(state.cluster.nodes, node).name} at ${percent(load)} is not above ${percent(limit)} (${rule})`;
  return { code: belowCode, message: text, numbers: { load, limit } };
}

/** The pod fits on `target`, the least loaded node that would take it. */
function weigh({ state, bounds, minGain, budgets }: ExplainInput, pod: PodIndex, target: NodeIndex): Reason {
  const from = state.load(state.nodeOf(pod));
  const load = from - state.loadWithout(pod);
  const after = state.loadWith(pod, target);
  const gain = state.gain(pod, target);
  const name = itemAt(state.cluster.nodes, target).name;
  const numbers = { load: toFraction(load), from: toFraction(from), after: toFraction(after) };
  const would = `adds ${share(load)}: ${name} would be at ${share(after)}`;
  if (load >= minGain && gain <= 0) {
    return {
      code: 'TooLarge',
      message: `${would}, its own node is at ${share(from)}: only the hot spot would move`,
      numbers,
    };
  }
  if (load >= minGain && after > bounds.targetUpTo) {
    const limit = toFraction(bounds.targetUpTo);
    return {
      code: 'TooLarge',
      message: `${would}, above the limit of ${percent(limit)} (${bounds.rule})`,
      numbers: { ...numbers, limit },
    };
  }
  if (gain < minGain || gain < 1) {
    const message = `would gain ${share(gain)} on ${name}, thresholds.minGain is ${share(minGain)}`;
    return {
      code: 'GainTooSmall',
      message,
      numbers: { ...numbers, gain: toFraction(gain), minGain: toFraction(minGain) },
    };
  }
  return (
    budgets.check(pod, target) ?? {
      code: 'InBalance',
      message: `would gain ${share(gain)} on ${name}, but the plan balances without it`,
      numbers,
    }
  );
}
