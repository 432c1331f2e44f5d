import { afterEach, describe, expect, it } from 'vitest';
import { createLeaseStore, createSharedLeases } from '../../src/adapters/kubernetes/lease-store.ts';
import { epochSeconds, seconds } from '../../src/model/units.ts';
import { ConflictError, type LeaseRecord, NamespaceMissingError, type StoredLease } from '../../src/ports.ts';
import { answering } from './answering.ts';
import { type FakeApiServer, type Handler, json, listOf, NEVER, reset, status } from './fake-api-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

const PATH = '/apis/coordination.k8s.io/v1/namespaces/evenkeel-system/leases';
const RECORD: LeaseRecord = {
  holder: 'host_1',
  duration: seconds(15),
  acquiredAt: epochSeconds(1_800_000_000),
  renewedAt: epochSeconds(1_800_000_000),
  transitions: 2,
};

/** A Lease as the server has it. */
function aLease(name: string, metadata: Record<string, unknown> = {}, holderIdentity = 'host_1') {
  const labels = { 'evenkeel.dev/lease': 'policy' };
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'evenkeel-system', uid: `uid-${name}`, resourceVersion: '7', labels, ...metadata },
    spec: { holderIdentity, leaseDurationSeconds: 15, leaseTransitions: 2 },
  };
}

async function start(...handlers: readonly Handler[]) {
  const { server, client } = await answering(handlers);
  const reports: unknown[] = [];
  const leases = createSharedLeases(client, { namespace: 'evenkeel-system', deadline: seconds(5) }, (error) =>
    reports.push(error),
  );
  return { server, client, leases, reports };
}

function lastOf({ seen }: FakeApiServer) {
  return seen.at(-1) ?? expect.fail('nothing was asked');
}

const STORED: StoredLease = {
  record: RECORD,
  metadata: { name: 'evenkeel-policy-1', uid: 'uid-1', resourceVersion: '7', labels: { team: 'a' } },
};

describe('the Lease of a policy', () => {
  it('gets its labels when it is created', async () => {
    const { server, leases } = await start(json(aLease('evenkeel-policy-1'), 201));
    const labels = new Map([
      ['evenkeel.dev/lease', 'policy'],
      ['evenkeel.dev/policy-uid', 'uid-1'],
    ]);
    await leases.of('evenkeel-policy-1', labels).create(RECORD, NEVER);
    expect(lastOf(server)).toMatchObject({
      method: 'POST',
      path: PATH,
      body: {
        metadata: {
          name: 'evenkeel-policy-1',
          namespace: 'evenkeel-system',
          labels: { 'evenkeel.dev/lease': 'policy', 'evenkeel.dev/policy-uid': 'uid-1' },
        },
        spec: { holderIdentity: 'host_1', leaseDurationSeconds: 15, leaseTransitions: 2 },
      },
    });
  });

  it('keeps its metadata when it is written, labels of others included', async () => {
    const { server, leases } = await start(json(aLease('evenkeel-policy-1')));
    await leases.of('evenkeel-policy-1', new Map([['evenkeel.dev/lease', 'policy']])).update(STORED, RECORD, NEVER);
    expect(lastOf(server)).toMatchObject({
      method: 'PUT',
      path: `${PATH}/evenkeel-policy-1`,
      body: { metadata: STORED.metadata },
    });
  });

  it('is deleted in the version that was read, and no other', async () => {
    const { server, leases } = await start(json({ kind: 'Status', status: 'Success' }));
    await leases.of('evenkeel-policy-1', new Map()).remove(STORED, NEVER);
    expect(lastOf(server)).toMatchObject({
      method: 'DELETE',
      path: `${PATH}/evenkeel-policy-1`,
      body: { kind: 'DeleteOptions', preconditions: { uid: 'uid-1', resourceVersion: '7' } },
    });
  });

  it('is gone already: that is fine; it was written meanwhile: that is a conflict; all else is an error', async () => {
    const remove = async (handler: Handler): Promise<unknown> => {
      const { leases } = await start(handler);
      return leases
        .of('evenkeel-policy-1', new Map())
        .remove(STORED, NEVER)
        .catch((error: unknown) => error);
    };
    expect(await remove(status(404, { reason: 'NotFound' }))).toBeUndefined();
    expect(await remove(status(409, { reason: 'Conflict' }))).toBeInstanceOf(ConflictError);
    expect(await remove(status(403, { reason: 'Forbidden' }))).toMatchObject({ kind: 'Forbidden' });
    expect(await remove(reset())).toMatchObject({ name: 'ApiError' });
  });
});

