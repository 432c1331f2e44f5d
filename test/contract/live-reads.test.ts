import { describe, expect, it } from 'vitest';
import type { ApiRequest, OpenAnswer } from '../../src/adapters/kubernetes/client.ts';
import { createLiveReads } from '../../src/adapters/kubernetes/live-reads.ts';
import { epochSeconds } from '../../src/model/units.ts';
import { aRawNode, aRawPod, type Raw } from '../support/builders/raw.ts';
import { answering } from './answering.ts';
import { clientOf, fastClock, type Handler, json, listOf, NEVER, status } from './fake-api-server.ts';

const TEN = Date.parse('2026-01-01T10:00:00Z') / 1000;
const DATE = { date: 'Thu, 01 Jan 2026 10:00:00 GMT' };

/** Live reads of a server with these answers, one each; the last one again and again. */
async function reading(...handlers: readonly Handler[]) {
  const { server, client } = await answering(handlers, { clock: { ...fastClock(), now: () => epochSeconds(7) } });
  return { server, live: createLiveReads(client), paths: () => server.seen.map(({ path }) => path) };
}

const missing = status(404, { reason: 'NotFound', details: { name: 'it', kind: 'things' } }, 404, DATE);
const undated: Handler = (_, response) => {
  response.sendDate = false;
  const body = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code: 404, message: 'none', reason: 'NotFound' };
  response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

describe('a live read of a pod', () => {
  const ref = { namespace: 'shop', name: 'web-1' };

  it('has it as it is now, by the clock of the server', async () => {
    const { live, paths } = await reading(json(aRawPod('web-1'), 200, DATE));
    const { pod, deletion, serverTime } = await live.pod(ref, NEVER);
    expect([pod?.uid, pod?.nodeName, deletion, serverTime]).toEqual(['pod-web-1', 'a', undefined, TEN]);
    expect(paths()).toEqual(['/api/v1/namespaces/shop/pods/web-1']);
  });

  it.each<[string, Handler, number]>([
    ['by the clock of the server', missing, TEN],
    ['by ours where the server says no time', undated, 7],
  ])('finds none where there is none, %s', async (_, handler, serverTime) => {
    const { live } = await reading(handler);
    expect(await live.pod(ref, NEVER)).toEqual({ pod: undefined, deletion: undefined, serverTime });
  });

  it.each<[string, Raw, readonly string[]]>([
    [
      'what keeps it',
      { finalizers: ['example.com/keep', 'example.com/more'] },
      ['example.com/keep', 'example.com/more'],
    ],
    ['that nothing keeps it', {}, []],
  ])('says of one that is being deleted until when, and %s', async (_, metadata, finalizers) => {
    const deletionTimestamp = '2026-01-01T10:00:30Z';
    const { live } = await reading(json(aRawPod('web-1', { metadata: { deletionTimestamp, ...metadata } })));
    expect((await live.pod(ref, NEVER)).deletion).toEqual({ due: TEN + 30, finalizers });
  });

  it('fails where the pod cannot be read, and names what is wrong', async () => {
    const { live } = await reading(json(aRawPod('web-1', { spec: { nodeName: 7 } })));
    await expect(live.pod(ref, NEVER)).rejects.toMatchObject({
      kind: 'BadAnswer',
      message: expect.stringMatching(/^Pod shop\/web-1: spec\.nodeName/),
    });
  });

  it.each<[string, Handler, string]>([
    ['is no object', json([]), 'BadAnswer'],
    ['may not be seen', status(403), 'Forbidden'],
    ['is of a server that fails', status(500), 'ServerError'],
  ])('fails where the pod %s', async (_, handler, kind) => {
    const { live } = await reading(handler);
    await expect(live.pod(ref, NEVER)).rejects.toMatchObject({ kind });
  });
});

describe('a live read of a namespace', () => {
  const shop = (fields: Raw = {}): Raw => ({ metadata: { name: 'shop', uid: 'ns', labels: { team: 'a' }, ...fields } });

  it.each([
    ['stays', {}, false],
    ['is being deleted', { deletionTimestamp: '2026-01-01T10:00:30Z' }, true],
  ])('has the labels of one that %s', async (_, fields, terminating) => {
    const { live, paths } = await reading(json(shop(fields)));
    expect(await live.namespace('shop', NEVER)).toEqual({
      labels: new Map([
        ['kubernetes.io/metadata.name', 'shop'],
        ['team', 'a'],
      ]),
      terminating,
    });
    expect(paths()).toEqual(['/api/v1/namespaces/shop']);
  });

  it('finds none where there is none, and fails where it cannot be read', async () => {
    expect(await (await reading(missing)).live.namespace('shop', NEVER)).toBeUndefined();
    const { live } = await reading(json(shop({ labels: 'team=a' })));
    await expect(live.namespace('shop', NEVER)).rejects.toMatchObject({
      kind: 'BadAnswer',
      message: expect.stringMatching(/^Namespace shop: metadata\.labels/),
    });
    await expect((await reading(status(403))).live.namespace('shop', NEVER)).rejects.toMatchObject({
      kind: 'Forbidden',
    });
  });
});

