import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { createLeaseStore, createSharedLeases } from '../../src/adapters/kubernetes/lease-store.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { leaseOfReplica, leaseOfShard } from '../../src/control/shards/names.ts';
import { epochSeconds, seconds } from '../../src/model/units.ts';
import {
  ConflictError,
  type LeaseRecord,
  type LeaseStore,
  NamespaceMissingError,
  type StoredLease,
} from '../../src/ports.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { install, installShared } from '../support/operator-process.ts';
import { NEVER } from './fake-api-server.ts';

const NAMESPACE = 'evenkeel-system';

let plane: ControlPlane;
let operator: ApiClient;
let admin: ApiClient;

async function clientFrom(kubeconfig: string): Promise<ApiClient> {
  const connection = await connect({ kubeconfig, env: {} });
  return new ApiClient(connection, {
    clock: systemClock,
    random: Math.random,
    userAgent: 'evenkeel/test',
    attempts: 1,
  });
}

beforeAll(async () => {
  plane = await startControlPlane({ metricsServer: false, log: () => undefined });
  await install(plane, 'default');
  admin = await clientFrom(plane.kubeconfig);
  operator = await clientFrom(await plane.kubeconfigFor({ namespace: NAMESPACE, name: 'evenkeel' }));
});

afterAll(async () => {
  await Promise.all([operator, admin].map((client) => client?.close()));
  await plane?.stop();
});

function storeOf(client: ApiClient, name = 'evenkeel', namespace = NAMESPACE): LeaseStore {
  return createLeaseStore(client, { namespace, name, deadline: seconds(5) });
}

function aRecord(changes: Partial<LeaseRecord> = {}): LeaseRecord {
  const now = epochSeconds(1_800_000_000.25);
  return { holder: 'host_1', duration: seconds(15), acquiredAt: now, renewedAt: now, transitions: 0, ...changes };
}

async function stored(store: LeaseStore): Promise<StoredLease> {
  const lease = await store.get(NEVER);
  if (lease === undefined) {
    throw new Error('no lease');
  }
  return lease;
}

describe('the lease store, with the rights of deploy/', () => {
  it('makes the Lease once, as client-go would have it', async () => {
    const store = storeOf(operator);
    expect(await store.get(NEVER)).toBeUndefined();
    const created = await store.create(aRecord(), NEVER);
    expect(created.record).toEqual(aRecord());
    expect(await store.get(NEVER)).toEqual(created);
    await expect(store.create(aRecord(), NEVER)).rejects.toBeInstanceOf(ConflictError);
    const { spec } = JSON.parse(await plane.kubectl(['get', 'lease', '-n', NAMESPACE, 'evenkeel', '-o', 'json']));
    expect(spec).toEqual({
      holderIdentity: 'host_1',
      leaseDurationSeconds: 15,
      acquireTime: '2027-01-15T08:00:00.250000Z',
      renewTime: '2027-01-15T08:00:00.250000Z',
      leaseTransitions: 0,
    });
  });

  it('lets only one of two write over what both have read', async () => {
    const store = storeOf(operator);
    const read = await stored(store);
    const written = await store.update(read, aRecord({ holder: 'host_2', transitions: 1 }), NEVER);
    expect(written.record).toMatchObject({ holder: 'host_2', transitions: 1 });
    await expect(store.update(read, aRecord({ holder: 'host_3' }), NEVER)).rejects.toBeInstanceOf(ConflictError);
    expect((await stored(store)).record).toEqual(written.record);
    const renewed = await store.update(written, { ...written.record, renewedAt: epochSeconds(1_800_000_002) }, NEVER);
    expect(renewed.record.renewedAt).toBe(1_800_000_002);
  });

  it('stores a release: no holder, one second', async () => {
    const store = storeOf(operator);
    const released = await store.update(await stored(store), aRecord({ holder: '', duration: seconds(1) }), NEVER);
    expect(released.record).toMatchObject({ holder: '', duration: 1 });
  });

  it('keeps labels of others, and reads what somebody has cleared', async () => {
    const store = storeOf(operator);
    await plane.kubectl(['label', 'lease', '-n', NAMESPACE, 'evenkeel', 'team=a']);
    const labelled = await store.update(await stored(store), aRecord(), NEVER);
    expect(labelled.metadata['labels']).toEqual({ team: 'a' });
    await plane.kubectl(['patch', 'lease', '-n', NAMESPACE, 'evenkeel', '--type=merge', '-p', '{"spec":null}']);
    expect((await stored(store)).record).toEqual({
      holder: '',
      duration: 0,
      acquiredAt: 0,
      renewedAt: 0,
      transitions: 0,
    });
  });

  it('says that the Lease is gone by a conflict, and that its namespace is missing', async () => {
    const store = storeOf(operator);
    const read = await stored(store);
    await plane.kubectl(['delete', 'lease', '-n', NAMESPACE, 'evenkeel']);
    await expect(store.update(read, aRecord(), NEVER)).rejects.toBeInstanceOf(ConflictError);
    const nowhere = storeOf(admin, 'evenkeel', 'nowhere');
    expect(await nowhere.get(NEVER)).toBeUndefined();
    await expect(nowhere.create(aRecord(), NEVER)).rejects.toBeInstanceOf(NamespaceMissingError);
  });

  it('may not touch another Lease, nor one of another namespace', async () => {
    await expect(storeOf(operator, 'other').get(NEVER)).rejects.toMatchObject({ kind: 'Forbidden' });
    await expect(storeOf(operator, 'evenkeel', 'default').get(NEVER)).rejects.toMatchObject({
      kind: 'Forbidden',
      message: expect.stringContaining('grant the verb get on leases in API group "coordination.k8s.io"'),
    });
    await expect(storeOf(operator, 'evenkeel', 'default').create(aRecord(), NEVER)).rejects.toMatchObject({
      kind: 'Forbidden',
    });
  });
});

