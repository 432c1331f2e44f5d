import type { Contender } from '../../qos/eligibility.ts';
import type { PreemptionCost } from '../../qos/preemption-cost.ts';
import { waitingBudget, waitingTime } from '../../qos/waiting-time.ts';
import type { OwnerIndex } from '../indices.ts';
import type { PlanningInput } from '../planning-input.ts';
import type { Subjects } from '../pod-usage.ts';
import type { Promises } from '../promises.ts';
import { compareNumbers, leastCost, type PreemptionRules, type ServicePosition } from './rules.ts';

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
export const STANDARD: PreemptionRules = {
  trustIn: (planningInput, promises) => (isOvercommitted(planningInput, promises) ? 'WholeWindow' : 'NoLonger'),
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

function quietOf({ alpha, serviceClass }: ServicePosition): number {
  return Math.min(STARTS_PER_QUIET * alpha, QUIET_SHARE * waitingBudget(serviceClass));
}

/** The metric below which an equal is so much worse off that the two change places. */
function evenedOut({ metric, serviceClass }: ServicePosition): number {
  const budget = waitingBudget(serviceClass);
  return budget > 0 ? metric - GAP_SHARE * budget : Number.NEGATIVE_INFINITY;
}

/**
 * Class by class what those lose who cannot wait, then how long all of them can, for each that is evicted: of two evictions
 * each must buy as much quiet time as one would.
 */
function costOf(victims: readonly ServicePosition[]): PreemptionCost {
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

/** Of the time that pods may do without running this share is left for starts, terminations and room in the wrong place. */
const SET_ASIDE = 0.05;

/**
 * Whether more was promised than there is room for: of the pods in scope more wait than their SLOs allow. A pod may wait for
 * `1 - O` of its time, so at no time may more wait in the mean than the sum of that over all pods. Pods of one controller
 * count as being of one class.
 */
function isOvercommitted({ holds, queue, subjects }: PlanningInput, { classOf }: Pick<Promises, 'classOf'>): boolean {
  const waiting = queue.filter((pod) => (classOf(pod)?.slo ?? 0) > 0).length;
  return waiting > 0 && waiting > (1 - SET_ASIDE) * mayWait(holds.inScope, subjects, classOf);
}

/** Pods that are being deleted are counted by those that take their places. */
function mayWait(inScope: Uint8Array, { pods, owners }: Subjects, classOf: Promises['classOf']): number {
  const shares = new Map<OwnerIndex, number>();
  let sum = 0;
  for (const [pod, owner] of owners.ofPod.entries()) {
    if (inScope[pod] === 1 && pods[pod]?.terminating === false) {
      const share = shares.get(owner) ?? shareOf(classOf(pod)?.slo ?? 0);
      if (owner >= 0) {
        shares.set(owner, share);
      }
      sum += share;
    }
  }
  return sum;
}

function shareOf(slo: number): number {
  return slo > 0 ? 1 - slo : 0;
}
