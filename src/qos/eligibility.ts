import type { Seconds } from '../model/units.ts';

/** What eligibility is judged by, of one who waits or one who runs. */
export interface Contender {
  /** Q, see time-to-violate.ts. */
  readonly metric: Seconds;
  /** sigma of its class. */
  readonly safetyMargin: Seconds;
  /** Rank of its class: 1 is the most important. */
  readonly importance: number;
}

/** One who runs, and may have to make room. */
export interface Incumbent extends Contender {
  /** Its preemption overhead is at the limit of its class. */
  readonly overheadSpent: boolean;
}

/**
 * Whether `incumbent` may be evicted for `claimant` (algorithms.md 6, QoS 3): never for an equal or less important one once its
 * overhead is spent; while it is above its margin for whoever is worse off; below its margin only for one below its own
 * that is more important, or as important and worse off.
 */
export function isEligible(incumbent: Incumbent, claimant: Contender): boolean {
  return claimant.metric < eligibilityBound(incumbent, claimant);
}

/**
 * The Q below which a claimant of this rank and margin may take the place of `incumbent`; -Infinity: never. So whether it
 * may is one comparison, which can be remembered while the two wait for their turn.
 */
export function eligibilityBound(incumbent: Incumbent, claimant: Omit<Contender, 'metric'>): number {
  const moreImportant = claimant.importance < incumbent.importance;
  if (incumbent.overheadSpent && !moreImportant) {
    return Number.NEGATIVE_INFINITY;
  }
  if (incumbent.metric >= incumbent.safetyMargin) {
    return incumbent.metric;
  }
  if (moreImportant) {
    return claimant.safetyMargin;
  }
  const isEqual = claimant.importance === incumbent.importance;
  return isEqual ? Math.min(claimant.safetyMargin, incumbent.metric) : Number.NEGATIVE_INFINITY;
}
