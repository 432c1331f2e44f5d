import type { Contender } from '../../qos/eligibility.ts';
import type { PreemptionCost } from '../../qos/preemption-cost.ts';
import { waitingBudget, waitingTime } from '../../qos/waiting-time.ts';
import { isOversold } from './oversold.ts';
import { type ContestRules, compareNumbers, leastCost } from './rules.ts';
import type { Standing } from './standings.ts';

/** A start may cost at most one part in so many of the quiet time that an eviction buys. */
const STARTS_PER_QUIET = 40;
/** Quiet time that suffices in any case, however long starts take: this share of what a request may lose in its window. */
const QUIET_SHARE = 1 / 4;
/**
 * Equals change places when one can wait longer than the other by this share of what they may lose in their window. Above a
 * half, so that they change places once in a window, each way.
 */
const GAP_SHARE = 0.6;

/**
 * Ours: the metric is how long a pod can still wait within the window of its class, not what it has had since admission. A
 * pod claims room when that is nearly over, and gets it from whoever can wait longest; whoever is evicted then waits for as
 * long, and nobody has to be evicted for it before. So that evictions are few,
 *
 * - nobody is evicted who could wait only for a few starts more than its margin, except by the more important;
 * - equals even out before it comes to that, and when there is too little for all, but only over a wide gap.
 *
 * Who was promised everything can never wait, and is never evicted for an equal.
 */
export const STANDARD: ContestRules = {
  trustIn: (survey, promises) => (isOversold(survey, promises) ? 'WholeWindow' : 'NoLonger'),
  metricOf: waitingTime,
  compare: (left, right) => {
    const [leftUrgent, rightUrgent] = [isUrgent(left), isUrgent(right)];
    if (leftUrgent && rightUrgent && left.importance !== right.importance) {
      return left.importance - right.importance;
    }
    return Number(rightUrgent) - Number(leftUrgent) || compareNumbers(left.metric, right.metric);
  },
  boundOf,
  costOf,
  bestCase: (residents, claimant) => leastCost(residents, claimant, boundOf, costOf),
  spares: true,
};

function boundOf(incumbent: Standing, claimant: Omit<Contender, 'metric'>): number {
  if (claimant.importance < incumbent.importance) {
    return claimant.safetyMargin;
  }
  if (incumbent.overheadSpent) {
    return Number.NEGATIVE_INFINITY;
  }
  const fair = claimant.importance === incumbent.importance ? evenedOut(incumbent) : Number.NEGATIVE_INFINITY;
  return canWait(incumbent) ? Math.max(claimant.safetyMargin, fair) : Math.min(claimant.safetyMargin, fair);
}

function isUrgent({ metric, safetyMargin }: Pick<Standing, 'metric' | 'safetyMargin'>): boolean {
  return metric < safetyMargin;
}

/** Whether an eviction buys quiet time that is worth it. */
function canWait(incumbent: Standing): boolean {
  return slackOf(incumbent) >= quietOf(incumbent);
}

function slackOf({ metric, safetyMargin }: Standing): number {
  return metric - safetyMargin;
}

function quietOf({ alpha, serviceClass }: Standing): number {
  return Math.min(STARTS_PER_QUIET * alpha, QUIET_SHARE * waitingBudget(serviceClass));
}

/** The metric below which an equal is so much worse off that the two change places. */
function evenedOut({ metric, serviceClass }: Standing): number {
  const budget = waitingBudget(serviceClass);
  return budget > 0 ? metric - GAP_SHARE * budget : Number.NEGATIVE_INFINITY;
}

/**
 * Class by class what those lose who cannot wait, then how long all of them can, for each that is evicted: of two evictions
 * each must buy as much quiet time as one would.
 */
function costOf(victims: readonly Standing[]): PreemptionCost {
  const below = new Map<number, number>();
  let least = Number.POSITIVE_INFINITY;
  for (const victim of victims) {
    const slack = slackOf(victim);
    least = Math.min(least, slack);
    if (!canWait(victim)) {
      below.set(victim.importance, (below.get(victim.importance) ?? 0) + slack - quietOf(victim));
    }
  }
  return { below, above: least / victims.length, victims: victims.length };
}
