import { once } from 'node:events';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { writes } from '../control-plane/audit.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { install, OPERATOR_USER, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import type { StrangerCounts, StrangerLoad } from './strangers-load.ts';

/** How hard, and how long, strangers try. */
export interface StrangerCampaign {
  readonly seconds: number;
  /** Connections of one address to each port, opened again when they are closed. */
  readonly connections: number;
  /** Clients that send made-up tokens as fast as they are answered. */
  readonly anonymous: number;
  readonly log: (line: string) => void;
}

/** What came of the requests of a probe or a scraper, in milliseconds. */
interface Answered {
  readonly sent: number;
  /** Whose connection was cut off, or refused. */
  readonly cutOff: number;
  /** Not answered in time. */
  readonly late: number;
  /** Answered with another code than 200. */
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
}

/** What the campaign measured. */
export interface StrangerReport {
  readonly seconds: number;
  readonly hostileConnections: number;
  readonly anonymousRequests: number;
  readonly probes: Answered;
  readonly scrapes: Answered;
  readonly reviewsPerSecond: number;
  readonly otherWritesPerSecond: number;
}

/** As kubelets do by default: a probe fails after a second. */
const PROBE_TIMEOUT = 1_000;
const SCRAPE_TIMEOUT = 10_000;
const BETWEEN = 1_000;
const SCRAPER_ADDRESS = '127.0.0.3';

/**
 * Strangers open connections to the ports of a real operator and ask it with made-up tokens, while a kubelet probes it and
 * Prometheus scrapes it.
 */
export async function runStrangerCampaign(campaign: StrangerCampaign): Promise<StrangerReport> {
  const cp = await startControlPlane({ metricsServer: false, log: campaign.log });
  let operator: OperatorProcess | undefined;
  try {
    await install(cp, 'dry-run');
    const token = await scraperToken(cp);
    operator = await startOperator(cp);
    await operator.logged('leading');
    const fields = await operator.logged('operator started');
    const ports = { health: Number(fields['healthPort']), metrics: Number(fields['metricsPort']) };
    return await disturb(cp, ports, token, campaign);
  } finally {
    await operator?.end('SIGKILL');
    await cp.stop();
  }
}

async function scraperToken(cp: ControlPlane): Promise<string> {
  await cp.apply([
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'prometheus', namespace: 'default' } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'prometheus-reads-evenkeel' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'evenkeel-metrics-reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'prometheus', namespace: 'default' }],
    },
  ]);
  const token = await cp.kubectl(['create', 'token', 'prometheus', '--namespace=default', '--duration=1h']);
  return token.trim();
}

/** Ports of an operator. */
export interface Ports {
  readonly health: number;
  readonly metrics: number;
}

async function disturb(
  cp: ControlPlane,
  ports: Ports,
  token: string,
  { seconds, connections, anonymous, log }: StrangerCampaign,
): Promise<StrangerReport> {
  const stop = AbortSignal.timeout(1000 * seconds);
  const began = new Date().toISOString();
  const headers = { authorization: `Bearer ${token}` };
  const scrape = (signal: AbortSignal) => secureGet(ports.metrics, SCRAPER_ADDRESS, headers, signal);
  // Known before the strangers come.
  await scrape(AbortSignal.timeout(SCRAPE_TIMEOUT));
  log(`${connections} connections to each port and ${anonymous} anonymous clients for ${seconds} s`);
  // A thread of its own: what is measured here must not wait for the strangers.
  const load = new Worker(new URL('./strangers-load.ts', import.meta.url), {
    workerData: { ports, seconds, connections, anonymous } satisfies StrangerLoad,
  });
  const loaded = once(load, 'message') as Promise<[StrangerCounts]>;
  const [probes, scrapes] = await Promise.all([
    repeat((signal) => plainGet(ports.health, signal), PROBE_TIMEOUT, stop),
    repeat(scrape, SCRAPE_TIMEOUT, stop),
  ]);
  const [counts] = await loaded;
  const events = (await cp.audit()).filter(({ user, at }) => user === OPERATOR_USER && at > began);
  const reviews = events.filter(({ resource }) => resource === 'tokenreviews' || resource === 'subjectaccessreviews');
  return {
    seconds,
    ...counts,
    probes,
    scrapes,
    reviewsPerSecond: reviews.length / seconds,
    otherWritesPerSecond: writes(events, OPERATOR_USER).length / seconds,
  };
}

/** Asks again and again, as long as the signal lets it, and says how it went. */
async function repeat(
  ask: (signal: AbortSignal) => Promise<number>,
  timeout: number,
  stop: AbortSignal,
): Promise<Answered> {
  const times: number[] = [];
  const counts = { cutOff: 0, late: 0, refused: 0 };
  while (!stop.aborted) {
    const began = performance.now();
    const late = AbortSignal.timeout(timeout);
    const code = await ask(late).catch(() => undefined);
    times.push(performance.now() - began);
    counts.late += code === undefined && late.aborted ? 1 : 0;
    counts.cutOff += code === undefined && !late.aborted ? 1 : 0;
    counts.refused += code === undefined || code === 200 ? 0 : 1;
    await sleep(Math.max(0, BETWEEN - (performance.now() - began)));
  }
  const sorted = times.toSorted((a, b) => a - b);
  const quantile = (share: number): number => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
  return { sent: times.length, ...counts, p50: quantile(0.5), p99: quantile(0.99) };
}

/** Gets a path over TLS, on a new connection. Resolves to the code. */
export function secureGet(
  port: number,
  localAddress: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/metrics', headers, signal, localAddress };
    httpsGet({ ...options, agent: false, rejectUnauthorized: false }, (response) => {
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    }).on('error', reject);
  });
}

function plainGet(port: number, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    httpGet({ host: '127.0.0.1', port, path: '/healthz', signal, agent: false }, (response) => {
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    }).on('error', reject);
  });
}
