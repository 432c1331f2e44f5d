import type { InstanceLedger, LedgerMode, ServiceClass, ServiceLedger, ServiceTimes } from '../model/service-level.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import { instanceTimesAt, NO_TIMES, timesAt, totalOf } from './times.ts';

/** How a request goes on from some instant. */
export interface Prospect {
  readonly times: ServiceTimes;
  /** v: its instances, running and waiting. */
  readonly wanted: number;
  /** c: those of them whose time is useful from now on. */
  readonly contributing: number;
}

/**
 * Time to violate or recoverability of a request, in seconds (T 7.2, T 3.6).
 *
 * - While the SLO is met: the time until it is violated, `(e - O (e + d + p)) / (v O - c)`. Infinite for best effort, and
 *   while enough instances contribute that it can never be violated.
 * - Below the SLO: the recoverability `e/O - (e + d + p)`, which is negative. It is a property of what the request has got,
 *   so it does not depend on how many instances run.
 *
 * 0 for a request that was just admitted.
 */
export function timeToViolate({ times, wanted, contributing }: Prospect, slo: number): Seconds {
  if (slo <= 0) {
    return seconds(Number.POSITIVE_INFINITY);
  }
  const surplus = times.useful - slo * totalOf(times);
  if (surplus < 0) {
    return seconds(surplus / slo);
  }
  const drain = wanted * slo - contributing;
  return seconds(drain > 0 ? surplus / drain : Number.POSITIVE_INFINITY);
}

/** One replica of a request, of which Q is asked. */
export interface Replica {
  /** Whether it runs now; Q takes a running one to stop now (algorithms.md 5). */
  readonly running: boolean;
  /** Its own ledger; `undefined`: the request's does not know it yet. */
  readonly instance: InstanceLedger | undefined;
  /** Others of its request that go on running, or are about to; by the ledger where nobody knows better. */
  readonly others?: number;
}

/** Whether the time of all replicas of a request is added up, so that Q of one depends on how many others run. */
export function addsReplicasUp(mode: LedgerMode): boolean {
  return mode === 'Aggregated' || mode === 'Task';
}

/** Whether running replicas of one request may differ in Q. */
export function tellsReplicasApart(mode: LedgerMode): boolean {
  return mode === 'Independent' || mode === 'Task';
}

/**
 * The instances of a request by the UIDs of its pods, which are those that are there and stay, in the order in which they were
 * made. A pod that the ledger does not know yet has the account of an instance without a pod, or else of one whose pod is
 * leaving: it replaces that pod. Without any account it would pass for a request that was just admitted, once for every eviction.
 */
export function instancesByPod(
  { instances }: ServiceLedger,
  pods: readonly string[],
): ReadonlyMap<string, InstanceLedger> {
  const present = new Set(pods);
  const known = new Map(instances.flatMap((each) => (each.pod === undefined ? [] : [[each.pod, each] as const])));
  const vacant = [
    ...instances.filter(({ pod }) => pod === undefined),
    ...instances.filter(({ pod }) => pod !== undefined && !present.has(pod)),
  ];
  const found = new Map<string, InstanceLedger>();
  let next = 0;
  for (const pod of pods) {
    const instance = known.get(pod) ?? vacant[next];
    next += known.has(pod) ? 0 : 1;
    if (instance !== undefined) {
      found.set(pod, instance);
    }
  }
  return found;
}

/**
 * Q of one replica (QoS eq. 5, T 7.2): the time to violate or the recoverability of its request if this replica does not run
 * from now on, less `alpha`, the time that its start will take. Negative: the SLO is violated, or will be before it could
 * start. 0 for a request that was just admitted.
 */
export function qosMetric(
  ledger: ServiceLedger,
  { mode, slo }: Pick<ServiceClass, 'mode' | 'slo'>,
  replica: Replica,
  now: EpochSeconds,
  alpha: Seconds,
): Seconds {
  const prospect = prospectOf(ledger, mode, replica, now);
  if (slo > 0 && totalOf(prospect.times) <= 0) {
    return seconds(0);
  }
  return seconds(timeToViolate(prospect, slo) - alpha);
}

/** How the request of a replica goes on when that replica does not run from now on. */
export function prospectOf(
  ledger: ServiceLedger,
  mode: ServiceClass['mode'],
  { running, instance, others = Math.max(0, ledger.running - (running ? 1 : 0)) }: Replica,
  now: EpochSeconds,
): Prospect {
  if (mode === 'Independent') {
    return { times: instance === undefined ? NO_TIMES : instanceTimesAt(instance, now), wanted: 1, contributing: 0 };
  }
  const times = timesAt(ledger, mode, now);
  return {
    times: mode === 'Task' && running ? withoutRun(times, instance, now) : times,
    wanted: Math.max(1, ledger.running + ledger.waiting),
    contributing: mode === 'Concurrent' ? 0 : others,
  };
}

/** In mode Task a replica that stops loses what its incarnation has run. */
function withoutRun(times: ServiceTimes, instance: InstanceLedger | undefined, now: EpochSeconds): ServiceTimes {
  if (instance?.running !== true) {
    return times;
  }
  const run = Math.min(times.useful, Math.max(0, elapsed(instance.since, now)));
  return { ...times, useful: seconds(times.useful - run), discarded: seconds(times.discarded + run) };
}
