import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { createLeaseStore } from '../../src/adapters/kubernetes/lease-store.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { seconds } from '../../src/model/units.ts';
import type { ControlPlane } from '../control-plane/start.ts';

/** How long requests took, measured again and again: what a busy machine adds to whatever waits for requests. */
export interface RequestTimes {
  /** The longest, in milliseconds, of those under way between two instants of `performance.now()`; 0 where there was none. */
  longest(from: number, to: number): number;
  /** In milliseconds: the time within which this share of all requests was answered. */
  quantile(share: number): number;
  /** Ends it. */
  stop(): Promise<void>;
}

/** Milliseconds between two requests. */
const PERIOD = 250;
/** Seconds after which a request is given up; it counts as that long. */
const DEADLINE = 10;

/** Begins to read a Lease as a replica does, four times a second. */
export async function measureRequests(cp: ControlPlane): Promise<RequestTimes> {
  const client = new ApiClient(await connect({ kubeconfig: cp.kubeconfig, env: {} }), {
    clock: systemClock,
    random: Math.random,
    userAgent: 'evenkeel/test',
    attempts: 1,
  });
  const store = createLeaseStore(client, {
    namespace: 'evenkeel-system',
    name: 'evenkeel',
    deadline: seconds(DEADLINE),
  });
  const over = new AbortController();
  const times: { readonly from: number; readonly to: number }[] = [];
  const measuring = (async () => {
    while (!over.signal.aborted) {
      const from = performance.now();
      await store.get(over.signal).catch((error: unknown) => {
        if (!over.signal.aborted && performance.now() - from < 1000 * DEADLINE) {
          throw error;
        }
      });
      times.push({ from, to: performance.now() });
      await sleep(PERIOD);
    }
  })();
  return {
    longest: (from, to) =>
      Math.max(0, ...times.filter((each) => each.to > from && each.from < to).map((each) => each.to - each.from)),
    quantile: (share) => {
      const sorted = times.map(({ from, to }) => to - from).sort((left, right) => left - right);
      return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
    },
    stop: async () => {
      over.abort();
      await measuring;
      await client.close();
    },
  };
}
