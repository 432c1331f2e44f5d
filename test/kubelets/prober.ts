import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../../src/adapters/kubernetes/client.ts';

/** What clients of a Service missed. */
export interface Prober {
  /** Seconds of pods that did not serve, by Service: one missing pod for a second is one. */
  readonly lost: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Milliseconds between two looks. */
const EVERY = 100;
const PORT = 8080;
const SLICES = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const NEVER = new AbortController().signal;

interface Slice {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions: { readonly ready?: boolean };
  }[];
}

/**
 * Calls each pod as a client of its Service would: at the addresses of EndpointSlices that are ready. What is missing to `replicas`
 * at a look counts as lost since the look before.
 */
export function startProber(client: ApiClient, namespace: string, replicas: ReadonlyMap<string, number>): Prober {
  const lost = new Map([...replicas.keys()].map((service) => [service, 0]));
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    const { body } = await client.read({ verb: 'list', target: { ...SLICES, namespace } }, NEVER);
    const { items } = body as { readonly items: readonly Slice[] };
    before = now;
    now = performance.now();
    for (const [service, wanted] of replicas) {
      const addresses = items
        .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === service)
        .flatMap(({ endpoints = [] }) => endpoints.filter(({ conditions }) => conditions.ready === true))
        .flatMap((endpoint) => endpoint.addresses);
      const answers = await Promise.all(addresses.map(answersWell));
      const missing = Math.max(0, wanted - answers.filter(Boolean).length);
      lost.set(service, (lost.get(service) ?? 0) + (missing * (now - before)) / 1000);
    }
  };
  let now = performance.now();
  let before = now;
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await look();
      await sleep(EVERY);
    }
  })();
  return {
    lost,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function answersWell(address: string): Promise<boolean> {
  try {
    return (await fetch(`http://${address}:${PORT}/`, { signal: AbortSignal.timeout(500) })).ok;
  } catch {
    return false;
  }
}
