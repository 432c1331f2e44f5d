import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { LOAD_RESOURCES } from '../model/resources.ts';
import type { Plan } from '../plan/plan.ts';
import type { Telemetry } from '../ports.ts';

/** The operator's Prometheus metrics, and the hooks that feed them. */
export interface Metrics {
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
    help: '1 while this replica leads, else 0; always 1 without leader election.',
    registers,
  });
  return {
    registry,
    telemetry: { ...moveMetrics(registers), planned: planMetrics(registers) },
    apiRequest: (verb, code) => apiRequests.inc({ verb, code }),
    runFailed: () => failures.inc(),
    leads: (leading) => leader.set(leading ? 1 : 0),
  };
}

function moveMetrics(registers: Registry[]): Pick<Telemetry, 'moveEnded' | 'steered'> {
  const moves = new Counter({
    name: 'evenkeel_moves_total',
    help: 'Moves that came to an end.',
    labelNames: ['strategy', 'result'],
    registers,
  });
  const durations = new Histogram({
    name: 'evenkeel_move_duration_seconds',
    help: 'Time from the intent to the Ready replacement.',
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
    registers,
  });
  const steering = new Counter({
    name: 'evenkeel_steering_total',
    help: 'Replacements by steering mode and whether they landed on the planned node.',
    labelNames: ['mode', 'result'],
    registers,
  });
  return {
    moveEnded({ strategy, result, duration }) {
      moves.inc({ strategy, result });
      if (duration !== undefined) {
        durations.observe(duration);
      }
    },
    steered: ({ mode, landed }) => steering.inc({ mode, result: landed ? 'hit' : 'miss' }),
  };
}

function planMetrics(registers: Registry[]): Telemetry['planned'] {
  const duration = new Histogram({
    name: 'evenkeel_plan_duration_seconds',
    help: 'Time to compute a plan from a snapshot.',
    labelNames: ['strategy'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  const moves = new Gauge({
    name: 'evenkeel_plan_moves',
    help: 'Moves of the newest plan.',
    labelNames: ['strategy'],
    registers,
  });
  const imbalance = new Gauge({
    name: 'evenkeel_imbalance_ratio',
    help: 'Standard deviation of node load, a fraction of capacity, before the newest plan and as planned.',
    labelNames: ['resource', 'phase'],
    registers,
  });
  const coverage = new Gauge({
    name: 'evenkeel_metrics_coverage_ratio',
    help: 'Share of the Ready nodes with a valid sample.',
    registers,
  });
  const age = new Gauge({ name: 'evenkeel_metrics_age_seconds', help: 'Age of the oldest valid sample.', registers });
  return (plan: Plan, seconds) => {
    duration.observe({ strategy: plan.strategy }, seconds);
    moves.set({ strategy: plan.strategy }, plan.moves.length);
    coverage.set(plan.coverage.ratio);
    age.set(plan.coverage.maxAge);
    for (const phase of ['before', 'planned'] as const) {
      for (const resource of LOAD_RESOURCES) {
        const measured = plan.imbalance[phase][resource];
        if (measured !== undefined) {
          imbalance.set({ resource, phase }, measured.stddev);
        }
      }
    }
  };
}
