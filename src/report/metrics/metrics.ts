import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Telemetry } from '../../ports.ts';
import type { ClassFulfilment } from '../../qos/fulfilment.ts';
import { gateQueueMetrics } from './gate-queue.ts';
import { gaugeOf } from './gauge.ts';
import { policyMetrics } from './policies.ts';

/** The operator's Prometheus metrics, and the hooks that feed them. */
export interface Metrics extends CacheMetrics, ServiceMetrics {
  readonly registry: Registry;
  readonly telemetry: Telemetry;
  /** One API request ended: with a status code, or a word for what became of it. */
  apiRequest(verb: string, code: string): void;
  /** A run failed before it had a plan. */
  runFailed(): void;
  /** Whether this replica leads from now on. */
  leads(leading: boolean): void;
}

/** Registers all metrics: base units, no pod, node or uid labels (Prometheus naming). */
export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'evenkeel_build_info',
    help: 'Version that runs; always 1.',
    labelNames: ['version', 'node_version'],
    registers,
  }).set({ version, node_version: process.version }, 1);
  const apiRequests = new Counter({
    name: 'evenkeel_api_requests_total',
    help: 'Requests to the API server by verb and status code, or what became of them without an answer.',
    labelNames: ['verb', 'code'],
    registers,
  });
  const failures = new Counter({
    name: 'evenkeel_run_failures_total',
    help: 'Runs that ended without a plan.',
    registers,
  });
  const leader = new Gauge({
    name: 'evenkeel_leader',
    help: '1 while this replica leads, else 0; with --shard-policies, while it leads the rest: ledgers, gates and policies of QoSDriven. Always 1 without leader election.',
    registers,
  });
  return {
    registry,
    telemetry: {
      ...moveMetrics(registers),
      ...steeringMetrics(registers),
      ...gateQueueMetrics(registers),
      ...policyMetrics(registers),
    },
    apiRequest: (verb, code) => apiRequests.inc({ verb, code }),
    runFailed: () => failures.inc(),
    leads: (leading) => leader.set(leading ? 1 : 0),
    ...cacheMetrics(registers),
    ...serviceMetrics(registers),
  };
}

/** Feeds what is told of service classes. */
interface ServiceMetrics {
  /** Shows how classes are served as `classes` tells of it whenever metrics are read. */
  showServices(classes: () => readonly ClassFulfilment[]): void;
  /** Workloads of a class were preempted so many times more, by their ledgers. */
  preempted(className: string, times: number): void;
}

/** Registers the metrics of service classes. */
function serviceMetrics(registers: Registry[]): ServiceMetrics {
  let classes: () => readonly ClassFulfilment[] = () => [];
  const gauge = (name: string, help: string, figureOf: (fulfilment: ClassFulfilment) => number): void =>
    gaugeOf(registers, name, help, ['class'], () =>
      classes().map((each) => [{ class: each.serviceClass.name }, figureOf(each)] as const),
    );
  gauge(
    'evenkeel_slo_fulfilment_ratio',
    'Share of the workloads of a class that reach its SLO over its window, of all on the cluster that have a ledger; on the leader.',
    ({ missed, requests }) => 1 - missed / requests,
  );
  gauge(
    'evenkeel_availability_deficit_ratio',
    'SLO less availability over the window, of the workload of a class that falls short the furthest; 0 when none does.',
    ({ worst }) => worst?.deficit ?? 0,
  );
  gaugeOf(
    registers,
    'evenkeel_min_availability_ratio',
    'The least availability of a workload of a class over the window; absent while nothing was observed.',
    ['class'],
    () =>
      classes().flatMap(({ serviceClass, least }) =>
        least === undefined ? [] : [[{ class: serviceClass.name }, least] as const],
      ),
  );
  gauge(
    'evenkeel_availability_gini_ratio',
    'Gini coefficient of the availabilities of the workloads of a class over the window: 0 when all got the same.',
    ({ gini }) => gini,
  );
  gauge(
    'evenkeel_preemption_overhead_ratio',
    'Share of their time that the workloads of a class have lost to starts after preemptions.',
    ({ preemptionOverhead }) => preemptionOverhead,
  );
  const preemptions = new Counter({
    name: 'evenkeel_preemptions_total',
    help: 'Evictions on behalf of other workloads, by the class of the evicted, once their ledgers have counted them.',
    labelNames: ['class'],
    registers,
  });
  return {
    showServices(source) {
      classes = source;
    },
    preempted: (className, times) => preemptions.inc({ class: className }, times),
  };
}

