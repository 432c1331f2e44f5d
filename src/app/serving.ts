import { isIPv4 } from 'node:net';
import { hostname } from 'node:os';
import { createAccessGuard, createReviewLimits, type Guard } from '../adapters/http/access-guard.ts';
import {
  CertificateError,
  type CertificateSource,
  certificateFiles,
  selfSignedCertificates,
  watchCertificate,
} from '../adapters/http/certificate.ts';
import { healthEndpoints, METRICS_PATH, type MetricsText, metricsEndpoints } from '../adapters/http/endpoints.ts';
import { fingerprintOf, type KeyPair } from '../adapters/http/key-pair.ts';
import { pageEndpoints } from '../adapters/http/page-endpoints.ts';
import type { PageFiles } from '../adapters/http/page-files.ts';
import { type HttpServer, PROBED } from '../adapters/http/server.ts';
import { createAccessReviews } from '../adapters/kubernetes/access-reviews.ts';
import { ApiClient } from '../adapters/kubernetes/client.ts';
import { connect } from '../adapters/kubernetes/connect.ts';
import { systemClock } from '../adapters/system-clock.ts';
import type { PageFeed } from '../control/page-feed.ts';
import { VERSION } from '../version.ts';
import type { ClusterFlags } from './cluster.ts';
import { Failure } from './failure.ts';
import { type Address, isLoopback, listenOn, messageOf, parseAddress } from './listening.ts';

/** What the operator listens on. */
export interface ServingFlags {
  /** Address of /healthz and /readyz, plain HTTP. */
  readonly healthAddress: string;
  /** Address of /metrics, HTTPS. */
  readonly metricsAddress: string;
  /** Certificate and key of /metrics in PEM; a self-signed one without. */
  readonly tlsCertFile?: string | undefined;
  readonly tlsPrivateKeyFile?: string | undefined;
  /** Serve /metrics by plain HTTP, without authentication: on a loopback address, or on any. */
  readonly metricsInsecure?: 'loopback' | 'anywhere' | undefined;
}

/** What is served, and what is reported of it. */
export interface ServingHooks {
  metrics(): Promise<MetricsText>;
  /** The page beside the metrics, for users with the right to get its paths; not served by plain HTTP, which has no authentication. */
  readonly page: { readonly files: PageFiles; readonly feed: PageFeed };
  /** `undefined` when ready, else why not. */
  unreadiness(): string | undefined;
  onRequest(verb: string, code: string): void;
  warn(message: string): void;
  /** /metrics is served with another certificate from now on; its SHA-256. */
  renewed(certificate: string): void;
}

/** Both servers. */
export interface Serving {
  readonly healthPort: number;
  readonly metricsPort: number;
  /** SHA-256 of the certificate of /metrics; undefined for plain HTTP. */
  readonly certificate: string | undefined;
  close(): Promise<void>;
}

/** How often certificate files are read, in milliseconds: kubelets renew mounted Secrets once a minute. */
const CERTIFICATE_PERIOD = 10_000;

/**
 * Serves health by plain HTTP and metrics by HTTPS with authentication and authorisation. Throws Failure for flags that
 * cannot be, addresses that cannot be had and certificates that cannot be used; ConnectError without a cluster.
 */
export async function openServing(flags: ServingFlags & ClusterFlags, hooks: ServingHooks): Promise<Serving> {
  const health = parseAddress('--health-address', flags.healthAddress, 8080);
  const metrics = parseAddress('--metrics-address', flags.metricsAddress, 8443);
  checkInsecure(metrics, flags);
  const report = (error: unknown): void => hooks.warn(messageOf(error));
  const endpoints = healthEndpoints(hooks.unreadiness);
  const healthServer = await listenOn(health, { endpoints, report, capacity: PROBED });
  try {
    const metricsServer = await serveMetrics(metrics, flags, hooks, report);
    return {
      healthPort: healthServer.port,
      ...metricsServer,
      close: async () => {
        await Promise.all([healthServer.close(), metricsServer.close()]);
      },
    };
  } catch (error) {
    await healthServer.close();
    throw error;
  }
}