describe('what a Lease says', () => {
  const read = async (handler: Handler) => {
    const { leases } = await start(handler);
    return leases.of('evenkeel-policy-1', new Map()).get(NEVER);
  };
  const metadata = { name: 'evenkeel-policy-1', uid: 'uid-1', resourceVersion: '7' };

  it('is read with the times to the microsecond, and with its metadata', async () => {
    const spec = {
      holderIdentity: 'host_2',
      leaseDurationSeconds: 20,
      acquireTime: '2027-01-15T08:00:00.250000Z',
      renewTime: '2027-01-15T08:00:10.500000Z',
      leaseTransitions: 4,
    };
    expect(await read(json({ metadata, spec }))).toEqual({
      record: {
        holder: 'host_2',
        duration: 20,
        acquiredAt: 1_800_000_000.25,
        renewedAt: 1_800_000_010.5,
        transitions: 4,
      },
      metadata,
    });
  });

  it.each<[string, object]>([
    ['is absent', {}],
    ['is absent in an empty spec', { spec: {} }],
    [
      'is of another type',
      {
        spec: {
          holderIdentity: 7,
          leaseDurationSeconds: '15',
          acquireTime: 1_800_000_000,
          renewTime: 'yesterday',
          leaseTransitions: '2',
        },
      },
    ],
  ])('counts as nothing where it %s', async (_, parts) => {
    expect((await read(json({ metadata, ...parts })))?.record).toEqual({
      holder: '',
      duration: 0,
      acquiredAt: 0,
      renewedAt: 0,
      transitions: 0,
    });
  });

  it('is nothing where there is none; where it may not be read, that is an error', async () => {
    expect(await read(status(404, { reason: 'NotFound' }))).toBeUndefined();
    await expect(read(status(403))).rejects.toMatchObject({ kind: 'Forbidden' });
  });

  it.each<[string, unknown]>([
    ['a list', []],
    ['an object without metadata', { spec: {} }],
    ['an object whose metadata is none', { metadata: 'evenkeel', spec: {} }],
  ])('is not read from %s', async (_, body) => {
    await expect(read(json(body))).rejects.toMatchObject({
      kind: 'BadAnswer',
      message: 'the API server answered with something that is no Lease',
    });
  });

  it('is written as it is meant, and without labels where there are none', async () => {
    const { server, client } = await start(json(aLease('evenkeel'), 201));
    const store = createLeaseStore(client, { namespace: 'evenkeel-system', name: 'evenkeel', deadline: seconds(5) });
    await store.create({ ...RECORD, renewedAt: epochSeconds(1_800_000_010.5) }, NEVER);
    expect(lastOf(server).body).toEqual({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'evenkeel', namespace: 'evenkeel-system' },
      spec: {
        holderIdentity: 'host_1',
        leaseDurationSeconds: 15,
        acquireTime: '2027-01-15T08:00:00.000000Z',
        renewTime: '2027-01-15T08:00:10.500000Z',
        leaseTransitions: 2,
      },
    });
  });

  it.each<[string, number, string, unknown]>([
    ['conflicts where somebody else was faster', 409, 'AlreadyExists', ConflictError],
    ['needs its namespace', 404, 'NotFound', NamespaceMissingError],
  ])('%s when it is created', async (_, code, reason, error) => {
    const { leases } = await start(status(code, { reason }));
    await expect(leases.of('evenkeel-policy-1', new Map()).create(RECORD, NEVER)).rejects.toBeInstanceOf(error);
  });

  it('is not created where that is refused, which is neither', async () => {
    const { leases } = await start(status(403));
    await expect(leases.of('evenkeel-policy-1', new Map()).create(RECORD, NEVER)).rejects.toMatchObject({
      name: 'ApiError',
      kind: 'Forbidden',
    });
  });
});

describe('the Leases that replicas share their work by', () => {
  const unlabelled = aLease('evenkeel', { labels: undefined });
  const others = aLease('kube-scheduler', { labels: { app: 'scheduler' } });

  it('are those with the label, in a list', async () => {
    const { server, leases } = await start(json(listOf([aLease('evenkeel-policy-1'), unlabelled, others])));
    const found = await leases.list(NEVER);
    expect(found.map(({ metadata }) => metadata['name'])).toEqual(['evenkeel-policy-1']);
    expect(found[0]?.record).toMatchObject({ holder: 'host_1', duration: 15, transitions: 2 });
    expect(lastOf(server)).toMatchObject({ method: 'GET', path: PATH });
  });

  it('come by a watch: those of others are not among them, and those that go are gone', async () => {
    const events: { send(type: string, object: unknown): void } = { send: () => expect.fail('no watch yet') };
    const { server, leases, reports } = await start((seen, response, socket) => {
      if (seen.query.get('watch') === null) {
        json(listOf([aLease('evenkeel-policy-1'), unlabelled]))(seen, response, socket);
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      events.send = (type, object) => void response.write(`${JSON.stringify({ type, object })}\n`);
    });
    const stop = new AbortController();
    let news = Promise.withResolvers<void>();
    let heard = 0;
    const changed = (): void => {
      heard += 1;
      news.resolve();
    };
    const running = leases.watch(changed, stop.signal);
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) {
        await Promise.race([news.promise, new Promise((resolve) => setTimeout(resolve, 20))]);
        news = Promise.withResolvers();
      }
    };
    const names = (): readonly string[] => [...leases.seen.keys()].sort();
    await until(() => leases.seen.size === 1);
    expect(names()).toEqual(['evenkeel-policy-1']);
    await until(() => {
      try {
        events.send('ADDED', aLease('evenkeel-rest', { resourceVersion: '8' }, 'host_2'));
        return true;
      } catch {
        return false;
      }
    });
    events.send('MODIFIED', { ...others, metadata: { ...others.metadata, resourceVersion: '9' } });
    await until(() => leases.seen.size === 2);
    expect(names()).toEqual(['evenkeel-policy-1', 'evenkeel-rest']);
    expect(leases.seen.get('evenkeel-rest')?.record.holder).toBe('host_2');
    events.send('MODIFIED', aLease('evenkeel-rest', { resourceVersion: '10' }, ''));
    await until(() => leases.seen.get('evenkeel-rest')?.record.holder === '');
    events.send('DELETED', aLease('evenkeel-policy-1', { resourceVersion: '11' }));
    await until(() => leases.seen.size === 1);
    // A person takes the label away: then it is one of them no longer.
    events.send('MODIFIED', aLease('evenkeel-rest', { resourceVersion: '12', labels: {} }));
    await until(() => leases.seen.size === 0);
    expect(reports).toEqual([]);
    // The list, and each event but those that were not waited for one by one.
    expect(heard).toBeGreaterThanOrEqual(5);
    // Who holds them is in none of their metadata.
    expect(server.seen.map(({ headers }) => headers.accept)).toEqual(['application/json', 'application/json']);
    stop.abort();
    await running;
  });
});
