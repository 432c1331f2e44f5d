import { describe, expect, it } from 'vitest';
import { leaseOfReplica, leaseOfShard } from '../../../../src/control/shards/names.ts';
import type { RememberedLeases } from '../../../../src/control/shards/own-writes.ts';
import { Sight } from '../../../../src/control/shards/sight.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import type { LeaseRecord, StoredLease } from '../../../../src/ports.ts';
import { BASE } from '../../../support/sharing-replicas.ts';

const NEVER = new AbortController().signal;
const SHARD = leaseOfShard(BASE, 'uid-1');

/** A Lease that was written so many times, of a replica or of a shard. */
function aLease(
  { name, labels }: typeof SHARD,
  holder: string,
  version: number,
  record: Partial<LeaseRecord> = {},
): StoredLease {
  return {
    record: {
      holder,
      duration: seconds(15),
      acquiredAt: epochSeconds(0),
      renewedAt: epochSeconds(version),
      transitions: 0,
      ...record,
    },
    metadata: { name, labels: Object.fromEntries(labels), resourceVersion: String(version) },
  };
}

function ofReplica(identity: string, version: number, record: Partial<LeaseRecord> = {}): StoredLease {
  return aLease(leaseOfReplica(BASE, identity), identity, version, record);
}

function nameOf(identity: string): string {
  return leaseOfReplica(BASE, identity).name;
}

/** What a replica sees, at 100 s of its clock. */
function seeing() {
  let now = 100;
  /** On the cluster, by name. */
  const there = new Map<string, StoredLease>();
  const ended = new Set<string>();
  const asked: string[] = [];
  /** Versions below this one were written by the instant. */
  let written: readonly [version: number, at: number] | undefined;
  const none = (): never => expect.fail('Leases are only read');
  const leases: RememberedLeases = {
    of: (name) => ({
      get: async () => {
        asked.push(name);
        return there.get(name);
      },
      create: none,
      update: none,
      remove: none,
    }),
    seen: there,
    list: async () => [...there.values()],
    watch: none,
    renew: none,
    writtenBy: ({ metadata }) =>
      written !== undefined && Number(metadata['resourceVersion']) < written[0] ? seconds(written[1]) : undefined,
  };
  const sight = new Sight({
    base: BASE,
    duration: seconds(20),
    leases,
    clock: { monotonic: () => seconds(now) },
    containers: { hasEnded: ({ holder }) => ended.has(holder) },
  });
  return {
    sight,
    there,
    ended,
    asked,
    put: (lease: StoredLease) => void there.set(String(lease.metadata['name']), lease),
    at: (instant: number) => {
      now = instant;
    },
    wrote: (version: number, instant: number) => {
      written = [version, instant];
    },
  };
}

describe('a Lease that is seen', () => {
  it('stays in mind as it was when it is deleted, until it is there again or forgotten', () => {
    const { sight, there, put } = seeing();
    put(aLease(SHARD, 'a', 1));
    put(ofReplica('a', 2));
    sight.look();
    expect([sight.isDeleted(SHARD.name), sight.isDeleted(nameOf('a'))]).toEqual([false, false]);
    there.delete(SHARD.name);
    sight.look();
    expect([sight.isDeleted(SHARD.name), sight.isDeleted(nameOf('a'))]).toEqual([true, false]);
    sight.look();
    expect([sight.isDeleted(SHARD.name), sight.last(SHARD.name)?.record.holder]).toEqual([true, 'a']);
    put(aLease(SHARD, 'b', 3));
    sight.look();
    expect([sight.isDeleted(SHARD.name), sight.last(SHARD.name)?.record.holder]).toEqual([false, 'b']);
    there.delete(SHARD.name);
    sight.look();
    sight.forget(SHARD.name);
    expect([sight.isDeleted(SHARD.name), sight.last(SHARD.name)]).toEqual([false, undefined]);
  });

  it('is deleted where a request finds it no more, but one that was never there is not', () => {
    const { sight } = seeing();
    sight.note(SHARD.name, undefined);
    expect(sight.isDeleted(SHARD.name)).toBe(false);
    sight.note(SHARD.name, aLease(SHARD, 'a', 1));
    sight.note(SHARD.name, undefined);
    expect([sight.isDeleted(SHARD.name), sight.last(SHARD.name)?.record.holder]).toEqual([true, 'a']);
    sight.note(SHARD.name, aLease(SHARD, 'a', 2));
    expect(sight.isDeleted(SHARD.name)).toBe(false);
  });

  it('is replaced by a newer one, and by the same, but by no older one', () => {
    const { sight } = seeing();
    const known = (holder: string, version: number) => {
      sight.note(SHARD.name, aLease(SHARD, holder, version));
      return sight.last(SHARD.name)?.record.holder;
    };
    expect([known('a', 5), known('b', 4), known('b', 5), known('c', 6)]).toEqual(['a', 'a', 'b', 'c']);
  });

  it('is unchanged since it was seen like this, or since a write of this replica that came after it', () => {
    const { sight, put, at, wrote } = seeing();
    const names = (span: number) => sight.unchangedFor(seconds(span)).map(({ name }) => name);
    put(aLease(SHARD, 'a', 1));
    sight.look();
    at(110);
    sight.look();
    expect([names(10), names(10.1)]).toEqual([[SHARD.name], []]);
    wrote(8, 104);
    put(aLease(SHARD, 'a', 7));
    sight.look();
    expect([names(6), names(6.1)]).toEqual([[SHARD.name], []]);
    put(aLease(SHARD, 'a', 8));
    sight.look();
    expect([names(0), names(0.1)]).toEqual([[SHARD.name], []]);
    expect(sight.unchangedFor(seconds(0))).toEqual([{ name: SHARD.name, lease: aLease(SHARD, 'a', 8) }]);
  });

  it('is not among the unchanged ones when it is deleted', () => {
    const { sight, there, put, at } = seeing();
    put(aLease(SHARD, 'a', 1));
    sight.look();
    there.clear();
    sight.look();
    at(200);
    expect(sight.unchangedFor(seconds(0))).toEqual([]);
  });
});

