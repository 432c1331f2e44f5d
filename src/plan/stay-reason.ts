import type { Budget, BudgetRefusal } from './budgets/budget.ts';
import { describeRefusal, refusalNumbers } from './filters/refusal.ts';
import { count, percent } from './format.ts';
import { toFraction } from './load.ts';
import type { Reason } from './plan.ts';
import type { FilterName } from './rejection-codes.ts';
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
  readonly budgets: readonly Budget[];
  /** Budgets that refused a proposal, by place of the pod. */
  readonly refused: ReadonlyMap<number, BudgetRefusal>;
}

/** Why each movable pod stays, with its numbers: place in the balance, budget, filters, size, gain, in this order. */
export function explainStay(input: ExplainInput): (pod: number) => Reason {
  const { state, bounds, refused } = input;
  const below = shared(
    (pod) => state.nodeOf(pod),
    (node) => belowBounds(state, bounds, node),
  );
  const outlooks = createOutlooks(state, bounds);
  return (pod) => {
    if (state.load(state.nodeOf(pod)) <= bounds.sourceAbove) {
      return below(pod);
    }
    const refusal = refused.get(pod);
    if (refusal !== undefined) {
      return refusal;
    }
    const target = outlooks.targetOf(pod);
    return target < 0 ? outlooks.refusalOf(pod) : weigh(input, pod, target);
  };
}

function belowBounds(state: StateView, { belowCode, sourceAbove, rule }: Bounds, node: number): Reason {
  const load = toFraction(state.load(node));
  const limit = toFraction(sourceAbove);
  const text = `${state.cluster.nodes[node]?.name} at ${percent(load)} is not above ${percent(limit)} (${rule})`;
  return { code: belowCode, message: text, numbers: { load, limit } };
}

/** The pod fits on `target`, the least loaded node that would take it. */
function weigh({ state, bounds, minGain, budgets }: ExplainInput, pod: number, target: number): Reason {
  const from = state.load(state.nodeOf(pod));
  const load = from - state.loadWithout(pod);
  const after = state.loadWith(pod, target);
  const gain = state.gain(pod, target);
  const name = state.cluster.nodes[target]?.name;
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
  for (const { check } of budgets) {
    const refusal = check(pod, target);
    if (refusal !== undefined) {
      return refusal;
    }
  }
  return {
    code: 'InBalance',
    message: `would gain ${share(gain)} on ${name}, but the plan balances without it`,
    numbers,
  };
}

function share(load: number): string {
  return percent(toFraction(load));
}

/** Where else pods could run. */
interface Outlooks {
  /** The least loaded other node on which the pod fits; -1 when there is none. */
  readonly targetOf: (pod: number) => number;
  /** Why there is none. */
  readonly refusalOf: (pod: number) => Reason;
}

/**
 * Looks at all targets once per shape, not once per pod: the second node that takes pods of a shape is for those that are on
 * the first. Verdicts on pods under affinity or spread depend on where each of them is.
 */
function createOutlooks(state: StateView, bounds: Bounds): Outlooks {
  const targets = [...state.cluster.nodes.keys()]
    .filter((node) => state.load(node) < bounds.targetBelow)
    .sort((left, right) => state.load(left) - state.load(right) || left - right);
  const byShape: (readonly number[] | undefined)[] = [];
  const refusals = shared(
    (pod) => state.cluster.shapes.ofPod[pod] ?? -1,
    (_, pod) => refusalOn(state, pod, targets),
  );
  const feasibleFor = (pod: number): readonly number[] => {
    const shape = state.cluster.shapes.ofPod[pod] ?? -1;
    const known = byShape[shape] ?? firstTwo(state, pod, targets);
    byShape[shape] = known;
    return known;
  };
  const isTied = (pod: number): boolean => state.surroundings(pod) !== 0;
  return {
    targetOf: (pod) => {
      const home = state.nodeOf(pod);
      const target = isTied(pod)
        ? targets.find((node) => node !== home && state.fits(pod, node))
        : feasibleFor(pod).find((node) => node !== home);
      return target ?? -1;
    },
    refusalOf: (pod) => (isTied(pod) ? refusalOn(state, pod, targets) : refusals(pod)),
  };
}

function firstTwo(state: StateView, pod: number, targets: readonly number[]): readonly number[] {
  const feasible: number[] = [];
  for (const node of targets) {
    if (state.fits(pod, node) && feasible.push(node) === 2) {
      break;
    }
  }
  return feasible;
}

const NOWHERE: Reason = {
  code: 'NoFeasibleNode',
  message: 'no other node is below the balance point',
  numbers: { nodes: 0 },
};

/** Of a pod that fits on its own node at most: the filter's name when one refuses everywhere, with the least loaded node. */
function refusalOn(state: StateView, pod: number, targets: readonly number[]): Reason {
  const refusals = new Map<FilterName, number>();
  let example: number | undefined;
  for (const node of targets) {
    const filter = state.refusedBy(pod, node);
    if (filter !== undefined) {
      example ??= node;
      refusals.set(filter, (refusals.get(filter) ?? 0) + 1);
    }
  }
  const refusal = example === undefined ? undefined : state.refusal(pod, example);
  if (refusal === undefined || example === undefined) {
    return NOWHERE;
  }
  const nodes = [...refusals.values()].reduce((sum, times) => sum + times, 0);
  if (refusals.size > 1) {
    const byName = [...refusals].sort(([left], [right]) => (left < right ? -1 : 1));
    const parts = byName.map(([filter, times]) => `${filter} on ${times}`).join(', ');
    return { code: 'NoFeasibleNode', message: `fits on none of ${nodes} nodes: ${parts}`, numbers: { nodes } };
  }
  const message = `fits on none of ${count(nodes, 'node')}: ${state.cluster.nodes[example]?.name} ${describeRefusal(refusal)}`;
  return { code: refusal.filter, message, numbers: { nodes, ...refusalNumbers(refusal) } };
}
