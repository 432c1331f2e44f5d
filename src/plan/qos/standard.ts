import { seconds } from '../../model/units.ts';
import type { Contender } from '../../qos/eligibility.ts';
import { NONE_BELOW, type PreemptionCost, withShortfall } from '../../qos/preemption-cost.ts';
import { waitingAllowance, waitingTime } from '../../qos/waiting-time.ts';
import { compareNumbers, leastCost, type PreemptionRules, type ServicePosition } from './rules.ts';

/**
 * How much quiet time an eviction must buy, in geometric means of a start and of what the victim may lose. Longer turns cost
 * fewer starts; shorter ones leave less of the room with those who have more than they were promised.
 */
const QUIET_FACTOR = 2.8;
/** Quiet time that suffices in any case: this share of what the victim may lose, but not less than so many starts. */
const QUIET_SHARE = 1 / 2;
const QUIET_STARTS = 4;
/** Who can still wait changes places with an equal that can wait for so much less: this share of what it may lose. */
const WIDE_GAP = 0.6;
/**
 * Who can no longer wait changes places with an equal that is worse off by the quiet time, or by this share of what it may
 * lose where that is more: with very short starts the quiet time alone would make turns many.
 */
const NARROW_GAP = 0.07;
/**
 * A younger request has turns as long as one that is so many starts old. It may lose so little that its own turns would be
 * short and many, and it can still make good what a longer turn costs it.
 */
const YOUTH_STARTS = 800;
/** A margin is at most this share of what a request may lose, or so many starts: else it makes the SLO a stricter one. */
const MARGIN_SHARE = 1 / 20;
const MARGIN_STARTS = 2;

/**
 * Ours (algorithms.md 6): the metric is how long a pod can still wait within the window of its class, or since its admission
 * when that is later. A pod claims room when that is nearly over, and gets it from whoever can wait longest; whoever is
 * evicted then waits for as long, and nobody has to be evicted for it before. So that starts do not use up the room,
 *
 * - an eviction must buy quiet time that is worth a start, unless the claimant is more important;
 * - where nobody can give that, equals change places when one is worse off than the other by a share of what they may lose:
 *   so they fall short by about the same when there is too little for all.
 *
 * All of this is in proportion to what a request may lose: margins at its age, turns at that age or `YOUTH_STARTS`. A request
 * that was promised everything can never wait, and is never evicted for an equal.
 */
export const STANDARD: PreemptionRules = {
  metricOf: waitingTime,
  marginOf: ({ safetyMargin, slo }, allowance, alpha) =>
    slo < 1 ? seconds(Math.min(safetyMargin, Math.max(MARGIN_SHARE * allowance, MARGIN_STARTS * alpha))) : safetyMargin,
  compare: (left, right) => {
    const [leftUrgent, rightUrgent] = [isUrgent(left), isUrgent(right)];
    if (leftUrgent && rightUrgent && left.importance !== right.importance) {
      return left.importance - right.importance;
    }
    return Number(rightUrgent) - Number(leftUrgent) || compareNumbers(left.metric, right.metric);
  },
  boundOf,
  costOf,
  bestCaseFor: (claimant) => leastCost(claimant, boundOf, costOf),
  spares: true,
};

function boundOf(incumbent: ServicePosition, claimant: Omit<Contender, 'metric'>): number {
  if (claimant.importance < incumbent.importance) {
    return claimant.safetyMargin;
  }
  if (incumbent.overheadSpent) {
    return Number.NEGATIVE_INFINITY;
  }
  const fair = claimant.importance === incumbent.importance ? evenedOut(incumbent) : Number.NEGATIVE_INFINITY;
  return canWait(incumbent) ? Math.max(claimant.safetyMargin, fair) : Math.min(claimant.safetyMargin, fair);
}

function isUrgent({ metric, safetyMargin }: Pick<ServicePosition, 'metric' | 'safetyMargin'>): boolean {
  return metric < safetyMargin;
}

/** Whether an eviction buys quiet time that is worth it. */
function canWait(incumbent: ServicePosition): boolean {
  return slackOf(incumbent) >= quietOf(incumbent);
}

function slackOf({ metric, safetyMargin }: ServicePosition): number {
  return metric - safetyMargin;
}

/**
 * The lot size: with turns of q seconds starts take alpha / q of the time, and q / 2 of what others could use is kept in store;
 * over the time in which the allowance may be lost both together are least at a multiple of the root of their product.
 */
function quietOf(position: ServicePosition): number {
  const { alpha } = position;
  const allowance = grownAllowance(position);
  return Math.min(QUIET_FACTOR * Math.sqrt(alpha * allowance), Math.max(QUIET_SHARE * allowance, QUIET_STARTS * alpha));
}

/** What it may lose at its age, or when it is no longer young. */
function grownAllowance({ allowance, alpha, serviceClass }: ServicePosition): number {
  return Math.max(allowance, waitingAllowance(serviceClass, seconds(YOUTH_STARTS * alpha)));
}

/** The metric below which an equal is so much worse off that the two change places. */
function evenedOut(incumbent: ServicePosition): number {
  const { metric } = incumbent;
  const allowance = grownAllowance(incumbent);
  if (allowance <= 0) {
    return Number.NEGATIVE_INFINITY;
  }
  return metric - (canWait(incumbent) ? WIDE_GAP * allowance : Math.max(NARROW_GAP * allowance, quietOf(incumbent)));
}

/**
 * Class by class what those lose who cannot wait, then how long all of them can, for each that is evicted: of two evictions
 * each must buy as much quiet time as one would.
 */
function costOf(victims: readonly ServicePosition[]): PreemptionCost {
  let below = NONE_BELOW;
  let least = Number.POSITIVE_INFINITY;
  for (const victim of victims) {
    const slack = slackOf(victim);
    least = Math.min(least, slack);
    if (!canWait(victim)) {
      below = withShortfall(below, victim.importance, slack - quietOf(victim));
    }
  }
  return { below, above: least / victims.length, victims: victims.length };
}
