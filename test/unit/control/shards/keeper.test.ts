import { describe, expect, it } from 'vitest';
import { leaseOfReplica, leaseOfShard, REST, type Shard } from '../../../../src/control/shards/names.ts';
import { rendezvous } from '../../../../src/control/shards/rendezvous.ts';
import type { LeaseRecord, StoredLease } from '../../../../src/ports.ts';
import { type FakeLeases, fakeLeases, type Passage } from '../../../support/fake-leases.ts';
import {
  BASE,
  NEAR,
  type ReplicaOptions,
  type SharingReplica,
  startReplica,
  TIMES,
} from '../../../support/sharing-replicas.ts';
import { NOON } from '../../../support/test-clock.ts';
import { type VirtualTime, virtualTime } from '../../../support/virtual-time.ts';

const POLICIES = Array.from({ length: 30 }, (_, index) => `uid-${index}`);
const SHARDS: readonly Shard[] = [REST, ...POLICIES];
const NEVER = new AbortController().signal;
const CUT: Passage = { there: 0.01, back: 0.01, lost: 'there' };

interface Group {
  readonly time: VirtualTime;
  readonly leases: FakeLeases;
  start(identity: string, options?: Partial<ReplicaOptions>): SharingReplica;
  /** Starts these, and waits until each leads what falls to it. */
  settled(...identities: readonly string[]): Promise<readonly SharingReplica[]>;
  /** Runs until `instant`, and fails as soon as two work for a shard. */
  run(instant: number): Promise<void>;
}

function group(): Group {
  const time = virtualTime();
  const leases = fakeLeases();
  const replicas: SharingReplica[] = [];
  const start: Group['start'] = (identity, options) => {
    const replica = startReplica(time, leases, { identity, shards: SHARDS, ...options });
    replicas.push(replica);
    return replica;
  };
  const run = (instant: number): Promise<void> =>
    time.run(instant, () => {
      const acting = replicas.filter((replica) => replica.mayAct());
      const busy = acting.flatMap((replica) => [...replica.busy]);
      if (new Set(busy).size < busy.length) {
        throw new Error(`two work for ${busy.find((shard, place) => busy.indexOf(shard) !== place)} at ${time.now()}`);
      }
    });
  return {
    time,
    leases,
    start,
    async settled(...identities) {
      const started = identities.map((identity) => start(identity));
      await run(60);
      expect(shares(started)).toEqual(fair(SHARDS, identities));
      return started;
    },
    run,
  };
}

/** What each leads. */
function shares(replicas: readonly SharingReplica[]): Readonly<Record<string, readonly Shard[]>> {
  return Object.fromEntries(replicas.map((replica) => [replica.identity, replica.leads()]));
}

/** What falls to each. */
function fair(shards: readonly Shard[], identities: readonly string[]): Readonly<Record<string, readonly Shard[]>> {
  return Object.fromEntries(
    identities.map((identity) => [
      identity,
      shards.filter((shard) => rendezvous(shard, identities)[0] === identity).sort(),
    ]),
  );
}

/** Shards that the replica was given, `of` a kind of event, since an instant. */
function happened(replica: SharingReplica, kind: 'Led' | 'HandedOver' | 'Lost', since = 0): readonly Shard[] {
  return replica.events.flatMap(({ at, event }) => (at >= since && event.kind === kind ? [event.shard] : [])).sort();
}

/** How often each shard was led anew since an instant. */
function changes(replicas: readonly SharingReplica[], since: number): ReadonlyMap<Shard, number> {
  const all = replicas.flatMap((replica) => happened(replica, 'Led', since));
  return new Map([...Map.groupBy(all, (shard) => shard)].map(([shard, { length }]) => [shard, length]));
}

function leaseOf({ leases }: Group, shard: Shard) {
  const { name, labels } = leaseOfShard(BASE, shard);
  return leases.of(name, labels);
}

function storedOf(given: Group, shard: Shard): StoredLease {
  return leaseOf(given, shard).stored ?? expect.fail(`no Lease for ${shard}`);
}

/** When the Lease of a replica was written that has stopped, and a duration later. */
function dueAfter({ leases }: Group, identity: string): number {
  const { name, labels } = leaseOfReplica(BASE, identity);
  const { record } = leases.of(name, labels).stored ?? expect.fail(`no Lease of ${identity}`);
  return record.renewedAt - NOON + TIMES.duration;
}