describe('Leases that replicas share their work by, with the rights to do so', () => {
  /** Leases of replicas and policies, which a watch brings until the end of the test. */
  async function watching(client: ApiClient) {
    const reports: unknown[] = [];
    const leases = createSharedLeases(client, { namespace: NAMESPACE, deadline: seconds(5) }, (error) =>
      reports.push(error),
    );
    const stop = new AbortController();
    let news = Promise.withResolvers<void>();
    const running = leases.watch(() => news.resolve(), stop.signal);
    return {
      leases,
      reports,
      /** Resolves when what the watch has brought is so. */
      async until(isSo: () => boolean): Promise<void> {
        while (!isSo()) {
          await news.promise;
          news = Promise.withResolvers();
        }
      },
      async end(): Promise<void> {
        stop.abort();
        await running;
      },
    };
  }

  beforeAll(async () => {
    await installShared(plane, 'default');
  });

  it('are made with their labels, brought by the watch, renewed and deleted', async () => {
    const { leases, reports, until, end } = await watching(operator);
    const policy = leaseOfShard('evenkeel', '5f0c7d2e-0000-4000-8000-000000000001');
    const member = leaseOfReplica('evenkeel', 'host_1');
    const store = leases.of(policy.name, policy.labels);
    const created = await store.create(aRecord(), NEVER);
    await leases.of(member.name, member.labels).create(aRecord(), NEVER);
    // Without the label: the Lease of a single leader is none of them.
    await storeOf(operator).create(aRecord(), NEVER);
    expect(created.metadata['labels']).toEqual({
      'evenkeel.dev/lease': 'policy',
      'evenkeel.dev/policy-uid': '5f0c7d2e-0000-4000-8000-000000000001',
    });
    await until(() => leases.seen.size === 2);
    expect([...leases.seen.keys()].sort()).toEqual([policy.name, member.name].sort());
    expect(leases.seen.get(policy.name)).toEqual(created);
    const listed = await leases.list(NEVER);
    expect(listed.map(({ metadata }) => metadata['name']).sort()).toEqual([policy.name, member.name].sort());

    const annotations = { 'evenkeel.dev/released-by': 'host_1' };
    const freed = { ...created, metadata: { ...created.metadata, annotations } };
    const written = await store.update(freed, aRecord({ holder: '', transitions: 3 }), NEVER);
    await until(() => leases.seen.get(policy.name)?.record.holder === '');
    expect(leases.seen.get(policy.name)).toEqual(written);
    expect(written.metadata).toMatchObject({ annotations, labels: created.metadata['labels'] });

    await expect(store.remove(created, NEVER)).rejects.toBeInstanceOf(ConflictError);
    expect(await store.get(NEVER)).toEqual(written);
    await store.remove(written, NEVER);
    expect(await store.get(NEVER)).toBeUndefined();
    await until(() => !leases.seen.has(policy.name));
    await store.remove(written, NEVER);
    expect(reports).toEqual([]);
    await end();
  });

  it('that were made anew under a name are not those that were read', async () => {
    const { name, labels } = leaseOfShard('evenkeel', 'anew');
    const store = createSharedLeases(operator, { namespace: NAMESPACE, deadline: seconds(5) }, () => undefined).of(
      name,
      labels,
    );
    const first = await store.create(aRecord(), NEVER);
    await store.remove(first, NEVER);
    const second = await store.create(aRecord({ holder: 'host_2' }), NEVER);
    await expect(store.remove(first, NEVER)).rejects.toBeInstanceOf(ConflictError);
    await expect(store.update(first, aRecord(), NEVER)).rejects.toBeInstanceOf(ConflictError);
    expect((await store.get(NEVER))?.metadata['uid']).toBe(second.metadata['uid']);
  });
});