/** What is shown of one cache. */
interface CacheFigures {
  /** `pods`, or `poddisruptionbudgets.policy`. */
  readonly resource: string;
  readonly objects: number;
  /** Seconds since it was last known to be current; undefined before it is filled. */
  readonly age: number | undefined;
}

/** Feeds what is told of caches. */
interface CacheMetrics {
  /** Shows the caches as `states` tells of them whenever metrics are read. */
  showCaches(states: () => readonly CacheFigures[]): void;
  /** An audit put `objects` of a cache right. */
  cacheDrifted(resource: string, objects: number): void;
}

/** Registers the metrics of caches. */
function cacheMetrics(registers: Registry[]): CacheMetrics {
  let states: () => readonly CacheFigures[] = () => [];
  const labelNames = ['resource'];
  gaugeOf(registers, 'evenkeel_cache_objects', 'Objects in a cache of the API server.', labelNames, () =>
    states().map(({ resource, objects }) => [{ resource }, objects] as const),
  );
  gaugeOf(
    registers,
    'evenkeel_cache_age_seconds',
    'Time since a cache was last known to be current; 0 while its watch is open. No value before the first list.',
    labelNames,
    () => states().flatMap(({ resource, age }) => (age === undefined ? [] : [[{ resource }, age] as const])),
  );
  const drift = new Counter({
    name: 'evenkeel_cache_drift_total',
    help: 'Objects that an audit found wrong in a cache and put right.',
    labelNames,
    registers,
  });
  return {
    showCaches(source) {
      states = source;
    },
    cacheDrifted: (resource, objects) => drift.inc({ resource }, objects),
  };
}

/** Registers the metrics of moves. */
function moveMetrics(registers: Registry[]): Pick<Telemetry, 'moveEnded'> {
  const moves = new Counter({
    name: 'evenkeel_moves_total',
    help: 'Moves that came to an end, by what they were for: Balance, Failover, Preemption, Admission or Removal.',
    labelNames: ['strategy', 'result', 'reason'],
    registers,
  });
  const durations = new Histogram({
    name: 'evenkeel_move_duration_seconds',
    help: 'Time from the intent to the Ready replacement.',
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
    registers,
  });
  const lost = new Histogram({
    name: 'evenkeel_move_unavailability_seconds',
    help: 'Service that a move cost: from the eviction until a replacement was Ready, or was given up. maxOverhead limits the sum.',
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
    registers,
  });
  return {
    moveEnded({ strategy, result, reason, duration, unavailable }) {
      moves.inc({ strategy, result, reason });
      if (duration !== undefined) {
        durations.observe(duration);
      }
      if (unavailable !== undefined) {
        lost.observe(unavailable);
      }
    },
  };
}

/** Registers the metrics of steering and of the gate. */
function steeringMetrics(registers: Registry[]): Pick<Telemetry, 'steered' | 'gate' | 'hitRatios'> {
  const steering = new Counter({
    name: 'evenkeel_steering_total',
    help: 'Replacements by steering mode and whether they landed on the planned node.',
    labelNames: ['mode', 'result'],
    registers,
  });
  const gates = new Counter({
    name: 'evenkeel_gate_actions_total',
    help: 'Scheduling gates opened: to the planned node, to any when that one can take the pod no more, or for a pod that no move waits for; and pods released from a node without room.',
    labelNames: ['action'],
    registers,
  });
  const ratio = new Gauge({
    name: 'evenkeel_steering_hit_ratio',
    help: 'Share of the replacements of all plans on the cluster that landed on the planned node, by steering mode.',
    labelNames: ['mode'],
    registers,
  });
  return {
    steered: ({ mode, landed }) => steering.inc({ mode, result: landed ? 'hit' : 'miss' }),
    gate: (action) => gates.inc({ action }),
    hitRatios(ratios) {
      ratio.reset();
      for (const [mode, value] of ratios) {
        ratio.set({ mode }, value);
      }
    },
  };
}