/** A person edits the Lease of a shard. */
async function edit(given: Group, shard: Shard, edits: Partial<LeaseRecord>): Promise<void> {
  const stored = storedOf(given, shard);
  await leaseOf(given, shard).store.update(stored, { ...stored.record, ...edits }, NEVER);
}

/** A person deletes it. */
async function remove(given: Group, shard: Shard): Promise<void> {
  await leaseOf(given, shard).store.remove(storedOf(given, shard), NEVER);
}

describe('a replica that is alone', () => {
  it('leads everything at once, with epoch 0 and the labels that people select by', async () => {
    const g = group();
    const a = g.start('a');
    await g.run(1);
    expect(a.leads()).toEqual(SHARDS.toSorted());
    expect(SHARDS.map((shard) => a.keeper.of(shard)?.epoch)).toEqual(SHARDS.map(() => 0));
    expect(storedOf(g, 'uid-1').metadata['labels']).toEqual({
      'evenkeel.dev/lease': 'policy',
      'evenkeel.dev/policy-uid': 'uid-1',
    });
    expect(storedOf(g, REST).metadata['labels']).toEqual({ 'evenkeel.dev/lease': 'rest' });
  });

  it('renews only its own Lease', async () => {
    const g = group();
    await g.settled('a');
    const versions = () => SHARDS.map((shard) => storedOf(g, shard).metadata['resourceVersion']);
    const before = versions();
    await g.run(600);
    expect(versions()).toEqual(before);
  });

  it('leads what it is to lead besides, at once', async () => {
    const g = group();
    const a = g.start('a', { shards: [REST, 'uid-1'] });
    // Between two renewals of its own Lease, which wake it.
    await g.run(31.3);
    a.keeper.keep(new Set([REST, 'uid-1', 'uid-2']));
    await g.run(31.4);
    expect(a.keeper.of('uid-2')?.epoch).toBe(0);
  });
});

describe('a replica that joins', () => {
  it('gets its share, once, when the replicas were the same for a lease duration; nothing else moves', async () => {
    const g = group();
    const [a] = (await g.settled('a')) as [SharingReplica];
    const b = g.start('b');
    await g.run(60 + TIMES.duration);
    expect(b.leads()).toEqual([]);
    await g.run(60 + TIMES.duration + 0.3);
    const expected = fair(SHARDS, ['a', 'b']);
    expect(shares([a, b])).toEqual(expected);
    await g.run(600);
    expect(happened(a, 'HandedOver')).toEqual(expected['b']);
    expect(happened(b, 'Led')).toEqual(expected['b']);
    expect(happened(a, 'Led', 60)).toEqual([]);
    expect(new Set(b.leads().map((shard) => b.keeper.of(shard)?.epoch))).toEqual(new Set([1]));
  });

  it('waits for the work on its share to end', async () => {
    const g = group();
    const a = g.start('a', { work: () => 8 });
    await g.run(60);
    const b = g.start('b');
    await g.run(60 + TIMES.duration + 7.9);
    expect(b.leads()).toEqual([]);
    expect(a.leads()).toEqual(fair(SHARDS, ['a', 'b'])['a']);
    await g.run(60 + TIMES.duration + 8.3);
    expect(b.leads()).toEqual(fair(SHARDS, ['a', 'b'])['b']);
  });

  it('with another one soon after: no shard changes hands twice', async () => {
    const g = group();
    const [a] = (await g.settled('a')) as [SharingReplica];
    const b = g.start('b');
    await g.run(70);
    const c = g.start('c');
    await g.run(70 + TIMES.duration);
    expect(shares([b, c])).toEqual({ b: [], c: [] });
    await g.run(300);
    expect(shares([a, b, c])).toEqual(fair(SHARDS, ['a', 'b', 'c']));
    expect(new Set(changes([a, b, c], 60).values())).toEqual(new Set([1]));
  });
});

