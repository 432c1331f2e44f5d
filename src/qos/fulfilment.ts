import type { PenaltyTier, ServiceClass, ServiceLedger } from '../model/service-level.ts';
import { type EpochSeconds, seconds } from '../model/units.ts';
import { preemptionOverhead } from './overhead.ts';
import { accountOver, availabilityByMode, type ServiceAccount } from './service-account.ts';
import { availabilityAt } from './service-level.ts';
import { availabilityOf, timesAt, totalOf } from './times.ts';

/**
 * An SLO counts as reached within this much: a start of seconds makes 100 % unreachable in reality (algorithms.md 5), and the
 * first start of a request of one hour costs 0.07 % in the mean, and up to twice as much.
 */
const FULFILMENT_TOLERANCE = 0.002;

/** Whether an availability counts as one that reached the SLO. */
export function isFulfilled(availability: number, slo: number): boolean {
  return availability >= slo - FULFILMENT_TOLERANCE;
}

/** How requests of one class compare with its SLO, by their availabilities. */
export interface ClassSummary {
  /** `undefined` of none. */
  readonly mean: number | undefined;
  readonly least: number | undefined;
  /** Those that fall short of the SLO, by more than the tolerance. */
  readonly missed: number;
  /** Mean of O - A over those; 0 when there is none. */
  readonly deficit: number;
  /** Gini coefficient, in [0, 1). */
  readonly gini: number;
}

/** Compares availabilities with their SLO. */
export function summarize(availabilities: readonly number[], slo: number): ClassSummary {
  const short = availabilities.filter((availability) => !isFulfilled(availability, slo));
  return {
    mean: meanOf(availabilities),
    least: availabilities.length === 0 ? undefined : Math.min(...availabilities),
    missed: short.length,
    deficit: meanOf(short.map((availability) => slo - availability)) ?? 0,
    gini: gini(availabilities),
  };
}

/** A request with what it was promised and what it got. */
export interface PromisedRequest {
  readonly serviceClass: ServiceClass;
  readonly ledger: ServiceLedger;
}

/** How well the requests of a class are served at one instant. */
export interface ClassFulfilment {
  readonly serviceClass: ServiceClass;
  /** Requests, at least one. */
  readonly requests: number;
  /** Those of them that fall short of the SLO, by more than the tolerance. */
  readonly missed: number;
  /** Mean of their availabilities since admission, in [0, 1]; `undefined` while nothing was observed. */
  readonly availability: number | undefined;
  /** The same over the window of the class. */
  readonly availabilityOverWindow: number | undefined;
  /** The request that falls short of the SLO the furthest, and O - A of it, above 0; `undefined` when none does. */
  readonly worst: { readonly ledger: ServiceLedger; readonly deficit: number } | undefined;
  /** The least of the availabilities that are held against the SLO; `undefined` while nothing was observed. */
  readonly least: number | undefined;
  /** Gini coefficient of those availabilities, in [0, 1). */
  readonly gini: number;
  /** Evictions on behalf of others, of all requests since their admission. */
  readonly preemptions: number;
  /** Share of their time that the requests have lost to preemptions, in [0, 1] (QoS eq. 6). */
  readonly preemptionOverhead: number;
}

/** Extrapolates the ledgers to `now` and sums them up by class, the most important class first, then by name. */
export function fulfilmentByClass(requests: readonly PromisedRequest[], now: EpochSeconds): readonly ClassFulfilment[] {
  return [...Map.groupBy(requests, ({ serviceClass }) => serviceClass.name).values()]
    .flatMap((own) => (own[0] === undefined ? [] : [fulfilmentOf(own[0].serviceClass, own, now)]))
    .sort(({ serviceClass: left }, { serviceClass: right }) => byImportance(left, right));
}

function byImportance(left: ServiceClass, right: ServiceClass): number {
  return left.importance - right.importance || (left.name < right.name ? -1 : 1);
}