describe('a replica', () => {
  it('counts for the duration of its Lease since that changed last', () => {
    const { sight, put, at } = seeing();
    put(ofReplica('a', 1));
    sight.look();
    at(110);
    sight.look();
    expect(sight.aliveUntil('a')).toBe(115);
    put(ofReplica('a', 2, { duration: seconds(30) }));
    sight.look();
    expect(sight.aliveUntil('a')).toBe(140);
  });

  it('whose Lease nobody has seen counts for a duration since that was noticed, each time', () => {
    const { sight, at } = seeing();
    expect(sight.aliveUntil('a')).toBe(120);
    at(110);
    expect([sight.aliveUntil('a'), sight.aliveUntil('b')]).toEqual([120, 130]);
    sight.note(nameOf('a'), ofReplica('a', 1));
    expect(sight.aliveUntil('a')).toBe(125);
    sight.forget(nameOf('a'));
    at(200);
    expect([sight.aliveUntil('a'), sight.aliveUntil('b')]).toEqual([220, 130]);
  });

  it('that has let go, or whose container has ended, counts no more', () => {
    const { sight, put, ended } = seeing();
    put(ofReplica('a', 1));
    put(ofReplica('b', 2));
    sight.look();
    ended.add('b');
    expect([sight.aliveUntil('a'), sight.aliveUntil('b')]).toEqual([115, 0]);
    put(aLease(leaseOfReplica(BASE, 'a'), '', 3));
    sight.look();
    expect(sight.aliveUntil('a')).toBe(0);
    expect([...sight.replicas()]).toEqual([]);
  });

  it('takes part until it counts no more; those whose Lease is deleted, and holders of other Leases, do not', () => {
    const { sight, there, put, at } = seeing();
    for (const lease of [ofReplica('a', 1), ofReplica('b', 2), aLease(SHARD, 'c', 3)]) {
      put(lease);
    }
    sight.look();
    at(114.9);
    expect([...sight.replicas()]).toEqual([
      ['a', 115],
      ['b', 115],
    ]);
    there.delete(nameOf('b'));
    sight.look();
    expect([...sight.replicas().keys()]).toEqual(['a']);
    at(115);
    expect([...sight.replicas()]).toEqual([]);
  });

  it('is gone by a read at that moment, whatever the watch has shown', async () => {
    const { sight, put, at, asked } = seeing();
    put(ofReplica('a', 1));
    sight.look();
    put(ofReplica('a', 2));
    at(115);
    expect(await sight.isGone('a', NEVER)).toBe(false);
    at(129.9);
    expect(await sight.isGone('a', NEVER)).toBe(false);
    at(130);
    expect(await sight.isGone('a', NEVER)).toBe(true);
    expect(asked).toEqual(Array(3).fill(nameOf('a')));
  });

  it('without a name is nobody, who is gone without a question', async () => {
    const { sight, asked } = seeing();
    expect(await sight.isGone('', NEVER)).toBe(true);
    expect(asked).toEqual([]);
  });
});

describe('a Lease', () => {
  it('is held as long as its holder counts, and never by nobody', () => {
    const { sight, put, at } = seeing();
    put(ofReplica('a', 1));
    sight.look();
    at(114.9);
    expect([sight.isHeld(aLease(SHARD, 'a', 2)), sight.isHeld(aLease(SHARD, '', 3))]).toEqual([true, false]);
    at(115);
    expect(sight.isHeld(aLease(SHARD, 'a', 2))).toBe(false);
  });
});

describe('the replicas', () => {
  it('are none where a list at that moment shows none that counts', async () => {
    const { sight, there, put, at } = seeing();
    put(aLease(SHARD, 'a', 1));
    expect(await sight.isDeserted(NEVER)).toBe(true);
    put(ofReplica('b', 2));
    expect(await sight.isDeserted(NEVER)).toBe(false);
    there.delete(nameOf('b'));
    expect(await sight.isDeserted(NEVER)).toBe(true);
    put(ofReplica('c', 3));
    expect(await sight.isDeserted(NEVER)).toBe(false);
    at(115);
    expect(await sight.isDeserted(NEVER)).toBe(true);
  });
});
