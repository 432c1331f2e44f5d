import type { ServiceTimes } from '../model/service-level.ts';
import { seconds } from '../model/units.ts';
import { grown, NO_TIMES } from '../qos/times.ts';
import type { SimulatedPod, SimulatedWorkload, World } from './world.ts';

/** What a request, a workload with its instances, got so far, in seconds summed over its instances. Exact. */
export interface ServiceRecord {
  readonly workload: SimulatedWorkload;
  readonly arrivedAt: number;
  times: ServiceTimes;
  /** When all of its instances first served; `undefined`: not yet. */
  servedAt: number | undefined;
  /** When it ended; `undefined`: it has not. */
  endedAt: number | undefined;
  /** Pods that were moved or preempted. */
  evictions: number;
  readonly serving: Set<SimulatedPod>;
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
  const { queue } = world;
  const list: ServiceRecord[] = [];
  const records = new Map<SimulatedWorkload, ServiceRecord>();
  const recordOf = (workload: SimulatedWorkload): ServiceRecord => {
    const known = records.get(workload) ?? begin(workload, queue.now());
    if (!records.has(workload)) {
      records.set(workload, known);
      list.push(known);
    }
    return known;
  };
  world.observe((pod) => {
    const record = recordOf(pod.workload);
    const serves = world.isServing(pod);
    if (serves !== record.serving.has(pod)) {
      count(record, queue.now());
      if (serves) {
        record.serving.add(pod);
      } else {
        record.serving.delete(pod);
      }
    }
    note(record, queue.now());
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

function begin(workload: SimulatedWorkload, now: number): ServiceRecord {
  return {
    workload,
    arrivedAt: now,
    times: NO_TIMES,
    servedAt: undefined,
    endedAt: undefined,
    evictions: 0,
    serving: new Set(),
    countedTo: now,
  };
}

/** Instances of a Job that are done want nothing any more. */
function wanted({ replicas, completed }: SimulatedWorkload): number {
  return replicas - completed.size;
}

function count(record: ServiceRecord, now: number): void {
  const span = now - record.countedTo;
  record.countedTo = now;
  if (span > 0 && record.endedAt === undefined) {
    const serving = Math.min(record.serving.size, wanted(record.workload));
    record.times = grown(record.times, 'Aggregated', serving, wanted(record.workload) - serving, seconds(span));
  }
}

function note(record: ServiceRecord, now: number): void {
  const { workload, serving } = record;
  if (record.servedAt === undefined && serving.size > 0 && serving.size >= wanted(workload)) {
    record.servedAt = now;
  }
  if (workload.ended && record.endedAt === undefined) {
    count(record, now);
    record.endedAt = now;
  }
}
