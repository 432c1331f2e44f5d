import { expectedHitRatio } from '../hit-ratio.ts';
import { at, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { type AcceptedMove, carryOut } from '../judge.ts';
import { type DescribedMove, describeMoves } from '../outcome.ts';
import type { Move, Plan, Transfer } from '../plan.ts';
import type { PlanningInput } from '../planning-input.ts';
import { withNeeds } from '../sequence.ts';
import type { State } from '../state.ts';
import { pairGain } from '../strategies/pairs.ts';
import type { Relocating, RepairMove } from './stage.ts';

/** The moves of a strategy and of the repairs before it in one sequence, in which no pod is moved twice. */
export interface Joined {
  readonly moves: readonly Transfer[];
  readonly expectedHitRatio: number | undefined;
}

/**
 * Sends pods that a strategy would move on from where repairs have put them there at once. `undefined` when the moves have no
 * order in which each is feasible.
 */
export function joined(plan: Plan, relocating: Relocating, input: PlanningInput): Joined | undefined {
  const { cluster, start } = relocating;
  const units = unitsOf(plan.moves, relocating);
  const ordered = units && inOrder(start.fork(), units);
  if (ordered === undefined) {
    return undefined;
  }
  const accepted = ordered.map(({ accepted: move }) => move);
  const sequenced: readonly DescribedMove[] = withNeeds(start, accepted).map((move, place) => {
    const { ended } = itemAt(ordered, place).wanted;
    return ended === undefined ? move : { ...move, ended };
  });
  const fallbacks = ordered.map(({ wanted: { fallbacks } }) => fallbacks);
  return {
    moves: describeMoves(cluster, sequenced, fallbacks, input.history.startup),
    expectedHitRatio: expectedHitRatio(start, accepted),
  };
}

/** A move of either stage, or of both. */
interface WantedMove extends Pick<DescribedMove, 'pod' | 'to' | 'ended'> {
  readonly fallbacks: readonly NodeIndex[];
  readonly mayBreakSoft: boolean;
}

/** One move, or two that go together. */
type Unit = readonly [WantedMove] | readonly [WantedMove, WantedMove];

/**
 * The repairs first; a pod that comes back to its node is not moved at all. Two moves of which one repairs are not bound to each
 * other: the repair is made for its own sake, and what they gain together is known only where the repairs have put the pods.
 */
function unitsOf(moves: readonly Move[], { cluster, repairs }: Relocating): readonly Unit[] | undefined {
  const repairOf = new Map(repairs.map((move) => [move.pod, move]));
  const wanted = translated(moves, cluster, repairOf);
  if (wanted === undefined) {
    return undefined;
  }
  const staysAtHome = ({ pod, to }: WantedMove): boolean => at(cluster.home, pod) === to;
  if (wanted.some((move) => staysAtHome(move) && repairOf.get(move.pod)?.mustStartAnew === true)) {
    return undefined;
  }
  const isSecond = (place: number): boolean => place > 0 && moves[place]?.partner === place - 1;
  const units = moves.flatMap((_, place): readonly Unit[] => {
    const places = isSecond(place) ? [] : isSecond(place + 1) ? [place, place + 1] : [place];
    const away = places.map((each) => itemAt(wanted, each)).filter((move) => !staysAtHome(move));
    const [first, second] = away;
    return first === undefined || second === undefined || away.some(({ ended }) => ended !== undefined)
      ? away.map((move): Unit => [move])
      : [[first, second]];
  });
  const further = new Set(wanted.map(({ pod }) => pod));
  const alone = repairs.filter(({ pod }) => !further.has(pod)).map((move): Unit => [move]);
  const isRepair = (unit: Unit): boolean => unit.some(({ ended }) => ended !== undefined);
  return [...alone, ...units.filter(isRepair), ...units.filter((unit) => !isRepair(unit))];
}

/** The moves of the strategy by places in the cluster of the repairs; `undefined`: one is to nowhere there. */
function translated(
  moves: readonly Move[],
  { pods, nodes }: Relocating['cluster'],
  repairOf: ReadonlyMap<PodIndex, RepairMove>,
): readonly WantedMove[] | undefined {
  const podOf = new Map(pods.map(({ uid }, place) => [uid, place]));
  const nodeOf = new Map(nodes.map(({ name }, place) => [name, place]));
  const placesOf = (names: readonly string[]): readonly NodeIndex[] => names.flatMap((name) => nodeOf.get(name) ?? []);
  const found = moves.flatMap(({ pod: { uid }, to, fallbacks }): readonly WantedMove[] => {
    const [pod, node] = [podOf.get(uid), nodeOf.get(to ?? '')];
    if (pod === undefined || node === undefined) {
      return [];
    }
    const { ended, mayBreakSoft = false } = repairOf.get(pod) ?? {};
    return [{ pod, to: node, fallbacks: placesOf(fallbacks), mayBreakSoft, ...(ended && { ended }) }];
  });
  return found.length === moves.length ? found : undefined;
}

interface OrderedMove {
  readonly accepted: AcceptedMove;
  readonly wanted: WantedMove;
}

/**
 * The units on `state`, each where it is feasible, else behind those that make it so; `undefined`: some never are. Where all that
 * are left wait for each other, a repair goes first that may break soft rules. All of them hold again where the moves end.
 */
function inOrder(state: State, units: readonly Unit[]): readonly OrderedMove[] | undefined {
  const done: OrderedMove[] = [];
  let waiting = units;
  for (let before = -1; before !== waiting.length; ) {
    before = waiting.length;
    waiting = waiting.filter((unit) => {
      const ordered = carriedOut(state, unit);
      done.push(...ordered);
      return ordered.length === 0;
    });
    const opener = waiting.length === before ? waiting.find((unit) => opensTheWay(state, unit)) : undefined;
    if (opener !== undefined) {
      done.push(madeAlone(state, opener[0]));
      waiting = waiting.filter((unit) => unit !== opener);
    }
  }
  return waiting.length === 0 ? done : undefined;
}

function opensTheWay(state: State, [{ pod, to, mayBreakSoft }]: Unit): boolean {
  return mayBreakSoft && state.passes(pod, to) && state.breach(pod, to)?.soft !== false;
}

function madeAlone(state: State, wanted: WantedMove): OrderedMove {
  const { pod, to } = wanted;
  return { accepted: { ...carryOut(state, wanted, state.gain(pod, to)), partner: undefined }, wanted };
}

/** Empty where the unit is not feasible, or two that go together gain nothing. */
function carriedOut(state: State, unit: Unit): readonly OrderedMove[] {
  const [first, second] = unit;
  if (second === undefined) {
    return state.fits(first.pod, first.to) ? [madeAlone(state, first)] : [];
  }
  const gain = pairGain(state, [first, second]) / 2;
  return gain > 0
    ? [
        { accepted: { ...carryOut(state, first, gain), partner: second.pod }, wanted: first },
        { accepted: { ...carryOut(state, second, gain), partner: first.pod }, wanted: second },
      ]
    : [];
}