describe('a replica that is gone', () => {
  it('after a kill: its shards are adopted within a duration and two retry periods, each by the next in its order', async () => {
    const g = group();
    const [a, b, c] = (await g.settled('a', 'b', 'c')) as [SharingReplica, SharingReplica, SharingReplica];
    a.process.pause();
    const before = fair(SHARDS, ['a', 'b', 'c'])['a'] ?? [];
    await g.run(60 + TIMES.duration - TIMES.retryPeriod - 0.1);
    expect([...happened(b, 'Led', 60), ...happened(c, 'Led', 60)]).toEqual([]);
    await g.run(60 + TIMES.duration + 2 * TIMES.retryPeriod);
    expect(shares([b, c])).toEqual(fair(SHARDS, ['b', 'c']));
    expect([...happened(b, 'Led', 60), ...happened(c, 'Led', 60)].sort()).toEqual(before);
  });

  it('after a kill: who adopts its shards asks for its Lease once, and writes theirs without another question', async () => {
    const g = group();
    let requests = 0;
    const b = g.start('b', {
      passage: () => {
        requests += 1;
        return NEAR;
      },
    });
    const a = g.start('a');
    await g.run(60);
    const orphans = a.leads();
    expect(orphans.length).toBeGreaterThan(8);
    a.process.pause();
    await g.run(60 + TIMES.duration - TIMES.retryPeriod - 0.1);
    const [before, from] = [requests, g.time.now()];
    await g.run(60 + TIMES.duration + TIMES.retryPeriod);
    expect(happened(b, 'Led', 60)).toEqual(orphans);
    const renewals = Math.ceil((g.time.now() - from) / TIMES.retryPeriod);
    // What the watch brings passes the same network.
    const events = renewals + orphans.length;
    expect(requests - before).toBeLessThanOrEqual(1 + orphans.length + renewals + events);
  });

  it('after a kill: the Leases of its shards are written four at a time', async () => {
    const g = group();
    const own = leaseOfReplica(BASE, 'b').name;
    const writing = { now: 0, most: 0 };
    const a = g.start('a');
    await g.run(60);
    const b = g.start('b', {
      refuse: async (name) => {
        if (name !== own) {
          writing.now += 1;
          writing.most = Math.max(writing.most, writing.now);
          await new Promise<void>((resolve) => g.time.at(g.time.now() + 0.05, resolve));
          writing.now -= 1;
        }
      },
    });
    await g.run(62);
    a.process.pause();
    await g.run(dueAfter(g, 'a') + 2 * TIMES.retryPeriod);
    expect(b.leads()).toEqual(SHARDS.toSorted());
    expect(writing).toEqual({ now: 0, most: 4 });
  });

  it.each([
    [1, 0.4],
    [2, 0.8],
    [3, 2],
  ])('after a kill: a write that fails is sent again, and holds up no other; %d of them', async (failing, periods) => {
    const g = group();
    const a = g.start('a');
    await g.run(60);
    const [unlucky, ...others] = a.leads() as [Shard, ...Shard[]];
    let left = failing;
    const b = g.start('b', {
      refuse: (name) => {
        if (name === leaseOfShard(BASE, unlucky).name && g.time.now() > 62 && left > 0) {
          left -= 1;
          throw new Error('injected');
        }
      },
    });
    await g.run(62);
    a.process.pause();
    const due = dueAfter(g, 'a');
    await g.run(due + 0.4 * TIMES.retryPeriod);
    expect(b.leads()).toEqual(failing === 1 ? a.leads() : others);
    await g.run(due + periods * TIMES.retryPeriod);
    expect(b.leads()).toEqual([...others, unlucky].sort());
    expect(b.events.some(({ event }) => event.kind === 'Failed')).toBe(failing === 3);
  });

  it('after a kill: answers that are lost cost half a retry period, not the time for which they are waited for', async () => {
    const g = group();
    const a = g.start('a');
    await g.run(60);
    const orphans = a.leads();
    let due = Number.POSITIVE_INFINITY;
    const isLost = () => g.time.now() > due - 0.5 && g.time.now() < due + 0.45 * TIMES.retryPeriod;
    const b = g.start('b', { passage: () => ({ ...NEAR, lost: isLost() ? 'back' : 'never' }), watched: () => NEAR });
    await g.run(62);
    a.process.pause();
    due = dueAfter(g, 'a');
    await g.run(due + 0.4 * TIMES.retryPeriod);
    expect(b.leads()).toEqual([]);
    await g.run(due + 0.8 * TIMES.retryPeriod);
    expect(b.leads()).toEqual(orphans);
    expect(happened(b, 'Led', 60)).toEqual(orphans);
  });

  it('after a kill: who joins later counts from when its watch began', async () => {
    const g = group();
    const a = g.start('a');
    await g.run(60);
    a.process.pause();
    const b = g.start('b', { startsAt: 70, watchesFor: 10 });
    await g.run(60 + TIMES.duration - 0.1);
    expect(b.leads()).toEqual([]);
    await g.run(60 + TIMES.duration + TIMES.retryPeriod);
    expect(b.leads()).toEqual(a.leads());
  });

  it.each([50, 55, 58, 59, 60])(
    'after a kill: they are adopted in time by one whose watch is behind since %d s, which it sees by its own renewals',
    async (since) => {
      const g = group();
      const watches = new Set<number>();
      const a = g.start('a');
      const b = g.start('b', {
        watched: (watch) => {
          watches.add(watch);
          return watch === 0 && g.time.now() > since ? { ...NEAR, back: 8 } : NEAR;
        },
      });
      await g.run(60);
      const orphans = a.leads();
      a.process.pause();
      await g.run(60 + TIMES.duration + 2 * TIMES.retryPeriod);
      expect(happened(b, 'Led', 60)).toEqual(orphans);
      expect([...watches]).toEqual([0, 1]);
    },
  );

  it.each([
    [1.9, false],
    [2.2, true],
  ])('a watch that shows its renewals %d retry periods late is begun anew: %s', async (late, isAnew) => {
    const g = group();
    const watches = new Set<number>();
    g.start('a', {
      watched: (watch) => {
        watches.add(watch);
        return { ...NEAR, back: late * TIMES.retryPeriod };
      },
    });
    await g.run(60);
    expect(watches.size > 1).toBe(isAnew);
  });

  it('after a kill: a watch that is always a little behind does not make what it shows any younger', async () => {
    const g = group();
    const a = g.start('a');
    const b = g.start('b', { watched: () => ({ ...NEAR, back: 1.9 * TIMES.retryPeriod }) });
    await g.run(60);
    const orphans = a.leads();
    a.process.pause();
    await g.run(60 + TIMES.duration + 1.1 * TIMES.retryPeriod);
    expect(happened(b, 'Led', 60)).toEqual(orphans);
  });

  it.each([0.3, 0.8, 1.3, 1.8, 2.3])(
    'after a kill: where the first heir is killed %d s later, before it leads anything, another one adopts as soon as that one counts as dead',
    async (later) => {
      const g = group();
      const [a, c] = (await g.settled('a', 'c')) as [SharingReplica, SharingReplica];
      const b = g.start('b');
      const d = g.start('d', { startsAt: 70 });
      await g.run(60 + TIMES.duration + 1);
      a.process.pause();
      await g.run(g.time.now() + later);
      expect([...b.leads(), ...d.leads()]).toEqual([]);
      b.process.pause();
      await g.run(Math.max(dueAfter(g, 'a'), dueAfter(g, 'b')) + 0.2);
      expect([...c.leads(), ...d.leads()].sort()).toEqual(SHARDS.toSorted());
    },
  );

  it('after a kill: questions about another replica that are not answered delay nothing', async () => {
    const g = group();
    let due = Number.POSITIVE_INFINITY;
    const isLost = () => g.time.now() > due - 0.5 && g.time.now() < due + 0.9 * TIMES.retryPeriod;
    const b = g.start('b', { passage: () => ({ ...NEAR, lost: isLost() ? 'there' : 'never' }), watched: () => NEAR });
    const [a, c] = [g.start('a'), g.start('c')];
    await g.run(60);
    const [ofA, ofC] = [a.leads(), c.leads()];
    a.process.pause();
    await g.run(62.5);
    c.process.pause();
    due = dueAfter(g, 'a');
    expect(dueAfter(g, 'c')).toBeGreaterThan(due + 0.95 * TIMES.retryPeriod);
    await g.run(dueAfter(g, 'c') + 0.5);
    expect(happened(b, 'Led', 61)).toEqual(expect.arrayContaining([...ofC]));
    expect(happened(b, 'Led', 61).length).toBeLessThan(ofA.length + ofC.length);
    await g.run(due + TIMES.requestDeadline + 3 * TIMES.retryPeriod);
    expect(happened(b, 'Led', 61)).toEqual([...ofA, ...ofC].sort());
  });

  it('after a kill: clearing away what nobody needs delays nothing', async () => {
    const g = group();
    const [sweeper = '', other = '', gone = ''] = rendezvous(REST, ['a', 'b', 'c']);
    const long = leaseOfReplica(BASE, gone).name;
    let held = Number.POSITIVE_INFINITY;
    const replicas = [sweeper, other, gone].map((identity) =>
      g.start(identity, {
        refuse: (name, record) => {
          if (name !== long || record !== undefined) {
            return undefined;
          }
          held = Math.min(held, g.time.now());
          return new Promise(() => undefined);
        },
      }),
    ) as [SharingReplica, SharingReplica, SharingReplica];
    await g.run(60);
    replicas[2].process.pause();
    await g.run(60 + 12 * TIMES.duration);
    expect(held).toBeLessThan(g.time.now());
    const [killed, orphans] = [g.time.now(), replicas[1].leads()];
    replicas[1].process.pause();
    await g.run(killed + TIMES.duration + TIMES.retryPeriod);
    expect(happened(replicas[0], 'Led', killed)).toEqual(orphans);
  });

  it('after a stop: they are adopted within a tenth of a second, and no other shard moves', async () => {
    const g = group();
    const passage = () => ({ ...NEAR, there: 0.002, back: 0.002 });
    const [a, b, c] = ['a', 'b', 'c'].map((identity) => g.start(identity, { passage })) as [
      SharingReplica,
      SharingReplica,
      SharingReplica,
    ];
    await g.run(60);
    const before = a.leads();
    expect(before.length).toBeGreaterThan(8);
    a.stop.abort();
    await g.run(60.1);
    expect(shares([b, c])).toEqual(fair(SHARDS, ['b', 'c']));
    expect(a.outcome()).toBe('ended');
    expect(happened(a, 'HandedOver', 60)).toEqual(before);
    await g.run(300);
    expect([...changes([a, b, c], 60)].sort()).toEqual(before.map((shard) => [shard, 1]));
  });

  it('after a stop: a shard goes to the next one when the work on it has ended, though other work goes on', async () => {
    const g = group();
    const work = (shard: Shard): number => (shard === 'uid-3' ? 8 : 0);
    const [a, b, c] = ['a', 'b', 'c'].map((identity) => g.start(identity, { work })) as [
      SharingReplica,
      SharingReplica,
      SharingReplica,
    ];
    await g.run(60);
    expect(a.leads()).toContain('uid-3');
    a.stop.abort();
    const others = SHARDS.filter((shard) => shard !== 'uid-3');
    await g.run(60.5);
    expect(shares([b, c])).toEqual(fair(others, ['b', 'c']));
    await g.run(68.5);
    expect(shares([b, c])).toEqual(fair(SHARDS, ['b', 'c']));
  });

  it('as the last one: what comes next leads everything at once', async () => {
    const g = group();
    const [a] = (await g.settled('a')) as [SharingReplica];
    a.stop.abort();
    await g.run(62);
    const b = g.start('b');
    await g.run(63);
    expect(b.leads()).toEqual(SHARDS.toSorted());
    expect(b.keeper.of(REST)?.epoch).toBe(1);
  });

  it('leaves a shard to the next but one when the next one in its order does not take it for a duration', async () => {
    const g = group();
    const [a, b, c] = ['a', 'b', 'c'].map((identity) =>
      // b lives and leads, but has no policies yet.
      g.start(identity, identity === 'b' ? { shards: [REST] } : {}),
    ) as [SharingReplica, SharingReplica, SharingReplica];
    await g.run(120);
    const orphans = POLICIES.filter((shard) => rendezvous(shard, ['a', 'b', 'c'])[0] === 'b');
    expect(orphans.filter((shard) => a.leads().includes(shard) || c.leads().includes(shard))).toEqual(orphans);
    expect(b.leads()).toEqual(rendezvous(REST, ['a', 'b', 'c'])[0] === 'b' ? [REST] : []);
  });
});

