import type { Seconds } from '../../model/units.ts';
import type { Budget, BudgetRefusal } from '../budgets/budget.ts';
import { planIsFull } from '../budgets/max-moves.ts';
import { inSeconds } from '../format.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { share, toFraction } from '../load.ts';
import type { Reason } from '../plan.ts';
import { subjectOf } from '../shapes.ts';
import { NO_NEEDS } from '../topology/needs.ts';
import { span } from './explain.ts';
import { scoreOf } from './guesses.ts';
import { affordsStart, type PressureInput, pressureIn, type Reluctance, type Sufferer } from './pressure.ts';
import type { ServicePosition } from './rules.ts';
import type { PreemptionPassStep } from './steps.ts';
import { sequenceTransfers, startOn, type Transferral, type TransferStep } from './transfers.ts';

/** What relieving nodes works on; `state`, `loads` and `budgets` are spent. */
export interface ReliefInput extends PressureInput {
  readonly budgets: Budget;
  /** Steps that the plan has room for, those that are made already included. */
  readonly maxSteps: number;
}

type Target = Pick<Transferral, 'to' | 'score'>;

/** What relieving nodes came to. */
export interface Relief {
  /** In sequence, behind those of the contest. */
  readonly steps: readonly TransferStep[];
  /** Why pods on overloaded nodes stay that are short of time, by place of the pod. */
  readonly stays: ReadonlyMap<PodIndex, Reason>;
  /** The reasons of those of them that should be moved and cannot be, the most urgent first. */
  readonly blocked: readonly Reason[];
}

/** Nothing is measured, or nobody suffers. */
export const NO_RELIEF: Relief = { steps: [], stays: new Map(), blocked: [] };

/**
 * Moves pods under pressure to nodes that have room for them without an eviction and do not become overloaded by them, the
 * most urgent pod first, to the node with the highest allocation score. Pods leave a node only until it is overloaded no more.
 * A Ready pod whose leaving turns out not to be needed once another has left stays, so that no start is spent in vain.
 *
 * Comes after the contest for room: who waits there has no node at all, and whom it evicts relieves nodes already.
 */
export function relieve(input: ReliefInput, earlier: readonly PreemptionPassStep[]): Relief {
  const { loads, limit } = input;
  const { sufferers, reluctant } = pressureIn(input);
  const stays = new Map([...reluctant].map(([pod, why]) => [pod, whyItStays(overloadAt(input, pod), why)]));
  const blocked: Reason[] = [];
  const calm = calmNodes(input);
  const ledger = createTransfers(input, earlier);
  for (const sufferer of sufferers) {
    const { pod, node } = sufferer;
    if (loads.load(node) <= limit) {
      stays.set(pod, unneeded(overloadAt(input, pod)));
      continue;
    }
    const target = ledger.objectionTo(sufferer) ?? targetFor(input, calm, sufferer, ledger.affords);
    if ('code' in target) {
      stays.set(pod, target);
      blocked.push(target);
      continue;
    }
    ledger.carryOut({ sufferer, ...target });
    for (const spared of ledger.takeBackSpared()) {
      stays.set(spared, unneeded(overloadAt(input, spared)));
    }
  }
  return { steps: sequenceTransfers(input, earlier, ledger.moves), stays, blocked };
}

/** The moves that are decided, with all that is kept of them. */
interface Transfers {
  readonly moves: readonly Transferral[];
  /** Why the pod may not be moved to any node; `undefined` when it may. */
  readonly objectionTo: (sufferer: Sufferer) => Reason | undefined;
  /** Whether it can afford to start on a node, behind the starts of its siblings. */
  readonly affords: (sufferer: Sufferer, to: NodeIndex) => boolean;
  readonly carryOut: (move: Transferral) => void;
  /** Takes moves back that the last one has made unnecessary; the pods, by place. */
  readonly takeBackSpared: () => readonly PodIndex[];
}

