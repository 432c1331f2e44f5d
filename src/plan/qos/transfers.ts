import type { Seconds } from '../../model/units.ts';
import { imagesOn } from '../../qos/startup.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { subjectOf } from '../shapes.ts';
import type { State } from '../state.ts';
import { NO_NEEDS } from '../topology/needs.ts';
import { undoPreemptions } from './admission-needs.ts';
import type { PressureInput, Sufferer } from './pressure.ts';
import type { ServicePosition } from './rules.ts';
import type { PreemptionPassStep } from './steps.ts';

/** A move that is decided. */
export interface Transferral {
  readonly sufferer: Sufferer;
  readonly to: NodeIndex;
  /** 0 to 10. */
  readonly score: number;
}

/** Measured loads of the two nodes of a move. */
interface Loads {
  readonly from: number;
  readonly to: number;
}

/** A pod leaves an overloaded node for another. */
export interface TransferStep {
  readonly kind: 'Transfer';
  readonly pod: PodIndex;
  readonly from: NodeIndex;
  readonly to: NodeIndex;
  readonly standing: ServicePosition;
  readonly ready: boolean;
  /** What the start on `to` is expected to take. */
  readonly start: Seconds;
  /** Places in the sequence of earlier steps that must have left their nodes; ascending. */
  readonly needs: readonly number[];
  /** 0 to 10. */
  readonly score: number;
  /** What it adds to the load of the node that it leaves. */
  readonly load: number;
  readonly limit: number;
  readonly before: Loads;
  readonly after: Loads;
}

/**
 * The moves as steps, with the loads and the needs that each has at its place. `state` and `loads` are where they all have
 * been made, and are there again in the end.
 */
export function sequenceTransfers(
  input: PressureInput,
  earlier: readonly PreemptionPassStep[],
  moves: readonly Transferral[],
): readonly TransferStep[] {
  const { state, loads, limit } = input;
  const needsOf = createNeeds(state, earlier, moves);
  for (const { sufferer, to } of moves) {
    loads.remove(to, sufferer.pod);
    loads.add(sufferer.node, sufferer.pod);
  }
  return moves.map((move, place) => {
    const { pod, node: from, standing, ready } = move.sufferer;
    const { to, score } = move;
    const before = { from: loads.load(from), to: loads.load(to) };
    const load = before.from - loads.without(from, pod);
    loads.remove(from, pod);
    loads.add(to, pod);
    const after = { from: loads.load(from), to: loads.load(to) };
    return {
      kind: 'Transfer',
      pod,
      from,
      to,
      standing,
      ready,
      start: startOn(input, move.sufferer, to),
      needs: needsOf(move, place),
      score,
      load,
      limit,
      before,
      after,
    };
  });
}

/** What the start of a pod on a node is expected to take, by whether that has its images. */
export function startOn(
  { state: { cluster }, standings }: Pick<PressureInput, 'state' | 'standings'>,
  { pod, standing }: Sufferer,
  to: NodeIndex,
): Seconds {
  return standings.startOf(pod, standing, imagesOn(itemAt(cluster.nodes, to), itemAt(cluster.pods, pod)));
}

/**
 * What a move needs: nothing if it is feasible without any preemption, beside the moves and admissions so far that need none
 * either; else all preemptions on its target, and under affinity or spread all preemptions and moves so far.
 */
function createNeeds(
  end: State,
  earlier: readonly PreemptionPassStep[],
  moves: readonly Transferral[],
): (move: Transferral, place: number) => readonly number[] {
  if (moves.length === 0) {
    return () => [];
  }
  const beside = beforeAll(end, earlier, moves);
  const alone = beside.fork();
  const { shapes } = end.cluster;
  return ({ sufferer: { pod }, to }, place) => {
    const isTied = subjectOf(shapes, pod).topology !== NO_NEEDS;
    if (beside.fits(pod, to) && (!isTied || alone.fits(pod, to))) {
      beside.move(pod, to);
      return [];
    }
    const preemptions = earlier.flatMap((step, index) =>
      step.kind === 'Preemption' && (isTied || step.node === to) ? [index] : [],
    );
    return isTied ? [...preemptions, ...moves.slice(0, place).map((_, index) => earlier.length + index)] : preemptions;
  };
}

/** Where pods are when nobody was evicted or moved, and only those were let in who need no eviction. */
function beforeAll(end: State, earlier: readonly PreemptionPassStep[], moves: readonly Transferral[]): State {
  const state = end.fork();
  for (const { sufferer } of moves) {
    state.move(sufferer.pod, sufferer.node);
  }
  undoPreemptions(state, earlier);
  return state;
}
