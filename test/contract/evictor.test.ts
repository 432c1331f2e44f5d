import { afterEach, describe, expect, it } from 'vitest';
import { createEvictor } from '../../src/adapters/kubernetes/evictor.ts';
import type { EvictionAnswer } from '../../src/ports.ts';
import {
  clientOf,
  type Handler,
  json,
  NEVER,
  reset,
  startFakeApiServer,
  status,
  truncated,
} from './fake-api-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

const web = { namespace: 'shop', name: 'web-1', uid: 'uid-1' };
const success = { apiVersion: 'v1', kind: 'Status', status: 'Success' };
const budget = (message: string) => ({
  message: "Cannot evict pod as it would violate the pod's disruption budget.",
  details: { causes: [{ reason: 'DisruptionBudget', message }] },
});

async function evict(handler: Handler, dryRun = false) {
  const server = await startFakeApiServer(handler);
  const client = clientOf(server.url);
  cleanups.push(
    () => client.close(),
    () => server.stop(),
  );
  return { answer: await createEvictor(client).evict(web, { dryRun }, NEVER), server };
}

describe('an eviction', () => {
  it('carries the UID and is sent once', async () => {
    const { server } = await evict(json(success, 201));
    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        path: '/api/v1/namespaces/shop/pods/web-1/eviction',
        body: {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { namespace: 'shop', name: 'web-1' },
          deleteOptions: { preconditions: { uid: 'uid-1' } },
        },
      },
    ]);
    expect(server.seen[0]?.query.get('dryRun')).toBeNull();
  });

  it('is marked as dry run in the query', async () => {
    const { server } = await evict(json(success, 201), true);
    expect(server.seen[0]?.query.get('dryRun')).toBe('All');
  });

  it.each<[string, Handler, EvictionAnswer]>([
    ['201', json(success, 201), { kind: 'Accepted' }],
    ['404', status(404), { kind: 'Gone' }],
    [
      '409 over the UID',
      status(409, {
        message:
          'Operation cannot be fulfilled on Pod "web-1": the UID in the precondition (a) does not match the UID in record (b).',
      }),
      { kind: 'Gone' },
    ],
    [
      '409 over the UID from the store',
      status(409, { message: 'Precondition failed: UID in precondition: a, UID in object meta: b' }),
      { kind: 'Gone' },
    ],
    [
      '409 over the PDB',
      status(409, { message: 'the object has been modified', details: { kind: 'poddisruptionbudgets' } }),
      {
        kind: 'TryLater',
        message: expect.stringContaining('the object has been modified'),
        retryAfter: 5 as never,
      },
    ],
    [
      '409 over the version of the pod itself',
      status(409, { message: 'Operation cannot be fulfilled on pods "web-1": modified', details: { kind: 'pods' } }),
      {
        kind: 'TryLater',
        message: expect.stringContaining('Operation cannot be fulfilled on pods "web-1"'),
        retryAfter: 5 as never,
      },
    ],
    [
      '429 of an admission webhook, with its words',
      status(429, { message: 'admission webhook "keep.example.com" denied the request: not before noon' }),
      {
        kind: 'TryLater',
        message:
          'create pods/eviction "web-1" in namespace "shop": the API server, or an admission webhook, asks to try later (429): admission webhook "keep.example.com" denied the request: not before noon',
        retryAfter: 5 as never,
      },
    ],
    [
      '429 of a PDB',
      status(429, budget('The disruption budget web needs 3 healthy pods and has 3 currently')),
      { kind: 'RefusedByBudget', message: 'The disruption budget web needs 3 healthy pods and has 3 currently' },
    ],
    [
      '429 of a PDB with Retry-After',
      status(429, budget('still being processed'), 429, { 'retry-after': '10' }),
      { kind: 'RefusedByBudget', message: 'still being processed' },
    ],
    [
      '429 of a PDB that says no more',
      status(429, budget('')),
      {
        kind: 'RefusedByBudget',
        message: expect.stringContaining("Cannot evict pod as it would violate the pod's disruption budget."),
      },
    ],
    [
      '429 of a PDB among other causes',
      status(429, {
        details: {
          causes: [
            { reason: 'FieldValueInvalid', message: 'something else' },
            { reason: 'DisruptionBudget', message: 'needs 3 healthy pods' },
          ],
        },
      }),
      { kind: 'RefusedByBudget', message: 'needs 3 healthy pods' },
    ],
    [
      '429 of another cause',
      status(429, { details: { causes: [{ reason: 'FieldValueInvalid', message: 'something else' }] } }),
      { kind: 'TryLater', message: expect.any(String), retryAfter: 5 as never },
    ],
    [
      '409 over the UID of the PDB, whose pod is there',
      status(409, {
        message: 'Precondition failed: UID in precondition: a, UID in object meta: b',
        details: { kind: 'poddisruptionbudgets' },
      }),
      { kind: 'TryLater', message: expect.any(String), retryAfter: 5 as never },
    ],
    [
      '409 with Retry-After',
      status(409, {}, 409, { 'retry-after': '7' }),
      { kind: 'TryLater', message: expect.any(String), retryAfter: 7 as never },
    ],
    ['429', status(429), { kind: 'TryLater', message: expect.any(String), retryAfter: 5 as never }],
    [
      '429 with Retry-After',
      status(429, {}, 429, { 'retry-after': '9' }),
      { kind: 'TryLater', message: expect.any(String), retryAfter: 9 as never },
    ],
    [
      'two PDBs',
      status(
        500,
        { message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.' },
        201,
      ),
      {
        kind: 'Refused',
        message:
          'create pods/eviction "web-1" in namespace "shop": This pod has more than one PodDisruptionBudget, which the eviction subresource does not support. (500)',
      },
    ],
  ])('answered with %s', async (_, handler, expected) => {
    expect((await evict(handler)).answer).toEqual(expected);
  });

  it.each<[string, Handler, EvictionAnswer['kind']]>([
    ['400', status(400), 'Refused'],
    ['403', status(403), 'Refused'],
    [
      '403 of the authorizer',
      status(403, {
        message: 'pods "web-1" is forbidden: User "u" cannot create resource "pods/eviction" in API group ""',
      }),
      'Forbidden',
    ],
    [
      '404 of a server that serves no evictions',
      (_, response) => response.writeHead(404).end('page not found'),
      'Refused',
    ],
    ['422', status(422), 'Refused'],
    ['500', status(500), 'Ambiguous'],
    ['503', status(503), 'Ambiguous'],
    ['504', status(504), 'Ambiguous'],
    ['a reset after the request', reset(), 'Ambiguous'],
    ['half an answer', truncated('{"kind":"Sta'), 'Ambiguous'],
    ['nothing in a 201', (_, response) => response.writeHead(201).end(), 'Ambiguous'],
  ])('answered with %s is of that kind', async (_, handler, kind) => {
    const { answer, server } = await evict(handler);
    expect(answer.kind).toBe(kind);
    expect(server.seen).toHaveLength(1);
  });

  it('that cannot be sent is spent on nothing', async () => {
    const server = await startFakeApiServer(json(success));
    await server.stop();
    const client = clientOf(server.url);
    expect((await createEvictor(client).evict(web, { dryRun: false }, NEVER)).kind).toBe('TryLater');
    await client.close();
  });

  it('rejects when it is aborted', async () => {
    const client = clientOf('http://127.0.0.1:1');
    await expect(
      createEvictor(client).evict(web, { dryRun: false }, AbortSignal.abort(new Error('stop'))),
    ).rejects.toThrow('stop');
  });
});