function createTransfers(input: ReliefInput, earlier: readonly PreemptionPassStep[]): Transfers {
  const { state, loads, limit, budgets, maxSteps } = input;
  const moves: Transferral[] = [];
  const starts = createStarts(earlier);
  const shift = (pod: PodIndex, to: NodeIndex): void => {
    loads.remove(state.nodeOf(pod), pod);
    state.move(pod, to);
    loads.add(to, pod);
  };
  const takeBack = (move: Transferral): void => {
    const { pod, node } = move.sufferer;
    moves.splice(moves.indexOf(move), 1);
    starts.add(move.sufferer, -1);
    shift(pod, node);
    budgets.refund(pod);
  };
  return {
    moves,
    objectionTo: (sufferer) => {
      const { pod } = sufferer;
      if (earlier.length + moves.length >= maxSteps) {
        return fullPlan(overloadAt(input, pod), maxSteps);
      }
      return budgets.check(pod);
    },
    affords: (sufferer, to) => starts.allow(sufferer, startOn(input, sufferer, to)),
    carryOut: (move) => {
      const { pod } = move.sufferer;
      moves.push(move);
      starts.add(move.sufferer, 1);
      shift(pod, move.to);
      budgets.spend(pod);
    },
    takeBackSpared: () => {
      const spared: PodIndex[] = [];
      for (const move of sparable(input, moves)) {
        const { pod, node } = move.sufferer;
        if (loads.with(node, pod) <= limit) {
          takeBack(move);
          spared.push(pod);
        }
      }
      return spared;
    },
  };
}

function overloadAt({ planningInput, state, loads, limit, standings }: ReliefInput, pod: PodIndex): Overload {
  const node = state.nodeOf(pod);
  const name = itemAt(state.cluster.nodes, node).name;
  const ready = itemAt(planningInput.pods, pod).ready;
  return { node: name, load: loads.load(node), limit, ready, standing: standings.of(pod) };
}

/** Nodes whose load is known and within the limit. */
function calmNodes({ state, loads, limit }: ReliefInput): readonly NodeIndex[] {
  return [...state.cluster.nodes.keys()].filter((node) => loads.isKnown(node) && loads.load(node) <= limit);
}

/** The best of the calm nodes that can take the pod, or why none can. */
function targetFor(
  input: ReliefInput,
  calm: readonly NodeIndex[],
  sufferer: Sufferer,
  affords: Transfers['affords'],
): Target | Reason {
  const { state, loads, limit, budgets } = input;
  const { pod } = sufferer;
  let best: Target | undefined;
  let refusal: BudgetRefusal | undefined;
  let [crowded, refused, unaffordable] = [0, 0, 0];
  for (const to of calm) {
    const isCrowded = loads.with(to, pod) > limit;
    const fits = !isCrowded && state.fits(pod, to);
    const isAffordable = fits && affords(sufferer, to);
    crowded += isCrowded ? 1 : 0;
    refused += isCrowded || fits ? 0 : 1;
    unaffordable += fits && !isAffordable ? 1 : 0;
    const score = isAffordable ? scoreOf(state, to, []) : Number.NEGATIVE_INFINITY;
    if (score > (best?.score ?? Number.NEGATIVE_INFINITY)) {
      const objection = budgets.check(pod, to);
      refusal ??= objection;
      best = objection === undefined ? { to, score } : best;
    }
  }
  const nodes = state.cluster.nodes.length;
  const refusals = { nodes, overloaded: nodes - calm.length, crowded, refused };
  const overload = overloadAt(input, pod);
  return best ?? refusal ?? (unaffordable > 0 ? whyItStays(overload, 'CannotAfford') : whyNoTarget(overload, refusals));
}

/**
 * Moves of Ready pods from a node that the last one has relieved, which may do without them now; the least relieving first, so
 * that as many as possible are taken back. Whoever is not Ready loses nothing by its move. Pods that affinity or spread look
 * at stay moved: others may have found their places by it.
 */
function sparable({ state, loads, limit }: ReliefInput, moves: readonly Transferral[]): readonly Transferral[] {
  const { shapes, sites } = state.cluster;
  const last = moves.at(-1);
  if (last === undefined || loads.load(last.sufferer.node) > limit) {
    return [];
  }
  const isUntied = (pod: PodIndex): boolean =>
    subjectOf(shapes, pod).topology === NO_NEEDS && sites.counts.topologyIndex.countedBy(pod).length === 0;
  return moves
    .filter(({ sufferer }) => sufferer.node === last.sufferer.node && sufferer.ready && isUntied(sufferer.pod))
    .filter((move) => move !== last)
    .sort((left, right) => left.sufferer.relief - right.sufferer.relief || left.sufferer.pod - right.sufferer.pod);
}

