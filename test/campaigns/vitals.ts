import { readdir, readFile } from 'node:fs/promises';
import type { ControlPlane } from '../control-plane/start.ts';
import { scrape } from '../support/scrape.ts';

/** What the kernel says of a process at one moment. */
export interface Vitals {
  /** Seconds since the first look. */
  readonly at: number;
  /** MiB. */
  readonly rss: number;
  readonly descriptors: number;
  /** Processor time since the process began, in seconds. */
  readonly cpu: number;
}

/** What an operator says of itself when its metrics are read, which starts its measure of the event loop anew. */
export interface Confession {
  /** MiB of the heap that are in use, garbage that was not collected yet included. */
  readonly heap: number;
  /** Delay of the event loop since the reading before, in milliseconds: the 99th percentile, and the longest. */
  readonly lag: { readonly p99: number; readonly longest: number };
  /** Handles of libuv: sockets, timers that keep the process alive, and the like. */
  readonly handles: number;
}

/** Ticks of /proc/PID/stat in a second: the same on every Linux that Node runs on. */
const TICKS = 100;

/** Looks at a process without its taking part. Linux only. */
export function vitalsOf(pid: number): () => Promise<Vitals> {
  const began = performance.now();
  return async () => {
    const [status, stat, descriptors] = await Promise.all([
      readFile(`/proc/${pid}/status`, 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readdir(`/proc/${pid}/fd`),
    ]);
    const kibibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
    // The program's name, in parentheses, may have spaces; utime and stime are the 12th and 13th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      at: (performance.now() - began) / 1000,
      rss: kibibytes / 1024,
      descriptors: descriptors.length,
      cpu: (Number(fields[11]) + Number(fields[12])) / TICKS,
    };
  };
}

/** Reads the metrics of the operator that serves them on a port, as Prometheus would. */
export async function confessionOf(cp: ControlPlane, metricsPort: number): Promise<() => Promise<Confession>> {
  const authorization = await authorize(cp);
  return async () => {
    const { code, body } = await scrape(metricsPort, '/metrics', { authorization });
    if (code !== 200) {
      throw new Error(`the operator answers ${code} to a scrape: ${body.slice(0, 500)}`);
    }
    const value = (name: string) => metricOf(body, name);
    return {
      heap: value('nodejs_heap_size_used_bytes') / 2 ** 20,
      lag: {
        p99: value('nodejs_eventloop_lag_p99_seconds') * 1000,
        longest: value('nodejs_eventloop_lag_max_seconds') * 1000,
      },
      handles: value('nodejs_active_handles_total'),
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
