import type { RepairName } from '../api/v1alpha1/repair.ts';
import { podKey } from '../model/pod.ts';
import type { Cluster } from './cluster.ts';
import type { Evictability } from './evictability.ts';
import { count, percent } from './format.ts';
import { amountAt, at, type IndexTable, itemAt, type NodeIndex, numberAt, type PodIndex } from './indices.ts';
import type { AcceptedMove } from './judge.ts';
import { type LoadTables, meanOf, share, toFraction } from './load.ts';
import { ownerOf } from './owners.ts';
import type { Imbalance, ImbalanceByResource, Reason, Transfer } from './plan.ts';
import { isBudgetCode } from './rejection-codes.ts';
import { countCodes, type Stays } from './rejections.ts';
import { missingCapacity } from './residual-imbalance.ts';
import type { SearchResult } from './search.ts';
import type { SequencedMove } from './sequence.ts';
import type { StartupTimes } from './startup.ts';

/** What a move ends. */
export interface Ended {
  readonly repairs: readonly RepairName[];
  /** Why the pod should not be where it is: a clause for each repair. */
  readonly clauses: readonly string[];
  /** `namespace/name` of the pod for which it makes room. */
  readonly makesRoomFor?: string;
}

/** A move for people, which may be one that does not balance, and then says what it ends, and for which application. */
export type DescribedMove = SequencedMove & { readonly ended?: Ended; readonly application?: string };

const NOTHING_ENDED: Ended = { repairs: [], clauses: [] };

/** The moves for people and other programs, with names instead of places of pods and nodes; `fallbacks` has those of each. */
export function describeMoves(
  cluster: Cluster,
  moves: readonly DescribedMove[],
  fallbacks: readonly (readonly NodeIndex[])[],
  startup: StartupTimes,
): readonly Transfer[] {
  const places = new Map(moves.map(({ pod }, place) => [pod, place]));
  return moves.map((move, place) => ({
    ...describeMove(cluster, move, moves, move.partner === undefined ? undefined : places.get(move.partner), startup),
    fallbacks: (fallbacks[place] ?? []).map((node) => itemAt(cluster.nodes, node).name),
  }));
}

function describeMove(
  { pods, nodes, owners }: Cluster,
  move: DescribedMove,
  moves: readonly SequencedMove[],
  partner: number | undefined,
  startup: StartupTimes,
): Omit<Transfer, 'fallbacks'> {
  const { namespace, name, uid } = itemAt(pods, move.pod);
  const owner = ownerOf(owners, move.pod)?.ref;
  if (owner === undefined) {
    throw new RangeError(`pod ${move.pod} has no controller`);
  }
  const needed = move.needs.map((place) => podKey(itemAt(pods, itemAt(moves, place).pod)));
  const order =
    needed.length === 0 ? '' : `; after ${needed.slice(0, 3).join(', ')}${needed.length > 3 ? ' and more' : ''}`;
  const { repairs, clauses, makesRoomFor } = move.ended ?? NOTHING_ENDED;
  const why = [
    ...clauses,
    `adds ${share(move.load)} to its node: source ${change(move, 'from')}, target ${change(move, 'to')}`,
  ].join('; ');
  return {
    pod: { namespace, name, uid },
    owner: { kind: owner.kind, name: owner.name, uid: owner.uid },
    from: itemAt(nodes, move.from).name,
    to: itemAt(nodes, move.to).name,
    load: toFraction(move.load),
    gain: toFraction(move.gain),
    cost: startup.of(owner.uid),
    reason: `${why}${move.ended === undefined ? `, ${worth(move, pods)}` : ''}${order}`,
    repairs,
    ...(makesRoomFor === undefined ? {} : { makesRoomFor }),
    after: move.needs,
    partner,
    ...(move.application === undefined ? {} : { application: move.application }),
  };
}

function worth({ gain, partner }: SequencedMove, pods: Cluster['pods']): string {
  if (partner === undefined) {
    return gain > 0 ? `the higher one falls by ${share(gain)}` : 'worth it only with the rest of the plan';
  }
  return `worth it only with ${podKey(itemAt(pods, partner))}: together the highest of their nodes falls by ${share(2 * gain)}`;
}

