import type { Budget, BudgetRefusal } from './budgets/budget.ts';
import { describeRefusal, refusalNumbers } from './filters/refusal.ts';
import { count, percent } from './format.ts';
import { at, itemAt, type NodeIndex, numberAt, type PodIndex } from './indices.ts';
import { share, toFraction } from './load.ts';
import type { Reason } from './plan.ts';
import type { RefusalName } from './rejection-codes.ts';
import { shared } from './rejections.ts';
import { classOf, shapeOf } from './shapes.ts';
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

/** Where else pods could run. */
interface FeasibleTargets {
  /** The least loaded other node on which the pod fits; -1 when there is none. */
  readonly targetOf: (pod: PodIndex) => NodeIndex;
  /** Why there is none. */
  readonly refusalOf: (pod: PodIndex) => Reason;
}

/** Nodes that pods of one class and size may be asked about. Most pods fit on one of the first, so no more are looked at than asked for. */
interface Field {
  /** The least loaded of those that are open to such pods and for which `passes` is true; `undefined` when there is none. */
  readonly find: (passes: (node: NodeIndex) => boolean) => NodeIndex | undefined;
  /** All of them. */
  readonly all: () => WholeField;
}

interface WholeField {
  /** The least loaded first. */
  readonly open: readonly NodeIndex[];
  /** How many nodes are closed to all such pods, by filter. */
  readonly closed: ReadonlyMap<RefusalName, number>;
  /** The least loaded one that is. */
  readonly closest: NodeIndex | undefined;
}

/**
 * Over the nodes below a load. Looks at all of them once per class and size of pods, and at those that are left once per
 * shape, not once per pod: the second node that takes pods of a shape is for those that are on the first. Verdicts on pods
 * under affinity or spread depend on where each of them is.
 */
function findFeasibleTargets(state: StateView, below: number): FeasibleTargets {
  const { shapes } = state.cluster;
  const isTied = (pod: PodIndex): boolean => state.surroundings(pod) !== 0;
  const fieldOf = createFields(state, below);
  const byShape: (readonly NodeIndex[] | undefined)[] = [];
  const refusals = shared(
    (pod) => shapeOf(shapes, pod),
    (_, pod) => refusalOn(state, pod, fieldOf(pod).all()),
  );
  const feasibleFor = (pod: PodIndex): readonly NodeIndex[] => {
    const shape = shapeOf(shapes, pod);
    const known = byShape[shape] ?? firstTwo(state, pod, fieldOf(pod));
    byShape[shape] = known;
    return known;
  };
  return {
    targetOf: (pod) => {
      const home = state.nodeOf(pod);
      const target = isTied(pod)
        ? fieldOf(pod).find((node) => node !== home && state.fits(pod, node))
        : feasibleFor(pod).find((node) => node !== home);
      return target ?? -1;
    },
    refusalOf: (pod) => (isTied(pod) ? refusalOn(state, pod, fieldOf(pod).all()) : refusals(pod)),
  };
}

function createFields(state: StateView, below: number): (pod: PodIndex) => Field {
  const { shapes } = state.cluster;
  const targets = [...state.cluster.nodes.keys()]
    .filter((node) => state.load(node) < below)
    .sort((left, right) => state.load(left) - state.load(right) || left - right);
  const known: (Field | undefined)[] = [];
  return (pod) => {
    const shape = shapeOf(shapes, pod);
    const key = at(shapes.classOf, shape) * shapes.sizes.length + at(shapes.sizeOf, shape);
    const field = known[key] ?? fieldFor(state, pod, targets);
    known[key] = field;
    return field;
  };
}

function fieldFor(state: StateView, pod: PodIndex, targets: readonly NodeIndex[]): Field {
  const { shapes } = state.cluster;
  const shapeClass = classOf(shapes, pod);
  const open: NodeIndex[] = [];
  const closed = new Map<RefusalName, number>();
  let closest: NodeIndex | undefined;
  let looked = 0;
  const look = (): void => {
    const node = numberAt(targets, looked);
    looked += 1;
    const filter = shapes.refusedBy(shapeClass, node) ?? (state.couldHold(pod, node) ? undefined : 'NodeResourcesFit');
    if (filter === undefined) {
      open.push(node);
    } else {
      closest ??= node;
      closed.set(filter, (closed.get(filter) ?? 0) + 1);
    }
  };
  const openAt = (place: number): NodeIndex | undefined => {
    while (place >= open.length && looked < targets.length) {
      look();
    }
    return open[place];
  };
  return {
    find: (passes) => {
      let place = 0;
      let node = openAt(place);
      while (node !== undefined && !passes(node)) {
        place += 1;
        node = openAt(place);
      }
      return node;
    },
    all: () => {
      while (looked < targets.length) {
        look();
      }
      return { open, closed, closest };
    },
  };
}

function firstTwo(state: StateView, pod: PodIndex, field: Field): readonly NodeIndex[] {
  const feasible: NodeIndex[] = [];
  field.find((node) => state.fits(pod, node) && feasible.push(node) === 2);
  return feasible;
}

const NOWHERE: Reason = {
  code: 'NoFeasibleNode',
  message: 'no other node is below the balance point',
  numbers: { nodes: 0 },
};

/** Of a pod that fits on its own node at most: the filter's name when one refuses everywhere, with the least loaded node. */
function refusalOn(state: StateView, pod: PodIndex, { open, closed, closest }: WholeField): Reason {
  const refusals = new Map(closed);
  let example = closest;
  for (const node of open) {
    const filter = state.refusedBy(pod, node);
    if (filter !== undefined) {
      example = example === undefined || state.load(node) < state.load(example) ? node : example;
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
  const message = `fits on none of ${count(nodes, 'node')}: ${itemAt(state.cluster.nodes, example).name} ${describeRefusal(refusal)}`;
  return { code: refusal.filter, message, numbers: { nodes, ...refusalNumbers(refusal) } };
}
