import { describe, expect, it } from 'vitest';
import { readSecret } from '../../src/adapters/kubernetes/secret-store.ts';
import { answering } from './answering.ts';
import { type Handler, json, NEVER, status } from './fake-api-server.ts';

const WHERE = { namespace: 'evenkeel-system', name: 'webhook' };
const PATH = '/api/v1/namespaces/evenkeel-system/secrets/webhook';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function read(...handlers: readonly Handler[]) {
  const { server, client } = await answering(handlers);
  return { server, secret: await readSecret(client, WHERE, NEVER) };
}

describe('a Secret', () => {
  const metadata = { ...WHERE, uid: 'uid-secret', resourceVersion: '7', labels: { team: 'a' } };
  const stored = json({ kind: 'Secret', metadata, type: 'kubernetes.io/tls', data: { 'tls.crt': base64('Grüße') } });

  it('is read with its entries as text', async () => {
    const { server, secret } = await read(stored);
    expect(secret?.data).toEqual({ 'tls.crt': 'Grüße' });
    expect(server.seen).toMatchObject([{ method: 'GET', path: PATH }]);
  });

  it.each<[string, object]>([
    ['has none', { metadata }],
    ['has null for them', { metadata, data: null }],
  ])('has no entries where it %s', async (_, body) => {
    expect((await read(json(body))).secret?.data).toEqual({});
  });

  it('is nothing where there is none; where it may not be read, that is an error', async () => {
    expect((await read(status(404, { reason: 'NotFound' }))).secret).toBeUndefined();
    await expect(read(status(403))).rejects.toMatchObject({ kind: 'Forbidden' });
  });

  it('is not read from what is no object', async () => {
    await expect(read(json([]))).rejects.toMatchObject({
      kind: 'BadAnswer',
      message: 'the API server answered with something that is no Secret',
    });
  });

  it('gets all its entries anew, over the very version that was read', async () => {
    const { server, secret } = await read(stored, json({}));
    await secret?.write({ 'tls.key': 'Schlüssel' }, NEVER);
    expect(server.seen[1]).toMatchObject({ method: 'PUT', path: PATH });
    expect(server.seen[1]?.body).toEqual({
      kind: 'Secret',
      metadata,
      type: 'kubernetes.io/tls',
      data: { 'tls.key': base64('Schlüssel') },
    });
  });

  it('is not written when somebody else was faster', async () => {
    const { secret } = await read(stored, status(409, { reason: 'Conflict' }));
    await expect(secret?.write({}, NEVER)).rejects.toMatchObject({ kind: 'Conflict' });
  });
});
