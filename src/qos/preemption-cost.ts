import type { Contender } from './eligibility.ts';

/** What it costs to evict some pods, to be compared with compareCosts. */
export interface PreemptionCost {
  /** Sums of Q - sigma of the victims below their margin, by importance: negative. A rank without any is absent. */
  readonly below: ReadonlyMap<number, number>;
  /** Sum of Q - sigma of the victims above it. */
  readonly above: number;
  readonly victims: number;
}

/** No victim is below its margin. One map for all, since most evictions that are thought of cost as little. */
export const NONE_BELOW: PreemptionCost['below'] = new Map();

/** The cost of evicting these. */
export function preemptionCost(victims: readonly Contender[]): PreemptionCost {
  let below: Map<number, number> | undefined;
  let above = 0;
  for (const { metric, safetyMargin, importance } of victims) {
    const slack = metric - safetyMargin;
    if (slack < 0) {
      below ??= new Map();
      below.set(importance, (below.get(importance) ?? 0) + slack);
    } else {
      above += slack;
    }
  }
  return { below: below ?? NONE_BELOW, above, victims: victims.length };
}

/**
 * Negative when `left` costs less (algorithms.md 6): class by class from the most important, the sum of those below their
 * margin nearer to 0; then the larger sum of those above it; then fewer victims. 0 when all are equal.
 */
export function compareCosts(left: PreemptionCost, right: PreemptionCost): number {
  if (left.below.size > 0 || right.below.size > 0) {
    const ranks = [...new Set([...left.below.keys(), ...right.below.keys()])].sort((one, other) => one - other);
    for (const rank of ranks) {
      const difference = (right.below.get(rank) ?? 0) - (left.below.get(rank) ?? 0);
      if (difference !== 0) {
        return difference;
      }
    }
  }
  // Compared, not subtracted: best effort is infinitely far from its margin.
  if (left.above !== right.above) {
    return left.above > right.above ? -1 : 1;
  }
  return left.victims - right.victims;
}
