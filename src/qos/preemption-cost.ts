import type { Contender } from './eligibility.ts';

/** What it costs to evict some pods, to be compared with compareCosts. */
export interface PreemptionCost {
  /** Of the victims below their margin, the most important rank first; a rank without any is absent. */
  readonly below: readonly Shortfall[];
  /** Sum of Q - sigma of the victims above it. */
  readonly above: number;
  readonly victims: number;
}

/** What victims of one rank lack. */
export interface Shortfall {
  readonly importance: number;
  /** Sum of Q - sigma: negative. */
  readonly sum: number;
}

/** No victim is below its margin. One list for all, since most evictions that are thought of cost as little. */
export const NONE_BELOW: PreemptionCost['below'] = [];

/** The cost of evicting these. */
export function preemptionCost(victims: readonly Contender[]): PreemptionCost {
  let below = NONE_BELOW;
  let above = 0;
  for (const { metric, safetyMargin, importance } of victims) {
    const slack = metric - safetyMargin;
    if (slack < 0) {
      below = withShortfall(below, importance, slack);
    } else {
      above += slack;
    }
  }
  return { below, above, victims: victims.length };
}

/** The list with one victim more, that lacks so much. */
export function withShortfall(
  below: PreemptionCost['below'],
  importance: number,
  lack: number,
): PreemptionCost['below'] {
  const own = below.find((shortfall) => shortfall.importance === importance);
  const others = own === undefined ? below : below.filter((shortfall) => shortfall !== own);
  return [...others, { importance, sum: (own?.sum ?? 0) + lack }].sort(
    (one, other) => one.importance - other.importance,
  );
}

/**
 * Negative when `left` costs less (algorithms.md 6): class by class from the most important, the sum of those below their
 * margin nearer to 0; then the larger sum of those above it; then fewer victims. 0 when all are equal.
 */
export function compareCosts(left: PreemptionCost, right: PreemptionCost): number {
  const below = compareBelow(left.below, right.below);
  if (below !== 0) {
    return below;
  }
  // Compared, not subtracted: best effort is infinitely far from its margin.
  if (left.above !== right.above) {
    return left.above > right.above ? -1 : 1;
  }
  return left.victims - right.victims;
}

/** By the most important rank in which they differ. */
function compareBelow(left: PreemptionCost['below'], right: PreemptionCost['below']): number {
  for (let [one, other] = [0, 0]; one < left.length || other < right.length; ) {
    const [ours, theirs] = [left[one], right[other]];
    const rank = Math.min(ours?.importance ?? Number.POSITIVE_INFINITY, theirs?.importance ?? Number.POSITIVE_INFINITY);
    const ourSum = ours?.importance === rank ? ours.sum : 0;
    const theirSum = theirs?.importance === rank ? theirs.sum : 0;
    if (ourSum !== theirSum) {
      return theirSum - ourSum;
    }
    one += Number(ours?.importance === rank);
    other += Number(theirs?.importance === rank);
  }
  return 0;
}
