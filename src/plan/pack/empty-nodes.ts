import { type EpochSeconds, elapsed } from '../../model/units.ts';
import type { Budgets } from '../budgets/index.ts';
import { count, inSeconds, percent } from '../format.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { PackingOptions } from '../options.ts';
import type { Reason } from '../plan.ts';
import { shapeOf } from '../shapes.ts';
import type { State } from '../state.ts';
import { wellUsed } from './requested.ts';
import { isControlPlane, type Residents } from './residents.ts';
import type { PackTargets } from './targets.ts';

/** Why a node keeps its pods. */
export interface Kept {
  readonly reason: Reason;
  /** The pod that keeps the others there; `undefined`: the reason is the node's own. */
  readonly pod: PodIndex | undefined;
}

/** What came of the nodes. */
export interface Emptied {
  /** In the order in which they were emptied. */
  readonly nodes: readonly NodeIndex[];
  /** Why each of the others that has pods keeps them. */
  readonly kept: ReadonlyMap<NodeIndex, Kept>;
  /** Where the pods of the emptied nodes go. */
  readonly targets: ReadonlyMap<PodIndex, NodeIndex>;
}

/** What nodes are emptied with. */
export interface EmptyingContext {
  /** Changed by every node that is emptied. */
  readonly state: State;
  readonly residents: Residents;
  readonly targets: PackTargets;
  /** Spent for every pod that is moved. */
  readonly budgets: Budgets;
  /** Why no plan may move the pod; `undefined`: one may. */
  readonly holdOf: (pod: PodIndex) => Reason | undefined;
  readonly options: PackingOptions;
  readonly now: EpochSeconds;
}

/**
 * Empties nodes, the least used first, in rounds until one finds none: what has left may have stood in the way of others. A pod
 * whose target is emptied later goes on from there, so that the next plan finds no other node.
 */
export function emptyNodes(context: EmptyingContext): Emptied {
  const { residents } = context;
  const nodes: NodeIndex[] = [];
  const kept = new Map<NodeIndex, Kept>();
  const attempt = createAttempts(context);
  for (let before = -1; before !== nodes.length; ) {
    before = nodes.length;
    for (const node of leastUsedFirst(context)) {
      const why = residents.isEmpty(node) ? undefined : (unsuited(context, node) ?? attempt.empty(node));
      if (why !== undefined) {
        kept.set(node, why);
      } else if (attempt.hasEmptied(node) && !nodes.includes(node)) {
        kept.delete(node);
        nodes.push(node);
      }
    }
  }
  return { nodes, kept, targets: attempt.targets };
}

/** Of those that are used alike, the one with fewer pods. */
function leastUsedFirst({ state, residents }: EmptyingContext): readonly NodeIndex[] {
  return [...state.cluster.nodes.keys()].sort(
    (left, right) =>
      state.load(left) - state.load(right) || residents.on(left).size - residents.on(right).size || left - right,
  );
}

/** Why the node is not to be emptied, whoever runs there. */
function unsuited({ state, options, now }: EmptyingContext, node: NodeIndex): Kept | undefined {
  const { name, createdAt, labels } = itemAt(state.cluster.nodes, node);
  const used = wellUsed(state, node, options);
  if (used !== undefined) {
    const { share, resource } = used;
    const message = `${percent(share)} of the ${resource.name} of ${name} is requested, strategy.pack empties nodes below ${percent(resource.below)}`;
    return ofNode({ code: 'NotUnderutilized', message, numbers: { share, below: resource.below } });
  }
  const age = elapsed(createdAt, now);
  if (age < options.minNodeAge) {
    const message = `${name} is ${inSeconds(Math.round(age))} old, strategy.pack.minNodeAge is ${inSeconds(options.minNodeAge)}`;
    return ofNode({ code: 'MinNodeAge', message, numbers: { age, minNodeAge: options.minNodeAge } });
  }
  return isControlPlane(labels)
    ? ofNode({ code: 'NodeNotEmptied', message: `${name} belongs to the control plane`, numbers: {} })
    : undefined;
}

function ofNode(reason: Reason): Kept {
  return { reason, pod: undefined };
}

interface Attempts {
  /** Moves all pods of a node that keep it, or none: then why. */
  readonly empty: (node: NodeIndex) => Kept | undefined;
  readonly hasEmptied: (node: NodeIndex) => boolean;
  readonly targets: ReadonlyMap<PodIndex, NodeIndex>;
}

