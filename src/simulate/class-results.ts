import type { ServiceClass } from '../model/service-level.ts';
import { penaltyOf, summarize } from '../qos/fulfilment.ts';
import { accountSince, availabilityByMode, NO_SERVICE } from '../qos/service-account.ts';
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
  const availabilities = records
    .flatMap(({ service }) => availabilityByMode(service, serviceClass.mode) ?? [])
    .sort((left, right) => left - right);
  const { mean = 0, least = 0, missed, deficit, gini } = summarize(availabilities, slo);
  return {
    name,
    slo,
    workloads: records.length,
    mean,
    least,
    fulfilled: availabilities.length === 0 ? 1 : 1 - missed / availabilities.length,
    deficit,
    gini,
    penalty: records.reduce((sum, record) => sum + penaltyOf(serviceClass, record.service, coresOf(record)), 0),
    availabilities,
  };
}

/** That each of its pods requests. */
function coresOf({ workload: { spec } }: ServiceRecord): number {
  return spec.template.constraints.requests.cpu / 1000;
}

/** What classes got between two marks of their records; requests that were not there are left out. */
export function windowClasses(
  groups: ReturnType<typeof byClass>,
  marks: ReadonlyMap<ServiceRecord, Mark>,
): readonly WindowClass[] {
  return groups.flatMap(({ serviceClass, records }) => {
    const since = (of: keyof Mark): readonly number[] =>
      records.flatMap((record) => {
        const account = accountSince(record[of], marks.get(record)?.[of] ?? NO_SERVICE);
        return availabilityByMode(account, serviceClass.mode) ?? [];
      });
    const values = since('service');
    return values.length === 0 ? [] : [windowClass(serviceClass, values, since('room'))];
  });
}

/** What a record had come to at the end of a window. */
export type Mark = Pick<ServiceRecord, 'service' | 'room'>;

function windowClass({ name, slo }: ServiceClass, values: readonly number[], room: readonly number[]): WindowClass {
  const { mean = 0, least = 0, missed, gini } = summarize(values, slo);
  const withoutRoom = summarize(room, slo).missed / room.length;
  return { name, mean, least, gini, fulfilled: 1 - missed / values.length, withoutRoom };
}

/**
 * How short of room the cluster was in a window of the priority baseline (algorithms.md 8). That serves the important classes
 * first, so the most important one that it does not serve says how short: `low` for the least important class, `high` for the
 * most important one (also where it is the only one), `medium` in between. A class is served when each of its requests had
 * room for as long as its SLO asks; the time that starts take is no lack of room. `promised` are the classes that have
 * requests; those of SLO 0 were promised nothing.
 */
export function contentionOf({ classes }: WindowResult, promised: readonly ServiceClass[]): Contention {
  const isShort = ({ name }: ServiceClass): boolean =>
    classes.some((each) => each.name === name && each.withoutRoom > 0);
  const ranks = (of: readonly ServiceClass[]): readonly number[] => of.map(({ importance }) => importance);
  const [all, short] = [ranks(promised.filter(({ slo }) => slo > 0)), ranks(promised.filter(isShort))];
  if (short.length === 0) {
    return 'none';
  }
  const highest = Math.min(...short);
  if (highest === Math.min(...all)) {
    return 'high';
  }
  return highest === Math.max(...all) ? 'low' : 'medium';
}
