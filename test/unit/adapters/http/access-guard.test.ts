import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  type AccessReviews,
  createAccessGuard,
  type User,
  VERDICT_LIFETIME,
} from '../../../../src/adapters/http/access-guard.ts';
import { seconds } from '../../../../src/model/units.ts';

const NEVER = new AbortController().signal;

function bearing(authorization?: string): IncomingMessage {
  return { headers: { authorization } } as IncomingMessage;
}

function aUser(username: string): User {
  return { username, uid: '1', groups: [], extra: {} };
}

interface Stage {
  readonly reviews?: Partial<AccessReviews>;
}

/** A guard of /metrics where `reader` may read, `other` may not, and everything else is no token. */
function aGuard({ reviews = {} }: Stage = {}) {
  const asked: string[] = [];
  const reported: unknown[] = [];
  let now = 0;
  const all: AccessReviews = {
    authenticate: async (token) => {
      asked.push(token);
      return token === 'reader' || token === 'other' ? aUser(token) : undefined;
    },
    mayGet: async ({ username }, path) => username === 'reader' && path === '/metrics',
    ...reviews,
  };
  const guard = createAccessGuard({
    reviews: all,
    path: '/metrics',
    role: 'evenkeel-metrics-reader',
    monotonic: () => seconds(now),
    report: (error) => reported.push(error),
  });
  return {
    asked,
    reported,
    codeFor: async (token: string) => (await guard(bearing(`Bearer ${token}`), NEVER))?.code ?? 200,
    guard,
    pass: (span: number) => {
      now += span;
    },
  };
}

describe('a guard', () => {
  it.each([
    ['reader', 200],
    ['other', 403],
    ['nobody', 401],
  ])('answers who bears the token %s with %d', async (token, code) => {
    expect(await aGuard().codeFor(token)).toBe(code);
  });

  it.each([undefined, '', 'Basic cmVhZGVyOg==', 'Bearer', 'Bearer ', 'Bearer a b', 'Bearer \u0000', 'reader'])(
    'asks nobody about %j, which is no bearer token',
    async (authorization) => {
      const { guard, asked } = aGuard();
      expect((await guard(bearing(authorization), NEVER))?.code).toBe(401);
      expect(asked).toEqual([]);
    },
  );

  it.each(['reader', 'other', 'nobody'])('asks once about %s while a verdict counts', async (token) => {
    const { codeFor, asked, pass } = aGuard();
    const first = await Promise.all([codeFor(token), codeFor(token)]);
    pass(VERDICT_LIFETIME - 0.01);
    expect([await codeFor(token), await codeFor(token)]).toEqual(first);
    expect(asked).toEqual([token]);
    pass(0.02);
    await codeFor(token);
    expect(asked).toEqual([token, token]);
  });

  it('lets nobody in while the API server cannot be asked, and asks again the next time', async () => {
    const broken = new Error('no route');
    let calls = 0;
    const { codeFor, reported } = aGuard({
      reviews: {
        authenticate: async () => {
          calls += 1;
          if (calls < 3) {
            throw broken;
          }
          return aUser('reader');
        },
      },
    });
    expect([await codeFor('reader'), await codeFor('reader'), await codeFor('reader')]).toEqual([503, 503, 200]);
    expect(reported).toEqual([broken, broken]);
  });

  it('lets nobody in when only the authorisation cannot be asked for', async () => {
    const { codeFor } = aGuard({ reviews: { mayGet: () => Promise.reject(new Error('no route')) } });
    expect(await codeFor('reader')).toBe(503);
  });

  it('no longer lets in whose right was taken away, once the verdict is too old', async () => {
    let bound = true;
    const { codeFor, pass } = aGuard({ reviews: { mayGet: async () => bound } });
    expect(await codeFor('reader')).toBe(200);
    bound = false;
    pass(VERDICT_LIFETIME + 1);
    expect(await codeFor('reader')).toBe(403);
  });

  it('remembers at most 256 tokens, the newest', async () => {
    const { codeFor, asked } = aGuard();
    await codeFor('reader');
    for (let made = 0; made < 256; made += 1) {
      await codeFor(`guess-${made}`);
    }
    await codeFor('guess-255');
    expect(asked.length).toBe(257);
    await codeFor('reader');
    expect(asked.length).toBe(258);
  });

  it('reviews eight tokens at a time, and refuses more without asking', async () => {
    const waiting: (() => void)[] = [];
    const { codeFor } = aGuard({
      reviews: { authenticate: () => new Promise((resolve) => waiting.push(() => resolve(undefined))) },
    });
    const asking = Array.from({ length: 8 }, (_, index) => codeFor(`guess-${index}`));
    expect(await codeFor('guess-9')).toBe(503);
    for (const answer of waiting) {
      answer();
    }
    expect(new Set(await Promise.all(asking))).toEqual(new Set([401]));
    expect(waiting).toHaveLength(8);
  });
});
