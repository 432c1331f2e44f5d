import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceLevels } from '../../src/model/service-level.ts';
import { type EpochSeconds, epochSeconds } from '../../src/model/units.ts';
import { buildSnapshot } from '../../src/observe/snapshot-builder.ts';
import { gini } from '../../src/qos/fulfilment.ts';
import { serviceLevelAt } from '../../src/qos/service-level.ts';
import { type AuditEvent, acceptedEvictions } from '../control-plane/audit.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { type AvailabilityWatch, watchAvailability } from '../support/availability-watch.ts';
import { type LoggedLine, readLog } from '../support/log-file.ts';
import { meanOf } from '../support/mean.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { createRandom } from '../support/random.ts';
import { policyObject } from '../support/resources.ts';
import { contestSpec, NAMESPACE, requestObject, serviceClassObject } from './requests.ts';

/** Who decides: kube-scheduler by PriorityClasses, QoSDriven as published, or with our refinements. */
export const CONTENDERS = ['Priority', 'Published', 'Evenkeel'] as const;
/** One of them. */
export type Contender = (typeof CONTENDERS)[number];

/** What a run is to do. */
export interface QosOptions {
  readonly contender: Contender;
  /** From the first submission to the end; also the window over which SLOs are to hold. */
  readonly minutes: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** How the requests of a class fared. */
export interface ClassReport {
  /** Availability. */
  readonly mean: number;
  readonly least: number;
  /** Mean share of the time with a node, be it Ready or starting: what is left of it is waiting, whatever a start takes here. */
  readonly placed: number;
}

/** What the API server's own record says of a run. */
export interface QosReport {
  readonly contender: Contender;
  readonly minutes: number;
  /** Availabilities since admission, by class. */
  readonly classes: Readonly<Record<ClassName, ClassReport>>;
  readonly giniOfC: number;
  /** Seconds that a place for a pod stood empty at the longest: more pods wait than there are places. */
  readonly longestVacancy: number;
  /** Pods that were taken from their nodes: evictions, and deletions by kube-scheduler, by the audit log. */
  readonly preemptions: number;
  /** Largest difference between a QoSLedger's availability and that of the record; undefined without ledgers. */
  readonly ledgerError: number | undefined;
  /** Warnings and errors that the operator logged, the last `MAX_WARNINGS`; its log goes with the control plane. */
  readonly warnings: readonly LoggedLine[];
}

const MAX_WARNINGS = 20;
const CLASSES = {
  A: { count: 16, name: 'prod', slo: '1', importance: 1 },
  B: { count: 16, name: 'batch', slo: '0.9', importance: 2 },
  C: { count: 19, name: 'free', slo: '0.5', importance: 3 },
} as const;
type ClassName = keyof typeof CLASSES;
const CLASS_NAMES = Object.keys(CLASSES) as ClassName[];

/**
 * The article's experiment at a fifth of its size on a real control plane: 4 nodes of 10 slots, 51 requests of one pod, one
 * submission a second, and a contention of 1.28.
 */
export async function runQos({ contender, minutes, seed, log }: QosOptions): Promise<QosReport> {
  const cp = await startControlPlane({ metricsServer: false, log });
  let operator: OperatorProcess | undefined;
  let watch: AvailabilityWatch | undefined;
  try {
    await install(cp, 'gate');
    await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'qos.yaml')), { log });
    await prepare(cp, contender, minutes);
    operator = contender === 'Priority' ? undefined : await startOperator(cp, { args: ['--no-leader-elect'] });
    watch = await watchAvailability(cp);
    const end = performance.now() + minutes * 60_000;
    await submit(cp, contender, seed);
    for (; performance.now() < end; await sleep(Math.min(10_000, Math.max(0, end - performance.now())))) {
      log(`${contender}: ${((end - performance.now()) / 1000).toFixed(0)} s to go, ${describe(watch)}`);
    }
    await watch.stop();
    const now = epochSeconds(Date.now() / 1000);
    const ledgerError = operator === undefined ? undefined : largestError(await serviceLevels(cp, now), watch, now);
    const warnings = operator === undefined ? [] : readLog(operator.log()).filter(({ level }) => level !== 'info');
    const played = report({ contender, minutes }, watch, preemptionsIn(await cp.audit()));
    return { ...played, ledgerError, warnings: warnings.slice(-MAX_WARNINGS) };
  } finally {
    await operator?.end('SIGTERM');
    await cp.stop();
  }
}

