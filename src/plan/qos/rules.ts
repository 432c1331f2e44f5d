import type { ServiceClass, ServiceLedger } from '../../model/service-level.ts';
import type { EpochSeconds, Seconds } from '../../model/units.ts';
import { type Contender, eligibilityBound } from '../../qos/eligibility.ts';
import { type PreemptionCost, preemptionCost } from '../../qos/preemption-cost.ts';
import { qosMetric, type Replica } from '../../qos/time-to-violate.ts';
import type { Standing } from './standings.ts';

/** Who comes first, and who may take whose place. Contenders are compared by their metric, whatever it is. */
export interface ContestRules {
  /** The metric of one replica: how long it can do without running. */
  readonly metricOf: (
    ledger: ServiceLedger,
    serviceClass: ServiceClass,
    replica: Replica,
    now: EpochSeconds,
    alpha: Seconds,
  ) => Seconds;
  /** Negative when `left` is served before `right`; claimants of one class come in the order of their metrics. */
  readonly compare: (left: Contender, right: Contender) => number;
  /** The metric below which a claimant of this rank and margin may take the place of `incumbent`; -Infinity: never. */
  readonly boundOf: (incumbent: Standing, claimant: Omit<Contender, 'metric'>) => number;
  /** What evicting these costs, for compareCosts. */
  readonly costOf: (victims: readonly Standing[]) => PreemptionCost;
  /** Whether a victim without which there is room as well is spared. */
  readonly spares: boolean;
}

/** The policy as published (QoS 3, T 3.4; algorithms.md 6). */
export const PUBLISHED: ContestRules = {
  metricOf: qosMetric,
  compare: (left, right) => compareNumbers(left.metric, right.metric),
  boundOf: eligibilityBound,
  costOf: preemptionCost,
  spares: false,
};

/** Negative when `left` is smaller; infinities are equal to themselves. */
export function compareNumbers(left: number, right: number): number {
  if (left === right) {
    return 0;
  }
  return left < right ? -1 : 1;
}
