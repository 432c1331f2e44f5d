import type { ServiceClass, ServiceLedger } from '../../model/service-level.ts';
import type { EpochSeconds, Seconds } from '../../model/units.ts';
import { type Contender, eligibilityBound, type Incumbent } from '../../qos/eligibility.ts';
import { compareCosts, type PreemptionCost, preemptionCost } from '../../qos/preemption-cost.ts';
import { qosMetric, type Replica } from '../../qos/time-to-violate.ts';
import { itemAt } from '../indices.ts';

/** How a pod stands in the contest for room. */
export interface ServicePosition extends Incumbent {
  /** What its request got. */
  readonly request: ServiceLedger;
  readonly serviceClass: ServiceClass;
  /** How long it could do without running at its age, had it lost nothing. */
  readonly allowance: Seconds;
  /** alpha: what its next start is expected to take. */
  readonly alpha: Seconds;
  readonly running: boolean;
  /** In mode Concurrent how many replicas of its request have no node; else 0. */
  readonly lacking: number;
}

/** Who comes first, and who may take whose place. Contenders are compared by their metric, whatever it is. */
export interface PreemptionRules {
  /** The metric of one replica: how long it can do without running. */
  readonly metricOf: (
    ledger: ServiceLedger,
    serviceClass: ServiceClass,
    replica: Replica,
    now: EpochSeconds,
    alpha: Seconds,
  ) => Seconds;
  /** sigma of a request with this allowance (see ServicePosition) and alpha. */
  readonly marginOf: (serviceClass: ServiceClass, allowance: Seconds, alpha: Seconds) => Seconds;
  /** Negative when `left` is served before `right`; claimants of one class come in the order of their metrics. */
  readonly compare: (left: Contender, right: Contender) => number;
  /** The metric below which a claimant of this rank and margin may take the place of `incumbent`; -Infinity: never. */
  readonly boundOf: (incumbent: ServicePosition, claimant: Omit<Contender, 'metric'>) => number;
  /** What evicting these costs, for compareCosts. */
  readonly costOf: (victims: readonly ServicePosition[]) => PreemptionCost;
  /**
   * The least that evicting any of some residents can cost claimants of this rank and of margins up to this; `undefined` where they
   * can have none. Judges each resident once.
   */
  readonly bestCaseFor: (claimant: Omit<Contender, 'metric'>) => BestCaseOf;
  /** Whether a victim without which there is room as well is spared. */
  readonly spares: boolean;
}

/** The best case of these residents. */
export type BestCaseOf = (residents: readonly Resident[]) => BestCase | undefined;

/** A pod that may have to go. */
export interface Resident {
  readonly standing: ServicePosition;
}

/** What an eviction costs at least, and whose that would be: any of these, by place among the residents. */
export interface BestCase {
  readonly cost: PreemptionCost;
  readonly victims: readonly number[];
  /** Claimants with a metric that is not below this can have none of them, however many others of their requests have gone. */
  readonly bound: number;
}

/** The policy as published (QoS 3, T 3.4; algorithms.md 6). */
export const PUBLISHED: PreemptionRules = {
  metricOf: qosMetric,
  marginOf: ({ safetyMargin }) => safetyMargin,
  compare: (left, right) => compareNumbers(left.metric, right.metric),
  boundOf: eligibilityBound,
  costOf: preemptionCost,
  bestCaseFor: (claimant) => {
    const leastOf = leastCost(claimant, eligibilityBound, preemptionCost);
    return (residents) => {
      const least = leastOf(residents);
      // Of victims above their margin the sum counts, so that more of them cost less. It may be rounded otherwise in another order.
      const sum = residents.reduce(
        (total, { standing }) => total + Math.max(0, standing.metric - standing.safetyMargin),
        0,
      );
      const above = sum * (1 + residents.length * Number.EPSILON);
      return least === undefined ? undefined : { ...least, cost: { ...least.cost, above } };
    };
  },
  spares: false,
};

/** The least that one eviction costs a claimant of this class, and every pod that costs as little; `undefined`: it may have none. */
export function leastCost(
  claimant: Omit<Contender, 'metric'>,
  boundOf: PreemptionRules['boundOf'],
  costOf: PreemptionRules['costOf'],
): BestCaseOf {
  const known = new Map<ServicePosition, { readonly own: number; readonly cost: PreemptionCost | undefined }>();
  const judge = (resident: ServicePosition) => {
    const own = boundOf(resident, claimant);
    const judged = { own, cost: own > Number.NEGATIVE_INFINITY ? costOf([resident]) : undefined };
    known.set(resident, judged);
    return judged;
  };
  return (residents) => {
    const victims: number[] = [];
    let least: PreemptionCost | undefined;
    // A victim that falls below its own margin, since others have gone, may have to go for whoever is below theirs.
    let bound: number = claimant.safetyMargin;
    for (let place = 0; place < residents.length; place += 1) {
      const { standing } = itemAt(residents, place);
      const { own, cost } = known.get(standing) ?? judge(standing);
      const order = cost === undefined ? 1 : compareToLeast(cost, least);
      bound = Math.max(bound, own);
      if (order < 0) {
        least = cost;
        victims.length = 0;
      }
      if (order <= 0) {
        victims.push(place);
      }
    }
    return least && { cost: least, victims, bound };
  };
}

function compareToLeast(cost: PreemptionCost, least: PreemptionCost | undefined): number {
  return least === undefined ? -1 : compareCosts(cost, least);
}

/** Negative when `left` is smaller; infinities are equal to themselves. */
export function compareNumbers(left: number, right: number): number {
  if (left === right) {
    return 0;
  }
  return left < right ? -1 : 1;
}
