import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isApiError } from '../../src/adapters/kubernetes/api-error.ts';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { type ClusterCache, createClusterCache } from '../../src/adapters/kubernetes/cluster-cache.ts';
import { createClusterReader } from '../../src/adapters/kubernetes/cluster-reader.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { createSharedReflectors } from '../../src/adapters/kubernetes/shared-reflectors.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { seconds } from '../../src/model/units.ts';
import { plan } from '../../src/plan/planner.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { someOptions } from '../support/builders/options.ts';
import { NEVER } from './fake-api-server.ts';
import {
  accountWith,
  aDeployment,
  aDisruptionBudget,
  aKwokNode,
  NAMESPACE,
  NEEDED_RULES,
  resourceDefinitions,
  storageObjects,
} from './kubernetes-objects.ts';

let plane: ControlPlane;
let client: ApiClient;
let cache: ClusterCache;
let running: Promise<void>;
const stop = new AbortController();
const failures: unknown[] = [];
const drifts: unknown[] = [];

beforeAll(async () => {
  plane = await startControlPlane({ log: () => undefined });
  await plane.apply(resourceDefinitions());
  await plane.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }]);
  await plane.apply(accountWith('operator', NEEDED_RULES));
  const kubeconfig = await plane.kubeconfigFor({ namespace: NAMESPACE, name: 'operator' });
  const options = { clock: systemClock, random: Math.random, userAgent: 'evenkeel/test', attempts: 5 };
  client = new ApiClient(await connect({ kubeconfig, env: {} }), options);
  cache = createClusterCache(client, createSharedReflectors(client), {
    failed: (_, error) => failures.push(error),
    drifted: (resource, diff) => drifts.push([resource, diff]),
  });
  running = cache.run(stop.signal);
  await cache.synced(seconds(60), NEVER);
});

afterAll(async () => {
  stop.abort();
  await running;
  await client?.close();
  await plane?.stop();
});

/** Usage is sampled anew all the time, and nodes report themselves: what both readers saw at the same time is compared. */
async function untilEqual(isReached: (snapshot: ClusterSnapshot) => boolean): Promise<ClusterSnapshot> {
  const lister = createClusterReader(client);
  let last: ClusterSnapshot | undefined;
  const difference = async (): Promise<string | undefined> => {
    const listed = await lister.snapshot(NEVER);
    const cached = await cache.reader.snapshot(NEVER);
    last = cached;
    const again = await lister.snapshot(NEVER);
    const [left, right] = [withoutTime(cached), withoutTime(again)];
    if (!isReached(cached) || !equal(withoutTime(listed), right)) {
      return 'the cluster has not come to rest';
    }
    expect(left).toEqual(right);
    const same = { ...again, usage: cached.usage, takenAt: cached.takenAt };
    expect(plan(cached, someOptions()).hash).toBe(plan(same, someOptions()).hash);
    return undefined;
  };
  await waitUntil('equal snapshots', difference, { timeoutMilliseconds: 120_000 });
  if (last === undefined) {
    throw new Error('no snapshot');
  }
  return last;
}

function withoutTime({ takenAt: _, usage, ...rest }: ClusterSnapshot): unknown {
  return { ...rest, sampled: [...(usage?.nodes.keys() ?? []), ...(usage?.pods.keys() ?? [])] };
}

function equal(left: unknown, right: unknown): boolean {
  try {
    expect(left).toEqual(right);
    return true;
  } catch {
    return false;
  }
}

const readyPods = ({ pods }: ClusterSnapshot): number =>
  pods.filter(({ namespace, ready }) => namespace === NAMESPACE && ready).length;

describe('the cache of a real cluster', () => {
  it('follows nodes, workloads, pods and volumes as they are made, under the rights of the operator', async () => {
    await plane.apply([...['a', 'b', 'c'].map(aKwokNode), aDeployment('web', 4), aDisruptionBudget('web', 'web', 1)]);
    await plane.apply(storageObjects());
    const began = Math.floor(Date.now() / 1000);
    const snapshot = await untilEqual((seen) => readyPods(seen) === 4 && (seen.usage?.pods.size ?? 0) === 4);
    expect(snapshot.takenAt).toBeGreaterThanOrEqual(began);
    expect(snapshot.takenAt).toBeLessThanOrEqual(Date.now() / 1000);
    expect(snapshot.nodes.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(snapshot.problems.filter((problem) => !problem.startsWith('RebalancePlans'))).toEqual([]);
    expect((await cache.reader.nodes(NEVER)).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('follows updates, deletions and pods that are made anew under their name', async () => {
    const bare = (label: string): object => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bare', namespace: NAMESPACE, labels: { made: label } },
      spec: { containers: [{ name: 'main', image: 'simulated' }], terminationGracePeriodSeconds: 0 },
    });
    await plane.apply([bare('first')]);
    const uidOf = ({ pods }: ClusterSnapshot): string | undefined => pods.find(({ name }) => name === 'bare')?.uid;
    const first = uidOf(await untilEqual((seen) => uidOf(seen) !== undefined));
    await plane.kubectl(['label', 'node', 'a', 'disk=fast']);
    await plane.kubectl(['cordon', 'b']);
    await plane.kubectl(['delete', 'pod', 'bare', '-n', NAMESPACE, '--wait']);
    await plane.apply([bare('second')]);
    await plane.kubectl(['scale', 'deployment/web', '-n', NAMESPACE, '--replicas=2']);
    const snapshot = await untilEqual((seen) => readyPods(seen) === 3 && uidOf(seen) !== first);
    expect(snapshot.pods.find(({ name }) => name === 'bare')?.labels.get('made')).toBe('second');
    expect(snapshot.nodes.map(({ unschedulable }) => unschedulable)).toEqual([false, true, false]);
  });

  it('gets over a crash of the API server, which has then forgotten the past (410)', async () => {
    await plane.restart('kube-apiserver');
    await plane.kubectl(['delete', 'pod', 'bare', '-n', NAMESPACE, '--wait']);
    await plane.kubectl(['scale', 'deployment/web', '-n', NAMESPACE, '--replicas=5']);
    await waitUntil(
      'fresh caches',
      async () => (cache.states().every(({ age }) => age === 0) ? undefined : JSON.stringify(cache.states())),
      { timeoutMilliseconds: 60_000 },
    );
    await untilEqual((seen) => readyPods(seen) === 5);
    expect(failures.some((error) => isApiError(error, 'Expired'))).toBe(true);
    expect(drifts).toEqual([]);
  });
});
