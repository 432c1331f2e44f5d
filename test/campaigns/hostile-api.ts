import type { ControlPlane } from '../control-plane/start.ts';
import { startEvictionWebhook, WEBHOOK_KINDS, type WebhookKind } from '../support/faults/eviction-webhook.ts';
import { FAULT_KINDS, type FaultKind, LEAST_OF_EVICTIONS } from '../support/faults/kinds.ts';
import { startFaultProxy } from '../support/faults/proxy.ts';

/** A way in which a request of the operator fails: on its way, or by the verdict of a webhook. */
export type HostileKind = FaultKind | WebhookKind;
/** Every way. */
export const HOSTILE_KINDS: readonly HostileKind[] = [...FAULT_KINDS, ...WEBHOOK_KINDS];

/** The API server as an operator sees it through a proxy that spoils its requests, with a webhook that refuses its evictions. */
export interface HostileApi {
  /** Path of the kubeconfig of operators that go this way. */
  readonly kubeconfig: string;
  /** Requests that came so far. */
  readonly requests: () => number;
  /** How often each kind was injected. */
  readonly injected: () => Readonly<Record<HostileKind, number>>;
  /** What happened on their way to requests for Leases that came between two instants of `performance.now()`, each in a few words. */
  readonly leaseFaults: (from: number, to: number) => readonly string[];
  /** Evictions that the API server accepted after the operator had given them up. */
  readonly lateEvictions: () => number;
  /** The resourceVersions of what the API server stored after the operator had given it up. */
  readonly lateWrites: () => ReadonlySet<number>;
  /** Share of requests that fail from now on, in [0, 1], and how on their way; the webhook refuses half that share of evictions, or a quarter. */
  spoil(rate: number, kinds?: readonly FaultKind[]): void;
  /** Ends it; a second call does nothing. */
  stop(): Promise<void>;
}

/** Starts both; nothing fails yet. */
export async function startHostileApi(cp: ControlPlane, seed: number): Promise<HostileApi> {
  let lateEvictions = 0;
  const lateWrites = new Set<number>();
  const leaseFaults: { readonly at: number; readonly text: string }[] = [];
  const upstream = await cp.kubeconfigFor({ namespace: 'evenkeel-system', name: 'evenkeel' });
  const webhook = await startEvictionWebhook(cp, seed);
  const proxy = await startFaultProxy({
    upstream,
    seed,
    answered: ({ isLate, url, code }) => {
      lateEvictions += isLate && url.endsWith('/eviction') && code === 201 ? 1 : 0;
    },
    storedLate: (resourceVersion) => void lateWrites.add(Number(resourceVersion)),
    spoiled: (kind, { method, path, query }) => {
      if (path.includes('/leases')) {
        const verb = query.has('watch') ? 'watch' : method;
        leaseFaults.push({ at: performance.now(), text: `${kind} of ${verb} ${path.split('/').at(-1)}` });
      }
    },
  });
  let stopped: Promise<void> | undefined;
  return {
    kubeconfig: proxy.kubeconfig,
    requests: proxy.requests,
    injected: () => {
      const counts = new Map<HostileKind, number>([...proxy.injected, ...webhook.injected]);
      return Object.fromEntries(HOSTILE_KINDS.map((kind) => [kind, counts.get(kind) ?? 0])) as Record<
        HostileKind,
        number
      >;
    },
    leaseFaults: (from, to) =>
      leaseFaults
        .filter(({ at }) => at >= from && at <= to)
        .map(({ at, text }) => `${((at - from) / 1000).toFixed(2)} s: ${text}`),
    lateEvictions: () => lateEvictions,
    lateWrites: () => lateWrites,
    spoil: (rate, kinds) => {
      proxy.spoil(rate, kinds);
      webhook.refuse(rate === 0 ? 0 : Math.max(rate / 2, LEAST_OF_EVICTIONS));
    },
    stop: () => {
      stopped ??= proxy.stop().then(webhook.stop);
      return stopped;
    },
  };
}
