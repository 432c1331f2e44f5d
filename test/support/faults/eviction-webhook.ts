import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../../control-plane/pki.ts';
import type { ControlPlane } from '../../control-plane/start.ts';
import { createRandom } from '../random.ts';
import { rarest } from './kinds.ts';

/** Every way in which the webhook refuses an eviction. */
export const WEBHOOK_KINDS = [
  'WebhookTooManyRequests',
  'WebhookTooManyRequestsRetryAfter',
  'WebhookForbidden',
  'WebhookUnavailable',
  /** The webhook breaks the connection: the API server answers 500, as its failurePolicy is Fail. */
  'WebhookBroken',
] as const;
/** A way in which the webhook refuses an eviction. */
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

/** A webhook that the API server asks about every eviction, dry runs included. */
export interface EvictionWebhook {
  /** How often an eviction was refused in each way. */
  readonly injected: ReadonlyMap<WebhookKind, number>;
  /** Share of evictions that are refused from now on, in [0, 1]. */
  refuse(rate: number): void;
  /** Takes it from the API server and ends it. */
  stop(): Promise<void>;
}

/** What the webhook answers; the API server passes code, message and Retry-After on. */
const STATUS: Readonly<Record<Exclude<WebhookKind, 'WebhookBroken'>, object>> = {
  WebhookTooManyRequests: { code: 429, reason: 'TooManyRequests' },
  WebhookTooManyRequestsRetryAfter: { code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 3 } },
  WebhookForbidden: { code: 403, reason: 'Forbidden' },
  WebhookUnavailable: { code: 503, reason: 'ServiceUnavailable' },
};

const NAME = 'fickle-evictions';

/** Starts a webhook that refuses nothing yet, and registers it. */
export async function startEvictionWebhook(cp: ControlPlane, seed: number): Promise<EvictionWebhook> {
  const random = createRandom(seed);
  const injected = new Map<WebhookKind, number>();
  let rate = 0;
  const choose = (): WebhookKind | undefined =>
    random.next() < rate ? rarest(WEBHOOK_KINDS, injected, random) : undefined;
  const authority = createAuthority('eviction webhook');
  const { key, certificate } = authority.serving('127.0.0.1');
  const server = createServer({ key, cert: certificate }, (incoming, answer) => {
    const kind = choose();
    if (kind !== undefined) {
      injected.set(kind, (injected.get(kind) ?? 0) + 1);
    }
    review(incoming, answer, kind).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await cp.apply([configuration(`https://127.0.0.1:${port}/`, authority.certificate)]);
  return {
    injected,
    refuse: (share) => {
      rate = share;
    },
    stop: async () => {
      await cp.kubectl(['delete', 'validatingwebhookconfiguration', NAME, '--ignore-not-found']);
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function configuration(url: string, authority: string): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: NAME },
    webhooks: [
      {
        name: 'evictions.evenkeel.test',
        admissionReviewVersions: ['v1'],
        clientConfig: { url, caBundle: Buffer.from(authority).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] }],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        timeoutSeconds: 5,
      },
    ],
  };
}

async function review(incoming: IncomingMessage, answer: ServerResponse, kind: WebhookKind | undefined): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) {
    chunks.push(chunk as Buffer);
  }
  if (kind === 'WebhookBroken') {
    incoming.socket.destroy();
    return;
  }
  const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { readonly request: { readonly uid: string } };
  const verdict =
    kind === undefined ? { allowed: true } : { allowed: false, status: { ...STATUS[kind], message: 'injected' } };
  const response = { uid: asked.request.uid, ...verdict };
  answer.writeHead(200, { 'content-type': 'application/json' });
  answer.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }));
}
