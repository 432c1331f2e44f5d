import { setTimeout as sleep } from 'node:timers/promises';
import { admissionEndpoint, type PodMutation } from '../adapters/http/admission.ts';
import {
  type CertificateSource,
  certificateFiles,
  createSelfSigned,
  watchCertificate,
} from '../adapters/http/certificate.ts';
import { rotationTimes, WEBHOOK_LIFETIME } from '../adapters/http/rotation.ts';
import type { ServerCapacity } from '../adapters/http/server.ts';
import { ApiClient } from '../adapters/kubernetes/client.ts';
import { connect } from '../adapters/kubernetes/connect.ts';
import { createHintCache, type HintCache } from '../adapters/kubernetes/hint-cache.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { parseDuration } from '../model/duration.ts';
import { controllerOf, gatePatch, placementPatch } from '../steer/pod-patch.ts';
import { VERSION } from '../version.ts';
import type { ClusterFlags } from './cluster.ts';
import { Failure } from './failure.ts';
import { type Address, listenOn, messageOf, parseAddress } from './listening.ts';
import { sharedCertificates } from './webhook-certificate.ts';

/** How the admission webhook is served. */
export interface WebhookFlags {
  /** Address of the webhook, HTTPS; none is served without. */
  readonly webhookAddress?: string | undefined;
  /** Certificate and key of the webhook in PEM; without, the operator makes them and has API servers trust them. */
  readonly webhookTlsCertFile?: string | undefined;
  readonly webhookTlsPrivateKeyFile?: string | undefined;
  /** How long a certificate that the operator makes is valid, as a duration; default a year. */
  readonly webhookCertificateLifetime?: string | undefined;
  readonly ownNamespace: string;
}

/** The flags of a webhook that is served. */
export type ServedFlags = WebhookFlags & ClusterFlags & { readonly webhookAddress: string };

/** Hears of what becomes of the webhook. */
export interface WebhookHooks {
  onRequest(verb: string, code: string): void;
  warn(message: string): void;
  /** The webhook is served with this certificate (PEM) from now on. */
  renewed(certificate: string): void;
}

/** The webhook that is being served. */
export interface WebhookServer {
  readonly port: number;
  /** Answers what is still sent to it for some seconds, then ends. */
  close(): Promise<void>;
}

/** By these paths the MutatingWebhookConfiguration calls. */
const PLACEMENT_PATH = '/placement';
const GATE_PATH = '/gate';

/**
 * Each API server keeps up to 25 connections and drops them after 90 s of silence; were it the server that drops them, a
 * review could be sent into a connection that is just being closed. A pod has at most 1.5 MiB in etcd; a review quotes it.
 */
const CAPACITY: ServerCapacity = {
  connections: 512,
  // All API servers of a managed control plane may have the address of one proxy.
  perAddress: 512,
  keepAlive: 120_000,
  body: 4 * 2 ** 20,
  patience: 30_000,
};

/** Hints that were not known to be current for so many seconds are not followed: their moves may have ended long ago. */
const MAX_HINT_AGE = 60;

/** The Service that API servers call. */
const SERVICE = 'evenkeel-webhook';

/** A replica that ends still answers for so many milliseconds: until then its Service may send it reviews. */
const DRAINING = 5_000;

/** How often mounted certificate files are read, in milliseconds: kubelets renew them once a minute. */
const FILES_PERIOD = 10_000;

/**
 * Serves the admission webhook, on every replica, leading or not: answers come from a watch of PlacementHints, with no call of the
 * API server. Rejects with Failure for flags that cannot be and an address that cannot be had, and with ConnectError without a
 * cluster. A certificate that cannot be had yet is waited for and reported.
 */
export async function serveWebhook(flags: ServedFlags, hooks: WebhookHooks): Promise<WebhookServer> {
  const address = parseAddress('--webhook-address', flags.webhookAddress, 9443);
  const lifetime = lifetimeOf(flags);
  checkFiles(flags);
  const client = new ApiClient(await connect({ ...flags, env: process.env }), {
    userAgent: `evenkeel/${VERSION} webhook`,
    attempts: 2,
    clock: systemClock,
    random: Math.random,
    onRequest: hooks.onRequest,
  });
  try {
    return await serve(client, address, { ...flags, lifetime }, hooks);
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function serve(
  client: ApiClient,
  address: Address,
  flags: WebhookFlags & { readonly lifetime: number },
  hooks: WebhookHooks,
): Promise<WebhookServer> {
  const stopping = new AbortController();
  const report = (error: unknown): void => hooks.warn(`webhook: ${messageOf(error)}`);
  const hints = createHintCache(client, report);
  const names: [string, ...string[]] = [`${SERVICE}.${flags.ownNamespace}.svc`, 'localhost', '127.0.0.1'];
  const provisional = createSelfSigned(names, Date.now());
  const server = await listenOn(address, {
    endpoints: new Map(),
    posts: new Map([
      [PLACEMENT_PATH, admissionEndpoint(placements(hints), report)],
      [GATE_PATH, admissionEndpoint(gatePatch, report)],
    ]),
    capacity: CAPACITY,
    keyPair: provisional,
    report,
  });
  const watching = hints.run(stopping.signal);
  const { source, period } = certificatesOf(client, flags, names, stopping.signal);
  const unwatch = watchCertificate(source, provisional, period, {
    changed(keyPair) {
      server.present(keyPair);
      hooks.renewed(keyPair.cert);
    },
    failed: report,
  });
  return {
    port: server.port,
    async close() {
      server.retire();
      await sleep(DRAINING);
      unwatch();
      await server.close();
      stopping.abort();
      await watching;
      await client.close();
    },
  };
}

function placements(hints: HintCache): PodMutation {
  return (pod, namespace) => {
    const owner = controllerOf(pod);
    const isCurrent = hints.age !== undefined && hints.age <= MAX_HINT_AGE;
    return owner === undefined || !isCurrent ? [] : placementPatch(pod, hints.of(namespace, owner));
  };
}

interface Certificates {
  readonly source: CertificateSource;
  /** How often it is loaded, in milliseconds. */
  readonly period: number;
}

function certificatesOf(
  client: ApiClient,
  {
    webhookTlsCertFile,
    webhookTlsPrivateKeyFile,
    ownNamespace,
    lifetime,
  }: WebhookFlags & { readonly lifetime: number },
  names: readonly [string, ...string[]],
  signal: AbortSignal,
): Certificates {
  if (webhookTlsCertFile !== undefined && webhookTlsPrivateKeyFile !== undefined) {
    return { source: certificateFiles(webhookTlsCertFile, webhookTlsPrivateKeyFile), period: FILES_PERIOD };
  }
  const times = rotationTimes(lifetime);
  return { source: sharedCertificates(client, ownNamespace, names, times, signal), period: times.period };
}

function checkFiles({ webhookTlsCertFile, webhookTlsPrivateKeyFile }: WebhookFlags): void {
  if ((webhookTlsCertFile === undefined) !== (webhookTlsPrivateKeyFile === undefined)) {
    throw new Failure(
      '--webhook-tls-cert-file and --webhook-tls-private-key-file belong together: write both, or neither',
    );
  }
}

/** In milliseconds. */
function lifetimeOf({ webhookCertificateLifetime: text }: WebhookFlags): number {
  try {
    return text === undefined ? WEBHOOK_LIFETIME : parseDuration(text) * 1000;
  } catch (error) {
    throw new Failure(`--webhook-certificate-lifetime: ${messageOf(error)}`, 1, { cause: error });
  }
}
