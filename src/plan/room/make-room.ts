import { podKey } from '../../model/pod.ts';
import type { Budgets } from '../budgets/index.ts';
import { describeRefusal } from '../filters/refusal.ts';
import { count } from '../format.ts';
import { at, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { Reason } from '../plan.ts';
import { isBudgetCode } from '../rejection-codes.ts';
import { countCodes } from '../rejections.ts';
import type { TargetSearch } from '../repair/targets.ts';
import { shapeOf } from '../shapes.ts';
import type { State } from '../state.ts';
import { type Departure, findRoom, type RoomSearch } from './find-room.ts';
import { createSeats, type Seats } from './seats.ts';
import { type PinnedPod, pinnedPods } from './waiting.ts';

/** What room is made with. */
export interface RoomRun {
  readonly state: State;
  readonly budgets: Budgets;
  readonly search: TargetSearch;
  /** Why the scope or a protection holds the pod, or a PodDisruptionBudget that allows nothing. */
  readonly holdOf: (pod: PodIndex) => Reason | undefined;
  /** Makes the move. */
  readonly move: (departure: Departure, makesRoomFor: string) => void;
}

/** What came of it. */
export interface MadeRoom {
  /** The node of each pod that gets room, or has it. */
  readonly seats: ReadonlyMap<PodIndex, NodeIndex>;
  /** What there is to say of each pinned pod. */
  readonly reasons: ReadonlyMap<PodIndex, Reason>;
  /** Those that get no room. */
  readonly unserved: readonly PodIndex[];
}

/** No pod waits. */
export const NO_ROOM_NEEDED: MadeRoom = { seats: new Map(), reasons: new Map(), unserved: [] };

/**
 * Serves the pinned ones of `waiting` one after the other (repair.md, room for pinned pods; PHARE 4.10.1): moves pods away, as few
 * as it takes, that can run elsewhere, and leaves the waiting pod on its node in the state, so that nothing that follows gets its
 * room. All moves for a pod, or none.
 */
export function makeRoom(waiting: readonly PodIndex[], run: RoomRun): MadeRoom {
  const { state } = run;
  const pinned = pinnedPods(state, waiting);
  const demand = createDemand(state.cluster.nodes.length, pinned);
  const within = searchIn(run, demand);
  const seats = createSeats(state, within.wantedBy);
  const reasons = new Map<PodIndex, Reason>();
  const failures = new Map<string, Reason>();
  const unserved: PodIndex[] = [];
  for (const each of pinned) {
    demand.serve(each);
    const key = `${shapeOf(state.cluster.shapes, each.pod)} ${each.nodes.join()}`;
    const known = failures.get(key);
    const { reason, hasMoves } =
      known === undefined ? serve(each, run, within, seats) : { reason: known, hasMoves: false };
    reasons.set(each.pod, reason);
    if (hasMoves) {
      failures.clear();
    }
    if (!seats.nodeOf.has(each.pod)) {
      failures.set(key, reason);
      unserved.push(each.pod);
    }
  }
  return { seats: seats.nodeOf, reasons, unserved };
}

/** What pods want of nodes. */
interface Demand extends Pick<RoomSearch, 'isPinnedTo' | 'wantedBy'> {
  /** It is the pod's turn. */
  readonly serve: (pinned: PinnedPod) => void;
}

function createDemand(size: number, pinned: readonly PinnedPod[]): Demand {
  const wanted = new Int32Array(size);
  for (const node of pinned.flatMap(({ nodes }) => nodes)) {
    wanted[node] = at(wanted, node) + 1;
  }
  const atStart = wanted.slice();
  return {
    isPinnedTo: (node) => at(atStart, node) > 0,
    wantedBy: (node) => at(wanted, node),
    serve: ({ nodes }) => {
      for (const node of nodes) {
        wanted[node] = at(wanted, node) - 1;
      }
    },
  };
}

/** Pods are listed by node once; those that have left, and those that came, are left out. */
function searchIn({ state, budgets, search, holdOf }: RoomRun, { isPinnedTo, wantedBy }: Demand): RoomSearch {
  const { home, nodes } = state.cluster;
  const residents: PodIndex[][] = Array.from(nodes, () => []);
  home.forEach((node, pod) => {
    if (node >= 0) {
      itemAt(residents, node).push(pod);
    }
  });
  const residentsOf = (node: NodeIndex): readonly PodIndex[] =>
    itemAt(residents, node).filter((pod) => state.nodeOf(pod) === node);
  const canLeave = exitTest(state);
  return { state, budgets, search, residentsOf, holdOf, canLeave, isPinnedTo, wantedBy };
}

/** Two nodes that fit are looked for once for all pods of one shape, until something moves: one of them is not the pod's own. */
function exitTest(state: State): (pod: PodIndex) => boolean {
  const known = new Map<string, readonly NodeIndex[]>();
  let changes = -1;
  return (pod) => {
    if (changes !== state.changes.count()) {
      known.clear();
      changes = state.changes.count();
    }
    const key = `${shapeOf(state.cluster.shapes, pod)} ${state.surroundings(pod)}`;
    const exits = known.get(key) ?? twoThatFit(state, pod);
    known.set(key, exits);
    return exits.some((node) => node !== state.nodeOf(pod));
  };
}

function twoThatFit(state: State, pod: PodIndex): readonly NodeIndex[] {
  const found: NodeIndex[] = [];
  for (const node of state.cluster.nodes.keys()) {
    if (found.length < 2 && state.couldHold(pod, node) && state.fits(pod, node)) {
      found.push(node);
    }
  }
  return found;
}

interface Served {
  readonly reason: Reason;
  readonly hasMoves: boolean;
}

function serve(pinned: PinnedPod, run: RoomRun, within: RoomSearch, seats: Seats): Served {
  const { pods, nodes } = run.state.cluster;
  if (seats.seat(pinned)) {
    const name = itemAt(nodes, seats.nodeOf.get(pinned.pod) ?? -1).name;
    return { reason: waits(`${name} has room for it, which the plan leaves free`, 0), hasMoves: false };
  }
  const room = findRoom(within, pinned.pod, pinned.nodes);
  if (room === undefined) {
    return { reason: whyNone(pinned, within), hasMoves: false };
  }
  for (const departure of room.departures) {
    run.move(departure, podKey(itemAt(pods, pinned.pod)));
  }
  seats.seatOn(pinned, room.node);
  const moves = room.departures.length;
  const made = `${count(moves, 'move')} of the plan ${moves === 1 ? 'makes' : 'make'} room for it`;
  return { reason: waits(`${made} on ${itemAt(nodes, room.node).name}`, moves), hasMoves: true };
}

function waits(why: string, moves: number): Reason {
  return { code: 'Pending', message: `has no node yet: ${why}`, numbers: { moves } };
}

/** What is missing: on a node where a budget stands in the way, or else on the one that most pods could leave. */
function whyNone({ pod, nodes }: PinnedPod, within: RoomSearch): Reason {
  const obstacles = nodes.map((node) => obstacleOn(node, pod, within));
  const [best = NOTHING_TO_LEAVE] = obstacles.toSorted((left, right) => rankOf(left) - rankOf(right));
  const where = nodes.length === 1 ? 'the only node' : `any of ${nodes.length} nodes`;
  const numbers = { nodes: nodes.length, ...best.numbers };
  const message = `has no node, and no room can be made for it on ${where} that it may run on: ${best.message}`;
  return { code: best.code, message, numbers };
}

const NOTHING_TO_LEAVE: Reason = { code: 'NoFeasibleNode', message: 'there is none', numbers: {} };

function rankOf({ code, numbers: { mayLeave = 0 } }: Reason): number {
  return isBudgetCode(code) ? Number.NEGATIVE_INFINITY : -mayLeave;
}

function obstacleOn(node: NodeIndex, pod: PodIndex, within: RoomSearch): Reason {
  const { state, budgets, residentsOf, holdOf, canLeave } = within;
  const { name } = itemAt(state.cluster.nodes, node);
  const refusal = state.refusal(pod, node);
  const lack = refusal === undefined ? `${name} is full` : `${name} ${describeRefusal(refusal)}`;
  const residents = residentsOf(node);
  const holds = residents.flatMap((each) => holdOf(each) ?? []);
  const movable = residents.filter((each) => holdOf(each) === undefined);
  const refused = movable.flatMap((each) => budgets.check(each) ?? []);
  const [budget] = refused;
  const mayLeave = movable.filter(canLeave).length;
  const numbers = { pods: residents.length, movable: movable.length, mayLeave };
  if (budget !== undefined) {
    const blocks = `a budget blocks ${refused.length} of ${count(movable.length, 'pod')} that may be moved`;
    return { code: budget.code, message: `${lack}, and ${blocks}: ${budget.message}`, numbers };
  }
  if (residents.length === 0) {
    return { code: 'NoFeasibleNode', message: `${lack}; no pod is left there that could make room`, numbers };
  }
  const held =
    holds.length === 0
      ? ''
      : ` (${countCodes(holds)
          .map(([code, times]) => `${code} ${times}`)
          .join(', ')})`;
  const rest = `of ${count(residents.length, 'pod')} there ${movable.length} may be moved${held}, and ${mayLeave} of them fit elsewhere`;
  return { code: 'NoFeasibleNode', message: `${lack}; ${rest}`, numbers };
}
