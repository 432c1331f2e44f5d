import type { ServiceClass, ServiceLedger, ServiceLevels } from '../../model/service-level.ts';
import type { EpochSeconds } from '../../model/units.ts';
import { isFulfilled } from '../../qos/fulfilment.ts';
import { serviceLevelAt } from '../../qos/service-level.ts';
import type { ServiceRow } from './state.ts';

/** Every workload with a class and a ledger, extrapolated to `now`. */
export function serviceRows(
  { classes, ledgers }: ServiceLevels,
  now: EpochSeconds,
): Readonly<Record<string, ServiceRow>> {
  return Object.fromEntries(
    [...ledgers.values()].flatMap((ledger) => {
      const serviceClass = classes.get(ledger.className);
      const { namespace, owner } = ledger;
      return serviceClass === undefined
        ? []
        : [[`${namespace}/${owner.kind}/${owner.name}`, rowOf(ledger, serviceClass, now)]];
    }),
  );
}

function rowOf(ledger: ServiceLedger, serviceClass: ServiceClass, now: EpochSeconds): ServiceRow {
  const level = serviceLevelAt(ledger, serviceClass, now);
  const { slo, importance, safetyMargin, mode, name } = serviceClass;
  const judged = mode === 'Independent' ? level.availability : level.availabilityOverWindow;
  const isKept = judged === undefined || isFulfilled(judged, slo);
  const calm = level.timeToViolate >= safetyMargin ? 'Kept' : 'InDanger';
  return {
    className: name,
    importance,
    slo,
    ...(judged === undefined ? {} : { availability: fraction(judged) }),
    ...(level.availability === undefined ? {} : { sinceAdmission: fraction(level.availability) }),
    ...(Number.isFinite(level.timeToViolate) ? { timeToViolate: Math.round(level.timeToViolate) } : {}),
    standing: isKept ? calm : 'Missed',
    running: ledger.running,
    waiting: ledger.waiting,
    preemptions: ledger.preemptions,
  };
}

function fraction(value: number): number {
  return Math.round(value * 100_000) / 100_000;
}
