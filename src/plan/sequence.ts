import { amountAt, at, itemAt, type NodeIndex } from './indices.ts';
import type { AcceptedMove } from './judge.ts';
import type { State, StateView } from './state.ts';
import { type Pair, pairGain, pairMinimum } from './strategies/pairs.ts';
import type { MayLeave } from './strategies/strategy.ts';

/** A move at its place in the sequence. */
export interface SequencedMove extends AcceptedMove {
  /** Places in the sequence of earlier moves without which this one is not feasible; ascending. */
  readonly needs: readonly number[];
}

/** One move, or two that go together. */
type Unit = readonly AcceptedMove[];

/**
 * Puts moves that are judged one by one in the order in which they help most: each time the one, of those that are
 * feasible and gain enough by then, whose node is the highest; so that a plan that is cut short has done what mattered
 * most. Where that order gets stuck, since some move was worth it only earlier, the order in which they were accepted
 * stands. `start` is the state before all of them.
 */
export function sequence(
  start: StateView,
  accepted: readonly AcceptedMove[],
  minGain: number,
  mayLeave: MayLeave,
): readonly AcceptedMove[] {
  const state = start.fork();
  const ordered: AcceptedMove[] = [];
  const queue = createQueue(state, unitsOf(accepted));
  while (queue.size() > 0) {
    const next = queue.take((unit) => isWorth(state, unit, minGain, mayLeave));
    if (next === undefined) {
      return accepted;
    }
    ordered.push(...carryOut(state, next));
    queue.update(next);
  }
  return ordered;
}

/** Units that wait for their turn, by the load of the highest node that they leave. */
interface Queue {
  readonly size: () => number;
  /** Takes out the first that is worth it, the one that leaves the highest node first; ties in the order of the units. */
  readonly take: (isWorthIt: (unit: Unit) => boolean) => Unit | undefined;
  /** The unit was carried out, so that the loads of its nodes have changed. */
  readonly update: (done: Unit) => void;
}

function createQueue(state: StateView, units: readonly Unit[]): Queue {
  const keyOf = (unit: Unit): number => unit.reduce((most, { from }) => Math.max(most, state.load(from)), 0);
  const leaving = new Map<NodeIndex, number[]>();
  units.forEach((unit, place) => {
    for (const { from } of unit) {
      leaving.set(from, [...(leaving.get(from) ?? []), place]);
    }
  });
  const keys = Float64Array.from(units, keyOf);
  const waiting = new Set(units.keys());
  const highest = (): number => {
    let best = -1;
    for (const place of waiting) {
      best = best < 0 || amountAt(keys, place) > amountAt(keys, best) ? place : best;
    }
    return best;
  };
  const firstOf = (places: Iterable<number>, isWorthIt: (unit: Unit) => boolean): number => {
    for (const place of places) {
      const unit = units[place];
      if (unit !== undefined && isWorthIt(unit)) {
        return place;
      }
    }
    return -1;
  };
  return {
    size: () => waiting.size,
    take: (isWorthIt) => {
      const atOnce = firstOf([highest()], isWorthIt);
      const place =
        atOnce >= 0
          ? atOnce
          : firstOf(
              [...waiting].sort((left, right) => amountAt(keys, right) - amountAt(keys, left)),
              isWorthIt,
            );
      waiting.delete(place);
      return units[place];
    },
    update: (done) => {
      for (const place of done.flatMap(({ from, to }) => [...(leaving.get(from) ?? []), ...(leaving.get(to) ?? [])])) {
        keys[place] = keyOf(units[place] ?? []);
      }
    },
  };
}

function unitsOf(moves: readonly AcceptedMove[]): readonly Unit[] {
  return moves.flatMap((move, place): readonly Unit[] => {
    const before = moves[place - 1];
    if (move.partner !== undefined && before?.pod === move.partner && before.partner === move.pod) {
      return [];
    }
    const behind = moves[place + 1];
    return [move.partner === undefined || behind === undefined ? [move] : [move, behind]];
  });
}

function isWorth(state: State, unit: Unit, minGain: number, mayLeave: MayLeave): boolean {
  const [first, second] = unit;
  if (first === undefined || !unit.some(({ from }) => mayLeave(state, from))) {
    return false;
  }
  return second === undefined
    ? state.fits(first.pod, first.to) && state.gain(first.pod, first.to) >= Math.max(minGain, 1)
    : pairGain(state, [first, second]) >= pairMinimum(minGain);
}

function carryOut(state: State, unit: Unit): readonly AcceptedMove[] {
  const [first, second] = unit;
  const pair: Pair | undefined = first === undefined || second === undefined ? undefined : [first, second];
  const shared = pair === undefined ? undefined : pairGain(state, pair) / 2;
  return unit.map((move) => {
    const { pod, from, to, partner } = move;
    const gain = shared ?? state.gain(pod, to);
    const load = state.load(from) - state.loadWithout(pod);
    const before = { from: state.load(from), to: state.load(to) };
    state.move(pod, to);
    return { pod, from, to, load, gain, before, after: { from: state.load(from), to: state.load(to) }, partner };
  });
}

