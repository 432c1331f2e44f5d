import type { PodInfo } from '../../model/pod.ts';
import type { Budgets } from '../budgets/index.ts';
import { at, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { Reason } from '../plan.ts';
import type { Wish } from '../repair/rule.ts';
import type { TargetSearch } from '../repair/targets.ts';
import { shapeOf } from '../shapes.ts';
import type { State } from '../state.ts';
import { compareImportance, compareVictims } from '../victim-order.ts';
import { covers, fewestThatCover, type Shortage, shortageOf } from './shortage.ts';
import { subsets } from './subsets.ts';

/** A pod that leaves, and where it can go, the best first. */
export interface Departure {
  readonly pod: PodIndex;
  readonly targets: readonly [NodeIndex, ...NodeIndex[]];
}

/** Departures after which the pod fits on the node, in their order. */
export interface Room {
  readonly node: NodeIndex;
  readonly departures: readonly Departure[];
}

/** What room is looked for in. */
export interface RoomSearch {
  readonly state: State;
  readonly budgets: Budgets;
  readonly search: TargetSearch;
  /** Pods that were on a node at the start and have not left it. */
  readonly residentsOf: (node: NodeIndex) => readonly PodIndex[];
  /** Why the scope or a protection holds a pod, or a PodDisruptionBudget that allows nothing. */
  readonly holdOf: (pod: PodIndex) => Reason | undefined;
  /** Whether there is another node for the pod as things are, whatever budgets say. */
  readonly canLeave: (pod: PodIndex) => boolean;
  /** Whether any waiting pod is pinned to the node, among others: those that leave go there last. */
  readonly isPinnedTo: (node: NodeIndex) => boolean;
  /** How many of those are still to be served. */
  readonly wantedBy: (node: NodeIndex) => number;
}

/** Sets of pods of one node for which targets are looked for; beyond them the pods that free most leave. */
const MOST_TRIALS = 100;
/** Sets of pods of one node that are looked at. */
const MOST_SETS = 5000;
/** Searches for a target for one waiting pod, all nodes together. */
const MOST_SEARCHES = 1000;
/** Nodes among which the best is chosen where as few moves do on all of them. */
const MOST_ROOMS = 8;

/**
 * Room for a pod on one of `nodes` by the fewest moves; of as few the one whose most important pod is the least important (see
 * victim-order.ts), and so on. `undefined`: there is none. State and budgets are as before.
 */
export function findRoom(within: RoomSearch, pod: PodIndex, nodes: readonly NodeIndex[]): Room | undefined {
  const attempt = { ...within, pod, left: { searches: MOST_SEARCHES } };
  const places = nodes
    .map((node) => placeOf(attempt, node))
    .filter(({ least }) => least < Number.POSITIVE_INFINITY)
    .sort((left, right) => left.least - right.least);
  const most = Math.max(0, ...places.map(({ candidates }) => candidates.length));
  for (let size = 1; size <= most; size += 1) {
    const open = places.filter(({ least }) => least <= size);
    const found = bestOf(attempt, open, (place) => exactly(attempt, place, size));
    if (found !== undefined) {
      return found;
    }
  }
  return bestOf(attempt, places, (place) => largestFirst(attempt, place));
}

/** A search for room for one pod. */
interface Attempt extends RoomSearch {
  readonly pod: PodIndex;
  /** What may still be looked for. */
  readonly left: { searches: number };
}

function bestOf(
  attempt: Attempt,
  places: readonly Place[],
  roomOn: (place: Place) => Room | undefined,
): Room | undefined {
  const found: Room[] = [];
  for (const place of places) {
    const room = roomOn(place);
    if (room !== undefined) {
      found.push(room);
    }
    if (found.length === MOST_ROOMS) {
      break;
    }
  }
  return found.sort((left, right) => compareRooms(attempt, left, right))[0];
}

/** A node that might get room, and the pods that might leave it, those that are moved first at the front. */
interface Place {
  readonly node: NodeIndex;
  readonly candidates: readonly PodIndex[];
  readonly shortage: Shortage;
  /** What each of them gives back. */
  readonly given: readonly (readonly number[])[];
  /** Fewest of them that could do. */
  readonly least: number;
  /** What may still be tried there. */
  readonly left: { trials: number; sets: number };
}

function placeOf(attempt: Attempt, node: NodeIndex): Place {
  const { state, budgets, residentsOf, holdOf, pod, canLeave } = attempt;
  const { pods, siteOf } = state.cluster;
  const room = state.whereabouts.freeCapacityOf(at(siteOf, node));
  const shortage = shortageOf(itemAt(pods, pod).constraints, room);
  const candidates = residentsOf(node)
    .filter((each) => holdOf(each) === undefined && budgets.check(each) === undefined && canLeave(each))
    .sort(victimOrder(attempt, node));
  const given = candidates.map((each) => shortage.givenBackBy(itemAt(pods, each).constraints));
  const least = fewestThatCover(shortage.amounts, given);
  return { node, candidates, shortage, given, least, left: { trials: MOST_TRIALS, sets: MOST_SETS } };
}

/**
 * The least important first. Of pods that are as important the youngest; or the largest where others want the node as well: one
 * move may then do for several of them.
 */
function victimOrder({ state, wantedBy }: RoomSearch, node: NodeIndex): (left: PodIndex, right: PodIndex) => number {
  const { pods } = state.cluster;
  const bySize = wantedBy(node) > 0 ? sizeOrder(pods) : () => 0;
  return (left, right) => {
    const [one, other] = [itemAt(pods, left), itemAt(pods, right)];
    return compareImportance(one, other) || bySize(left, right) || compareVictims(one, other) || left - right;
  };
}

function exactly(attempt: Attempt, place: Place, size: number): Room | undefined {
  const { candidates, given, shortage, left, node } = place;
  for (const chosen of subsets(candidates.length, size, twinTest(attempt.state, candidates))) {
    left.sets -= 1;
    if (left.sets < 0 || left.trials <= 0 || attempt.left.searches <= 0) {
      return undefined;
    }
    const back = chosen.map((index) => given[index] ?? []);
    if (covers(shortage.amounts, back)) {
      left.trials -= 1;
      const victims = chosen.map((index) => itemAt(candidates, index));
      const departures = depart(attempt, node, largest(attempt.state, victims));
      if (departures !== undefined) {
        return { node, departures };
      }
    }
  }
  return undefined;
}

/** Pods of one controller that the filters cannot tell apart, nor the order of victims but for their age. */
function twinTest({ cluster }: State, candidates: readonly PodIndex[]): (place: number) => boolean {
  const keyOf = (pod: PodIndex): string => {
    const { priority, qosClass, deletionCost } = itemAt(cluster.pods, pod);
    return `${shapeOf(cluster.shapes, pod)} ${at(cluster.owners.ofPod, pod)} ${priority} ${qosClass} ${deletionCost}`;
  };
  const keys = candidates.map(keyOf);
  return (place) => place > 0 && keys[place] === keys[place - 1];
}

/** What finds a target with more difficulty goes first. */
function largest({ cluster }: State, victims: readonly PodIndex[]): readonly PodIndex[] {
  const bySize = sizeOrder(cluster.pods);
  return victims.toSorted((left, right) => bySize(left, right) || left - right);
}

/** The pod that requests more CPU first, then more memory. */
function sizeOrder(pods: readonly PodInfo[]): (left: PodIndex, right: PodIndex) => number {
  const of = (pod: PodIndex) => itemAt(pods, pod).constraints.requests;
  return (left, right) => of(right).cpu - of(left).cpu || of(right).memory - of(left).memory;
}

/** Targets for all of `victims` so that the pod fits once they have gone; state and budgets are as before. */
function depart(
  attempt: Attempt,
  node: NodeIndex,
  [victim, ...others]: readonly PodIndex[],
): readonly Departure[] | undefined {
  const { state, budgets, pod } = attempt;
  if (victim === undefined) {
    return state.passes(pod, node) ? [] : undefined;
  }
  if (budgets.check(victim) !== undefined) {
    return undefined;
  }
  const targets = targetsOf(attempt, victim);
  budgets.spend(victim);
  let departures: readonly Departure[] | undefined;
  for (const to of targets) {
    state.move(victim, to);
    const further = depart(attempt, node, others);
    state.move(victim, node);
    if (further !== undefined) {
      departures = [{ pod: victim, targets: [to, ...targets.filter((each) => each !== to)] }, ...further];
      break;
    }
  }
  budgets.refund(victim);
  return departures;
}

/** The best first; none once too much has been looked for. */
function targetsOf({ search, left, isPinnedTo }: Attempt, victim: PodIndex): readonly NodeIndex[] {
  left.searches -= 1;
  return left.searches < 0 ? [] : search.best(victim, awayFrom(isPinnedTo)).map(({ node }) => node);
}

/** Nodes that a waiting pod is pinned to are kept for it where there are others. */
function awayFrom(isPinnedTo: RoomSearch['isPinnedTo']): Wish {
  return { rankOf: (node) => (isPinnedTo(node) ? 1 : 0) };
}

/** Too many sets to try them all: the pods that free most leave, each that has a target, until it is enough. */
function largestFirst(attempt: Attempt, { node, candidates, left }: Place): Room | undefined {
  const { state, budgets, search, isPinnedTo, pod } = attempt;
  if (left.trials > 0 && left.sets >= 0 && attempt.left.searches > 0) {
    return undefined;
  }
  const gone: Departure[] = [];
  for (const victim of largest(state, candidates)) {
    if (state.passes(pod, node)) {
      break;
    }
    const [best, ...rest] = search.best(victim, awayFrom(isPinnedTo)).map((found) => found.node);
    if (best !== undefined && budgets.check(victim) === undefined) {
      gone.push({ pod: victim, targets: [best, ...rest] });
      budgets.spend(victim);
      state.move(victim, best);
    }
  }
  const departures = state.passes(pod, node) ? gone : undefined;
  for (const { pod: victim } of gone.toReversed()) {
    state.move(victim, node);
    budgets.refund(victim);
  }
  return departures && { node, departures };
}

function compareRooms({ state, wantedBy }: RoomSearch, left: Room, right: Room): number {
  const byNumber = left.departures.length - right.departures.length;
  if (byNumber !== 0) {
    return byNumber;
  }
  const { pods } = state.cluster;
  const ranked = ({ departures }: Room): readonly PodInfo[] =>
    departures.map(({ pod }) => itemAt(pods, pod)).sort((one, other) => compareVictims(other, one));
  const [ours, theirs] = [ranked(left), ranked(right)];
  const freed = ({ departures }: Room): number =>
    departures.reduce((sum, { pod }) => sum + itemAt(pods, pod).constraints.requests.cpu, 0);
  const first = (compare: typeof compareVictims): number =>
    ours.map((each, place) => compare(each, itemAt(theirs, place))).find((order) => order !== 0) ?? 0;
  return (
    first(compareImportance) ||
    (wantedBy(left.node) > 0 && wantedBy(right.node) > 0 ? freed(right) - freed(left) : 0) ||
    wantedBy(left.node) - wantedBy(right.node) ||
    first(compareVictims) ||
    left.node - right.node
  );
}