async function prepare(cp: ControlPlane, contender: Contender, minutes: number): Promise<void> {
  await cp.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }]);
  if (contender === 'Priority') {
    await cp.apply(CLASS_NAMES.map(priorityClass));
    return;
  }
  const policy = policyObject('qos', contestSpec(contender === 'Published' ? 'None' : 'Standard'));
  await cp.apply([...CLASS_NAMES.map((name) => serviceClass(name, minutes)), policy]);
}

function priorityClass(className: ClassName): object {
  const { name, importance } = CLASSES[className];
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value: 1000 - 100 * importance,
  };
}

function serviceClass(className: ClassName, minutes: number): object {
  const { name, slo, importance } = CLASSES[className];
  return serviceClassObject(name, { slo, importance, window: `${minutes}m`, expectedStartup: '3s' });
}

/** One Deployment a second, in an order that the seed decides. */
async function submit(cp: ControlPlane, contender: Contender, seed: number): Promise<void> {
  const random = createRandom(seed);
  const left = CLASS_NAMES.flatMap((name) =>
    Array.from({ length: CLASSES[name].count }, (_, index) => ({ name, index })),
  );
  while (left.length > 0) {
    const pause = sleep(1000);
    const [next] = left.splice(random.below(left.length), 1);
    if (next !== undefined) {
      await cp.apply([request(next.name, next.index, contender)]);
    }
    await pause;
  }
}

function request(className: ClassName, index: number, contender: Contender): object {
  const { name } = CLASSES[className];
  const promise = contender === 'Priority' ? { priorityClass: name } : { serviceClass: name };
  return requestObject({ app: `${className.toLowerCase()}-${index}`, replicas: 1, promise });
}

function preemptionsIn(audit: readonly AuditEvent[]): number {
  const byScheduler = audit.filter(
    ({ user, verb, resource, code }) =>
      user === 'system:kube-scheduler' && verb === 'delete' && resource === 'pods' && code === 200,
  );
  return acceptedEvictions(audit).length + byScheduler.length;
}

async function serviceLevels(cp: ControlPlane, now: EpochSeconds): Promise<ServiceLevels> {
  const text = await cp.kubectl(['get', 'serviceclasses,qosledgers', '-A', '-o', 'json']);
  return buildSnapshot([JSON.parse(text)], now).serviceLevels;
}

/** Largest difference between what a ledger comes to when it is extrapolated to `now` and what was seen; NaN where one lacks. */
function largestError({ classes, ledgers }: ServiceLevels, watch: AvailabilityWatch, now: EpochSeconds): number {
  const kept = new Map([...ledgers.values()].map((ledger) => [ledger.owner.name, ledger]));
  const errors = watch.names().map((name) => {
    const ledger = kept.get(name);
    const serviceClass = classes.get(ledger?.className ?? '');
    const level = ledger && serviceClass && serviceLevelAt(ledger, serviceClass, now);
    return Math.abs((level?.availability ?? Number.NaN) - watch.availability(name));
  });
  return Math.max(...errors);
}

function report(
  run: Pick<QosReport, 'contender' | 'minutes'>,
  watch: AvailabilityWatch,
  preemptions: number,
): Omit<QosReport, 'ledgerError' | 'warnings'> {
  return {
    ...run,
    classes: { A: summarize(watch, 'A'), B: summarize(watch, 'B'), C: summarize(watch, 'C') },
    giniOfC: gini(namesOf(watch, 'C').map(watch.availability)),
    longestVacancy: watch.longestVacancy(),
    preemptions,
  };
}

function namesOf(watch: AvailabilityWatch, className: ClassName): readonly string[] {
  const prefix = `${className.toLowerCase()}-`;
  return watch.names().filter((name) => name.startsWith(prefix));
}

function summarize(watch: AvailabilityWatch, className: ClassName): ClassReport {
  const names = namesOf(watch, className);
  const all = names.map(watch.availability);
  return { mean: meanOf(all), least: Math.min(...all), placed: meanOf(names.map(watch.placed)) };
}

function describe(watch: AvailabilityWatch): string {
  return CLASS_NAMES.map((name) => {
    const { mean, least, placed } = summarize(watch, name);
    return `${name} ${mean.toFixed(3)} (least ${least.toFixed(3)}, with a node ${placed.toFixed(3)})`;
  }).join(', ');
}
