import type {
  InstanceLedger,
  ServiceClass,
  ServiceLedger,
  ServiceLevels,
  ServiceTimes,
} from '../model/service-level.ts';
import { type EpochSeconds, elapsed, seconds } from '../model/units.ts';
import { instanceTimesAt, NO_TIMES, timesAt } from '../qos/times.ts';
import type { SimulatedPod, SimulatedWorkload, World } from './world.ts';

/** Ledgers of the workloads that have a class, kept as things happen: to the fraction of a second. */
export interface ServiceLedgers {
  /** As they stand; the same maps every time, which change with the world. */
  readonly current: () => ServiceLevels;
  /** A pod was evicted on behalf of another request. */
  readonly preempted: (pod: SimulatedPod) => void;
}

/** Checkpoints in the window of a class: as finely as ten minutes are looked at in a window of an hour, and finer. */
const CHECKPOINTS = 60;

interface Instance extends InstanceLedger {
  /** When its pod was bound; start-up times run from there, since a pod at our gate waits and does not start. */
  readonly boundAt: EpochSeconds | undefined;
  /** It was preempted, and has not run since. */
  readonly owesStart: boolean;
}

interface Account {
  readonly serviceClass: ServiceClass;
  readonly workload: SimulatedWorkload;
  ledger: Omit<ServiceLedger, 'instances'> & { readonly instances: readonly Instance[] };
  readonly starts: { count: number; total: number };
}

/** Keeps ledgers of a world from now on. */
export function keepServiceLedgers(world: World): ServiceLedgers {
  const classes = new Map(world.scenario.classes.map((each) => [each.name, each]));
  const ledgers = new Map<string, ServiceLedger>();
  const accounts = new Map<SimulatedWorkload, Account>();

  const accountOf = (workload: SimulatedWorkload): Account | undefined => {
    const serviceClass = classes.get(workload.spec.className ?? '');
    if (serviceClass === undefined) {
      return undefined;
    }
    const known = accounts.get(workload) ?? open(workload, serviceClass, world.wallClock());
    accounts.set(workload, known);
    return known;
  };

  function write(account: Account): void {
    const { uid, owner } = account.workload.info;
    if (account.workload.ended) {
      ledgers.delete(owner?.uid ?? uid);
    } else {
      ledgers.set(owner?.uid ?? uid, account.ledger);
    }
  }

  world.observe((pod) => {
    const account = accountOf(pod.workload);
    if (account === undefined) {
      return;
    }
    const instance = account.ledger.instances[pod.instance];
    const successor = pod.workload.instances[pod.instance];
    const running = successor !== undefined && world.isServing(successor);
    const uid = successor?.info.uid;
    const isBound = successor?.info.nodeName !== undefined;
    const isKnown =
      instance !== undefined &&
      instance.pod === uid &&
      instance.running === running &&
      (instance.boundAt !== undefined) === isBound;
    if (!isKnown || pod.workload.ended) {
      update(account, pod.instance, { pod: uid, running, isBound }, world.wallClock());
      write(account);
    }
  });
  const levels: ServiceLevels = { classes, ledgers, byPriorityClass: new Map() };
  return {
    current: () => levels,
    preempted: (pod) => {
      const account = accountOf(pod.workload);
      if (account !== undefined) {
        const instances = account.ledger.instances.map((each, place) =>
          place === pod.instance ? { ...each, owesStart: true } : each,
        );
        account.ledger = { ...account.ledger, instances, preemptions: account.ledger.preemptions + 1 };
        write(account);
      }
    },
  };
}

function idleSince(now: EpochSeconds): Instance {
  return { ...NO_TIMES, pod: undefined, running: false, since: now, boundAt: undefined, owesStart: false };
}

