import { describe, expect, it } from 'vitest';
import { Elector } from '../../../../src/control/elector.ts';
import { leaseOfReplica, SHARED_HOLDER } from '../../../../src/control/shards/names.ts';
import { beginSharing, endSharing } from '../../../../src/control/shards/sharing.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import {
  AT_ONCE,
  type FakeLease,
  type FakeLeases,
  fakeLeases,
  overNetwork,
  type Passage,
} from '../../../support/fake-leases.ts';
import { BASE, NEAR, TIMES } from '../../../support/sharing-replicas.ts';
import { type VirtualProcess, type VirtualTime, virtualTime } from '../../../support/virtual-time.ts';

const NEVER = new AbortController().signal;
const HOUR = 3_600;

interface Group {
  readonly time: VirtualTime;
  readonly leases: FakeLeases;
  /** The Lease of a single leader. */
  readonly single: FakeLease;
  /** A replica that shares work. */
  sharing(identity: string): Sharing;
  /** A replica without the flag. */
  alone(identity: string): Alone;
}

interface Sharing {
  readonly process: VirtualProcess;
  /** Holders that it waits for, as reported. */
  readonly waits: readonly string[];
  readonly failures: readonly unknown[];
  /** When it began to share; undefined before. */
  began(): number | undefined;
  readonly stop: AbortController;
  /** Frees its own Lease, and that of a single leader where it is the last. */
  end(): Promise<void>;
  passage: Passage;
}

interface Alone {
  readonly process: VirtualProcess;
  readonly elector: Elector;
  stop(): void;
}

function group(): Group {
  const time = virtualTime();
  const leases = fakeLeases();
  const single = leases.of(BASE, new Map());
  return {
    time,
    leases,
    single,
    sharing: (identity) => share(time, leases, single, identity),
    alone: (identity) => elect(time, single, identity),
  };
}

function share(time: VirtualTime, leases: FakeLeases, single: FakeLease, identity: string): Sharing {
  const process = time.process();
  const { clock } = process;
  const waits: string[] = [];
  const failures: unknown[] = [];
  const stop = new AbortController();
  let began: number | undefined;
  const store = overNetwork(single, time, process, TIMES.requestDeadline, () => replica.passage);
  const waiting = (holder: string): void => void waits.push(holder);
  const failed = (error: unknown): void => void failures.push(error);
  const options = { store, times: TIMES, clock, looked: () => undefined, waiting, failed };
  const { name, labels } = leaseOfReplica(BASE, identity);
  const own = leases.of(name, labels);
  const isLast = async (): Promise<boolean> => {
    // A list takes a while: others may join after it was read.
    await clock.sleep(seconds(0.01), NEVER);
    const names = [...leases.stored().keys()];
    await clock.sleep(seconds(0.03), NEVER);
    return names.every((each) => each === name || !each.startsWith(`${BASE}-replica-`));
  };
  const replica: Sharing = {
    process,
    waits,
    failures,
    began: () => began,
    stop,
    async end() {
      stop.abort();
      await own.store.remove(own.stored ?? expect.fail('it has no Lease'), NEVER);
      await endSharing(options, isLast);
    },
    passage: NEAR,
  };
  const now = clock.now();
  const record = { holder: identity, duration: TIMES.duration, acquiredAt: now, renewedAt: now, transitions: 0 };
  void own.store
    .create(record, NEVER)
    .then(() => beginSharing(options, stop.signal))
    .then(() => {
      began = stop.signal.aborted ? undefined : time.now();
    });
  return replica;
}