function fulfilmentOf(
  serviceClass: ServiceClass,
  requests: readonly PromisedRequest[],
  now: EpochSeconds,
): ClassFulfilment {
  const { slo } = serviceClass;
  const levels = requests.map(({ ledger }) => availabilityAt(ledger, serviceClass, now));
  const judged = requests.flatMap(({ ledger }) => {
    const availability = availabilityByMode(accountOver(ledger, serviceClass, now), serviceClass.mode);
    return availability === undefined ? [] : [{ ledger, availability }];
  });
  const [last] = judged.toSorted((left, right) => left.availability - right.availability);
  const { missed, least, gini } = summarize(
    judged.map(({ availability }) => availability),
    slo,
  );
  return {
    serviceClass,
    requests: requests.length,
    missed,
    availability: meanOf(levels.flatMap(({ availability }) => availability ?? [])),
    availabilityOverWindow: meanOf(levels.flatMap(({ availabilityOverWindow }) => availabilityOverWindow ?? [])),
    worst:
      last === undefined || last.availability >= slo
        ? undefined
        : { ledger: last.ledger, deficit: slo - last.availability },
    least,
    gini,
    preemptions: requests.reduce((sum, { ledger }) => sum + ledger.preemptions, 0),
    preemptionOverhead: overheadOf(requests, now),
  };
}

function overheadOf(requests: readonly PromisedRequest[], now: EpochSeconds): number {
  const sum = { preemptions: 0, overhead: 0, useful: 0, discarded: 0, pending: 0 };
  for (const { ledger, serviceClass } of requests) {
    const times = timesAt(ledger, serviceClass.mode, now);
    sum.preemptions += ledger.preemptions;
    sum.overhead += ledger.overhead;
    sum.useful += times.useful;
    sum.discarded += times.discarded;
  }
  const { preemptions, overhead, useful, discarded } = sum;
  return preemptionOverhead(
    { preemptions, overhead: seconds(overhead) },
    { useful: seconds(useful), discarded: seconds(discarded), pending: seconds(0) },
  );
}

/**
 * Gini coefficient of values that are not negative, in [0, 1): half the mean difference of all pairs by the mean. 0 for equal
 * values; by definition of the evaluation (algorithms.md 8) 0 for a set of zeros, and for an empty one.
 */
export function gini(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const total = sorted.reduce((sum, value) => sum + value, 0);
  const ranked = sorted.reduce((sum, value, place) => sum + (place + 1) * value, 0);
  const count = sorted.length;
  return total === 0 ? 0 : (2 * ranked) / (count * total) - (count + 1) / count;
}

/**
 * `P = D* (1 + b)` with `D* = (O - A) x duration x cpu` (algorithms.md 8): what a request with this account is owed, in
 * core-seconds; each of its replicas requests so many cores. The duration is the time for which its replicas were wanted,
 * `e + d + p`, so that D* is what was promised and not given. Run time alone would not do: less service would cost less, and
 * none at all nothing. In mode Independent each replica is owed for its own deficit.
 */
export function penaltyOf(
  { slo, penalties, mode }: Pick<ServiceClass, 'slo' | 'penalties' | 'mode'>,
  { times, instances }: ServiceAccount,
  cores: number,
): number {
  const owed = (mode === 'Independent' ? instances : [times]).map((each) => {
    const availability = availabilityOf(each) ?? slo;
    const tier = tierOf(penalties, availability);
    return tier === undefined ? 0 : Math.max(0, slo - availability) * totalOf(each) * cores * (1 + tier.surcharge);
  });
  return owed.reduce((sum, each) => sum + each, 0);
}

/** What a request is owed for the window of its class, in core-seconds (see penaltyOf). 0 while nothing was observed. */
export function penaltyOver({ ledger, serviceClass }: PromisedRequest, cores: number, now: EpochSeconds): number {
  return penaltyOf(serviceClass, accountOver(ledger, serviceClass, now), cores);
}

/** The lowest tier that the availability fell below; `undefined`: none. */
export function tierOf(penalties: readonly PenaltyTier[], availability: number): PenaltyTier | undefined {
  return penalties.findLast(({ below }) => availability < below);
}

/** The mean; `undefined` of none. */
export function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
