import type { PenaltyTier, ServiceClass, ServiceLedger } from '../model/service-level.ts';
import { type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import { preemptionOverhead } from './overhead.ts';
import { type Availability, availabilityAt } from './service-level.ts';
import { timesAt, timesOver, totalOf } from './times.ts';

/**
 * An SLO counts as reached within this much: a start of seconds makes 100 % unreachable in reality (algorithms.md 5), and the
 * first start of a request of one hour costs 0.07 % in the mean, and up to twice as much.
 */
const FULFILMENT_TOLERANCE = 0.002;

/** Whether an availability counts as one that reached the SLO. */
export function isFulfilled(availability: number, slo: number): boolean {
  return availability >= slo - FULFILMENT_TOLERANCE;
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
  const known = requests.map(({ ledger }) => ({ ledger, level: availabilityAt(ledger, serviceClass, now) }));
  const judged = known.flatMap(({ ledger, level }) => {
    const availability = judgedAvailability(level, serviceClass);
    return availability === undefined ? [] : [{ ledger, availability }];
  });
  const [last] = judged.toSorted((left, right) => left.availability - right.availability);
  return {
    serviceClass,
    requests: requests.length,
    missed: judged.filter(({ availability }) => !isFulfilled(availability, slo)).length,
    availability: meanOf(known.flatMap(({ level }) => level.availability ?? [])),
    availabilityOverWindow: meanOf(known.flatMap(({ level }) => level.availabilityOverWindow ?? [])),
    worst:
      last === undefined || last.availability >= slo
        ? undefined
        : { ledger: last.ledger, deficit: slo - last.availability },
    least: last?.availability,
    gini: gini(judged.map(({ availability }) => availability)),
    preemptions: requests.reduce((sum, { ledger }) => sum + ledger.preemptions, 0),
    preemptionOverhead: overheadOf(requests, now),
  };
}

/** SLOs are to hold over the window; in mode Independent for each replica, of which only the time since admission is known. */
function judgedAvailability(
  { availability, availabilityOverWindow }: Availability,
  { mode }: ServiceClass,
): number | undefined {
  return mode === 'Independent' ? availability : availabilityOverWindow;
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
 * `P = D* (1 + b)` with `D* = (O - A) x duration x cpu` (algorithms.md 8): what a request with this availability over this
 * time and so many cores is owed, in core-seconds; b is the surcharge of the lowest tier that it fell below. 0 where it fell
 * below none.
 */
export function penaltyOf(
  { slo, penalties }: Pick<ServiceClass, 'slo' | 'penalties'>,
  availability: number,
  duration: Seconds,
  cores: number,
): number {
  const tier = tierOf(penalties, availability);
  return tier === undefined ? 0 : Math.max(0, slo - availability) * duration * cores * (1 + tier.surcharge);
}

/**
 * What a request is owed for the window of its class, in core-seconds (see penaltyOf); each of its replicas requests so many
 * cores. 0 while nothing was observed.
 */
export function penaltyOver({ ledger, serviceClass }: PromisedRequest, cores: number, now: EpochSeconds): number {
  const availability = judgedAvailability(availabilityAt(ledger, serviceClass, now), serviceClass);
  const observed = totalOf(timesOver(ledger, serviceClass.mode, now, serviceClass.window));
  return availability === undefined ? 0 : penaltyOf(serviceClass, availability, observed, cores);
}

/** The lowest tier that the availability fell below; `undefined`: none. */
export function tierOf(penalties: readonly PenaltyTier[], availability: number): PenaltyTier | undefined {
  return penalties.findLast(({ below }) => availability < below);
}

/** The mean; `undefined` of none. */
export function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
