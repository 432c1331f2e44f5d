import { kindOf } from '../../model/move.ts';
import type { PastMove } from '../../model/past-move.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../../model/units.ts';
import type { Cluster } from '../cluster.ts';
import { inSeconds } from '../format.ts';
import { itemAt } from '../indices.ts';
import { ownerOf } from '../owners.ts';
import type { Budget, BudgetRefusal } from './budget.ts';

/** How far cooldown and quarantine look back, and the longest cooldown (execution.md, anti-thrash). */
export const LOOK_BACK: Seconds = seconds(24 * 3600);
/** How long the pods of a controller stay after one of them came back to a node that it had left. */
const QUARANTINE: Seconds = LOOK_BACK;
/** Misses in a row that hold a controller. */
const MISSES = 2;

/** Why pods stay because of what was moved before. */
export interface Rest {
  readonly code: 'Cooldown' | 'Quarantine';
  readonly message: string;
  /** `remaining`: seconds until it is over. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** What past moves forbid. Controllers are named by uid, nodes by name. */
export interface Cooldowns {
  /** Why no pod of the controller leaves `node` now. */
  readonly ofSource: (owner: string, node: string) => Rest | undefined;
  /** Why none goes to `node` now. */
  readonly ofTarget: (owner: string, node: string) => Rest | undefined;
  /** Whether some target may be forbidden at all. */
  readonly barsTargets: boolean;
}

/** Nothing was moved before, or nobody wants to know. */
export const NO_COOLDOWNS: Cooldowns = {
  ofSource: () => undefined,
  ofTarget: () => undefined,
  barsTargets: false,
};

/**
 * Cooldown and quarantine as past moves have it at the time of the snapshot; `base` is `protections.cooldown`, 0 switches
 * all of it off. Of each controller that was moved in the last 24 h:
 *
 * - its pods do not leave a node that pods of it were moved from or to less than a cooldown ago, and do not go to one that
 *   they were moved away from. The cooldown of (controller, node) is `base`, doubled with each change of direction, that
 *   is when pods come to a node that others had left, or the reverse; up to 24 h. Moves that go on in one direction do
 *   not double it: they drain a hot node, which is what plans are for, and not thrash;
 * - two or more misses in a row hold all of its pods for `base`, doubled with each miss more;
 * - a pod that came back to a node that it, or the pods that it replaces, had left holds all of them for 24 h.
 */
export function cooldowns({ pastMoves, takenAt }: ClusterSnapshot, base: Seconds): Cooldowns {
  const recent = pastMoves.filter(
    (move) => kindOf(move) === 'Transfer' && elapsed(move.endedAt ?? move.startedAt, takenAt) < LOOK_BACK,
  );
  if (!(base > 0) || recent.length === 0) {
    return NO_COOLDOWNS;
  }
  const byOwner = Map.groupBy(recent, ({ owner }) => owner.uid);
  const known = new Map<string, OwnerRest>();
  const restOf = (owner: string): OwnerRest | undefined => {
    const moves = byOwner.get(owner);
    if (moves === undefined) {
      return undefined;
    }
    const rest = known.get(owner) ?? ownerRest(moves, base, takenAt);
    known.set(owner, rest);
    return rest;
  };
  return {
    ofSource: (owner, node) => {
      const rest = restOf(owner);
      return rest?.everywhere ?? rest?.onNodes.get(node)?.leaving;
    },
    ofTarget: (owner, node) => restOf(owner)?.onNodes.get(node)?.coming,
    barsTargets: true,
  };
}

/** What the past moves of one controller forbid. */
interface OwnerRest {
  readonly everywhere: Rest | undefined;
  readonly onNodes: ReadonlyMap<string, { readonly leaving: Rest | undefined; readonly coming: Rest | undefined }>;
}

function ownerRest(moves: readonly PastMove[], base: Seconds, now: EpochSeconds): OwnerRest {
  const visits = Map.groupBy(moves.flatMap(visitsOf), ({ node }) => node);
  const onNodes = [...visits].map(([node, events]) => [node, nodeRest(node, events, base, now)] as const);
  return { everywhere: quarantine(moves, now) ?? missed(moves, base, now), onNodes: new Map(onNodes) };
}

/** A pod left a node, or arrived on one. */
interface Visit {
  readonly node: string;
  readonly at: EpochSeconds;
  readonly kind: 'Left' | 'Arrived';
}

function visitsOf(move: PastMove): readonly Visit[] {
  const left: Visit = { node: move.from, at: move.startedAt, kind: 'Left' };
  const landed = landedOn(move);
  return landed === undefined || landed === move.from
    ? [left]
    : [left, { node: landed, at: move.endedAt ?? move.startedAt, kind: 'Arrived' }];
}

/** Where the replacement is, or is meant to be while it has no node; `undefined` when there is none. */
function landedOn({ replacement, phase, to }: PastMove): string | undefined {
  return replacement?.node ?? (phase === 'InFlight' ? to : undefined);
}

function nodeRest(
  node: string,
  events: readonly Visit[],
  base: Seconds,
  now: EpochSeconds,
): { readonly leaving: Rest | undefined; readonly coming: Rest | undefined } {
  const inOrder = events.toSorted((a, b) => a.at - b.at || (a.kind < b.kind ? 1 : -1));
  const turns = inOrder.filter(({ kind }, index) => index > 0 && inOrder[index - 1]?.kind !== kind).length;
  const span = doubled(base, turns);
  const restSince = (last: Visit | undefined): Rest | undefined => {
    if (last === undefined) {
      return undefined;
    }
    const what = last.kind === 'Left' ? 'left' : 'came to';
    return rest('Cooldown', `pods of its controller ${what} ${node}`, last.at, span, now);
  };
  return { leaving: restSince(inOrder.at(-1)), coming: restSince(inOrder.findLast(({ kind }) => kind === 'Left')) };
}

/** Two replacements in a row, or more, that landed on another node than planned. */
function missed(moves: readonly PastMove[], base: Seconds, now: EpochSeconds): Rest | undefined {
  const ended = moves
    .filter(({ phase }) => phase === 'Landed' || phase === 'Missed')
    .toSorted((a, b) => (a.endedAt ?? a.startedAt) - (b.endedAt ?? b.startedAt));
  const inRow = ended.length - 1 - ended.findLastIndex(({ phase }) => phase === 'Landed');
  const last = ended.at(-1);
  if (last === undefined || inRow < MISSES) {
    return undefined;
  }
  const what = `${inRow} replacements in a row landed elsewhere than planned, the last one on ${last.replacement?.node}`;
  return rest('Cooldown', what, last.endedAt ?? last.startedAt, doubled(base, inRow - MISSES), now);
}

/** The newest return of a pod, through its replacements, to a node that it had left. */
function quarantine(moves: readonly PastMove[], now: EpochSeconds): Rest | undefined {
  const before = new Map(moves.flatMap((move) => (move.replacement ? [[move.replacement.uid, move] as const] : [])));
  const returns = moves.flatMap((move): readonly Rest[] => {
    const what = returnOf(move, before);
    if (what === undefined) {
      return [];
    }
    const found = rest('Quarantine', what, move.endedAt ?? move.startedAt, QUARANTINE, now);
    return found === undefined ? [] : [found];
  });
  return returns.toSorted((a, b) => (b.numbers['remaining'] ?? 0) - (a.numbers['remaining'] ?? 0))[0];
}

/** How the pod, or a replacement of it, came back to a node that it had left; `undefined` when it did not. */
function returnOf(move: PastMove, before: ReadonlyMap<string, PastMove>): string | undefined {
  const landed = landedOn(move);
  if (landed === move.from) {
    return `a pod of its controller left ${landed} and landed straight back there`;
  }
  const path = landed === undefined ? undefined : returnPath(move, landed, before);
  return path === undefined ? undefined : `a pod of its controller was moved ${path.join(' -> ')}`;
}

/** Nodes from the one that the pod had left before up to its return; `undefined` when it is no return. */
function returnPath(
  move: PastMove,
  landed: string,
  before: ReadonlyMap<string, PastMove>,
): readonly string[] | undefined {
  const path = [move.from, landed];
  const seen = new Set([move]);
  for (let earlier = before.get(move.pod.uid); earlier !== undefined; earlier = before.get(earlier.pod.uid)) {
    if (seen.has(earlier)) {
      return undefined;
    }
    seen.add(earlier);
    path.unshift(earlier.from);
    if (earlier.from === landed) {
      return path;
    }
  }
  return undefined;
}

function doubled(base: Seconds, times: number): Seconds {
  return seconds(Math.min(LOOK_BACK, base * 2 ** times));
}

/** `undefined` when it is over. An event of the future, by another clock, is one of now. */
function rest(
  code: Rest['code'],
  what: string,
  since: EpochSeconds,
  span: Seconds,
  now: EpochSeconds,
): Rest | undefined {
  const ago = Math.max(0, elapsed(since, now));
  const remaining = Math.ceil(span - ago);
  if (!(remaining > 0)) {
    return undefined;
  }
  const word = code === 'Cooldown' ? 'cooldown' : 'quarantine';
  const message = `${what} ${inSeconds(Math.round(ago))} ago: ${word} for another ${inSeconds(remaining)}`;
  return { code, message, numbers: { remaining, span } };
}

/** Refuses targets that pods of the controller were moved away from; `undefined` when past moves forbid none. */
export function targetCooldown({ ofTarget, barsTargets }: Cooldowns, { nodes, owners }: Cluster): Budget | undefined {
  if (!barsTargets) {
    return undefined;
  }
  return {
    check: (pod, to) => {
      const node = to === undefined ? undefined : itemAt(nodes, to).name;
      const owner = ownerOf(owners, pod)?.ref.uid;
      const rested = node === undefined || owner === undefined ? undefined : ofTarget(owner, node);
      return rested === undefined ? undefined : toRefusal(rested);
    },
    spend: () => undefined,
    refund: () => undefined,
  };
}

function toRefusal({ message, numbers }: Rest): BudgetRefusal {
  return { code: 'Cooldown', message, numbers };
}
