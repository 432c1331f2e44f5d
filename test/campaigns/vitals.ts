import type { ControlPlane } from '../control-plane/start.ts';
import { scrape } from '../support/scrape.ts';

/** What an operator says of its own process at one moment. */
export interface Vitals {
  /** Seconds since the first sample. */
  readonly at: number;
  /** MiB. */
  readonly rss: number;
  /** MiB of the heap that are in use, garbage that was not collected yet included. */
  readonly heap: number;
  /** 99th percentile of the event loop's delay since the sample before, in milliseconds. */
  readonly lag: number;
  /** Handles of libuv: sockets, timers that keep the process alive, and the like. */
  readonly handles: number;
  readonly descriptors: number;
  /** Processor time since the process began, in seconds. */
  readonly cpu: number;
}

/** Reads the vitals of the operator whose metrics are served on a port, as Prometheus would. */
export async function vitalsOf(cp: ControlPlane, metricsPort: number): Promise<() => Promise<Vitals>> {
  const authorization = await authorize(cp);
  const began = performance.now();
  return async () => {
    const { code, body } = await scrape(metricsPort, '/metrics', { authorization });
    if (code !== 200) {
      throw new Error(`the operator answers ${code} to a scrape: ${body.slice(0, 500)}`);
    }
    const value = (name: string) => metricOf(body, name);
    return {
      at: (performance.now() - began) / 1000,
      rss: value('process_resident_memory_bytes') / 2 ** 20,
      heap: value('nodejs_heap_size_used_bytes') / 2 ** 20,
      lag: value('nodejs_eventloop_lag_p99_seconds') * 1000,
      handles: value('nodejs_active_handles_total'),
      descriptors: value('process_open_fds'),
      cpu: value('process_cpu_seconds_total'),
    };
  };
}

/** An account that may read metrics, as deploy/ lets Prometheus. */
async function authorize(cp: ControlPlane): Promise<string> {
  await cp.kubectl(['create', 'serviceaccount', 'prometheus', '--namespace=default']);
  await cp.kubectl([
    'create',
    'clusterrolebinding',
    'soak-prometheus',
    '--clusterrole=evenkeel-metrics-reader',
    '--serviceaccount=default:prometheus',
  ]);
  const token = await cp.kubectl(['create', 'token', 'prometheus', '--namespace=default', '--duration=24h']);
  return `Bearer ${token.trim()}`;
}

function metricOf(body: string, name: string): number {
  const line = body.split('\n').find((each) => each.startsWith(`${name} `));
  if (line === undefined) {
    throw new Error(`the operator has no metric ${name}`);
  }
  return Number(line.slice(name.length + 1));
}
