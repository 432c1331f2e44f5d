import { Counter, Gauge, Registry } from 'prom-client';
import type { Telemetry } from '../../ports.ts';
import { type CacheMetrics, cacheMetrics } from './caches.ts';
import { moveMetrics, steeringMetrics } from './moves.ts';
import { policyMetrics } from './policies.ts';
import { type ServiceMetrics, serviceMetrics } from './services.ts';

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
    help: '1 while this replica leads, else 0; always 1 without leader election.',
    registers,
  });
  return {
    registry,
    telemetry: { ...moveMetrics(registers), ...steeringMetrics(registers), ...policyMetrics(registers) },
    apiRequest: (verb, code) => apiRequests.inc({ verb, code }),
    runFailed: () => failures.inc(),
    leads: (leading) => leader.set(leading ? 1 : 0),
    ...cacheMetrics(registers),
    ...serviceMetrics(registers),
  };
}
