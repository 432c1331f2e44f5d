import { describe, expect, it } from 'vitest';
import { createAppGraphStore } from '../../src/adapters/kubernetes/app-graph-store.ts';
import type { AppGraph } from '../../src/api/v1alpha1/app-graph.ts';
import { ConflictError } from '../../src/ports.ts';
import { answering } from './answering.ts';
import { type Handler, json, listOf, NEVER, status } from './fake-api-server.ts';

const GRAPHS = '/apis/evenkeel.dev/v1alpha1';

async function storeOf(...handlers: readonly Handler[]) {
  const { server, client } = await answering(handlers);
  return { server, store: createAppGraphStore(client) };
}

const graph: AppGraph = {
  apiVersion: 'evenkeel.dev/v1alpha1',
  kind: 'AppGraph',
  metadata: { name: 'shop', namespace: 'web', uid: 'uid-graph' },
  spec: { members: [], edges: [] },
};

describe('the store of AppGraphs', () => {
  it('lists those of all namespaces', async () => {
    const { server, store } = await storeOf(json(listOf([graph])));
    expect(await store.list(NEVER)).toEqual([graph]);
    expect(server.seen).toMatchObject([{ method: 'GET', path: `${GRAPHS}/appgraphs` }]);
  });

  it('writes the status of the very graph that was read', async () => {
    const { server, store } = await storeOf(json({}));
    await store.writeStatus(graph, { observedGeneration: 3 }, NEVER);
    expect(server.seen).toMatchObject([{ method: 'PATCH', path: `${GRAPHS}/namespaces/web/appgraphs/shop/status` }]);
    expect(server.seen[0]?.body).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'uid-graph' },
      { op: 'add', path: '/status', value: { observedGeneration: 3 } },
    ]);
  });

  it.each<[string, Handler, unknown]>([
    ['is gone', status(404, { reason: 'NotFound', details: { name: 'shop', kind: 'appgraphs' } }), ConflictError],
    ['was made anew', status(422, { reason: 'Invalid' }), ConflictError],
    ['may not be written', status(403), expect.objectContaining({ kind: 'Forbidden' })],
    [
      'has a schema that refuses it',
      status(422, { reason: 'Invalid', details: { name: 'shop', kind: 'appgraphs' } }),
      expect.objectContaining({ kind: 'Invalid' }),
    ],
    ['is answered with 400', status(400, { reason: 'BadRequest' }), expect.objectContaining({ kind: 'Invalid' })],
  ])('rejects when the graph %s', async (_, handler, expected) => {
    const { store } = await storeOf(handler);
    const written = store.writeStatus(graph, {}, NEVER);
    await (typeof expected === 'function'
      ? expect(written).rejects.toBeInstanceOf(expected)
      : expect(written).rejects.toEqual(expected));
  });
});
