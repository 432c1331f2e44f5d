import { afterEach, describe, expect, it } from 'vitest';
import type { User } from '../../src/adapters/http/access-guard.ts';
import { createAccessReviews } from '../../src/adapters/kubernetes/access-reviews.ts';
import { clientOf, type Handler, json, NEVER, reset, startFakeApiServer, status } from './fake-api-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

async function start(...handlers: readonly Handler[]) {
  const server = await startFakeApiServer(...handlers);
  const client = clientOf(server.url, { attempts: 2 });
  cleanups.push(() => client.close(), server.stop);
  return { server, reviews: createAccessReviews(client) };
}

const review = (fields: Readonly<Record<string, unknown>>): Handler => json({ kind: 'Review', status: fields }, 201);
const prometheus: User = {
  username: 'system:serviceaccount:monitoring:prometheus',
  uid: '1',
  groups: ['system:authenticated'],
  extra: { 'authentication.kubernetes.io/pod-name': ['prometheus-0'] },
};

describe('a TokenReview', () => {
  it('gives the user with groups and extra', async () => {
    const { server, reviews } = await start(review({ authenticated: true, user: prometheus }));
    expect(await reviews.authenticate('abc', NEVER)).toEqual(prometheus);
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      body: { kind: 'TokenReview', spec: { token: 'abc' } },
    });
  });

  it.each([
    { authenticated: false },
    {},
    { authenticated: 'true', user: prometheus },
    { user: prometheus, error: 'no' },
  ])('gives nobody for %j', async (fields) => {
    const { reviews } = await start(review(fields));
    expect(await reviews.authenticate('abc', NEVER)).toBeUndefined();
  });

  it.each<[string, Handler]>([
    ['a user without a name', review({ authenticated: true, user: { groups: ['system:masters'] } })],
    ['no status', json({ kind: 'TokenReview' }, 201)],
    ['no object', json([], 201)],
    ['403', status(403)],
    ['500 twice', status(500)],
    ['429 twice', status(429)],
    ['nothing, twice', reset()],
  ])('fails for %s', async (_, handler) => {
    const { reviews } = await start(handler);
    await expect(reviews.authenticate('abc', NEVER)).rejects.toThrow();
  });

  it('is asked for again when the connection broke', async () => {
    const { reviews } = await start(reset(), review({ authenticated: true, user: prometheus }));
    expect((await reviews.authenticate('abc', NEVER))?.username).toBe(prometheus.username);
  });
});

describe('a SubjectAccessReview', () => {
  it.each([
    [{ allowed: true }, true],
    [{ allowed: false }, false],
    [{ allowed: true, denied: true }, false],
    [{ allowed: 'true' }, false],
    [{}, false],
  ])('with the status %j means %s', async (fields, allowed) => {
    const { server, reviews } = await start(review(fields));
    expect(await reviews.mayGet(prometheus, '/metrics', NEVER)).toBe(allowed);
    const { username, ...rest } = prometheus;
    expect(server.seen[0]).toMatchObject({
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: { spec: { user: username, ...rest, nonResourceAttributes: { path: '/metrics', verb: 'get' } } },
    });
  });
});
