import { afterEach, describe, expect, it } from 'vitest';
import { createLedgerStore } from '../../src/adapters/kubernetes/ledger-store.ts';
import { epochSeconds } from '../../src/model/units.ts';
import { ConflictError } from '../../src/ports.ts';
import { carryOn } from '../../src/qos/ledger.ts';
import type { KeptLedger } from '../../src/qos/ledger-state.ts';
import { ledgerSpec, ledgerStatus } from '../../src/report/ledger-resource.ts';
import { aServiceClass } from '../support/builders/service-levels.ts';
import { clientOf, type Handler, json, listOf, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

const gold = aServiceClass({ name: 'gold' });
const PATH = '/apis/evenkeel.dev/v1alpha1/namespaces/shop/qosledgers/deployment-web';

/** The ledger of Deployment `web`, which has waited for two pods since its creation. */
function aKeptLedger(uid = 'uid-web'): KeptLedger {
  const begin = epochSeconds(1_800_000_000);
  const owner = { kind: 'Deployment', name: 'web', uid };
  const record = { namespace: 'shop', owner, createdAt: begin, desired: 2, completedAt: undefined, pods: [] };
  return carryOn(undefined, { terms: gold, createdAt: begin }, record, new Set(), epochSeconds(begin + 10));
}

function asStored(ledger: KeptLedger, resourceVersion = '7', statusFields: object = ledgerStatus(ledger, gold)) {
  const metadata = { name: 'deployment-web', namespace: 'shop', uid: 'uid-ledger', resourceVersion };
  return { metadata, spec: ledgerSpec(ledger), status: statusFields };
}

async function storeOf(...handlers: readonly Handler[]) {
  const server = await startFakeApiServer(...handlers);
  const client = clientOf(server.url);
  cleanups.push(
    () => client.close(),
    () => server.stop(),
  );
  return { server, store: createLedgerStore(client) };
}

describe('the ledger store', () => {
  it('reads back what it has written', async () => {
    const { store } = await storeOf(json(listOf([asStored(aKeptLedger())])));
    const [stored] = await store.list(NEVER);
    expect([stored?.namespace, stored?.name, stored?.problem]).toEqual(['shop', 'deployment-web', undefined]);
    expect(stored?.ledger).toEqual(aKeptLedger());
  });

  it('lists a ledger that cannot be read with what is wrong', async () => {
    const { store } = await storeOf(json(listOf([asStored(aKeptLedger(), '7', { asOf: 'soon' })])));
    const [stored] = await store.list(NEVER);
    expect(stored?.ledger).toBeUndefined();
    expect(stored?.problem).toMatch(/^status.asOf: "soon" is not a time/);
  });

  it.each([
    ['without metadata', { spec: ledgerSpec(aKeptLedger()) }],
    ['without a spec', { metadata: asStored(aKeptLedger()).metadata }],
  ])('takes no answer %s for a ledger', async (_, answer) => {
    const { store } = await storeOf(json(answer));
    await expect(store.get({ namespace: 'shop', name: 'deployment-web' }, NEVER)).rejects.toThrow(
      'the API server answered with something that is no QoSLedger',
    );
  });

  it('creates the object, then its status', async () => {
    const ledger = aKeptLedger();
    const { metadata, spec } = asStored(ledger);
    const { store, server } = await storeOf(json({ metadata, spec }, 201), json(asStored(ledger, '8')));
    expect((await store.create(ledger, gold, NEVER)).ledger).toEqual(ledger);
    expect(server.seen).toMatchObject([
      { method: 'POST', body: { metadata: { name: 'deployment-web' }, spec: { className: 'gold' } } },
      { method: 'PATCH', path: `${PATH}/status`, body: { metadata: { resourceVersion: '7' }, status: { waiting: 2 } } },
    ]);
  });

  it('writes the owner anew when the workload came back, then the status over the newer version', async () => {
    const again = aKeptLedger('uid-again');
    const { store, server } = await storeOf(
      json(listOf([asStored(aKeptLedger())])),
      json(asStored(again, '8')),
      json(asStored(again, '9')),
    );
    const [stored] = await store.list(NEVER);
    expect(stored && (await store.write(stored, again, gold, NEVER)).resource.metadata.resourceVersion).toBe('9');
    expect(server.seen.slice(1)).toMatchObject([
      { path: PATH, body: { metadata: { resourceVersion: '7' }, spec: { owner: { uid: 'uid-again' } } } },
      { path: `${PATH}/status`, body: { metadata: { resourceVersion: '8' } } },
    ]);
  });

  it.each([409, 404])('says that somebody else was faster: %i', async (code) => {
    const { store } = await storeOf(json(listOf([asStored(aKeptLedger())])), status(code));
    const [stored] = await store.list(NEVER);
    await expect(stored && store.write(stored, aKeptLedger(), gold, NEVER)).rejects.toThrow(ConflictError);
  });

  it('finds nothing where there is none, and removes only the very one', async () => {
    const { store, server } = await storeOf(json(listOf([asStored(aKeptLedger())])), status(404), status(404));
    const [stored] = await store.list(NEVER);
    expect(await store.get({ namespace: 'shop', name: 'deployment-web' }, NEVER)).toBeUndefined();
    await (stored && store.remove(stored, NEVER));
    expect(server.seen[2]).toMatchObject({ method: 'DELETE', body: { preconditions: { uid: 'uid-ledger' } } });
  });

  it('writes the status alone where owner and class are as they were', async () => {
    const { store, server } = await storeOf(json(asStored(aKeptLedger())), json(asStored(aKeptLedger(), '8')));
    const stored = await store.get({ namespace: 'shop', name: 'deployment-web' }, NEVER);
    await (stored && store.write(stored, aKeptLedger(), gold, NEVER));
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([`GET ${PATH}`, `PATCH ${PATH}/status`]);
    expect(server.seen[1]).toMatchObject({ body: { metadata: { uid: 'uid-ledger', resourceVersion: '7' } } });
  });

  it('writes the class anew when the workload has got another one', async () => {
    const other = asStored(aKeptLedger());
    const stale = { ...other, spec: { ...other.spec, className: 'silver' } };
    const { store, server } = await storeOf(json(stale), json(asStored(aKeptLedger(), '8')), json(other));
    const stored = await store.get({ namespace: 'shop', name: 'deployment-web' }, NEVER);
    await (stored && store.write(stored, aKeptLedger(), gold, NEVER));
    expect(server.seen.slice(1)).toMatchObject([
      { path: PATH, body: { spec: { className: 'gold' } } },
      { path: `${PATH}/status`, body: { metadata: { resourceVersion: '8' } } },
    ]);
  });

  it('says of a creation, too, that somebody else was faster, and writes no status then', async () => {
    const { store, server } = await storeOf(status(409, { reason: 'AlreadyExists' }));
    await expect(store.create(aKeptLedger(), gold, NEVER)).rejects.toThrow(ConflictError);
    expect(server.seen).toHaveLength(1);
  });

  it('removes one whose UID is not known by its name; one made anew since then stays, which is fine', async () => {
    const { metadata, ...rest } = asStored(aKeptLedger());
    const { uid: _, ...nameless } = metadata;
    const { store, server } = await storeOf(
      json({ ...rest, metadata: nameless }),
      json({}),
      status(409, { reason: 'Conflict' }),
      status(403),
    );
    const stored = (await store.get({ namespace: 'shop', name: 'deployment-web' }, NEVER)) ?? expect.fail('none');
    await store.remove(stored, NEVER);
    await store.remove(stored, NEVER);
    expect(server.seen[1]).toMatchObject({ method: 'DELETE', path: PATH });
    expect(server.seen[1]?.body).toEqual({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions: {} });
    await expect(store.remove(stored, NEVER)).rejects.toMatchObject({ kind: 'Forbidden' });
  });

  it.each([[[]], [{ metadata: 'it', spec: {} }], [{ metadata: {}, spec: 'it' }]])(
    'takes no answer like %j for a ledger',
    async (answer) => {
      const { store } = await storeOf(json(answer));
      await expect(store.get({ namespace: 'shop', name: 'deployment-web' }, NEVER)).rejects.toMatchObject({
        kind: 'BadAnswer',
      });
    },
  );
});