/** What makes moves worth it that are judged one by one, or two by two. */
export interface Worth {
  /** A load. */
  readonly minGain: number;
  readonly mayLeave: MayLeave;
}

/**
 * Finds out which moves need others first: a move that is not feasible where the plan starts needs those that leave its
 * target up to the one after which it is, and that one itself where affinity or spread stood in the way. With `worth` the same
 * goes for moves that are not worth it there, which need those that come to their node, too. So a move that only the plan's
 * order makes worth it does not begin before what it follows from, which may end otherwise. The second of two moves that go
 * together needs the first.
 */
export function withNeeds(start: StateView, moves: readonly AcceptedMove[], worth?: Worth): readonly SequencedMove[] {
  const state = start.fork();
  const asked = askedOf(moves, worth);
  const verdicts = createVerdicts(state, moves, asked);
  return moves.map((move, place) => {
    const needs = needsOf(moves, place, verdicts.openerOf(place), itemAt(asked, place));
    state.move(move.pod, move.to);
    verdicts.update(place);
    return { ...move, needs };
  });
}

/** What one verdict is about: a move, or two that go together and are judged by what they gain. */
interface Asked {
  readonly unit: Unit;
  /** `undefined`: the filters alone count. */
  readonly worth: Worth | undefined;
}

/** By place: of two moves that go together the first is asked about for both. */
function askedOf(moves: readonly AcceptedMove[], worth: Worth | undefined): readonly Asked[] {
  const unitOf = new Map(worth === undefined ? [] : unitsOf(moves).map((unit) => [unit[0], unit]));
  return moves.map((move) => {
    const unit = unitOf.get(move);
    return unit === undefined ? { unit: [move], worth: undefined } : { unit, worth };
  });
}

/** Whether moves may begin, while those before them are made. */
interface Verdicts {
  /** Place of the last move after which this one may begin; `undefined` when none has changed that. */
  readonly openerOf: (place: number) => number | undefined;
  /** The move at this place was made: asks again about those behind it on whose verdicts it may have a bearing. */
  readonly update: (place: number) => void;
}

function createVerdicts(state: State, moves: readonly AcceptedMove[], asked: readonly Asked[]): Verdicts {
  const isGood = ({ unit, worth }: Asked): boolean =>
    worth === undefined
      ? unit.every(({ pod, to }) => state.fits(pod, to))
      : isWorth(state, unit, worth.minGain, worth.mayLeave);
  const known = asked.map(isGood);
  const openers = new Map<number, number>();
  const dependents = dependentsOf(state, moves, asked);
  return {
    openerOf: (place) => openers.get(place),
    update: (place) => {
      for (const later of dependents(place)) {
        if (later > place) {
          const isGoodNow = isGood(itemAt(asked, later));
          if (isGoodNow && known[later] === false) {
            openers.set(later, place);
          }
          known[later] = isGoodNow;
        }
      }
    },
  };
}

/**
 * Places of the moves on whose verdicts one may have a bearing: those whose target is one of its ends, or whose nodes are where
 * gains are asked for, and those of pods whose affinity or spread counts its pod.
 */
function dependentsOf(
  { cluster }: StateView,
  moves: readonly AcceptedMove[],
  asked: readonly Asked[],
): (place: number) => ReadonlySet<number> {
  const { trackersOf, ofPod } = cluster.shapes;
  const { countedBy } = cluster.sites.counts.topologyIndex;
  const touching = new Map<NodeIndex, Set<number>>();
  const watching = new Map<number, Set<number>>();
  asked.forEach(({ unit, worth }, place) => {
    for (const { pod, from, to } of unit) {
      for (const node of worth === undefined ? [to] : [from, to]) {
        addTo(touching, node, place);
      }
      for (const tracker of itemAt(trackersOf, at(ofPod, pod))) {
        addTo(watching, tracker, place);
      }
    }
  });
  return (place) => {
    const { pod, from, to } = itemAt(moves, place);
    const onNodes = [from, to].flatMap((node) => [...(touching.get(node) ?? [])]);
    const tied = [...countedBy(pod)].flatMap((tracker) => [...(watching.get(tracker) ?? [])]);
    return new Set([...onNodes, ...tied]);
  };
}

function addTo(places: Map<number, Set<number>>, key: number, place: number): void {
  const known = places.get(key) ?? new Set();
  places.set(key, known.add(place));
}

function needsOf(
  moves: readonly AcceptedMove[],
  place: number,
  opener: number | undefined,
  { unit, worth }: Asked,
): readonly number[] {
  const needs = new Set<number>();
  const move = moves[place];
  if (move?.partner !== undefined && moves[place - 1]?.pod === move.partner) {
    needs.add(place - 1);
  }
  if (opener !== undefined) {
    needs.add(opener);
    for (let earlier = 0; earlier < opener; earlier += 1) {
      const { from, to } = itemAt(moves, earlier);
      if (unit.some((each) => from === each.to || (worth !== undefined && to === each.from))) {
        needs.add(earlier);
      }
    }
  }
  return [...needs].sort((left, right) => left - right);
}
