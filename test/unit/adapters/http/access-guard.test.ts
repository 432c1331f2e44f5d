import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  type AccessReviews,
  type Admittance,
  createAccessGuard,
  createReviewLimits,
  type User,
  VERDICT_LIFETIME,
} from '../../../../src/adapters/http/access-guard.ts';
import { seconds } from '../../../../src/model/units.ts';

const NEVER = new AbortController().signal;

function bearing(authorization?: string, remoteAddress = '10.0.0.1'): IncomingMessage {
  return { headers: { authorization }, socket: { remoteAddress } } as IncomingMessage;
}

function codeOf(admittance: Admittance): number {
  return 'refused' in admittance ? admittance.refused.code : 200;
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
    limits: createReviewLimits(() => seconds(now)),
    path: '/metrics',
    role: 'evenkeel-metrics-reader',
    monotonic: () => seconds(now),
    report: (error) => reported.push(error),
  });
  return {
    asked,
    reported,
    codeFor: async (token: string, address?: string) => codeOf(await guard(bearing(`Bearer ${token}`, address), NEVER)),
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
      expect(codeOf(await guard(bearing(authorization), NEVER))).toBe(401);
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

  it('asks the API server at a limited rate for strangers, whatever they send', async () => {
    const { codeFor, asked, pass } = aGuard();
    for (let second = 0; second < 60; second += 1) {
      for (let sent = 0; sent < 100; sent += 1) {
        await codeFor(`guess-${second}-${sent}`, `10.0.0.${sent}`);
      }
      pass(1);
    }
    expect(asked.length).toBeLessThanOrEqual(20 + 60 * 5);
    expect(asked.length).toBeGreaterThan(200);
  });

  it('lets in who was let in before, while strangers use up their share', async () => {
    const { codeFor, pass } = aGuard();
    expect(await codeFor('reader', '10.0.0.9')).toBe(200);
    for (let second = 0; second < 60; second += 1) {
      for (let sent = 0; sent < 50; sent += 1) {
        await codeFor(`guess-${second}-${sent}`);
      }
      pass(1);
      expect(await codeFor('reader', '10.0.0.9')).toBe(200);
    }
  });

  it('asks about a new token from the address of a known reader, while strangers use up their share', async () => {
    const { codeFor } = aGuard({
      reviews: { authenticate: async (token) => (token.startsWith('reader') ? aUser('reader') : undefined) },
    });
    expect(await codeFor('reader-1', '10.0.0.9')).toBe(200);
    for (let sent = 0; sent < 50; sent += 1) {
      await codeFor(`guess-${sent}`);
    }
    expect([await codeFor('reader-2'), await codeFor('reader-3', '10.0.0.9')]).toEqual([503, 200]);
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
