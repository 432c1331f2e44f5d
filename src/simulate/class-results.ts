import type { ServiceClass, ServiceTimes } from '../model/service-level.ts';
import { gini, isFulfilled, meanOf, penaltyOf } from '../qos/fulfilment.ts';
import { availabilityOf, minus, NO_TIMES, totalOf } from '../qos/times.ts';
import type { ClassResult, Contention, WindowClass, WindowResult } from '../report/simulation-result.ts';
import type { ServiceRecord } from './service-record.ts';

/** Records by class, in the order of the classes; classes without any are left out. */
export function byClass(
  records: readonly ServiceRecord[],
  classes: readonly ServiceClass[],
): readonly { readonly serviceClass: ServiceClass; readonly records: readonly ServiceRecord[] }[] {
  return classes
    .map((serviceClass) => ({
      serviceClass,
      records: records.filter(({ workload }) => workload.spec.className === serviceClass.name),
    }))
    .filter((group) => group.records.length > 0);
}

/** What a class came to. Records are settled. */
export function classResult(serviceClass: ServiceClass, records: readonly ServiceRecord[]): ClassResult {
  const { name, slo } = serviceClass;
  const known = records.flatMap((record) => {
    const availability = availabilityOf(record.times);
    return availability === undefined ? [] : [{ record, availability }];
  });
  const availabilities = known.map(({ availability }) => availability).sort((left, right) => left - right);
  const short = availabilities.filter((availability) => !isFulfilled(availability, slo));
  return {
    name,
    slo,
    workloads: records.length,
    mean: meanOf(availabilities) ?? 0,
    least: availabilities[0] ?? 0,
    fulfilled: availabilities.length === 0 ? 1 : 1 - short.length / availabilities.length,
    deficit: meanOf(short.map((availability) => slo - availability)) ?? 0,
    gini: gini(availabilities),
    penalty: known.reduce((sum, { record, availability }) => sum + penalty(serviceClass, record, availability), 0),
    availabilities,
  };
}

function penalty(serviceClass: ServiceClass, record: ServiceRecord, availability: number): number {
  const { spec } = record.workload;
  const cores = spec.template.constraints.requests.cpu / 1000;
  return penaltyOf(serviceClass, availability, totalOf(record.times), cores);
}

/** What classes got between two marks of their records; requests that were not there are left out. */
export function windowClasses(
  groups: ReturnType<typeof byClass>,
  marks: ReadonlyMap<ServiceRecord, ServiceTimes>,
): readonly WindowClass[] {
  return groups.flatMap(({ serviceClass, records }) => {
    const values = records.flatMap(
      (record) => availabilityOf(minus(record.times, marks.get(record) ?? NO_TIMES)) ?? [],
    );
    return values.length === 0 ? [] : [windowClass(serviceClass, values)];
  });
}

function windowClass({ name, slo }: ServiceClass, values: readonly number[]): WindowClass {
  const fulfilled = values.filter((value) => isFulfilled(value, slo)).length;
  return {
    name,
    mean: meanOf(values) ?? 0,
    least: Math.min(...values),
    gini: gini(values),
    fulfilled: fulfilled / values.length,
  };
}

/**
 * How short of room the cluster was, by how many classes the priority baseline failed in the window, from the least important
 * one up: none, one, two, or more.
 */
export function contentionOf({ classes }: WindowResult): Contention {
  const failed = classes.filter(({ fulfilled }) => fulfilled < 1).length;
  return (['none', 'low', 'medium'] as const)[failed] ?? 'high';
}