function open(workload: SimulatedWorkload, serviceClass: ServiceClass, now: EpochSeconds): Account {
  const { info, replicas } = workload;
  return {
    serviceClass,
    workload,
    starts: { count: 0, total: 0 },
    ledger: {
      namespace: info.namespace,
      owner: info.owner ?? { kind: info.kind, name: info.name, uid: info.uid },
      className: serviceClass.name,
      admittedAt: now,
      asOf: now,
      times: NO_TIMES,
      running: 0,
      waiting: replicas,
      instances: Array.from({ length: replicas }, () => idleSince(now)),
      checkpoints: [],
      preemptions: 0,
      overhead: seconds(0),
      startup: { hot: undefined, cold: undefined },
    },
  };
}

interface Change {
  readonly pod: string | undefined;
  readonly running: boolean;
  readonly isBound: boolean;
}

/** Counts up to now, then notes what an instance does from now on. */
function update(account: Account, place: number, change: Change, now: EpochSeconds): void {
  const { ledger, serviceClass, workload, starts } = account;
  const times = timesAt(ledger, serviceClass.mode, now);
  const before = ledger.instances[place];
  const after = before === undefined ? undefined : nextInstance(before, change, now);
  const startup =
    before?.boundAt !== undefined && change.running && !before.running ? elapsed(before.boundAt, now) : undefined;
  if (startup !== undefined) {
    starts.count += 1;
    starts.total += startup;
  }
  const lost = before === undefined || serviceClass.mode !== 'Task' ? 0 : lostRun(account, place, change, now, before);
  const instances = resized(ledger.instances, workload.replicas, now).map((each, index) =>
    index === place && after !== undefined ? after : each,
  );
  const running = instances.filter((each) => each.running).length;
  account.ledger = {
    ...ledger,
    asOf: now,
    times: moved(times, lost),
    instances,
    running,
    waiting: workload.replicas - workload.completed.size - running,
    checkpoints: withCheckpoint(account, now),
    overhead: seconds(ledger.overhead + (before?.owesStart === true ? (startup ?? 0) : 0)),
    startup: { hot: starts.count === 0 ? undefined : seconds(starts.total / starts.count), cold: undefined },
  };
}

function nextInstance(before: Instance, { pod, running, isBound }: Change, now: EpochSeconds): Instance {
  return {
    ...instanceTimesAt(before, now),
    pod,
    running,
    since: now,
    boundAt: isBound ? (before.pod === pod ? (before.boundAt ?? now) : now) : undefined,
    owesStart: before.owesStart && !running,
  };
}

/** In mode Task an instance that stops before its end loses what its pod has run. */
function lostRun(
  { workload }: Account,
  place: number,
  { running }: Change,
  now: EpochSeconds,
  before: Instance,
): number {
  const isDone = workload.completed.has(place) || workload.ended;
  return before.running && !running && !isDone ? elapsed(before.since, now) : 0;
}

function moved(times: ServiceTimes, lost: number): ServiceTimes {
  return { ...times, useful: seconds(times.useful - lost), discarded: seconds(times.discarded + lost) };
}

function resized(instances: readonly Instance[], replicas: number, now: EpochSeconds): readonly Instance[] {
  const missing = Math.max(0, replicas - instances.length);
  return [...instances.slice(0, replicas), ...Array.from({ length: missing }, () => idleSince(now))];
}

/** What the times were before this change; those beyond the window are dropped but for the newest of them. */
function withCheckpoint({ ledger, serviceClass }: Account, now: EpochSeconds): ServiceLedger['checkpoints'] {
  const { checkpoints, asOf, times } = ledger;
  const last = checkpoints.at(-1);
  const step = serviceClass.window / CHECKPOINTS;
  if (asOf === ledger.admittedAt || (last !== undefined && elapsed(last.at, asOf) < step)) {
    return checkpoints;
  }
  const begin = checkpoints.findLastIndex(({ at }) => elapsed(at, now) >= serviceClass.window);
  return [...checkpoints.slice(Math.max(0, begin)), { at: asOf, ...times }];
}
