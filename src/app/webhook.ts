import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { distrust, fingerprintOf } from '../adapters/http/key-pair.ts';
import type { ServedWebhook } from '../adapters/kubernetes/steering.ts';
import type { ClusterFlags } from './cluster.ts';
import { Failure } from './failure.ts';
import { trustProblem } from './webhook-certificate.ts';
import type { WebhookFlags, WebhookHooks, WebhookServer } from './webhook-server.ts';
import type { FromWebhook } from './webhook-thread.ts';

/** The webhook that is being served, as the operator sees it. */
export interface RunningWebhook extends ServedWebhook, WebhookServer {}

/** The module of the thread, seen from the bundle and from the sources. */
const THREAD: URL = new URL(
  import.meta.url.endsWith('.ts') ? './webhook-thread.ts' : './webhook-thread.js',
  import.meta.url,
);

/**
 * Serves the admission webhook in a thread of its own: the creation of a pod waits for its answer, and must not wait for a plan
 * that is being computed, or for the changes of 5,000 nodes. Resolves to undefined without an address, and to the webhook when it answers.
 * Rejects like `serveWebhook`; what the thread fails at later ends the process.
 */
export async function openWebhook(
  flags: WebhookFlags & ClusterFlags,
  hooks: WebhookHooks,
): Promise<RunningWebhook | undefined> {
  if (flags.webhookAddress === undefined) {
    return undefined;
  }
  const thread = new Worker(THREAD, { name: 'webhook', workerData: flags });
  const started = Promise.withResolvers<number>();
  let served: string | undefined;
  thread.on('message', (message: FromWebhook) => {
    switch (message.kind) {
      case 'Serving':
        started.resolve(message.port);
        break;
      case 'Refused':
        started.reject(new Failure(message.message));
        break;
      case 'Requested':
        hooks.onRequest(message.verb, message.code);
        break;
      case 'Warned':
        hooks.warn(message.message);
        break;
      case 'Renewed':
        served = message.certificate;
        hooks.renewed(fingerprintOf({ cert: served }));
        break;
      default:
        message satisfies never;
    }
  });
  thread.on('error', started.reject);
  const port = await started.promise;
  thread.off('error', started.reject);
  return {
    port,
    problem: (bundle) =>
      served === undefined
        ? 'the operator has no certificate for its webhook yet'
        : trustProblem(distrust(bundle, served, Date.now())),
    async close() {
      const ended = once(thread, 'exit');
      thread.postMessage('Close');
      await ended;
    },
  };
}