describe('a live read of nodes', () => {
  it('has one as it is now, or none', async () => {
    const { live, paths } = await reading(json(aRawNode('a')), missing);
    expect(await live.node('a', NEVER)).toMatchObject({ name: 'a', ready: true });
    expect(await live.node('b', NEVER)).toBeUndefined();
    expect(paths()).toEqual(['/api/v1/nodes/a', '/api/v1/nodes/b']);
  });

  it('has all of them by name', async () => {
    const { live, paths } = await reading(json(listOf(['c', 'a', 'b', 'd'].map((name) => aRawNode(name)))));
    expect((await live.nodes(NEVER)).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(paths()).toEqual(['/api/v1/nodes']);
  });

  it('fails where one of them cannot be read', async () => {
    const broken = aRawNode('b', { spec: { taints: 'none' } });
    const { live } = await reading(json(listOf([aRawNode('a'), broken])), json(broken));
    const expected = { kind: 'BadAnswer', message: expect.stringMatching(/^Node b: spec\.taints/) };
    await expect(live.nodes(NEVER)).rejects.toMatchObject(expected);
    await expect(live.node('b', NEVER)).rejects.toMatchObject(expected);
  });
});

describe('a live read of the pods of a node', () => {
  it('asks for those that use it', async () => {
    const { live, server } = await reading(json(listOf([aRawPod('web-1'), aRawPod('web-2')])));
    expect((await live.podsOnNode('a', NEVER)).map(({ name }) => name)).toEqual(['web-1', 'web-2']);
    expect(server.seen[0]?.path).toBe('/api/v1/pods');
    expect(server.seen[0]?.query.get('fieldSelector')).toBe(
      'spec.nodeName=a,status.phase!=Succeeded,status.phase!=Failed',
    );
  });

  it('fails where one of them cannot be read, which may use the node', async () => {
    const { live } = await reading(json(listOf([aRawPod('web-1'), aRawPod('web-2', { spec: { nodeName: 7 } })])));
    await expect(live.podsOnNode('a', NEVER)).rejects.toThrow('Pod shop/web-2: spec.nodeName');
  });
});

describe('a live read of the pods of a controller', () => {
  const owner = { kind: 'ReplicaSet', name: 'web', uid: 'rs-web' };
  const controller = (selector: unknown, uid = 'rs-web'): Raw => ({
    metadata: { name: 'web', uid },
    spec: { selector },
  });
  const stranger = aRawPod('stranger', {
    metadata: { ownerReferences: [{ kind: 'ReplicaSet', name: 'web', uid: 'rs-old', controller: true }] },
  });
  const orphan = aRawPod('orphan', { metadata: { ownerReferences: [] } });
  const pods = json(listOf([aRawPod('web-1'), stranger, orphan, aRawPod('web-2')]));
  const SETS = '/apis/apps/v1/namespaces/shop/replicasets/web';
  const PODS = '/api/v1/namespaces/shop/pods';

  it('has those whose controller it is, by its selector, which is read once', async () => {
    const { live, server, paths } = await reading(json(controller({ matchLabels: { app: 'web' } })), pods);
    for (const _ of [1, 2]) {
      expect((await live.podsOfOwner('shop', owner, NEVER)).map(({ name }) => name)).toEqual(['web-1', 'web-2']);
    }
    expect(paths()).toEqual([SETS, PODS, PODS]);
    expect(server.seen.map(({ query }) => query.get('labelSelector'))).toEqual([null, 'app in (web)', 'app in (web)']);
  });

  it('asks by all that a selector may say', async () => {
    const matchExpressions = [
      { key: 'tier', operator: 'In', values: ['front', 'back'] },
      { key: 'track', operator: 'NotIn', values: ['canary', 'test'] },
      { key: 'live', operator: 'Exists' },
      { key: 'old', operator: 'DoesNotExist' },
    ];
    const { live, server } = await reading(json(controller({ matchLabels: { app: 'web' }, matchExpressions })), pods);
    await live.podsOfOwner('shop', owner, NEVER);
    expect(server.seen[1]?.query.get('labelSelector')).toBe(
      'app in (web),tier in (front,back),track notin (canary,test),live,!old',
    );
  });

  it.each<[string, Handler]>([
    ['is gone', missing],
    ['is another one of its name', json(controller({ matchLabels: { app: 'web' } }, 'rs-old'))],
    ['has no selector', json(controller(undefined))],
    ['has one that selects all', json(controller({}))],
    ['has no spec', json({ metadata: { name: 'web', uid: 'rs-web' } })],
    ['has no metadata', json({ spec: { selector: { matchLabels: { app: 'web' } } } })],
    ['is no object', json([])],
  ])('looks through the whole namespace, and reads the controller again, when it %s', async (_, handler) => {
    const { live, server, paths } = await reading(handler, pods, handler, pods);
    for (const __ of [1, 2]) {
      expect((await live.podsOfOwner('shop', owner, NEVER)).map(({ name }) => name)).toEqual(['web-1', 'web-2']);
    }
    expect(paths()).toEqual([SETS, PODS, SETS, PODS]);
    expect(server.seen.map(({ query }) => query.get('labelSelector'))).toEqual([null, null, null, null]);
  });

  it.each([
    ['StatefulSet', '/apis/apps/v1/namespaces/shop/statefulsets/web'],
    ['Job', '/apis/batch/v1/namespaces/shop/jobs/web'],
  ])('reads the selector of a %s', async (kind, path) => {
    const { live, paths } = await reading(json(controller({ matchLabels: { app: 'web' } })), pods);
    await live.podsOfOwner('shop', { ...owner, kind }, NEVER);
    expect(paths()).toEqual([path, PODS]);
  });

  it('reads no selector of a kind whose selector may change', async () => {
    const { live, paths } = await reading(pods);
    const found = await live.podsOfOwner('shop', { ...owner, kind: 'CloneSet' }, NEVER);
    expect(found.map(({ name }) => name)).toEqual(['web-1', 'web-2']);
    expect(paths()).toEqual([PODS]);
  });

  it('fails where the controller may not be seen', async () => {
    const { live } = await reading(status(403));
    await expect(live.podsOfOwner('shop', owner, NEVER)).rejects.toMatchObject({ kind: 'Forbidden' });
  });

  it('remembers the selectors of a thousand controllers', async () => {
    let read = 0;
    const open = async <Value>(
      { verb, target: { name = '' } }: ApiRequest,
      _: AbortSignal,
      consume: (opened: OpenAnswer) => Promise<Value>,
    ): Promise<Value> => {
      read += verb === 'get' ? 1 : 0;
      const found = { metadata: { name, uid: name }, spec: { selector: { matchLabels: { app: name } } } };
      const chunks = (async function* () {
        yield Buffer.from(JSON.stringify(verb === 'get' ? found : listOf([])));
      })();
      return await consume({ chunks, serverTime: epochSeconds(7) });
    };
    const live = createLiveReads(Object.assign(clientOf('http://127.0.0.1:1'), { open }));
    const ask = (index: number) => live.podsOfOwner('shop', { ...owner, name: `c-${index}`, uid: `c-${index}` }, NEVER);
    for (let index = 0; index < 1000; index += 1) {
      await ask(index);
    }
    await ask(0);
    expect(read).toBe(1000);
    await ask(1000);
    await ask(1);
    expect(read).toBe(1001);
    await ask(0);
    expect(read).toBe(1002);
  });
});

describe('a live read of a workload', () => {
  const owner = { kind: 'ReplicaSet', name: 'web', uid: 'rs-web' };

  it('finds none where there is none, and fails where it cannot be read or seen', async () => {
    expect(await (await reading(missing)).live.workload('shop', owner, NEVER)).toBeUndefined();
    const broken = { metadata: { name: 'web', namespace: 'shop', uid: 'rs-web' }, spec: { replicas: 'three' } };
    await expect((await reading(json(broken))).live.workload('shop', owner, NEVER)).rejects.toMatchObject({
      kind: 'BadAnswer',
      message: expect.stringMatching(/^ReplicaSet shop\/web: spec\.replicas/),
    });
    await expect((await reading(status(403))).live.workload('shop', owner, NEVER)).rejects.toMatchObject({
      kind: 'Forbidden',
    });
  });
});

describe('a live read of the usage of nodes', () => {
  const metrics = (name: unknown, cpu: string): Raw => ({
    metadata: { name },
    timestamp: '2026-01-01T10:00:00Z',
    window: '20s',
    usage: { cpu, memory: '1' },
  });

  it('has the samples that can be read, by the clock of the server', async () => {
    const { live, paths } = await reading(json(listOf([metrics('a', '1'), metrics(7, '2'), {}]), 200, DATE));
    const usage = await live.nodeUsage(NEVER);
    expect([...(usage?.nodes ?? [])].map(([name, { cpu }]) => [name, cpu])).toEqual([['a', 1000]]);
    expect(usage?.serverTime).toBe(TEN);
    expect(paths()).toEqual(['/apis/metrics.k8s.io/v1beta1/nodes']);
  });

  it('has nothing of a list that began anew', async () => {
    const { live } = await reading(
      json(listOf([metrics('old', '1')], { continue: 'next' })),
      status(410),
      json(listOf([metrics('a', '1')])),
    );
    expect([...((await live.nodeUsage(NEVER))?.nodes.keys() ?? [])]).toEqual(['a']);
  });

  it.each<[string, Handler]>([
    ['is not served', (_, response) => response.writeHead(404).end('404 page not found')],
    ['does not answer', status(503)],
  ])('is none where the Metrics API %s', async (_, handler) => {
    expect(await (await reading(handler)).live.nodeUsage(NEVER)).toBeUndefined();
  });

  it.each([403, 500])('fails where the Metrics API answers %i', async (code) => {
    await expect((await reading(status(code))).live.nodeUsage(NEVER)).rejects.toMatchObject({ status: code });
  });
});