describe('a shard that is led by one that it does not fall to', () => {
  it('is handed over to the one that it falls to after four durations, and no sooner', async () => {
    const g = group();
    const [a, b, c] = ['a', 'b', 'c'].map((identity) =>
      // b lives and leads, but has no policies yet.
      g.start(identity, identity === 'b' ? { shards: [REST] } : {}),
    ) as [SharingReplica, SharingReplica, SharingReplica];
    await g.run(60);
    const [shard] = fair(POLICIES, ['a', 'b', 'c'])['b'] as [Shard];
    const holder = a.keeper.of(shard) === undefined ? c : a;
    const led = holder.events.findLast(({ event }) => event.kind === 'Led' && event.shard === shard)?.at ?? Number.NaN;
    expect(led).toBeGreaterThan(TIMES.duration);
    b.keeper.keep(new Set(SHARDS));
    await g.run(led + 4 * TIMES.duration - 0.5);
    expect(holder.keeper.of(shard)).toBeDefined();
    await g.run(led + 4 * TIMES.duration + TIMES.retryPeriod);
    expect(holder.keeper.of(shard)).toBeUndefined();
    expect(b.keeper.of(shard)).toBeDefined();
  });
});

it('who is led anew is told apart from who was led by somebody before', async () => {
  const g = group();
  const before = ({ events }: SharingReplica): ReadonlySet<boolean> =>
    new Set(events.flatMap(({ event }) => (event.kind === 'Led' ? [event.before] : [])));
  const a = g.start('a');
  await g.run(60);
  expect(before(a)).toEqual(new Set([false]));
  a.stop.abort();
  const b = g.start('b');
  await g.run(120);
  expect(b.leads()).toEqual(SHARDS.toSorted());
  expect(before(b)).toEqual(new Set([true]));
});

