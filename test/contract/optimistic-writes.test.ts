import { afterEach, describe, expect, it } from 'vitest';
import { createLeaseStore } from '../../src/adapters/kubernetes/lease-store.ts';
import { readConfiguration } from '../../src/adapters/kubernetes/webhook-configuration.ts';
import { epochSeconds, seconds } from '../../src/model/units.ts';
import { ConflictError, type LeaseRecord } from '../../src/ports.ts';
import { clientOf, type Handler, json, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

async function serverOf(...handlers: readonly Handler[]) {
  const server = await startFakeApiServer(...handlers);
  const client = clientOf(server.url);
  cleanups.push(
    () => client.close(),
    () => server.stop(),
  );
  return { server, client };
}

const NOW = epochSeconds(1_800_000_000);
const RECORD: LeaseRecord = {
  holder: 'host_1',
  duration: seconds(15),
  acquiredAt: NOW,
  renewedAt: NOW,
  transitions: 3,
};
const LEASE = {
  metadata: { name: 'evenkeel', namespace: 'evenkeel-system', uid: 'uid-lease', resourceVersion: '7' },
  spec: { holderIdentity: 'host_0' },
};
const PATH = '/apis/coordination.k8s.io/v1/namespaces/evenkeel-system/leases';

describe('a Lease', () => {
  const options = { namespace: 'evenkeel-system', name: 'evenkeel', deadline: seconds(5) };

  it('is renewed only over the version that was read, of the very same Lease', async () => {
    const { server, client } = await serverOf(json(LEASE), json(LEASE));
    const store = createLeaseStore(client, options);
    const read = await store.get(NEVER);
    await store.update(read ?? expect.fail('no lease'), RECORD, NEVER);
    expect(server.seen[1]).toMatchObject({
      method: 'PUT',
      path: `${PATH}/evenkeel`,
      body: { metadata: { uid: 'uid-lease', resourceVersion: '7' }, spec: { holderIdentity: 'host_1' } },
    });
  });

  it.each([
    ['written by somebody else meanwhile', 409, 'Conflict'],
    ['gone', 404, 'NotFound'],
  ])('that is %s conflicts', async (_, code, reason) => {
    const { client } = await serverOf(json(LEASE), status(code, { reason, details: { name: 'evenkeel' } }));
    const store = createLeaseStore(client, options);
    const read = await store.get(NEVER);
    await expect(store.update(read ?? expect.fail('no lease'), RECORD, NEVER)).rejects.toThrow(ConflictError);
  });
});

describe('the configuration of the webhook', () => {
  const stored = {
    metadata: { name: 'evenkeel', uid: 'uid-config', resourceVersion: '12', labels: { team: 'a' } },
    webhooks: [{ name: 'placement.evenkeel.dev', clientConfig: { service: { name: 'evenkeel' }, caBundle: 'b2xk' } }],
  };

  it('is written only over the version that was read, with all else as it was', async () => {
    const { server, client } = await serverOf(json(stored), json(stored));
    const read = await readConfiguration(client, NEVER);
    expect(read?.bundles).toEqual(['old']);
    await read?.write('new', NEVER);
    expect(server.seen[1]).toMatchObject({ method: 'PUT' });
    expect(server.seen[1]?.body).toEqual({
      metadata: stored.metadata,
      webhooks: [{ name: 'placement.evenkeel.dev', clientConfig: { service: { name: 'evenkeel' }, caBundle: 'bmV3' } }],
    });
  });

  it('has the certificates of each webhook, and none where nothing says any', async () => {
    const webhooks = [
      { name: 'first', clientConfig: { caBundle: 'b25l' } },
      { name: 'second' },
      { name: 'third', clientConfig: {} },
      { name: 'fourth', clientConfig: { caBundle: 4 } },
      { name: 'fifth', clientConfig: 'none' },
    ];
    const { server, client } = await serverOf(json({ webhooks }), json({}));
    const read = await readConfiguration(client, NEVER);
    expect(read?.bundles).toEqual(['one', '', '', '', '']);
    await read?.write('new', NEVER);
    const caBundle = 'bmV3';
    expect(server.seen[1]?.body).toEqual({
      webhooks: ['first', 'second', 'third', 'fourth', 'fifth'].map((name) => ({ name, clientConfig: { caBundle } })),
    });
  });

  it.each([[{}], [{ webhooks: null }], [{ webhooks: 'none' }]])('has no webhooks in %j', async (configuration) => {
    const { client } = await serverOf(json(configuration));
    expect((await readConfiguration(client, NEVER))?.bundles).toEqual([]);
  });

  it('is nothing where there is none; what else goes wrong is an error', async () => {
    const { client } = await serverOf(status(404, { reason: 'NotFound', details: { name: 'evenkeel' } }));
    expect(await readConfiguration(client, NEVER)).toBeUndefined();
    const { client: refused } = await serverOf(status(403));
    await expect(readConfiguration(refused, NEVER)).rejects.toMatchObject({ kind: 'Forbidden' });
    const { client: odd } = await serverOf(json([]));
    await expect(readConfiguration(odd, NEVER)).rejects.toMatchObject({
      kind: 'BadAnswer',
      message: 'the API server answered with something that is no MutatingWebhookConfiguration',
    });
  });

  it('that somebody else wrote meanwhile is left alone', async () => {
    const { client } = await serverOf(json(stored), status(409, { reason: 'Conflict' }));
    const read = await readConfiguration(client, NEVER);
    await expect(read?.write('new', NEVER)).rejects.toMatchObject({ kind: 'Conflict' });
  });
});
