import type { LedgerMode } from '../model/service-level.ts';
import { seconds } from '../model/units.ts';
import { NO_SERVICE, type ServiceAccount } from '../qos/service-account.ts';
import { grown, NO_TIMES, withoutRun } from '../qos/times.ts';
import type { SimulatedPod, SimulatedWorkload, World } from './world.ts';

/** What a request, a workload with its instances, got so far. Exact. */
export interface ServiceRecord {
  readonly workload: SimulatedWorkload;
  /** Of its class. */
  readonly mode: LedgerMode;
  readonly arrivedAt: number;
  /** With an account of each instance that was ever wanted in mode Independent, of none in the others. */
  service: ServiceAccount;
  /** What it would be if starts took no time: an instance counts as served unless its pod lacks room (see lacksRoom). */
  room: ServiceAccount;
  /** When all of its instances first served; `undefined`: not yet. */
  servedAt: number | undefined;
  /** When it ended; `undefined`: it has not. */
  endedAt: number | undefined;
  /** Pods that were moved or preempted. */
  evictions: number;
  readonly serving: Set<SimulatedPod>;
  readonly lacking: Set<SimulatedPod>;
  /** Mode Task: useful run time of the pods that have not ended, which is lost if they end before they are done. */
  readonly attempts: Map<SimulatedPod, number>;
  /** Instances that were wanted since `countedTo`. */
  wanted: readonly number[];
  countedTo: number;
}

/** The records of all workloads, kept by watching the world. */
export interface ServiceRecords {
  readonly list: readonly ServiceRecord[];
  readonly of: (workload: SimulatedWorkload) => ServiceRecord | undefined;
  /** Counts every record up to now. */
  readonly settle: () => void;
  readonly evicted: (pod: SimulatedPod) => void;
}

/** Keeps the records of a world from now on. */
export function keepServiceRecords(world: World): ServiceRecords {
  const { queue, scenario } = world;
  const modes = new Map(scenario.classes.map(({ name, mode }) => [name, mode]));
  const list: ServiceRecord[] = [];
  const records = new Map<SimulatedWorkload, ServiceRecord>();
  const recordOf = (workload: SimulatedWorkload): ServiceRecord => {
    const known = records.get(workload) ?? begin(workload, queue.now(), modes.get(workload.spec.className ?? ''));
    if (!records.has(workload)) {
      records.set(workload, known);
      list.push(known);
    }
    return known;
  };
  world.observe((pod) => {
    const record = recordOf(pod.workload);
    const serves = world.isServing(pod);
    const lacks = lacksRoom(pod);
    const isResized = record.wanted.length !== wantedBy(pod.workload);
    if (serves !== record.serving.has(pod) || lacks !== record.lacking.has(pod) || isResized) {
      count(record, queue.now());
      record.wanted = isResized ? instancesWanted(pod.workload) : record.wanted;
      toggle(record.serving, pod, serves);
      toggle(record.lacking, pod, lacks);
    }
    note(record, queue.now());
    discard(record, pod);
  });
  return {
    list,
    of: (workload) => records.get(workload),
    settle: () => {
      for (const record of list) {
        count(record, queue.now());
      }
    },
    evicted: (pod) => {
      recordOf(pod.workload).evictions += 1;
    },
  };
}

function begin(workload: SimulatedWorkload, now: number, mode: LedgerMode = 'Aggregated'): ServiceRecord {
  return {
    workload,
    mode,
    arrivedAt: now,
    service: NO_SERVICE,
    room: NO_SERVICE,
    servedAt: undefined,
    endedAt: undefined,
    evictions: 0,
    serving: new Set(),
    lacking: new Set(),
    attempts: new Map(),
    wanted: instancesWanted(workload),
    countedTo: now,
  };
}

function toggle<T>(set: Set<T>, item: T, isIn: boolean): void {
  if (isIn) {
    set.add(item);
  } else {
    set.delete(item);
  }
}

/**
 * The scheduler has found no node for it, and keeps none for it until victims are gone (condition PodScheduled is False with
 * reason Unschedulable, and status.nominatedNodeName is empty). A pod that nobody has looked at yet, or that starts, has room.
 */
function lacksRoom({ info: { nodeName, nominatedNode, waiting, terminating }, exists }: SimulatedPod): boolean {
  const isUnscheduled = exists && !terminating && nodeName === undefined;
  return isUnscheduled && nominatedNode === undefined && waiting?.unschedulable === true;
}

/** Instances of a Job that are done want nothing any more. */
function wantedBy({ replicas, completed }: SimulatedWorkload): number {
  return replicas - completed.size;
}

function instancesWanted({ replicas, completed }: SimulatedWorkload): readonly number[] {
  return Array.from({ length: replicas }, (_, instance) => instance).filter((instance) => !completed.has(instance));
}

function count(record: ServiceRecord, now: number): void {
  const span = now - record.countedTo;
  record.countedTo = now;
  if (span <= 0 || record.endedAt !== undefined) {
    return;
  }
  const { mode, attempts, serving, lacking } = record;
  record.service = advanced(record, record.service, serving, true, span);
  record.room = advanced(record, record.room, lacking, false, span);
  if (mode === 'Task') {
    for (const pod of record.serving) {
      attempts.set(pod, (attempts.get(pod) ?? 0) + span);
    }
  }
}

/** The account after `span` more in which the instances of these pods were served, or were the only ones that were not. */
function advanced(
  { mode, wanted }: ServiceRecord,
  { times, instances }: ServiceAccount,
  pods: ReadonlySet<SimulatedPod>,
  areServed: boolean,
  span: number,
): ServiceAccount {
  const marked = new Set([...pods].map(({ instance }) => instance));
  const served = wanted.filter((instance) => marked.has(instance) === areServed);
  return {
    times: grown(times, mode, served.length, wanted.length - served.length, seconds(span)),
    instances: mode === 'Independent' ? eachAdvanced(instances, wanted, new Set(served), span) : [],
  };
}

function eachAdvanced(
  instances: ServiceAccount['instances'],
  wanted: readonly number[],
  served: ReadonlySet<number>,
  span: number,
): ServiceAccount['instances'] {
  const known = [...instances];
  for (const instance of wanted) {
    const isServed = Number(served.has(instance));
    known[instance] = grown(known[instance] ?? NO_TIMES, 'Independent', isServed, 1 - isServed, seconds(span));
  }
  return known;
}

/** Takes back the run time of a pod that has ended, unless its instance or the whole workload is done. */
function discard(record: ServiceRecord, pod: SimulatedPod): void {
  const { workload, attempts } = record;
  const attempt = attempts.get(pod);
  if (attempt === undefined || (pod.exists && !pod.info.terminating)) {
    return;
  }
  attempts.delete(pod);
  if (!workload.ended && !workload.completed.has(pod.instance)) {
    const { times, instances } = record.service;
    record.service = { times: withoutRun(times, seconds(Math.min(attempt, times.useful))), instances };
  }
}

function note(record: ServiceRecord, now: number): void {
  const { workload, serving } = record;
  if (record.servedAt === undefined && serving.size > 0 && serving.size >= wantedBy(workload)) {
    record.servedAt = now;
  }
  if (workload.ended && record.endedAt === undefined) {
    count(record, now);
    record.endedAt = now;
  }
}
