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
    const outlook = outlooks(pod);
    const target = outlook.targets.find((node) => node !== state.nodeOf(pod));
    return target === undefined ? outlook.refusal() : weigh(input, pod, target);
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

/** What becomes of pods of one shape. */
interface Outlook {
  /** The two least loaded feasible targets: the second counts for pods that are on the first. */
  readonly targets: readonly number[];
  /** Why there is none but perhaps the pod's own. */
  readonly refusal: () => Reason;
}

/** Looks at all targets once per shape, not once per pod. */
function createOutlooks(state: StateView, bounds: Bounds): (pod: number) => Outlook {
  const known: Map<number, Outlook>[] = [];
  const targets = [...state.cluster.nodes.keys()]
    .filter((node) => state.load(node) < bounds.targetBelow)
    .sort((left, right) => state.load(left) - state.load(right) || left - right);
  return (pod) => {
    const shape = state.cluster.shapes.ofPod[pod] ?? -1;
    const surroundings = state.surroundings(pod);
    const ofShape = known[shape] ?? new Map<number, Outlook>();
    known[shape] = ofShape;
    const outlook = ofShape.get(surroundings) ?? lookOut(state, pod, targets);
    ofShape.set(surroundings, outlook);
    return outlook;
  };
}

function lookOut(state: StateView, pod: number, targets: readonly number[]): Outlook {
  const feasible: number[] = [];
  for (const node of targets) {
    if (state.fits(pod, node) && feasible.push(node) === 2) {
      break;
    }
  }
  let known: Reason | undefined;
  const refusal = (): Reason => {
    known ??= summarize(state, pod, targets, feasible);
    return known;
  };
  return { targets: feasible, refusal };
}

const NOWHERE: Reason = {
  code: 'NoFeasibleNode',
  message: 'no other node is below the balance point',
  numbers: { nodes: 0 },
};

/** The filter's own name when one filter refuses everywhere else, with the least loaded node as the example. */
function summarize(state: StateView, pod: number, targets: readonly number[], feasible: readonly number[]): Reason {
  const refusals = new Map<FilterName, number>();
  for (const node of targets) {
    const filter = feasible.includes(node) ? undefined : state.refusedBy(pod, node);
    if (filter !== undefined) {
      refusals.set(filter, (refusals.get(filter) ?? 0) + 1);
    }
  }
  const example = targets.find((node) => !feasible.includes(node));
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