it('a replica says whether it is the last one that takes part', async () => {
  const g = group();
  const [a, b] = (await g.settled('a', 'b')) as [SharingReplica, SharingReplica];
  const isLast = async (): Promise<boolean> => {
    const asked = a.keeper.isLast();
    await g.run(g.time.now() + 1);
    return await asked;
  };
  a.stop.abort();
  await g.run(62);
  expect(await isLast()).toBe(false);
  b.stop.abort();
  await g.run(65);
  expect(await isLast()).toBe(true);
});

describe('a rolling restart of three replicas', () => {
  it('changes the hands of no shard more than three times, and of all one and a half times on average', async () => {
    const g = group();
    const old = await g.settled('a', 'b', 'c');
    const all = [...old];
    let instant = 60;
    for (const [index, leaving] of old.entries()) {
      all.push(g.start(`new-${index}`));
      await g.run(instant + 4);
      leaving.stop.abort();
      instant += 6;
      await g.run(instant);
    }
    await g.run(200);
    const left = all.slice(3);
    expect(shares(left)).toEqual(fair(SHARDS, ['new-0', 'new-1', 'new-2']));
    const counts = [...changes(all, 60).values()];
    const total = counts.reduce((sum, count) => sum + count, 0);
    expect(counts).toHaveLength(SHARDS.length);
    expect(total).toBeLessThanOrEqual(1.5 * SHARDS.length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(3);
  });
});

describe('a person', () => {
  it('who writes another holder into the Lease of a shard ends the work on it; the other shards stay', async () => {
    const g = group();
    const [a, b] = (await g.settled('a', 'b')) as [SharingReplica, SharingReplica];
    const [shard, ...others] = a.leads() as [Shard, ...Shard[]];
    const signals = new Map(a.leads().map((each) => [each, a.keeper.of(each)?.signal]));
    const told: boolean[] = [];
    a.keeper.onChange(() => told.push(a.keeper.of(shard) !== undefined));
    await edit(g, shard, { holder: 'somebody' });
    await g.run(60.1);
    expect(told).toEqual([false]);
    expect(signals.get(shard)?.aborted).toBe(true);
    expect(String(signals.get(shard)?.reason)).toContain('"somebody"');
    expect(others.filter((each) => signals.get(each)?.aborted)).toEqual([]);
    expect(happened(a, 'Lost')).toEqual([shard]);
    // Somebody has no Lease of its own, and so counts as alive for a duration.
    await g.run(60 + TIMES.duration);
    expect(a.keeper.of(shard)).toBeUndefined();
    await g.run(60 + TIMES.duration + 2 * TIMES.retryPeriod);
    expect(shares([a, b])).toEqual(fair(SHARDS, ['a', 'b']));
  });

  it('who clears the holder has the shard led anew at once', async () => {
    const g = group();
    const [a] = (await g.settled('a')) as [SharingReplica];
    const before = a.keeper.of('uid-3')?.signal;
    await edit(g, 'uid-3', { holder: '' });
    await g.run(60.2);
    expect(before?.aborted).toBe(true);
    expect(a.keeper.of('uid-3')).toMatchObject({ epoch: 1 });
  });

  it('who deletes the Lease of a shard that is led changes nothing: it is made anew, with its epoch', async () => {
    const g = group();
    const [a, b] = (await g.settled('a', 'b')) as [SharingReplica, SharingReplica];
    const [shard] = a.leads() as [Shard];
    const term = a.keeper.of(shard);
    await remove(g, shard);
    await g.run(120);
    expect(shares([a, b])).toEqual(fair(SHARDS, ['a', 'b']));
    expect(a.keeper.of(shard)?.epoch).toBe(term?.epoch);
    expect(term?.signal.aborted).toBe(false);
    expect(storedOf(g, shard).record).toMatchObject({ holder: 'a', transitions: term?.epoch });
  });

  it('who deletes it, and forbids to make it anew, is asked no more than once in a retry period', async () => {
    const g = group();
    let asked = 0;
    const a = g.start('a', {
      refuse: (name) => {
        if (name === leaseOfShard(BASE, 'uid-3').name && g.time.now() > 60) {
          asked += 1;
          throw new Error('leases.coordination.k8s.io is forbidden');
        }
      },
    });
    await g.run(60);
    await remove(g, 'uid-3');
    await g.run(60 + 10 * TIMES.retryPeriod);
    expect(asked).toBeGreaterThan(3);
    expect(asked).toBeLessThanOrEqual(11);
    expect(a.leads()).toEqual(SHARDS.toSorted());
  });

  it('who deletes it does not give it to a replica that joins then, and has never seen it', async () => {
    const g = group();
    const [a] = (await g.settled('a')) as [SharingReplica];
    const shard = fair(POLICIES, ['a', 'b'])['b']?.[0] ?? expect.fail('b gets nothing');
    await remove(g, shard);
    const b = g.start('b');
    await g.run(60 + TIMES.duration - 1);
    expect(b.leads()).toEqual([]);
    expect(a.leads()).toEqual(SHARDS.toSorted());
    await g.run(120);
    expect(shares([a, b])).toEqual(fair(SHARDS, ['a', 'b']));
  });

  it('who deletes it when its holder has freed it: who makes it anew goes by what it wrote, not by what its watch still shows', async () => {
    const g = group();
    const a = g.start('a');
    await g.run(20);
    const b = g.start('b', { watched: () => ({ ...NEAR, back: 1 }) });
    await g.run(30);
    expect(a.leads()).toEqual(SHARDS.toSorted());
    a.stop.abort();
    await g.run(30.5);
    expect(storedOf(g, 'uid-3').record.holder).toBe('');
    await remove(g, 'uid-3');
    await g.run(40);
    expect(b.leads()).toEqual(SHARDS.toSorted());
    expect(happened(b, 'Lost')).toEqual([]);
    expect(happened(b, 'Led').filter((shard) => shard === 'uid-3')).toHaveLength(1);
    expect(storedOf(g, 'uid-3').record).toMatchObject({ holder: 'b', transitions: b.keeper.of('uid-3')?.epoch });
  });

  it('who deletes it while its holder hands it over delays nothing', async () => {
    const g = group();
    const a = g.start('a', { work: () => 1 });
    await g.run(60);
    const b = g.start('b');
    const shard = fair(POLICIES, ['a', 'b'])['b']?.[0] ?? expect.fail('b gets nothing');
    g.time.at(60 + TIMES.duration + 0.5, () => void remove(g, shard));
    await g.run(60 + TIMES.duration + 3);
    expect(shares([a, b])).toEqual(fair(SHARDS, ['a', 'b']));
  });
});

describe('a shard that is needed no more', () => {
  it('is let go of, and its Lease is removed', async () => {
    const g = group();
    const [a] = (await g.settled('a')) as [SharingReplica];
    a.keeper.keep(new Set(SHARDS.filter((shard) => shard !== 'uid-3')));
    await g.run(61);
    expect(a.keeper.of('uid-3')).toBeUndefined();
    expect(leaseOf(g, 'uid-3').stored).toBeUndefined();
    expect(happened(a, 'HandedOver')).toEqual(['uid-3']);
    expect(a.leads()).toHaveLength(SHARDS.length - 1);
  });

  it('has its Lease removed also when its holder has gone with it, after ten durations', async () => {
    const g = group();
    const [a, b] = (await g.settled('a', 'b')) as [SharingReplica, SharingReplica];
    const [gone, left] = rendezvous(REST, ['a', 'b'])[0] === 'a' ? [b, a] : [a, b];
    const [shard] = gone.leads() as [Shard];
    gone.process.pause();
    left.keeper.keep(new Set(SHARDS.filter((each) => each !== shard)));
    await g.run(10 * TIMES.duration);
    expect(leaseOf(g, shard).stored).toBeDefined();
    await g.run(13 * TIMES.duration);
    expect(leaseOf(g, shard).stored).toBeUndefined();
  });
});

describe('Leases of replicas', () => {
  const stored = ({ leases }: Group, identity: string): StoredLease | undefined => {
    const { name, labels } = leaseOfReplica(BASE, identity);
    return leases.of(name, labels).stored;
  };

  it('that were killed are deleted after ten durations, those of others never', async () => {
    const g = group();
    const [a] = (await g.settled('a', 'b', 'c')) as [SharingReplica];
    a.process.pause();
    await g.run(60 + 9.8 * TIMES.duration);
    expect(stored(g, 'a')).toBeDefined();
    await g.run(60 + 10 * TIMES.duration + 3 * TIMES.retryPeriod);
    expect([stored(g, 'a'), stored(g, 'b'), stored(g, 'c')].map((lease) => lease?.record.holder)).toEqual([
      undefined,
      'b',
      'c',
    ]);
  });

  it('that live stay when the watch of whoever deletes is cut off; so do those of the shards that they lead', async () => {
    const g = group();
    const sweeper = rendezvous(REST, ['a', 'b'])[0] ?? '';
    const other = sweeper === 'a' ? 'b' : 'a';
    const cluster = ['a', 'b'].map((identity) =>
      g.start(identity, identity === sweeper ? { watched: () => (g.time.now() < 60 ? NEAR : CUT) } : {}),
    );
    await g.run(60);
    expect(shares(cluster)).toEqual(fair(SHARDS, ['a', 'b']));
    const [first] = fair(POLICIES, ['a', 'b'])[other] as [Shard];
    // It does not know of the policies of the other one either.
    const own = cluster.find(({ identity }) => identity === sweeper)?.keeper;
    own?.keep(new Set(fair(SHARDS, ['a', 'b'])[sweeper]));
    const gone: string[] = [];
    g.leases.onChange(() => {
      if (stored(g, other) === undefined || leaseOf(g, first).stored === undefined) {
        gone.push(`at ${g.time.now()}`);
      }
    });
    await g.run(60 + 30 * TIMES.duration);
    expect(gone).toEqual([]);
    expect(cluster.map(({ outcome }) => outcome())).toEqual([undefined, undefined]);
    expect(cluster.find(({ identity }) => identity === other)?.leads()).toContain(first);
  });
});

describe('a hand-over that fails', () => {
  it('leads to leading on, and is tried again a retry period later at the soonest', async () => {
    const g = group();
    let isCut = false;
    const a = g.start('a', { passage: () => (isCut ? { ...CUT, lost: 'there' } : NEAR) });
    await g.run(60);
    const b = g.start('b');
    await g.run(60 + TIMES.duration - 0.1);
    isCut = true;
    // Requests of a fail after 5 s each; the Lease of a itself is renewed in time.
    await g.run(60 + TIMES.duration + 5.3);
    isCut = false;
    const failed = a.events.filter(({ event }) => event.kind === 'Failed');
    expect(failed.length).toBeGreaterThan(0);
    expect(a.leads()).toEqual(SHARDS.toSorted());
    expect(happened(a, 'HandedOver')).toEqual([]);
    await g.run(60 + TIMES.duration + 5.3 + 2 * TIMES.retryPeriod);
    expect(shares([a, b])).toEqual(fair(SHARDS, ['a', 'b']));
    expect(a.events.filter(({ event }) => event.kind === 'Lost')).toEqual([]);
  });

  it('again and again asks no more than once in a retry period', async () => {
    const g = group();
    const forbidden = new Error('leases.coordination.k8s.io is forbidden');
    let asked = 0;
    const a = g.start('a', {
      shards: [REST],
      refuse: (name, record) => {
        if (name === `${BASE}-rest` && record?.holder === '') {
          asked += 1;
          throw forbidden;
        }
      },
    });
    await g.run(60);
    const others = ['b', 'c', 'd', 'e'].map((identity) => g.start(identity, { shards: [REST] }));
    expect(rendezvous(REST, ['a', 'b', 'c', 'd', 'e'])[0]).not.toBe('a');
    await g.run(60 + TIMES.duration + 20);
    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThanOrEqual(11);
    expect(a.leads()).toEqual([REST]);
    expect(others.flatMap((replica) => replica.leads())).toEqual([]);
  });
});
