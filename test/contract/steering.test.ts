import { afterEach, describe, expect, it, vi } from 'vitest';
import { createHintCache } from '../../src/adapters/kubernetes/hint-cache.ts';
import { createSteering, type ServedWebhook } from '../../src/adapters/kubernetes/steering.ts';
import { aPlan } from '../support/builders/plan.ts';
import { aPolicy } from '../support/builders/policy.ts';
import type { Raw } from '../support/builders/raw.ts';
import { clientOf, type Handler, json, lines, listOf, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

/** A server that answers by the end of a path; what it has no answer for is not served. */
async function answering(answers: Readonly<Record<string, Handler>>) {
  const server = await startFakeApiServer((seen, response, socket) => {
    const found = Object.keys(answers).find((end) => `${seen.method} ${seen.path}`.endsWith(end));
    (answers[found ?? ''] ?? NOT_SERVED)(seen, response, socket);
  });
  const client = clientOf(server.url, { attempts: 1 });
  cleanups.push(
    () => server.stop(),
    () => client.close(),
  );
  return { server, client };
}

const NOT_SERVED: Handler = (_, response) => {
  response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found');
};
const missing = status(404, { reason: 'NotFound', details: { name: 'evenkeel-placement', kind: 'any' } });
const forbidden = status(403, { reason: 'Forbidden', message: 'may not get it' });
const there = json({ metadata: { name: 'evenkeel-placement' } });

describe('steering by the admission policy', () => {
  const policy = (version: string) => `${version}/mutatingadmissionpolicies/evenkeel-placement`;
  const binding = (version: string) => `${version}/mutatingadmissionpolicybindings/evenkeel-placement`;

  it.each([
    ['policy and binding are there', { [policy('v1')]: there, [binding('v1')]: there }, true, 'v1 is served and'],
    [
      'both are there in v1beta1',
      { [policy('v1beta1')]: there, [binding('v1beta1')]: there },
      true,
      'v1beta1 is served and',
    ],
    ['there is no binding', { [policy('v1')]: there, [binding('v1')]: missing }, false, 'has no binding'],
    ['there is no policy', { [policy('v1')]: missing, [binding('v1')]: there }, false, 'is not installed'],
    ['it may not see the policy', { [policy('v1')]: forbidden, [binding('v1')]: there }, false, 'may not get it'],
    ['it may not see the binding', { [policy('v1')]: there, [binding('v1')]: forbidden }, false, 'may not get it'],
    ['neither version is served', {}, false, 'serves no MutatingAdmissionPolicy (v1 or v1beta1)'],
  ])('is judged where %s', async (_, answers: Readonly<Record<string, Handler>>, available, why) => {
    const { client } = await answering(answers);
    const { AdmissionPolicy } = await createSteering(client).offers(NEVER);
    expect(AdmissionPolicy).toEqual({ available, why: expect.stringContaining(why) });
  });

  it('is not judged while the server fails', async () => {
    const { client } = await answering({ [policy('v1')]: status(500) });
    await expect(createSteering(client).offers(NEVER)).rejects.toMatchObject({ kind: 'ServerError' });
    const { client: half } = await answering({ [policy('v1')]: there, [binding('v1')]: status(500) });
    await expect(createSteering(half).offers(NEVER)).rejects.toMatchObject({ kind: 'ServerError' });
  });
});

describe('steering by the webhook', () => {
  const path = '/mutatingwebhookconfigurations/evenkeel';
  const configuration = (name: string, caBundle?: string): Handler =>
    json({ webhooks: [{ name: 'other' }, { name, clientConfig: { caBundle } }] });
  const serves = (problem?: string) => (): ServedWebhook => ({
    problem: (bundle) => (bundle === 'PEM' ? problem : `another bundle: ${bundle}`),
  });
  const ours = configuration('placement.evenkeel.dev', Buffer.from('PEM').toString('base64'));

  it.each([
    ['this process serves none', ours, undefined, false, 'the operator serves no webhook'],
    ['the server can verify it', ours, serves(), true, 'MutatingWebhookConfiguration evenkeel'],
    ['it cannot', ours, serves('it is expired'), false, 'it is expired'],
    ['what is configured is no list', json({ webhooks: 'none' }), serves(), false, 'there is no Mutating'],
    ['what is configured is nothing', json([]), serves(), false, 'there is no MutatingWebhookConfiguration'],
    ['it has no bundle', configuration('placement.evenkeel.dev'), serves(), false, 'another bundle: '],
    [
      'only others are configured',
      configuration('theirs'),
      serves(),
      false,
      'there is no MutatingWebhookConfiguration',
    ],
    ['none is configured', missing, serves(), false, 'there is no MutatingWebhookConfiguration'],
    ['it may not see which', forbidden, serves(), false, 'may not get it'],
  ])('is judged where %s', async (_, answer, served, available, why) => {
    const { client } = await answering({ [path]: answer });
    const { Webhook } = await createSteering(client, served).offers(NEVER);
    expect(Webhook).toEqual({ available, why: expect.stringContaining(why) });
  });
});

describe('a hint', () => {
  const HINTS = '/namespaces/shop/placementhints';
  const spec = { ownerUID: 'owner', nodeName: 'a', plan: 'p', podUID: 'uid-1' };
  const planNamed = (name: string) => ({ ...aPlan(aPolicy('any', {}), []), metadata: { name, uid: 'plan-uid' } });

  async function placed(podUID: string, plan = 'spread-1'): Promise<Raw> {
    const { client, server } = await answering({ [`POST /apis/evenkeel.dev/v1alpha1${HINTS}`]: json({}, 201) });
    await createSteering(client).place('shop', { ...spec, podUID }, planNamed(plan), NEVER);
    expect(server.seen).toHaveLength(1);
    return server.seen[0]?.body as Raw;
  }

  it('belongs to its plan, which does not wait for it, and is named after the pod', async () => {
    expect(await placed('uid-1')).toEqual({
      apiVersion: 'evenkeel.dev/v1alpha1',
      kind: 'PlacementHint',
      metadata: {
        name: 'move-uid-1',
        namespace: 'shop',
        labels: { 'evenkeel.dev/plan': 'spread-1' },
        ownerReferences: [
          {
            apiVersion: 'evenkeel.dev/v1alpha1',
            kind: 'RebalancePlan',
            name: 'spread-1',
            uid: 'plan-uid',
            controller: false,
            blockOwnerDeletion: false,
          },
        ],
      },
      spec,
    });
  });

  it.each([
    ['as it is, up to 64 characters', 'u'.repeat(64), /^move-u{64}$/],
    ['by a hash, if it is longer', 'u'.repeat(65), /^move-[0-9a-f]{20}$/],
    ['by a hash, if it is no name', '../Pod', /^move-[0-9a-f]{20}$/],
  ])('has the UID in its name %s', async (_, uid, name) => {
    const { metadata } = await placed(uid);
    expect((metadata as Raw)['name']).toMatch(name);
  });

  it.each([
    ['63 characters', 'p'.repeat(63), /^p{63}$/],
    ['64 characters', 'p'.repeat(64), /^p{40}-[0-9a-f]{20}$/],
    ['64 characters that break off at a dot', `${'p'.repeat(38)}..${'q'.repeat(24)}`, /^p{38}-[0-9a-f]{20}$/],
  ])('is labelled with a plan of %s', async (_, name, label) => {
    const { metadata } = await placed('uid-1', name);
    expect(((metadata as Raw)['labels'] as Raw)['evenkeel.dev/plan']).toMatch(label);
  });

  it.each([
    ['is there already', 'POST', 409, 'AlreadyExists'],
    ['is gone already', 'DELETE', 404, 'NotFound'],
  ])('that %s is as wished; what else a server refuses is not', async (_, method, code, reason) => {
    const work = async (answer: Handler) => {
      const steering = createSteering((await answering({ [HINTS]: answer, [`${HINTS}/move-uid-1`]: answer })).client);
      await (method === 'POST'
        ? steering.place('shop', spec, planNamed('spread-1'), NEVER)
        : steering.remove('shop', 'uid-1', NEVER));
    };
    await work(status(code, { reason, details: { name: 'move-uid-1', kind: 'placementhints' } }));
    await expect(work(forbidden)).rejects.toMatchObject({ kind: 'Forbidden' });
  });

  it('that is stored is discarded by its own name', async () => {
    const { client, server } = await answering({ [`${HINTS}/made-by-hand`]: json({}) });
    const stored = { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'PlacementHint', spec } as const;
    await createSteering(client).discard({ ...stored, metadata: { namespace: 'shop', name: 'made-by-hand' } }, NEVER);
    expect(server.seen).toMatchObject([{ method: 'DELETE' }]);
  });

  it('is listed in all namespaces', async () => {
    const stored = { metadata: { name: 'move-uid-1', namespace: 'shop' }, spec };
    const { client, server } = await answering({ '/placementhints': json(listOf([stored])) });
    expect(await createSteering(client).list(NEVER)).toEqual([stored]);
    expect(server.seen).toMatchObject([{ method: 'GET', path: '/apis/evenkeel.dev/v1alpha1/placementhints' }]);
  });

  it('has the same name for the same pod, and another one for another', async () => {
    const nameFor = async (uid: string) => ((await placed(uid))['metadata'] as Raw)['name'];
    expect(await nameFor('Pod A')).toBe(await nameFor('Pod A'));
    expect(await nameFor('Pod B')).not.toBe(await nameFor('Pod A'));
  });
});

describe('the cache of hints', () => {
  const hint = (name: string, ownerUID: string, nodeName: string): Raw => ({
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'PlacementHint',
    metadata: { name, namespace: 'shop', uid: name, resourceVersion: '5' },
    spec: { ownerUID, nodeName, plan: 'p', podUID: name },
  });

  it('has the places of a controller by the names of its hints, and none of what is no hint', async () => {
    const items = [hint('b', 'web', 'node-b'), hint('a', 'web', 'node-a'), hint('c', 'db', 'node-c')];
    const noHint = { metadata: { name: 'd', namespace: 'shop', uid: 'd', resourceVersion: '5' } };
    const watched = lines(
      [
        {
          type: 'DELETED',
          object: {
            ...hint('b', 'web', 'node-b'),
            metadata: { name: 'b', namespace: 'shop', uid: 'b', resourceVersion: '9' },
          },
        },
      ],
      false,
    );
    const { client } = await answering({
      '/placementhints': (seen, response, socket) =>
        (seen.query.has('watch') ? watched : json(listOf([...items, noHint])))(seen, response, socket),
    });
    const failures: unknown[] = [];
    const cache = createHintCache(client, (error) => failures.push(error));
    expect(cache.age).toBeUndefined();
    expect(cache.of('shop', 'web')).toEqual([]);
    const ending = new AbortController();
    const running = cache.run(ending.signal);
    const nodes = (namespace: string, owner: string) => cache.of(namespace, owner).map(({ target }) => target);
    await vi.waitFor(() => expect(nodes('shop', 'web')).toHaveLength(1), { timeout: 60_000 });
    expect(nodes('shop', 'web')).toEqual(['node-a']);
    expect(nodes('shop', 'db')).toEqual(['node-c']);
    expect(nodes('other', 'web')).toEqual([]);
    expect(cache.age).toBeLessThan(60);
    ending.abort();
    await running;
    expect(failures).toEqual([]);
  });

  it('has all places of a controller, by the names of its hints, whatever order a list has', async () => {
    const items = [hint('c', 'web', 'node-c'), hint('a', 'web', 'node-a'), hint('b', 'web', 'node-b')];
    const { client } = await answering({
      '/placementhints': (seen, response, socket) =>
        (seen.query.has('watch') ? lines([], false) : json(listOf(items)))(seen, response, socket),
    });
    const cache = createHintCache(client, () => undefined);
    const ending = new AbortController();
    const running = cache.run(ending.signal);
    await vi.waitFor(() => expect(cache.of('shop', 'web')).toHaveLength(3), { timeout: 60_000 });
    expect(cache.of('shop', 'web').map(({ target }) => target)).toEqual(['node-a', 'node-b', 'node-c']);
    ending.abort();
    await running;
  });

  it('says why hints cannot be listed', async () => {
    const { client } = await answering({ '/placementhints': forbidden });
    const failures: unknown[] = [];
    const cache = createHintCache(client, (error) => failures.push(error));
    const ending = new AbortController();
    const running = cache.run(ending.signal);
    await vi.waitFor(() => expect(failures).not.toEqual([]), { timeout: 60_000 });
    expect(failures[0]).toMatchObject({ kind: 'Forbidden' });
    expect([cache.age, cache.of('shop', 'web')]).toEqual([undefined, []]);
    ending.abort();
    await running;
  });
});
