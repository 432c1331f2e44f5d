import { afterEach, describe, expect, it, vi } from 'vitest';
import { createReplicaContainers } from '../../src/adapters/kubernetes/replica-containers.ts';
import { epochSeconds, seconds } from '../../src/model/units.ts';
import type { LeaseRecord, ReplicaContainers } from '../../src/ports.ts';
import { clientOf, type FakeApiServer, json, listOf, startFakeApiServer, status } from './fake-api-server.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

/** When the holder got the Lease. */
const ACQUIRED = Date.parse('2030-01-01T12:00:05.500Z') / 1000;
const RECORD: LeaseRecord = {
  holder: 'evenkeel-7d9c_0e7f',
  duration: seconds(15),
  acquiredAt: epochSeconds(ACQUIRED),
  renewedAt: epochSeconds(ACQUIRED),
  transitions: 3,
};
const running = (startedAt: string): object => ({ running: { startedAt: `2030-01-01T${startedAt}Z` } });
const terminated = (finishedAt: string): object => ({ terminated: { finishedAt: `2030-01-01T${finishedAt}Z` } });

let version = 1;

/** The pod of the holder, whose containers stand like this. */
function aPod(states: Readonly<Record<string, object>>, uid = 'first'): object {
  version += 1;
  const containerStatuses = Object.entries(states).map(([name, state]) => ({ name, ...state }));
  const metadata = { namespace: 'own', name: 'evenkeel-7d9c', uid, resourceVersion: String(version) };
  return { metadata, status: { containerStatuses } };
}

const RUNS = aPod({ operator: { state: running('12:00:05') }, proxy: { state: running('12:00:04') } });

/** Begins to watch the containers of a namespace. */
function watchOn(server: FakeApiServer, ownPod: string, report: (error: unknown) => void): ReplicaContainers {
  const client = clientOf(server.url);
  const ended = new AbortController();
  const containers = createReplicaContainers(client, 'own', ownPod, report);
  expect(containers.hasEnded(RECORD), 'before the list').toBe(false);
  const watching = containers.watch(ended.signal);
  cleanups.push(
    () => server.stop(),
    () => client.close(),
    () => watching,
    () => ended.abort(),
  );
  return containers;
}

interface Watched {
  readonly containers: ReplicaContainers;
  /** Lets the watch say that the pod stands like this now; resolves a moment later. */
  say(pod: object): Promise<void>;
  readonly asked: readonly string[];
}

/** Containers of a namespace with this pod, listed. */
async function watch(pods: readonly object[], ownPod = 'another'): Promise<Watched> {
  const pushed = Promise.withResolvers<(event: object) => void>();
  const server = await startFakeApiServer(json(listOf(pods, { resourceVersion: '1' })), (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    pushed.resolve((event) => void response.write(`${JSON.stringify(event)}\n`));
  });
  const containers = watchOn(server, ownPod, () => undefined);
  const push = await pushed.promise;
  return {
    containers,
    asked: server.seen.map(({ path }) => path),
    async say(object) {
      push({ type: 'MODIFIED', object });
      // Long enough for the word to come, whether or not it changes anything.
      await new Promise((resolve) => setTimeout(resolve, 50));
    },
  };
}

describe('the container of a holder', () => {
  it.each([
    ['has ended', { state: terminated('12:00:09') }],
    ['waits to be started again', { state: { waiting: {} }, lastState: terminated('12:00:09') }],
    ['has been started again', { state: running('12:00:10'), lastState: terminated('12:00:09') }],
  ])('has ended when it %s', async (_, operator) => {
    const { containers, say, asked } = await watch([RUNS]);
    expect(asked).toEqual(['/api/v1/namespaces/own/pods', '/api/v1/namespaces/own/pods']);
    expect(containers.hasEnded(RECORD)).toBe(false);
    await say(aPod({ operator }));
    await vi.waitFor(() => expect(containers.hasEnded(RECORD)).toBe(true));
  });

  it('is reported when it begins or ends, and not when its pod changes otherwise', async () => {
    const { containers, say } = await watch([RUNS]);
    let changes = 0;
    containers.onChange(() => {
      changes += 1;
    });
    await say(aPod({ operator: { state: running('12:00:05') }, proxy: { state: terminated('12:00:09') } }));
    expect(changes).toBe(0);
    await say(aPod({ operator: { state: terminated('12:00:09') } }));
    await vi.waitFor(() => expect(changes).toBe(1));
  });

  it.each([
    [
      'another container has ended',
      aPod({ operator: { state: running('12:00:05') }, proxy: { state: terminated('12:00:09') } }),
    ],
    [
      'its pod has been made anew: the old one may run on a node that nobody reaches',
      aPod({ operator: { state: running('12:00:20') } }, 'second'),
    ],
    [
      'it ended before the holder got the Lease, in the next one',
      aPod({ operator: { state: terminated('12:00:05') } }),
    ],
    ['nothing is said of it', aPod({ operator: { state: { running: { startedAt: 'soon' } } } })],
    [
      'its status is gone',
      { metadata: { namespace: 'own', name: 'evenkeel-7d9c', uid: 'first', resourceVersion: '9' } },
    ],
  ])('has not ended as far as is known when %s', async (_, pod) => {
    const { containers, say } = await watch([RUNS]);
    expect(containers.hasEnded(RECORD)).toBe(false);
    await say(pod);
    expect(containers.hasEnded(RECORD)).toBe(false);
  });

  it('has not ended as far as is known when it was so at the first look: the clock of its node may have been set back', async () => {
    const { containers, say } = await watch([aPod({ operator: { state: running('12:00:09') } })]);
    expect(containers.hasEnded(RECORD)).toBe(false);
    await say(aPod({ operator: { state: terminated('12:00:30') } }));
    expect(containers.hasEnded(RECORD)).toBe(false);
  });

  it('has ended at once when it ran in the pod of the process that asks, and a later one runs there', async () => {
    const states = { state: running('12:00:09'), lastState: terminated('12:00:08') };
    const { containers } = await watch([aPod({ operator: states })], 'evenkeel-7d9c');
    expect(containers.hasEnded(RECORD)).toBe(true);
  });

  it('has not ended as far as is known when it is of the pod of the process that asks, and nothing later runs there', async () => {
    const { containers } = await watch([RUNS], 'evenkeel-7d9c');
    expect(containers.hasEnded(RECORD)).toBe(false);
  });

  it('has not ended as far as is known when there is no such pod: the process may run anywhere', async () => {
    const { containers, say } = await watch([]);
    expect(containers.hasEnded(RECORD)).toBe(false);
    await say(aPod({ operator: { state: terminated('12:00:30') } }));
    expect(containers.hasEnded(RECORD)).toBe(false);
  });

  it('has not ended as far as is known when pods may not be listed, which is reported', async () => {
    const server = await startFakeApiServer(status(403));
    const errors: unknown[] = [];
    const containers = watchOn(server, 'another', (error) => errors.push(error));
    await vi.waitFor(() => expect(errors).not.toEqual([]));
    expect(containers.hasEnded(RECORD)).toBe(false);
  });
});