/** How many starts the plan costs each workload, as far as its mode tells replicas apart; without end when one is evicted. */
function createStarts(earlier: readonly PreemptionPassStep[]) {
  const counts = new Map<ServicePosition, number>();
  for (const step of earlier) {
    if (step.kind === 'Preemption') {
      counts.set(step.standing, Number.POSITIVE_INFINITY);
    }
  }
  return {
    add: ({ standing, ready }: Sufferer, change: 1 | -1): void => {
      counts.set(standing, (counts.get(standing) ?? 0) + (ready ? change : 0));
    },
    /** Whether a Ready pod can afford a start of its own, behind those of its siblings. */
    allow: ({ standing, ready }: Sufferer, start: Seconds): boolean =>
      !ready || affordsStart(standing, start, counts.get(standing) ?? 0),
  };
}

/** A pod on a node that is overloaded, or was. */
interface Overload {
  readonly node: string;
  readonly load: number;
  readonly limit: number;
  readonly ready: boolean;
  readonly standing: ServicePosition | undefined;
}

/** Why a pod stays on an overloaded node for its own sake. */
function whyItStays(overload: Overload, why: Reluctance): Reason {
  const { standing } = overload;
  const [alpha, minRunTime] = [standing?.alpha ?? 0, standing?.serviceClass.minRunTime ?? 0];
  switch (why) {
    case 'CannotAfford': {
      const message = `runs on: ${situation(overload)}, but it cannot afford a move: after a start of ${inSeconds(alpha)} it could wait ${spanOf(standing)} at most, and other moves of its workload count as well`;
      return { code: 'CannotAfford', message, numbers: { ...numbersOf(overload), alpha } };
    }
    case 'MinRunTime': {
      const message = `runs on: ${situation(overload)}, but it has not run for ${inSeconds(minRunTime)}, the minRunTime of its class`;
      return { code: 'MinRunTime', message, numbers: { ...numbersOf(overload), minRunTime } };
    }
    default:
      return why satisfies never;
  }
}

/** Why a pod stays although it was short of time: enough has left its node. */
function unneeded(overload: Overload): Reason {
  const { node, load, limit } = overload;
  const message = `stays: without those that leave it ${node} is at ${share(load)}, its limit is ${share(limit)}`;
  return { code: 'NotNeeded', message, numbers: numbersOf(overload) };
}

/** Why a pod stays that should be moved: the plan is full. */
function fullPlan(overload: Overload, limit: number): Reason {
  const message = `stays: ${situation(overload)}, and ${planIsFull(limit)}`;
  return { code: 'MaxMoves', message, numbers: { limit } };
}

/** How many nodes do not take a pod, and why. */
interface Refusals {
  readonly nodes: number;
  /** Overloaded themselves, or nobody knows. */
  readonly overloaded: number;
  /** Would be with the pod. */
  readonly crowded: number;
  /** Refused by a filter. */
  readonly refused: number;
}

/** Why a pod stays that should be moved: no node takes it. */
function whyNoTarget(overload: Overload, { nodes, overloaded, crowded, refused }: Refusals): Reason {
  const parts = [
    `${overloaded} are overloaded or not measured since the last move`,
    `${crowded} would be overloaded with it`,
    `${refused} have no room or do not suit it`,
  ];
  const message = `stays: ${situation(overload)}, and none of the ${nodes} nodes that take part can take it: ${parts.join(', ')}`;
  return { code: 'NoFeasibleNode', message, numbers: { ...numbersOf(overload), nodes, overloaded, crowded, refused } };
}

function situation({ node, load, limit, ready, standing }: Overload): string {
  const state = ready ? 'is Ready' : 'is not Ready';
  return `it ${state} and can wait ${spanOf(standing)}, and ${node} is overloaded (${share(load)}, its limit is ${share(limit)})`;
}

function spanOf(standing: ServicePosition | undefined): string {
  return standing === undefined ? 'for a time that is not known' : span(standing);
}

function numbersOf({ load, limit, standing }: Overload): Readonly<Record<string, number>> {
  const metric = standing?.metric ?? Number.POSITIVE_INFINITY;
  const numbers = { load: toFraction(load), limit: toFraction(limit) };
  return Number.isFinite(metric) ? { ...numbers, timeToViolate: metric } : numbers;
}
