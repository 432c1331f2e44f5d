import type { MovePhase } from '../api/v1alpha1/rebalance-plan.ts';
import { parseInstant } from '../model/instant.ts';
import { isDisruption, kindOf } from '../model/move.ts';
import { type EpochSeconds, elapsed } from '../model/units.ts';
import { begunApplications, givenUp } from './applications.ts';
import { type Elsewhere, type JournalEntry, LONGEST_REST } from './move.ts';
import { isFinal, isInFlight } from './transitions.ts';

/** Whose turn it is. */
export interface ReadyMoves {
  /** Planned moves that may begin now, in the order of the plan. */
  readonly ready: readonly JournalEntry[];
  /** Planned moves that can never begin, with the reason. */
  readonly hopeless: readonly { readonly entry: JournalEntry; readonly why: string }[];
}

/** How many pods may be missing at a time. */
export interface Limits {
  /** Moves in flight of one policy. */
  readonly maxConcurrent: number;
  /** Moves in flight of all policies. */
  readonly maxInFlight: number;
}

/** No other plan is being carried out. */
export const NOTHING_ELSEWHERE: Elsewhere = { ofPolicy: [], ofOthers: [] };

/**
 * Planned moves that may begin: as many as the limits leave beside those in flight, one at a time of an owner and
 * to a node, so that the live check sees all that takes room there, and none before the moves that it needs have landed. Applications
 * that have begun come first; one of which a move has ended before any has begun is not moved at all.
 *
 * An admission takes nothing from anybody: neither a limit nor its owner keeps it, and it counts against none. The same goes for a
 * removal, whose pod serves nobody, and for a move from a failed node, but that one waits for another of its owner until the two
 * replacements can be told apart. Admissions and moves from failed nodes wait for another to their node only until the pod of that one
 * is bound there, which takes its room where the live check sees it.
 */
export function readyMoves(
  journal: readonly JournalEntry[],
  { ofPolicy, ofOthers }: Elsewhere,
  { maxConcurrent, maxInFlight }: Limits,
  now: EpochSeconds,
): ReadyMoves {
  const inFlight = [...journal.filter(({ run }) => isInFlight(run.phase)), ...ofPolicy];
  const all = [...inFlight, ...ofOthers];
  const busy = createOccupied(all);
  const unbound = createOccupied(all.filter(({ run }) => run.replacement?.node === undefined));
  const planned = inTurn(journal);
  const lost = givenUp(journal);
  const hopeless = planned.flatMap((entry) => {
    const why = hopelessness(entry, journal, lost);
    return why === undefined ? [] : [{ entry, why }];
  });
  const isHopeless = new Set(hopeless.map(({ entry }) => entry));
  const ready: JournalEntry[] = [];
  const elsewhere = ofOthers.filter(({ move }) => isDisruption(move)).length;
  const most = Math.min(maxConcurrent, maxInFlight - elsewhere);
  let disruptions = inFlight.filter(({ move }) => isDisruption(move)).length;
  for (const entry of planned) {
    const { move, run } = entry;
    const disrupts = isDisruption(move);
    const others = disrupts ? busy : unbound;
    const isOverLimit = disrupts && disruptions >= most;
    if (
      !isOverLimit &&
      !isHopeless.has(entry) &&
      !others.keep(entry) &&
      !rests(run, now) &&
      needsAreMet(entry, journal)
    ) {
      busy.add(entry);
      unbound.add(entry);
      disruptions += disrupts ? 1 : 0;
      ready.push(entry);
    }
  }
  return { ready, hopeless };
}

/** Planned moves, in the order of the plan, but first those of applications that have begun, so that few are ever moved in part. */
function inTurn(journal: readonly JournalEntry[]): readonly JournalEntry[] {
  const begun = begunApplications(journal);
  const rank = ({ move }: JournalEntry): number => (begun.has(move.application ?? '') ? 0 : 1);
  return journal.filter(({ run }) => run.phase === 'Planned').sort((left, right) => rank(left) - rank(right));
}

/** Owners and nodes at which something is under way. */
interface Occupied {
  /** A move begins; what has no replacement to be told apart makes no other of its owner wait. */
  readonly add: (entry: JournalEntry) => void;
  /** Whether a move has to wait for one of its owner, which those without a replacement never have to, or for one to its node. */
  readonly keep: (entry: JournalEntry) => boolean;
}

function createOccupied(entries: readonly JournalEntry[]): Occupied {
  const owners = new Set(entries.flatMap(({ move }) => (kindOf(move) === 'Removal' ? [] : move.owner.uid)));
  const targets = new Set(entries.flatMap(({ move }) => move.to ?? []));
  return {
    add: ({ move }) => {
      if (waitsForOwner(move)) {
        owners.add(move.owner.uid);
      }
      if (move.to !== undefined) {
        targets.add(move.to);
      }
    },
    keep: ({ move }) =>
      (waitsForOwner(move) && owners.has(move.owner.uid)) || (move.to !== undefined && targets.has(move.to)),
  };
}

function waitsForOwner(move: JournalEntry['move']): boolean {
  const kind = kindOf(move);
  return kind !== 'Admission' && kind !== 'Removal';
}

/** A rest longer than any that is given was written by another clock than ours, or before ours was set back: it is over. */
function rests({ notBefore }: JournalEntry['run'], now: EpochSeconds): boolean {
  const left = notBefore === undefined ? 0 : elapsed(now, parseInstant(notBefore));
  return left > 0 && left <= LONGEST_REST;
}

function needsOf({ move }: JournalEntry, journal: readonly JournalEntry[]): readonly JournalEntry[] {
  return (move.after ?? []).flatMap((index) => journal[index] ?? []);
}

/** Phases of a move that has left its node for good, as one that needs it has hoped. */
const LEFT: ReadonlySet<MovePhase> = new Set(['Landed', 'Missed', 'Vacated']);

function needsAreMet(entry: JournalEntry, journal: readonly JournalEntry[]): boolean {
  return needsOf(entry, journal).every(({ run }) => LEFT.has(run.phase));
}

/** Why a move can never begin; `givenUp` has the applications that are not moved, with the move that has ended. */
function hopelessness(
  entry: JournalEntry,
  journal: readonly JournalEntry[],
  givenUp: ReadonlyMap<string, JournalEntry>,
): string | undefined {
  const lost = needsOf(entry, journal).find(({ run }) => isFinal(run.phase) && !LEFT.has(run.phase));
  if (lost !== undefined) {
    return `it needs ${podOf(lost)} to move first, which was ${lost.run.phase}`;
  }
  const { application = '' } = entry.move;
  const other = givenUp.get(application);
  return (
    other && `it goes with the other moves of application ${application}, and ${podOf(other)} was ${other.run.phase}`
  );
}

function podOf({ move: { pod } }: JournalEntry): string {
  return `${pod.namespace}/${pod.name}`;
}
