import { type Cluster, createCluster } from '../../src/simulate/cluster.ts';
import { createEventQueue } from '../../src/simulate/event-queue.ts';
import { randomStreams } from '../../src/simulate/random.ts';
import type { Scenario } from '../../src/simulate/scenario.ts';
import { startScheduler } from '../../src/simulate/scheduler.ts';
import { viewsOf } from '../../src/simulate/scheduling-view.ts';
import { aScenario } from './scenarios.ts';

/** A modelled cluster, and whom its scheduler has preempted. */
export interface Scheduled extends Cluster {
  /** Names of workloads, in sequence. */
  readonly preempted: readonly string[];
}

/** A scenario up to this second, with the modelled scheduler alone. */
export function schedule(fields: Partial<Scenario>, until: number, preempts = false): Scheduled {
  const scenario = aScenario(fields);
  const queue = createEventQueue();
  const streams = randomStreams(scenario.seed);
  const cluster = createCluster(scenario, queue, { gates: true, random: streams('starts') });
  const preempted: string[] = [];
  startScheduler(cluster, viewsOf(cluster.world), {
    preempts,
    random: streams('ties'),
    latency: 0,
    preempted: ({ workload }) => preempted.push(workload.info.name),
  });
  queue.run(until);
  return { ...cluster, preempted };
}
