import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candidate, gapsOf } from '../../campaigns/gaps.ts';
import type { LeaseChange } from '../../campaigns/lease-log.ts';

function replica(identity: string, joined: number, ended?: number, renewed?: number): Candidate {
  return { identity, joined, ended, renewed };
}

function taken(at: number, holder: string, epoch = 0): LeaseChange {
  return { at, holder, epoch, renewed: at };
}

describe('times without a leader', () => {
  it.each<[string, LeaseChange[], Candidate[], object[]]>([
    ['none before the first leader', [taken(50, 'a')], [replica('a', 0)], []],
    [
      'from a kill until another replica is named',
      [taken(0, 'a'), taken(30, 'b')],
      [replica('a', 0, 10), replica('b', 0)],
      [{ from: 10, to: 30, since: 10 }],
    ],
    [
      'none where a replica takes over from one that lives',
      [taken(0, 'a'), taken(30, 'b')],
      [replica('a', 0, 40), replica('b', 0)],
      [],
    ],
    [
      'from the release until another replica is named',
      [taken(0, 'a'), taken(20, ''), taken(25, 'b')],
      [replica('a', 0), replica('b', 0)],
      [{ from: 20, to: 25, since: 20 }],
    ],
    [
      'until now where nobody is named any more',
      [taken(0, 'a')],
      [replica('a', 0, 10), replica('b', 0)],
      [{ from: 10, to: 100, since: 10 }],
    ],
    [
      'through a leader that was dead when it was named',
      [taken(0, 'a'), taken(20, 'b'), taken(40, 'c')],
      [replica('a', 0, 10), replica('b', 0, 15), replica('c', 0)],
      [{ from: 10, to: 40, since: 15 }],
    ],
    [
      'since the only other replica had joined',
      [taken(0, 'a'), taken(60, 'b')],
      [replica('a', 0, 10), replica('b', 50)],
      [{ from: 10, to: 60, since: 50 }],
    ],
    [
      'since the first other replica had joined',
      [taken(0, 'a'), taken(60, 'b')],
      [replica('a', 0, 10), replica('b', 50), replica('c', 5)],
      [{ from: 10, to: 60, since: 10 }],
    ],
    [
      'not since the end of a replica that had not joined',
      [taken(0, 'a'), taken(60, 'b')],
      [replica('a', 0, 10), { identity: undefined, joined: undefined, ended: 20, renewed: undefined }, replica('b', 5)],
      [{ from: 10, to: 60, since: 10 }],
    ],
    [
      'since a renewal that came after the end of its replica',
      [taken(0, 'a'), taken(60, 'b')],
      [replica('a', 0, 10, 30), replica('b', 5, undefined, 50)],
      [{ from: 10, to: 60, since: 30, isRenewedLate: true }],
    ],
    [
      'not since one that came before it, or when another one led',
      [taken(0, 'a'), taken(60, 'b')],
      [replica('a', 0, 10, 9), replica('b', 5), replica('c', 0, 2, 70)],
      [{ from: 10, to: 60, since: 10, isRenewedLate: false }],
    ],
    [
      'of a holder that nobody knows',
      [taken(0, 'a'), taken(20, 'stranger'), taken(30, 'a')],
      [replica('a', 0)],
      [{ from: 20, to: 30, since: 20 }],
    ],
  ])('%s', (_, changes, replicas, gaps) => {
    expect(gapsOf('p', changes, replicas, 100)).toMatchObject(gaps.map((gap) => ({ name: 'p', ...gap })));
  });

  it('tell when the replica that ended them had joined', () => {
    const replicas = [replica('a', 0, 10), replica('b', 20)];
    expect(gapsOf('p', [taken(0, 'a'), taken(40, 'b')], replicas, 100)).toMatchObject([{ nextJoined: 20 }]);
    expect(gapsOf('p', [taken(0, 'a')], replicas, 100)).toMatchObject([{ nextJoined: undefined }]);
  });

  it('are what is left of the time since the first leader, instant by instant', () => {
    const holders = fc.constantFrom('', 'a', 'b', 'c');
    const instant = fc.integer({ min: 0, max: 60 });
    const histories = fc.uniqueArray(fc.record({ at: instant, holder: holders }), {
      selector: ({ at }) => at,
      maxLength: 12,
    });
    const ends = fc.record({ a: fc.option(instant), b: fc.option(instant), c: fc.option(instant) });
    fc.assert(
      fc.property(histories, ends, (history, ended) => {
        const changes = history
          .toSorted((left, right) => left.at - right.at)
          .map(({ at, holder }) => taken(at, holder));
        const replicas = Object.entries(ended).map(([name, at]) => replica(name, 0, at ?? undefined));
        const isLed = (at: number): boolean => {
          const holder = changes.findLast((change) => change.at <= at)?.holder;
          const leader = replicas.find(({ identity }) => identity === holder);
          return leader !== undefined && (leader.ended ?? 100) > at;
        };
        const first = Array.from({ length: 100 }, (_, at) => at).find(isLed) ?? 100;
        const unled = Array.from({ length: 100 }, (_, at) => at).filter((at) => at >= first && !isLed(at));
        const gaps = gapsOf('p', changes, replicas, 100);
        expect(gaps.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => from + at))).toEqual(unled);
        expect(gaps.every(({ from, since, to }) => from <= since && since <= to)).toBe(true);
      }),
    );
  });
});
