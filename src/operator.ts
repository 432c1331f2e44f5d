import { pino } from 'pino';
import { collectDefaultMetrics } from 'prom-client';
import { serve } from './adapters/http/serve.ts';
import { systemClock } from './adapters/system-clock.ts';
import { type ClusterFlags, connect } from './cli/cluster.ts';
import { Failure } from './cli/failure.ts';
import { runLoop } from './control/loop.ts';
import { createMetrics } from './report/metrics.ts';
import { VERSION } from './version.ts';

/** Flags of `evenkeel operator`. */
export interface OperatorFlags extends ClusterFlags {
  /** Address of /metrics, /healthz and /readyz. */
  readonly httpAddress: string;
  /** The operator's own namespace, which is never rebalanced. */
  readonly ownNamespace: string;
  readonly logLevel: string;
}

/** The operator is not ready when its last pass that reached the API server is older than this. */
const READY_WINDOW = 120;

/** Runs the operator until aborted; moves in flight are left in the journal. Throws Failure when it cannot start. */
export async function runOperator(flags: OperatorFlags, signal: AbortSignal): Promise<void> {
  const log = pino({ level: flags.logLevel, base: { version: VERSION } });
  const metrics = createMetrics(VERSION);
  collectDefaultMetrics({ register: metrics.registry });
  const cluster = await connect(flags, {
    onRequest: metrics.apiRequest,
    warn: (message) => log.warn(message),
  });
  let lastPass: number | undefined;
  const { host, port } = parseAddress(flags.httpAddress);
  const server = await serve(host, port, {
    metrics: async () => ({ type: metrics.registry.contentType, body: await metrics.registry.metrics() }),
    unreadiness: () => unreadiness(lastPass),
  });
  log.info({ httpPort: server.port, apiServer: cluster.url, node: process.version }, 'operator started');
  const ports = { ...cluster, telemetry: metrics.telemetry, runFailed: metrics.runFailed, clock: systemClock, log };
  const excludedNamespaces = new Set(['kube-system', flags.ownNamespace]);
  const passed = (): void => {
    lastPass = systemClock.monotonic();
  };
  try {
    await runLoop(ports, { excludedNamespaces, passed }, signal);
  } finally {
    await server.close();
    await cluster.close();
    log.info('operator stopped');
  }
}

function unreadiness(lastPass: number | undefined): string | undefined {
  if (lastPass === undefined) {
    return 'no pass has reached the API server yet';
  }
  const age = systemClock.monotonic() - lastPass;
  return age > READY_WINDOW ? `the last pass that reached the API server was ${Math.round(age)} s ago` : undefined;
}

function parseAddress(address: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (port === '' || Number(port) > 65535) {
    throw new Failure(
      `--http-address ${address} is not an address: write HOST:PORT such as 127.0.0.1:8080, with port 0 for any free one`,
    );
  }
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
