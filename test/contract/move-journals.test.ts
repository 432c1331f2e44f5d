import { afterEach, describe, expect, it } from 'vitest';
import { createMoveJournals } from '../../src/adapters/kubernetes/move-journals.ts';
import type { MoveJournal } from '../../src/api/v1alpha1/move-journal.ts';
import { ConflictError } from '../../src/ports.ts';
import { aPlan } from '../support/builders/plan.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { clientOf, type Handler, json, listOf, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

const JOURNALS = '/apis/evenkeel.dev/v1alpha1/movejournals';
const plan = aPlan(aPolicy('even'), []);
const { name } = plan.metadata;

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
  const report = (error: unknown): never => {
    throw error;
  };
  return { server, journals: createMoveJournals(client, report) };
}

function stored(resourceVersion: string, spec: Partial<MoveJournal['spec']> = {}): MoveJournal {
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'MoveJournal',
    metadata: { name, uid: 'uid-journal', resourceVersion },
    spec: { sequence: 1, base: 0, moves: [], ...spec },
  };
}

describe('a journal', () => {
  it('is made empty, and is deleted with its plan', async () => {
    const { server, journals } = await serverOf(json(stored('3'), 201));
    await journals.create({ ...plan, metadata: { name, uid: 'uid-plan' } }, NEVER);
    const owner = { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'RebalancePlan', name, uid: 'uid-plan' };
    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        path: JOURNALS,
        body: { metadata: { name, ownerReferences: [owner] }, spec: { sequence: 0, base: 0, moves: [] } },
      },
    ]);
  });

  it('is written only over the version that its writer has read, of the very same journal', async () => {
    const { server, journals } = await serverOf(json(stored('8', { sequence: 2 })));
    const written = await journals.write(
      stored('7', { stopped: 'Suspended' }),
      { sequence: 2, base: 1, moves: [{ podUID: 'a', phase: 'Intent', attempt: 0 }] },
      NEVER,
    );
    expect(written.metadata.resourceVersion).toBe('8');
    expect(server.seen).toMatchObject([
      {
        method: 'PATCH',
        path: `${JOURNALS}/${name}`,
        body: {
          metadata: { uid: 'uid-journal', resourceVersion: '7' },
          spec: { sequence: 2, base: 1, moves: [{ podUID: 'a', phase: 'Intent', attempt: 0 }], stopped: null },
        },
      },
    ]);
  });

  it.each([
    ['is newer', 409, 'Conflict'],
    ['is gone', 404, 'NotFound'],
  ])('conflicts when the one that is stored %s', async (_, code, reason) => {
    const { journals } = await serverOf(status(code, { reason, details: { name, kind: 'movejournals' } }));
    await expect(journals.write(stored('7'), stored('7').spec, NEVER)).rejects.toThrow(ConflictError);
  });

  it('conflicts when there is one of that name', async () => {
    const { journals } = await serverOf(status(409, { reason: 'AlreadyExists' }));
    await expect(journals.create(plan, NEVER)).rejects.toThrow(ConflictError);
  });

  it('is deleted as the very one that was read; gone already is fine', async () => {
    const { server, journals } = await serverOf(
      json({}),
      status(404, { reason: 'NotFound', details: { name, kind: 'movejournals' } }),
      status(403),
    );
    await journals.remove(stored('7'), NEVER);
    await journals.remove(stored('7'), NEVER);
    expect(server.seen).toMatchObject(
      Array.from({ length: 2 }, () => ({
        method: 'DELETE',
        path: `${JOURNALS}/${name}`,
        body: { preconditions: { uid: 'uid-journal' } },
      })),
    );
    await expect(journals.remove(stored('7'), NEVER)).rejects.toThrow('may not delete movejournals');
  });

  it('is deleted by its name where its UID is not known; one made anew since then stays, which is fine', async () => {
    const { server, journals } = await serverOf(json({}), status(409, { reason: 'Conflict' }));
    const { metadata, ...rest } = stored('7');
    await journals.remove({ ...rest, metadata: { name: metadata.name } }, NEVER);
    expect(server.seen.map(({ body }) => body)).toMatchObject([{ kind: 'DeleteOptions', preconditions: {} }]);
    expect(server.seen[0]?.body).not.toHaveProperty('preconditions.uid');
    await expect(journals.remove(stored('7'), NEVER)).resolves.toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['a list', []],
    ['an object without metadata', { spec: {} }],
    ['an object without a spec', { metadata: { name } }],
  ])('is not read from %s', async (_, body) => {
    const { journals } = await serverOf(json(body));
    await expect(journals.get(name, NEVER)).rejects.toMatchObject({
      kind: 'BadAnswer',
      message: 'the API server answered with something that is no MoveJournal',
    });
  });

  it('is read alone, or is not there', async () => {
    const { journals } = await serverOf(
      json(stored('7')),
      status(404, { reason: 'NotFound', details: { name, kind: 'movejournals' } }),
    );
    expect(await journals.get(name, NEVER)).toEqual(stored('7'));
    expect(await journals.get(name, NEVER)).toBeUndefined();
  });
});

describe('all journals', () => {
  it('are listed', async () => {
    const { journals } = await serverOf(json(listOf([stored('7')])));
    expect(await journals.list(NEVER)).toEqual([stored('7')]);
  });

  it('are none where the kind is not installed, but not where they may not be read', async () => {
    const gone: Handler = (_, response) => response.writeHead(404).end('404 page not found');
    const { journals } = await serverOf(gone, status(403));
    expect(await journals.list(NEVER)).toEqual([]);
    await expect(journals.list(NEVER)).rejects.toThrow('may not list movejournals');
  });
});
