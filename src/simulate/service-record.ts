import type { LedgerMode, ServiceTimes } from '../model/service-level.ts';
import { seconds } from '../model/units.ts';
import { grown, NO_TIMES, withoutRun } from '../qos/times.ts';
import type { SimulatedPod, SimulatedWorkload, World } from './world.ts';

/** What a request, a workload with its instances, got so far, in seconds summed over its instances. Exact. */
export interface ServiceRecord {
  readonly workload: SimulatedWorkload;
  /** Of its class. Replicas of an Independent request are added up. */
  readonly mode: LedgerMode;
  readonly arrivedAt: number;
  times: ServiceTimes;
  /** What `times` would be if starts took no time: an instance counts as served unless its pod lacks room (see lacksRoom). */
  room: ServiceTimes;
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
  wanted: number;
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
    const wanted = wantedBy(pod.workload);
    if (serves !== record.serving.has(pod) || lacks !== record.lacking.has(pod) || wanted !== record.wanted) {
      count(record, queue.now());
      record.wanted = wanted;
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
    times: NO_TIMES,
    room: NO_TIMES,
    servedAt: undefined,
    endedAt: undefined,
    evictions: 0,
    serving: new Set(),
    lacking: new Set(),
    attempts: new Map(),
    wanted: wantedBy(workload),
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

function count(record: ServiceRecord, now: number): void {
  const span = now - record.countedTo;
  record.countedTo = now;
  if (span <= 0 || record.endedAt !== undefined) {
    return;
  }
  const { mode, wanted, attempts } = record;
  const serving = Math.min(record.serving.size, wanted);
  record.times = grown(record.times, mode, serving, wanted - serving, seconds(span));
  const lacking = Math.min(record.lacking.size, wanted);
  record.room = grown(record.room, mode, wanted - lacking, lacking, seconds(span));
  if (mode === 'Task') {
    for (const pod of record.serving) {
      attempts.set(pod, (attempts.get(pod) ?? 0) + span);
    }
  }
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
    record.times = withoutRun(record.times, seconds(Math.min(attempt, record.times.useful)));
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
