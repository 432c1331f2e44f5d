import type {
  InstanceLedger,
  ServiceClass,
  ServiceLedger,
  ServiceLevels,
  ServiceTimes,
  StartTime,
} from '../../../src/model/service-level.ts';
import { type EpochSeconds, epochSeconds, seconds } from '../../../src/model/units.ts';
import type { ServicePosition } from '../../../src/plan/qos/rules.ts';
import type { ClassReport, ServiceReport } from '../../../src/plan/service-report.ts';
import { fulfilmentByClass, type PromisedRequest } from '../../../src/qos/fulfilment.ts';
import { NOW } from '../builders.ts';

/** Fields of a built class, times in plain seconds. */
export type ClassFields = Partial<
  Omit<ServiceClass, 'safetyMargin' | 'minRunTime' | 'window' | 'expectedStartup'> &
    Readonly<Record<'safetyMargin' | 'minRunTime' | 'window' | 'expectedStartup', number>>
>;

/** Class `batch` of importance 2, SLO 90 % over an hour, with a margin of ten seconds and starts of three. */
export function aServiceClass(fields: ClassFields = {}): ServiceClass {
  const { safetyMargin = 10, minRunTime = 0, window = 3600, expectedStartup = 3, slo = 0.9, ...rest } = fields;
  return {
    name: 'batch',
    slo,
    importance: 2,
    maxPreemptionOverhead: Math.round((1 - slo) * 1e6) / 1e6,
    mode: 'Aggregated',
    penalties: [],
    ...rest,
    safetyMargin: seconds(safetyMargin),
    minRunTime: seconds(minRunTime),
    window: seconds(window),
    expectedStartup: seconds(expectedStartup),
  };
}

/** Times in plain seconds; what is absent is 0. */
export function times(fields: Partial<Record<keyof ServiceTimes, number>> = {}): ServiceTimes {
  const { useful = 0, discarded = 0, pending = 0 } = fields;
  return { useful: seconds(useful), discarded: seconds(discarded), pending: seconds(pending) };
}

/** An instance that has been running for as long as it is useful, or waiting for as long as it is pending. */
export function anInstance(fields: Partial<InstanceLedger> = {}): InstanceLedger {
  return { ...times(), pod: undefined, running: false, since: NOW, ...fields };
}

/** Fields of a built ledger: what it counted up to NOW. */
export type LedgerFields = Partial<Omit<ServiceLedger, 'times' | 'overhead' | 'startup'>> & {
  readonly times?: Partial<Record<keyof ServiceTimes, number>>;
  readonly overhead?: number;
  /** Means; all starts took as long. */
  readonly startup?: { readonly hot?: number; readonly cold?: number };
};

/** The ledger of ReplicaSet `web` in class `batch` with one instance, which runs, counted up to NOW. */
export function aLedger(fields: LedgerFields = {}): ServiceLedger {
  const { times: counted = {}, overhead = 0, startup = {}, ...rest } = fields;
  const known = times(counted);
  const total = known.useful + known.discarded + known.pending;
  const { hot, cold } = startup;
  const { running = 1, waiting = 0 } = rest;
  return {
    namespace: 'shop',
    owner: { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' },
    className: 'batch',
    admittedAt: epochSeconds(NOW - total / Math.max(1, running + waiting)),
    asOf: NOW,
    instances: [],
    checkpoints: [],
    preemptions: 0,
    ...rest,
    running,
    waiting,
    times: known,
    overhead: seconds(overhead),
    startup: {
      hot: hot === undefined ? undefined : aStartTime(hot),
      cold: cold === undefined ? undefined : aStartTime(cold),
    },
  };
}

/** Where one who runs stands: of class batch, which may lose 100 s and starts in a second. */
export function aPosition(metric: number, fields: Partial<ServicePosition> = {}): ServicePosition {
  return {
    metric: seconds(metric),
    safetyMargin: seconds(10),
    importance: 2,
    overheadSpent: false,
    request: aLedger(),
    serviceClass: aServiceClass(),
    allowance: seconds(100),
    alpha: seconds(1),
    running: true,
    lacking: 0,
    ...fields,
  };
}

/** Starts in seconds, which all took as long unless a deviation is given. */
export function aStartTime(mean: number, deviation = 0): StartTime {
  return { mean: seconds(mean), deviation: seconds(deviation) };
}

/** Classes by name and ledgers by the UID of their owners. */
export function serviceLevels(classes: readonly ServiceClass[], ledgers: readonly ServiceLedger[] = []): ServiceLevels {
  return {
    classes: new Map(classes.map((each) => [each.name, each])),
    ledgers: new Map(ledgers.map((each) => [each.owner.uid, each])),
    byPriorityClass: new Map(),
    byDefault: undefined,
  };
}

/** Nobody was promised anything. */
export const NO_SERVICES: ServiceReport = { classes: [], unkept: [], unknownClasses: [], oversold: undefined };

/** What classes got, while none of their pods waits and nobody is owed anything. */
export function classReports(requests: readonly PromisedRequest[], now: EpochSeconds): readonly ClassReport[] {
  const quiet = { penalty: 0, waiting: 0, longestWait: seconds(0) };
  return fulfilmentByClass(requests, now).map((fulfilment) => ({ ...fulfilment, ...quiet }));
}