function createAttempts({ state, residents, targets, budgets, holdOf }: EmptyingContext): Attempts {
  const moved = new Map<PodIndex, NodeIndex>();
  const emptied = new Set<NodeIndex>();
  /** Shapes that no node but one takes, and never will: nodes only fill up. */
  const unplaceable = new Map<number, NodeIndex>();
  const refusalOf = (pod: PodIndex, to?: NodeIndex): Reason | undefined => {
    if (!moved.has(pod)) {
      return budgets.check(pod, to);
    }
    budgets.refund(pod);
    const refusal = budgets.check(pod, to);
    budgets.spend(pod);
    return refusal;
  };
  const targetOf = (pod: PodIndex, isFirst: boolean): NodeIndex => {
    const shape = shapeOf(state.cluster.shapes, pod);
    const home = state.nodeOf(pod);
    const isTied = state.surroundings(pod) !== 0;
    const left = isTied ? undefined : unplaceable.get(shape);
    if (left !== undefined) {
      return left !== home && targets.takes(pod, left) && refusalOf(pod, left) === undefined ? left : -1;
    }
    let isCooling = false;
    const target = targets.fullest(pod, (node) => {
      const isRefused = refusalOf(pod, node) !== undefined;
      isCooling ||= isRefused;
      return !isRefused;
    });
    if (target < 0 && isFirst && !isTied && !isCooling) {
      unplaceable.set(shape, home);
    }
    return target;
  };
  const carry = (pod: PodIndex, to: NodeIndex): void => {
    residents.move(pod, state.nodeOf(pod), to);
    state.move(pod, to);
  };
  const step = (pod: PodIndex, to: NodeIndex): Step => {
    const before = moved.get(pod);
    carry(pod, to);
    moved.set(pod, to);
    if (before === undefined) {
      budgets.spend(pod);
    }
    return { pod, to, before };
  };
  const undo = (node: NodeIndex, steps: readonly Step[]): void => {
    for (const { pod, to, before } of steps.toReversed()) {
      carry(pod, node);
      targets.reopen(to);
      if (before === undefined) {
        moved.delete(pod);
        budgets.refund(pod);
      } else {
        moved.set(pod, before);
      }
    }
  };
  const empty = (node: NodeIndex): Kept | undefined => {
    const obstacle = obstacleOn(state, node, residents.on(node), { moved, budgets, holdOf });
    if (obstacle !== undefined) {
      return obstacle;
    }
    const pods = largestFirst(state, residents.on(node));
    const steps: Step[] = [];
    let waiting = pods;
    while (waiting.length > 0) {
      const left: PodIndex[] = [];
      for (const pod of waiting) {
        const refusal = refusalOf(pod);
        const to = refusal === undefined ? targetOf(pod, steps.length === 0) : -1;
        if (to >= 0) {
          steps.push(step(pod, to));
        } else if (refusal === undefined && state.surroundings(pod) !== 0) {
          left.push(pod);
        } else {
          undo(node, steps);
          return { pod, reason: refusal ?? unplaced(state, node, pods.length, steps.length) };
        }
      }
      // Pods that want to be near others, or far from them, may find a place once those have one.
      const [stuck] = left.length < waiting.length ? [] : left;
      if (stuck !== undefined) {
        undo(node, steps);
        return { pod: stuck, reason: unplaced(state, node, pods.length, steps.length) };
      }
      waiting = left;
    }
    emptied.add(node);
    return undefined;
  };
  return { empty, hasEmptied: (node) => emptied.has(node), targets: moved };
}

interface Step {
  readonly pod: PodIndex;
  readonly to: NodeIndex;
  /** Where an earlier node that was emptied sent it. */
  readonly before: NodeIndex | undefined;
}

function largestFirst(state: State, pods: Iterable<PodIndex>): readonly PodIndex[] {
  const rest = new Map([...pods].map((pod) => [pod, state.loadWithout(pod)]));
  return [...rest].sort(([left, less], [right, more]) => less - more || left - right).map(([pod]) => pod);
}

/** What can be said before any of the pods is tried. */
function obstacleOn(
  { cluster }: State,
  node: NodeIndex,
  pods: Iterable<PodIndex>,
  {
    moved,
    budgets,
    holdOf,
  }: Pick<EmptyingContext, 'budgets' | 'holdOf'> & { readonly moved: ReadonlyMap<PodIndex, NodeIndex> },
): Kept | undefined {
  const own = [...pods].filter((pod) => !moved.has(pod)).sort((one, other) => one - other);
  for (const pod of own) {
    const hold = holdOf(pod);
    if (hold !== undefined) {
      return { pod, reason: hold };
    }
  }
  const left = budgets.maxMoves - moved.size;
  if (own.length <= left) {
    return undefined;
  }
  const { name } = itemAt(cluster.nodes, node);
  const message = `${name} takes ${count(own.length, 'move')}, and maxMoves leaves ${left}: a node is emptied whole or not at all`;
  return ofNode({ code: 'MaxMoves', message, numbers: { moves: own.length, left } });
}

function unplaced({ cluster }: State, node: NodeIndex, pods: number, placed: number): Reason {
  const { name } = itemAt(cluster.nodes, node);
  const message =
    placed === 0
      ? 'fits on no other node that runs pods, with strategy.pack.headroom left there'
      : `fits on no other node that runs pods, with strategy.pack.headroom left there, once ${placed} of the ${count(pods, 'pod')} of ${name} have gone`;
  return { code: 'NoFeasibleNode', message, numbers: { pods, placed } };
}