function change({ before, after }: AcceptedMove, node: 'from' | 'to'): string {
  return `${share(before[node])} -> ${share(after[node])}`;
}

/** `spread` is a load, `trigger` a fraction. */
export function balancedMessage(spread: number, trigger: number): string {
  return `highest and lowest node are ${share(spread)} apart, thresholds.trigger is ${percent(trigger)}`;
}

/**
 * The budget that stands in the way of most moves, in its own words, when some would help and budgets allow none of them;
 * `undefined` when no budget does.
 */
export function exhaustedMessage(holds: Evictability, stays: Stays): string | undefined {
  const refused = reasonsOfFree(holds, stays).filter(({ code }) => isBudgetCode(code));
  const [most] = countCodes(refused);
  const example = refused.find(({ code }) => code === most?.[0]);
  if (most === undefined || example === undefined) {
    return undefined;
  }
  return example.code === 'MaxMoves'
    ? example.message
    : `${example.code} keeps ${count(most[1], 'pod')} where ${most[1] === 1 ? 'it is' : 'they are'}: ${example.message}`;
}

/** What stands in the way when no move helps, most frequent first, and what capacity is missing if any is. */
export function unhelpedMessage(
  { discarded }: SearchResult,
  cluster: Cluster,
  holds: Evictability,
  stays: Stays,
): string {
  const codes = countCodes(reasonsOfFree(holds, stays));
  const reasons = codes.map(([code, times]) => `${code} ${times}`).join(', ');
  const why =
    discarded ??
    `no move helps; ${count(
      codes.reduce((sum, [, times]) => sum + times, 0),
      'pod',
    )} that may be moved stay: ${reasons}`;
  const missing = missingCapacity(cluster);
  return missing === '' ? why : `${why}; ${missing}`;
}

/** Why those stay that neither a protection nor a PodDisruptionBudget holds. */
function reasonsOfFree({ of }: Evictability, { places, reasons }: Stays): readonly Reason[] {
  return reasons.filter((_, position) => of(numberAt(places, position)) === undefined);
}

/**
 * How uneven every resource of the policy is when pod `i` is on node `nodeOf[i]` (algorithms.md 1, imbalance; KSE eq. 1 for
 * `ema`). Without a resource that no node offers: no load is not a load of nothing.
 */
export function imbalanceOf(tables: LoadTables, nodeOf: IndexTable<PodIndex, NodeIndex>): ImbalanceByResource {
  const isOffered = (index: number): boolean => itemAt(tables.allocatable, index).some((amount) => amount > 0);
  const entries = tables.usage.resources.flatMap((name, index) =>
    isOffered(index) ? [[name, measure(tables, nodeOf, index)] as const] : [],
  );
  return Object.fromEntries(entries);
}

/** Fractions of the nodes that offer the resource. */
function measure(tables: LoadTables, nodeOf: IndexTable<PodIndex, NodeIndex>, index: number): Imbalance {
  const used = Float64Array.from(itemAt(tables.floors, index));
  const values = itemAt(tables.usage.values, index);
  for (let pod = 0; pod < nodeOf.length; pod += 1) {
    const node = at(nodeOf, pod);
    if (node >= 0) {
      used[node] = amountAt(used, node) + amountAt(values, pod);
    }
  }
  const capacities = itemAt(tables.allocatable, index);
  const loads = used
    .map((value, node) => value / amountAt(capacities, node))
    .filter((_, node) => amountAt(capacities, node) > 0);
  return summarize(loads, meanOf(tables, nodeOf, index));
}

function summarize(loads: Float64Array, mean: number): Imbalance {
  let absolute = 0;
  let squared = 0;
  let max = 0;
  let min = Number.POSITIVE_INFINITY;
  for (const load of loads) {
    absolute += Math.abs(load - mean);
    squared += (load - mean) ** 2;
    max = Math.max(max, load);
    min = Math.min(min, load);
  }
  const nodes = Math.max(1, loads.length);
  return {
    mean,
    ema: absolute / nodes,
    stddev: Math.sqrt(squared / nodes),
    range: max - min,
    max,
  };
}
