import { describeRefusal, refusalNumbers } from './filters/refusal.ts';
import { count } from './format.ts';
import { at, itemAt, type NodeIndex, type PodIndex } from './indices.ts';
import type { Reason } from './plan.ts';
import type { FilterName } from './rejection-codes.ts';
import { shared } from './rejections.ts';
import { classOf, shapeOf } from './shapes.ts';
import type { StateView } from './state.ts';

/** Where else pods could run. */
export interface FeasibleTargets {
  /** The least loaded other node on which the pod fits; -1 when there is none. */
  readonly targetOf: (pod: PodIndex) => NodeIndex;
  /** Why there is none. */
  readonly refusalOf: (pod: PodIndex) => Reason;
}

/** Nodes that pods of one class and size may be asked about. */
interface Field {
  /** The least loaded first. */
  readonly open: readonly NodeIndex[];
  /** How many nodes are closed to all such pods, by filter. */
  readonly closed: ReadonlyMap<FilterName, number>;
  /** The least loaded one that is. */
  readonly closest: NodeIndex | undefined;
}

/**
 * Over the nodes below a load. Looks at all of them once per class and size of pods, and at those that are left once per
 * shape, not once per pod: the second node that takes pods of a shape is for those that are on the first. Verdicts on pods
 * under affinity or spread depend on where each of them is.
 */
export function findFeasibleTargets(state: StateView, below: number): FeasibleTargets {
  const { shapes } = state.cluster;
  const isTied = (pod: PodIndex): boolean => state.surroundings(pod) !== 0;
  const fieldOf = createFields(state, below);
  const byShape: (readonly NodeIndex[] | undefined)[] = [];
  const refusals = shared(
    (pod) => shapeOf(shapes, pod),
    (_, pod) => refusalOn(state, pod, fieldOf(pod)),
  );
  const feasibleFor = (pod: PodIndex): readonly NodeIndex[] => {
    const shape = shapeOf(shapes, pod);
    const known = byShape[shape] ?? firstTwo(state, pod, fieldOf(pod).open);
    byShape[shape] = known;
    return known;
  };
  return {
    targetOf: (pod) => {
      const home = state.nodeOf(pod);
      const target = isTied(pod)
        ? fieldOf(pod).open.find((node) => node !== home && state.fits(pod, node))
        : feasibleFor(pod).find((node) => node !== home);
      return target ?? -1;
    },
    refusalOf: (pod) => (isTied(pod) ? refusalOn(state, pod, fieldOf(pod)) : refusals(pod)),
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
  const closed = new Map<FilterName, number>();
  let closest: NodeIndex | undefined;
  for (const node of targets) {
    const filter = shapes.refusedBy(shapeClass, node) ?? (state.couldHold(pod, node) ? undefined : 'NodeResourcesFit');
    if (filter === undefined) {
      open.push(node);
    } else {
      closest ??= node;
      closed.set(filter, (closed.get(filter) ?? 0) + 1);
    }
  }
  return { open, closed, closest };
}

function firstTwo(state: StateView, pod: PodIndex, nodes: readonly NodeIndex[]): readonly NodeIndex[] {
  const feasible: NodeIndex[] = [];
  for (const node of nodes) {
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
function refusalOn(state: StateView, pod: PodIndex, { open, closed, closest }: Field): Reason {
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
