import { describe, expect, it } from 'vitest';
import { leaseTimes, released } from '../../../../src/control/lease.ts';
import { Members } from '../../../../src/control/shards/members.ts';
import { RELEASED_BY } from '../../../../src/control/shards/names.ts';
import { rendezvous } from '../../../../src/control/shards/rendezvous.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import type { StoredLease } from '../../../../src/ports.ts';

const { duration } = leaseTimes(seconds(15));
const SHARD = 'uid-1';

function counted(...counts: readonly (readonly [now: number, replicas: readonly string[]])[]): Members {
  const members = new Members(duration);
  for (const [now, replicas] of counts) {
    members.count(new Set(replicas), seconds(now));
  }
  return members;
}

/** The Lease of a shard that has this holder, and that this replica has let go of. */
function aLease(holder: string, releasedBy?: string): StoredLease {
  const now = epochSeconds(0);
  const record = { ...released({ holder, duration, acquiredAt: now, renewedAt: now, transitions: 3 }, now), holder };
  return { record, metadata: releasedBy === undefined ? {} : { annotations: { [RELEASED_BY]: releasedBy } } };
}

describe('the replicas that take part', () => {
  it.each<[string, readonly string[], number]>([
    ['stay', ['b', 'a'], 10],
    ['get more', ['a', 'b', 'c'], 20],
    ['get fewer', ['a'], 20],
    ['change', ['a', 'c'], 20],
  ])('are the same since one came or went last: they %s', (_, replicas, since) => {
    expect(counted([10, ['a', 'b']], [20, replicas]).sameSince).toBe(since);
  });

  it('have one that each shard falls to, which need not be an old one', () => {
    const [last = '', ...others] = rendezvous(SHARD, ['a', 'b', 'c']);
    expect(counted([10, others], [20, [last, ...others]]).first(SHARD)).toBe(last);
    expect(counted([10, [last, ...others]], [20, others]).first(SHARD)).toBe(others[0]);
    expect(counted().first(SHARD)).toBeUndefined();
  });
});

describe('the established ones', () => {
  const [first = '', second = '', third = ''] = rendezvous(SHARD, ['a', 'b', 'c']);

  it('are those that were seen a duration ago, the first choice first', () => {
    const members = counted([10, [third, second]], [12, [first, second, third]]);
    expect(members.established(SHARD, seconds(12 + duration - 0.1))).toEqual([second, third]);
    expect(members.established(SHARD, seconds(12 + duration))).toEqual([first, second, third]);
  });

  it('are all where nobody is old', () => {
    const members = counted([10, [third, first]]);
    expect(members.established(SHARD, seconds(10 + duration - 0.1))).toEqual([first, third]);
    expect(members.established(SHARD, seconds(10 + duration))).toEqual([first, third]);
  });

  it('are not those that went meanwhile and came back', () => {
    const members = counted([0, [first, second]], [10, [second]], [20, [first, second]]);
    expect(members.established(SHARD, seconds(30))).toEqual([second]);
  });
});

describe('the heirs of a shard', () => {
  const [first = '', second = '', third = ''] = rendezvous(SHARD, ['a', 'b', 'c']);
  const members = counted([0, [second, third]], [40, [first, second, third]]);
  const heirs = (lease: StoredLease | undefined) => members.heirs(SHARD, lease, seconds(41));

  it('whose leader was killed are the established ones', () => {
    expect(heirs(aLease('dead'))).toEqual([second, third]);
  });

  it('that was let go of are all but the one that did', () => {
    expect(heirs(aLease('', second))).toEqual([first, third]);
    expect(heirs(aLease('', 'dead'))).toEqual([first, second, third]);
    expect(heirs(aLease(''))).toEqual([first, second, third]);
  });

  it('that nobody has ever led are all', () => {
    expect(heirs(undefined)).toEqual([first, second, third]);
  });

  it('are the one that has let go of it where there is no other', () => {
    expect(counted([0, [second]]).heirs(SHARD, aLease('', second), seconds(1))).toEqual([second]);
  });
});
