import type { EpochSeconds } from '../../model/units.ts';
import type { Budgets } from '../budgets/index.ts';
import { count } from '../format.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { PackingOptions } from '../options.ts';
import type { Reason } from '../plan.ts';
import { shapeOf } from '../shapes.ts';
import type { State } from '../state.ts';
import type { Residents } from './residents.ts';
import type { PackTargets } from './targets.ts';

/** Why a node keeps its pods. */
export interface Kept {
  readonly reason: Reason;
  /** The pod that keeps the others there; `undefined`: the reason is the node's own. */
  readonly pod: PodIndex | undefined;
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

/** Tries to empty nodes, each whole or not at all. */
export interface Attempts {
  /** Moves all pods of a node that keep it, or none: then why. */
  readonly empty: (node: NodeIndex) => Kept | undefined;
  readonly hasEmptied: (node: NodeIndex) => boolean;
  readonly targets: ReadonlyMap<PodIndex, NodeIndex>;
}

/** No node has been tried yet. */
export function createAttempts(context: EmptyingContext): Attempts {
  const { state, residents } = context;
  const trail = createTrail(context);
  const targetOf = createTargetSearch(context, trail);
  const emptied = new Set<NodeIndex>();
  return {
    empty: (node) => {
      const there = residents.on(node);
      const obstacle = obstacleOn(state, node, there, trail.moved, context);
      const kept = obstacle ?? placeAll(state, node, largestFirst(state, there), trail, targetOf);
      if (kept === undefined) {
        emptied.add(node);
      }
      return kept;
    },
    hasEmptied: (node) => emptied.has(node),
    targets: trail.moved,
  };
}

/** Places all pods of a node, or none: then why. */
function placeAll(
  state: State,
  node: NodeIndex,
  pods: readonly PodIndex[],
  trail: Trail,
  targetOf: TargetSearch,
): Kept | undefined {
  const steps: Step[] = [];
  const giveUp = (pod: PodIndex, refusal: Reason | undefined): Kept => {
    const reason = refusal ?? unplaced(state, node, pods.length, steps.length);
    trail.back(node, steps);
    return { pod, reason };
  };
  for (let waiting = pods; waiting.length > 0; ) {
    const left: PodIndex[] = [];
    for (const pod of waiting) {
      const refusal = trail.refusalOf(pod);
      const to = refusal === undefined ? targetOf(pod, steps.length === 0) : -1;
      if (to >= 0) {
        steps.push(trail.go(pod, to));
      } else if (refusal === undefined && state.surroundings(pod) !== 0) {
        left.push(pod);
      } else {
        return giveUp(pod, refusal);
      }
    }
    // Pods that want to be near others, or far from them, may find a place once those have one.
    const [stuck] = left.length < waiting.length ? [] : left;
    if (stuck !== undefined) {
      return giveUp(stuck, undefined);
    }
    waiting = left;
  }
  return undefined;
}

interface Step {
  readonly pod: PodIndex;
  readonly to: NodeIndex;
  /** Where an earlier node that was emptied sent it. */
  readonly before: NodeIndex | undefined;
}

/** Where pods have been sent. Steps can be taken back, with what they have spent of the budgets. */
interface Trail {
  readonly moved: ReadonlyMap<PodIndex, NodeIndex>;
  /** What the budgets have against moving the pod, which counts once wherever it goes on from. */
  readonly refusalOf: (pod: PodIndex, to?: NodeIndex) => Reason | undefined;
  readonly go: (pod: PodIndex, to: NodeIndex) => Step;
  /** Takes back the steps of pods of `node`. */
  readonly back: (node: NodeIndex, steps: readonly Step[]) => void;
}

function createTrail({ state, residents, targets, budgets }: EmptyingContext): Trail {
  const moved = new Map<PodIndex, NodeIndex>();
  const carry = (pod: PodIndex, to: NodeIndex): void => {
    residents.move(pod, state.nodeOf(pod), to);
    state.move(pod, to);
  };
  return {
    moved,
    refusalOf: (pod, to) => {
      if (!moved.has(pod)) {
        return budgets.check(pod, to);
      }
      budgets.refund(pod);
      const refusal = budgets.check(pod, to);
      budgets.spend(pod);
      return refusal;
    },
    go: (pod, to) => {
      const before = moved.get(pod);
      carry(pod, to);
      moved.set(pod, to);
      if (before === undefined) {
        budgets.spend(pod);
      }
      return { pod, to, before };
    },
    back: (node, steps) => {
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
    },
  };
}

/** The fullest node that takes a pod; -1 when there is none. `isFirst`: nothing of its node has been moved yet. */
type TargetSearch = (pod: PodIndex, isFirst: boolean) => NodeIndex;

function createTargetSearch({ state, targets }: EmptyingContext, { refusalOf }: Trail): TargetSearch {
  /** Shapes that no node but one takes, and never will: nodes only fill up. */
  const unplaceable = new Map<number, NodeIndex>();
  return (pod, isFirst) => {
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
  moved: ReadonlyMap<PodIndex, NodeIndex>,
  { budgets, holdOf }: Pick<EmptyingContext, 'budgets' | 'holdOf'>,
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

/** A reason of the node's own. */
export function ofNode(reason: Reason): Kept {
  return { reason, pod: undefined };
}