function elect(time: VirtualTime, single: FakeLease, identity: string): Alone {
  const process = time.process();
  const stop = new AbortController();
  const elector = new Elector({
    identity,
    times: TIMES,
    store: overNetwork(single, time, process, TIMES.requestDeadline, () => AT_ONCE),
    clock: process.clock,
    random: () => 0.5,
    report: () => undefined,
  });
  void elector.run(
    (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
    stop.signal,
  );
  return { process, elector, stop: () => stop.abort() };
}

describe('replicas that begin to share work', () => {
  it('do so at once where nobody leads everything, and say so in a Lease that does not run out', async () => {
    const { time, single, sharing } = group();
    const replicas = [sharing('a'), sharing('b')];
    await time.run(TIMES.retryPeriod + 1);
    expect(replicas[0]?.began()).toBeLessThan(0.1);
    expect(replicas[1]?.began()).toBeLessThan(TIMES.retryPeriod + 0.1);
    expect(single.stored?.record).toMatchObject({ holder: SHARED_HOLDER, duration: 2 ** 31 - 1 });
    expect(replicas.flatMap(({ waits, failures }) => [...waits, ...failures])).toEqual([]);
  });

  it('wait for a single leader, which they report once, and begin when its Lease is freed', async () => {
    const { time, single, sharing, alone } = group();
    const leader = alone('leader');
    await time.run(1);
    const a = sharing('a');
    await time.run(100);
    expect(a.began()).toBeUndefined();
    expect(a.waits).toEqual(['leader']);
    leader.stop();
    await time.run(100 + TIMES.retryPeriod + 0.1);
    expect(a.began()).toBeGreaterThanOrEqual(100);
    expect(single.stored?.record).toMatchObject({ holder: SHARED_HOLDER, transitions: 1 });
    expect(a.failures).toEqual([]);
  });

  it('begin when the Lease of a single leader that was killed is over, not sooner', async () => {
    const { time, sharing, alone } = group();
    const leader = alone('leader');
    await time.run(1);
    const a = sharing('a');
    await time.run(100.5);
    leader.process.pause();
    await time.run(100 + TIMES.duration);
    expect(a.began()).toBeUndefined();
    await time.run(100 + TIMES.duration + 2 * TIMES.retryPeriod + 0.1);
    expect(a.began()).toBeGreaterThanOrEqual(100 + TIMES.duration);
  });

  it('report each of two leaders that follow each other, once', async () => {
    const { time, single, sharing } = group();
    const times = { duration: TIMES.duration, acquiredAt: epochSeconds(0), renewedAt: epochSeconds(0) };
    let lease = await single.store.create({ ...times, holder: 'first', transitions: 0 }, NEVER);
    const a = sharing('a');
    const renew = async (holder: string): Promise<void> => {
      const renewedAt = epochSeconds(time.now());
      lease = await single.store.update(lease, { ...times, holder, renewedAt, transitions: 0 }, NEVER);
    };
    for (const holder of ['first', 'first', 'second', 'second']) {
      await time.run(time.now() + 5);
      await renew(holder);
    }
    await time.run(25);
    expect(a.waits).toEqual(['first', 'second']);
    expect(a.began()).toBeUndefined();
  });

  it('wait for a single leader whose Lease somebody has deleted, as long as if it had been killed then', async () => {
    const { time, single, sharing, alone } = group();
    const leader = alone('leader');
    await time.run(1);
    const a = sharing('a');
    await time.run(50.5);
    leader.process.pause();
    single.stored = undefined;
    await time.run(50 + TIMES.duration);
    expect(a.began()).toBeUndefined();
    await time.run(51 + TIMES.duration + TIMES.retryPeriod);
    expect(a.began()).toBeDefined();
    expect(single.stored).toMatchObject({ record: { holder: SHARED_HOLDER, transitions: 1 } });
  });

  it('report requests that fail, and try again', async () => {
    const { time, sharing } = group();
    const a = sharing('a');
    a.passage = { ...NEAR, lost: 'there' };
    await time.run(20);
    expect(a.failures.length).toBeGreaterThan(1);
    expect(a.began()).toBeUndefined();
    a.passage = NEAR;
    await time.run(30);
    expect(a.began()).toBeDefined();
  });

  it('stop waiting when they are stopped', async () => {
    const { time, sharing, alone, single } = group();
    alone('leader');
    await time.run(1);
    const a = sharing('a');
    await time.run(10);
    a.stop.abort();
    await time.run(60);
    expect([a.began(), a.failures, single.stored?.record.holder]).toEqual([undefined, [], 'leader']);
  });
});

describe('a replica without the flag', () => {
  it('waits as long as others share the work, and leads when the last one has ended', async () => {
    const { time, sharing, alone } = group();
    const [a, b] = [sharing('a'), sharing('b')];
    await time.run(10);
    const single = alone('single');
    await time.run(HOUR);
    expect(single.elector.leading).toBe(false);
    await Promise.all([a.end(), time.run(HOUR + 10)]);
    await time.run(HOUR + 60);
    expect(single.elector.leading).toBe(false);
    await Promise.all([b.end(), time.run(HOUR + 70)]);
    expect(single.elector.leading).toBe(true);
  });
});

describe('the last replica that ends', () => {
  it('frees the Lease of a single leader for the next one that shares, too', async () => {
    const { time, sharing, single } = group();
    const a = sharing('a');
    await time.run(10);
    await Promise.all([a.end(), time.run(11)]);
    expect(single.stored?.record.holder).toBe('');
    const b = sharing('b');
    await time.run(12);
    expect(b.began()).toBeLessThan(11.1);
  });

  it.each(Array.from({ length: 21 }, (_, step) => step / 200))(
    'does not free it under one that joins %d s after the end has begun',
    async (later) => {
      const { time, sharing, single } = group();
      const a = sharing('a');
      await time.run(10);
      const ended = a.end();
      await time.run(10 + later);
      const b = sharing('b');
      await Promise.all([ended, time.run(10 + later + 2 * TIMES.retryPeriod)]);
      expect(b.began()).toBeDefined();
      expect(single.stored?.record.holder).toBe(SHARED_HOLDER);
    },
  );

  it('frees it also where somebody writes an annotation meanwhile', async () => {
    const { time, single, sharing } = group();
    const a = sharing('a');
    await time.run(10);
    const ended = a.end();
    await time.run(10.06);
    const stored = single.stored ?? expect.fail('no Lease');
    await single.store.update({ ...stored, metadata: { ...stored.metadata, annotations: {} } }, stored.record, NEVER);
    await Promise.all([ended, time.run(11)]);
    expect(single.stored).toMatchObject({ record: { holder: '' }, metadata: { annotations: {} } });
  });

  it('leaves the Lease of a single leader that has taken over', async () => {
    const { time, single, sharing } = group();
    const a = sharing('a');
    await time.run(10);
    const stored = single.stored ?? expect.fail('no Lease');
    await single.store.update(stored, { ...stored.record, holder: 'somebody' }, NEVER);
    await Promise.all([a.end(), time.run(20)]);
    expect(single.stored?.record.holder).toBe('somebody');
  });
});