type MetricsServing = Omit<Serving, 'healthPort'>;

async function serveMetrics(
  address: Address,
  flags: ServingFlags & ClusterFlags,
  hooks: ServingHooks,
  report: (error: unknown) => void,
): Promise<MetricsServing> {
  if (flags.metricsInsecure !== undefined) {
    const server = await listenOn(address, { endpoints: metricsEndpoints(hooks.metrics, undefined), report });
    return { metricsPort: server.port, certificate: undefined, close: () => server.close() };
  }
  const source = certificateSource(address, flags);
  const keyPair = await firstOf(source);
  const client = await reviewClient(flags, hooks);
  try {
    const reviews = createAccessReviews(client);
    const { monotonic } = systemClock;
    const limits = createReviewLimits(monotonic);
    const guardOf = (path: string, role: string): Guard =>
      createAccessGuard({ reviews, limits, path, role, monotonic, report });
    const { files, feed } = hooks.page;
    const endpoints = new Map([
      ...metricsEndpoints(hooks.metrics, guardOf(METRICS_PATH, 'evenkeel-metrics-reader')),
      ...pageEndpoints(files, feed, (path) => guardOf(path, 'evenkeel-page-reader')),
    ]);
    const server = await listenOn(address, { endpoints, report, keyPair });
    const unwatch = watchCertificate(source, keyPair, CERTIFICATE_PERIOD, {
      changed(other) {
        server.present(other);
        hooks.renewed(fingerprintOf(other));
      },
      failed: report,
    });
    return { metricsPort: server.port, certificate: fingerprintOf(keyPair), close: () => end(server, client, unwatch) };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function end(server: HttpServer, client: ApiClient, unwatch: () => void): Promise<void> {
  unwatch();
  await server.close();
  await client.close();
}

/** Connections of its own: a scrape does not wait behind lists, and no fence stops it where the replica does not lead. */
async function reviewClient(flags: ClusterFlags, { onRequest }: ServingHooks): Promise<ApiClient> {
  return new ApiClient(await connect({ ...flags, env: process.env }), {
    userAgent: `evenkeel/${VERSION} metrics-access`,
    attempts: 2,
    clock: systemClock,
    random: Math.random,
    onRequest,
  });
}

function certificateSource({ host }: Address, { tlsCertFile, tlsPrivateKeyFile }: ServingFlags): CertificateSource {
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    return certificateFiles(tlsCertFile, tlsPrivateKeyFile);
  }
  if (tlsCertFile !== undefined || tlsPrivateKeyFile !== undefined) {
    throw new Failure('--tls-cert-file and --tls-private-key-file belong together: write both, or neither');
  }
  const names = new Set(['evenkeel-metrics', hostname(), 'localhost', '127.0.0.1', isIPv4(host) ? host : 'localhost']);
  names.delete('0.0.0.0');
  return selfSignedCertificates(['evenkeel', ...names]);
}

async function firstOf(source: CertificateSource): Promise<KeyPair> {
  try {
    return await source.load(Date.now());
  } catch (error) {
    if (error instanceof CertificateError) {
      const advice = 'write a certificate and its key in PEM, or leave both flags out for a self-signed one';
      throw new Failure(`${error.message}: ${advice}`, 1, { cause: error });
    }
    throw error;
  }
}

function checkInsecure({ host, text }: Address, { metricsInsecure, tlsCertFile }: ServingFlags): void {
  if (metricsInsecure === 'loopback' && !isLoopback(host)) {
    throw new Failure(
      `--metrics-insecure would show the metrics on ${text} to everybody: listen on 127.0.0.1, or write --metrics-insecure=anywhere`,
    );
  }
  if (metricsInsecure !== undefined && tlsCertFile !== undefined) {
    throw new Failure('--metrics-insecure means plain HTTP: remove it, or remove --tls-cert-file');
  }
}
