import type { NodeIndex, PodIndex } from '../indices.ts';
import { toLoad } from '../load.ts';
import type { State } from '../state.ts';
import type { LoadOrder } from './load-order.ts';
import type { WayTerms } from './search-terms.ts';
import type { Proposal } from './strategy.ts';
import type { Targets } from './targets.ts';

/** Two moves that are made together or not at all, in this order. */
export type Pair = readonly [Proposal, Proposal];

/** What each of two moves that go together gains at least: half a point of node capacity, the default of minGain. */
const LEAST_GAIN = toLoad(0.005);

/** What two moves that go together must gain at least for two evictions to pay for themselves. Loads. */
export function pairMinimum(minGain: number): number {
  return 2 * Math.max(minGain, LEAST_GAIN);
}

/** The lightest nodes that a stuck node looks for help from. */
const PARTNERS = 16;
/** Candidates that are tried in full, the most promising first. */
const TRIED = 12;

interface Candidate {
  readonly pair: Pair;
  /** Load of the highest of the nodes afterwards, as far as can be told without making the moves. */
  readonly after: number;
}

/**
 * What helps `node` when no single move does, the better of:
 * - a swap: a pod of the node for a smaller one of a lighter node;
 * - a chain: a pod of the node to a lighter one that first gives a pod to a third.
 * Two evictions must pay for themselves: the highest of the nodes falls by at least `pairMinimum`. `undefined` when
 * nothing is found among the lightest nodes. `state` is as it was afterwards.
 */
export function bestPairFrom(
  state: State,
  node: NodeIndex,
  order: LoadOrder,
  targets: Targets,
  { minGain, allows }: WayTerms,
): Pair | undefined {
  const limit = state.load(node) - pairMinimum(minGain);
  const leaving = state.movablePodsOn(node).filter(allows);
  const candidates: Candidate[] = [];
  for (let position = 0; position < Math.min(PARTNERS, order.size); position += 1) {
    const partner = order.at(position);
    if (partner !== node && state.load(partner) < limit) {
      const helping = state.movablePodsOn(partner).filter(allows);
      keep(candidates, bestSwap(state, [node, leaving], [partner, helping], limit));
      keep(candidates, bestChain(state, [node, leaving], [partner, helping], targets, limit));
    }
  }
  candidates.sort((left, right) => left.after - right.after);
  for (const { pair } of candidates.slice(0, TRIED)) {
    const ordered = payingOrder(state, pair, minGain);
    if (ordered !== undefined) {
      return ordered;
    }
  }
  return undefined;
}

function keep(candidates: Candidate[], candidate: Candidate | undefined): void {
  if (candidate !== undefined) {
    candidates.push(candidate);
  }
}

type Side = readonly [node: NodeIndex, pods: readonly PodIndex[]];

function bestSwap(state: State, [high, leaving]: Side, [low, helping]: Side, limit: number): Candidate | undefined {
  const [highLoad, lowLoad] = [state.load(high), state.load(low)];
  const entering = helping.map((pod) => state.loadWith(pod, high) - highLoad);
  const freed = helping.map((pod) => lowLoad - state.loadWithout(pod));
  let best: Candidate | undefined;
  for (const pod of leaving) {
    const [rest, filled] = [state.loadWithout(pod), state.loadWith(pod, low)];
    helping.forEach((other, place) => {
      const after = Math.max(rest + (entering[place] ?? 0), filled - (freed[place] ?? 0));
      if (after <= limit && (best === undefined || after < best.after)) {
        best = {
          after,
          pair: [
            { pod, to: low },
            { pod: other, to: high },
          ],
        };
      }
    });
  }
  return best;
}

function bestChain(
  state: State,
  [, leaving]: Side,
  [middle, helping]: Side,
  targets: Targets,
  limit: number,
): Candidate | undefined {
  const middleLoad = state.load(middle);
  let best: Candidate | undefined;
  for (const helper of helping) {
    const low = targets.leastLoaded(helper, { below: Number.POSITIVE_INFINITY, upTo: limit });
    if (low < 0 || low === middle) {
      continue;
    }
    const freed = middleLoad - state.loadWithout(helper);
    const filled = state.loadWith(helper, low);
    for (const pod of leaving) {
      const after = Math.max(filled, state.loadWithout(pod), state.loadWith(pod, middle) - freed);
      if (after <= limit && low !== state.nodeOf(pod) && (best === undefined || after < best.after)) {
        best = {
          after,
          pair: [
            { pod: helper, to: low },
            { pod, to: middle },
          ],
        };
      }
    }
  }
  return best;
}

/** The order of the two moves in which both are feasible and pay; `undefined` when there is none. */
export function payingOrder(state: State, [first, second]: Pair, minGain: number): Pair | undefined {
  const orders: readonly Pair[] = [
    [first, second],
    [second, first],
  ];
  return orders.find((pair) => pairGain(state, pair) >= pairMinimum(minGain));
}

/**
 * By how much the highest of the nodes falls when both moves are made, a load; -Infinity when one of them is not feasible in
 * its turn. `state` is as it was afterwards.
 */
export function pairGain(state: State, [first, second]: Pair): number {
  const homes = [state.nodeOf(first.pod), state.nodeOf(second.pod)] as const;
  const nodes = [...homes, first.to, second.to];
  const highest = (): number => nodes.reduce((most, node) => Math.max(most, state.load(node)), 0);
  if (first.pod === second.pod || homes[0] === first.to || homes[1] === second.to || !state.fits(first.pod, first.to)) {
    return Number.NEGATIVE_INFINITY;
  }
  const before = highest();
  state.move(first.pod, first.to);
  let gain = Number.NEGATIVE_INFINITY;
  if (state.fits(second.pod, second.to)) {
    state.move(second.pod, second.to);
    gain = before - highest();
    state.move(second.pod, homes[1]);
  }
  state.move(first.pod, homes[0]);
  return gain;
}
