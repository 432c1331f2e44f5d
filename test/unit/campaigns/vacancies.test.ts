import { describe, expect, it } from 'vitest';
import { judgeVacancies } from '../../campaigns/vacancies.ts';

/** A gap that could be waited for since `since`, and began before that; the lease is 2 s, a retry comes after 267 ms. */
function gap(since: number, to: number) {
  return { name: 'p', from: since - 500, since, to, isRenewedLate: since > 4000, nextJoined: since + 100 };
}

const requests = (longest: number) => ({ longest: () => longest, quantile: () => longest });

describe('the judge of times without a leader', () => {
  it.each([
    ['a lease and two retries of 267 ms, where replicas share policies', true, 0, 2533],
    ['retries with jitter, where one leads everything', false, 0, 3173],
    ['and the time of two requests', true, 100, 2733],
  ])('allows %s', (_, shared, longest, allowed) => {
    const judge = (milliseconds: number) =>
      judgeVacancies([gap(1000, 1000 + milliseconds)], requests(longest), { shared, lease: 2 }).vacantTooLong.length;
    expect([judge(allowed), judge(allowed + 1)]).toEqual([0, 1]);
  });

  it('says with one that was too long what had happened to requests', () => {
    const faults = (from: number, to: number) => [`${from} to ${to}`];
    const { vacantTooLong } = judgeVacancies([gap(40_000, 50_000)], requests(0), { shared: true, lease: 2 }, faults);
    expect(vacantTooLong).toEqual([expect.stringMatching(/; since 30 s before it: 9500 to 50000$/)]);
  });

  it('tells of the longest in all, and of the longest that was waited for', () => {
    expect(judgeVacancies([gap(1000, 2000), gap(5000, 5200)], requests(20), { shared: true, lease: 2 })).toEqual({
      vacancies: 2,
      longestVacancy: 1.5,
      longestAdoption: 1,
      renewedLate: 1,
      slowestRequest: 0.02,
      vacantTooLong: [],
    });
  });
});
