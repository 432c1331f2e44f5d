import { describe, expect, it } from 'vitest';
import { type ElectionEvent, Elector, LeadershipLostError } from '../../../src/control/elector.ts';
import { leaseTimes } from '../../../src/control/lease.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { type LeaseStore, NamespaceMissingError } from '../../../src/ports.ts';
import { AT_ONCE, type FakeLease, fakeLease, overNetwork, type Passage } from '../../support/fake-leases.ts';
import { type VirtualProcess, type VirtualTime, virtualTime } from '../../support/virtual-time.ts';

const TIMES = leaseTimes(seconds(15));

/** One elector in a process of its own, doing work that ends when it is told to. */
interface Replica {
  readonly elector: Elector;
  readonly process: VirtualProcess;
  /** `Leading 0`, `Waiting a`, `Released` and so on, in order. */
  readonly events: readonly string[];
  /** What `run` came to; undefined while it runs. */
  outcome(): unknown;
  /** The signal of the work; undefined before it began. */
  work(): AbortSignal | undefined;
  stop(): void;
  /** How its requests fare from now on. */
  passage: Passage;
}

function describeEvent(event: ElectionEvent): string {
  switch (event.kind) {
    case 'Leading':
      return `Leading ${event.epoch}`;
    case 'Waiting':
      return `Waiting ${event.holder}`;
    default:
      return event.kind;
  }
}

interface Cluster {
  readonly time: VirtualTime;
  readonly lease: FakeLease;
  start(identity: string, options?: StartOptions): Replica;
}

interface StartOptions {
  readonly store?: LeaseStore;
  /** Stands in for its sleep. */
  readonly sleep?: VirtualProcess['clock']['sleep'];
  /** How its first requests fare, one by one; all others get through at once. */
  readonly first?: readonly Passage[];
  readonly isAbandoned?: () => Promise<boolean>;
  readonly onAbandoned?: (changed: () => void) => void;
}

function cluster(): Cluster {
  const time = virtualTime();
  const lease = fakeLease();
  return { time, lease, start: (identity, options) => start(time, lease, identity, options) };
}

function start(
  time: VirtualTime,
  lease: FakeLease,
  identity: string,
  { store, sleep, first = [], ...others }: StartOptions = {},
): Replica {
  const process = time.process();
  const events: string[] = [];
  const stop = new AbortController();
  const passages = [...first];
  let outcome: unknown;
  let signal: AbortSignal | undefined;
  const elector = new Elector({
    ...others,
    identity,
    times: TIMES,
    store: store ?? overNetwork(lease, time, process, TIMES.requestDeadline, () => passages.shift() ?? replica.passage),
    clock: sleep === undefined ? process.clock : { ...process.clock, sleep },
    random: () => 0.5,
    report: (event) => events.push(describeEvent(event)),
  });
  const replica: Replica = {
    elector,
    process,
    events,
    outcome: () => outcome,
    work: () => signal,
    stop: () => stop.abort(),
    passage: AT_ONCE,
  };
  const work = (_: number, own: AbortSignal): Promise<void> => {
    signal = own;
    return new Promise((resolve) => own.addEventListener('abort', () => resolve(), { once: true }));
  };
  elector.run(work, stop.signal).then(
    () => {
      outcome = 'ended';
    },
    (error: unknown) => {
      outcome = error;
    },
  );
  return replica;
}

const NOTHING_ARRIVES: Passage = { there: 0, back: 0, lost: 'there' };
const NO_ANSWERS: Passage = { there: 0, back: 0, lost: 'back' };

describe('a lease that is free', () => {
  it('is taken at once where there was none, with epoch 0', async () => {
    const { time, lease, start } = cluster();
    const a = start('a');
    await time.run(0);
    expect(a.events).toEqual(['Leading 0']);
    expect(lease.stored?.record).toMatchObject({ holder: 'a', duration: 15, transitions: 0 });
    expect(a.elector.leading).toBe(true);
    expect(() => a.elector.assertOpen()).not.toThrow();
  });

  it('goes to one of two that want it at the same instant', async () => {
    const { time, start } = cluster();
    const replicas = [start('a'), start('b')];
    await time.run(20);
    expect(replicas.map(({ elector }) => elector.leading)).toEqual([true, false]);
    expect(replicas[1]?.events).toEqual(['Waiting a']);
  });

  it('is renewed in every retry period, acquired once', async () => {
    const { time, lease, start } = cluster();
    start('a');
    await time.run(100);
    const renewals = lease.history.map(({ renewedAt, acquiredAt }) => renewedAt - acquiredAt);
    expect(renewals).toEqual(Array.from({ length: 51 }, (_, index) => 2 * index));
  });
});

describe('a lease that was won by a request whose answer came late', () => {
  it('may be used until 10 s after that request was sent', async () => {
    const { time, start } = cluster();
    const a = start('a', { first: [AT_ONCE, { there: 0, back: 3, lost: 'never' }] });
    a.passage = NOTHING_ARRIVES;
    await time.run(3);
    expect(a.elector.leading).toBe(true);
    await time.run(9.999);
    expect(a.elector.leading).toBe(true);
    await time.run(10);
    expect(a.outcome()).toBeInstanceOf(LeadershipLostError);
  });

  it('is not ours to use when a pause has outlasted that, until it is renewed', async () => {
    const { time, start } = cluster();
    const a = start('a', { first: [AT_ONCE, { there: 0, back: 1, lost: 'never' }] });
    await time.run(0.5);
    a.process.pause();
    await time.run(12);
    a.process.resume(false);
    await time.run(12.5);
    expect(a.elector.leading).toBe(false);
    expect(a.events).toEqual([]);
    await time.run(20);
    expect(a.events).toEqual(['Leading 0']);
  });
});

describe('after the leader has died', () => {
  it('the next one leads a lease duration after he saw the last renewal, not a retry period later', async () => {
    const { time, start } = cluster();
    const a = start('a');
    await time.run(0.5);
    const b = start('b');
    await time.run(31);
    a.process.pause();
    await time.run(45.499);
    expect(b.elector.leading).toBe(false);
    await time.run(45.5);
    expect(b.events).toEqual(['Waiting a', 'Leading 1']);
    expect(b.elector.leading).toBe(true);
  });

  it.each([
    ['at once when word of that comes', true, 0.2],
    ['at its next look where none comes', false, 2],
  ])('the next one leads %s, once it is known that nobody acts for the leader any more', async (_, hasWord, within) => {
    const { time, start: join } = cluster();
    const dying = join('a');
    await time.run(1);
    let isAbandoned = false;
    let told = (): void => undefined;
    const next = join('b', {
      isAbandoned: async () => isAbandoned,
      onAbandoned: (changed) => {
        told = changed;
      },
    });
    await time.run(5.1);
    dying.process.pause();
    expect(next.events).toEqual(['Waiting a']);
    isAbandoned = true;
    if (hasWord) {
      next.process.wake(time.now(), told);
    }
    await time.run(5.1 + within);
    expect(next.events).toEqual(['Waiting a', 'Leading 1']);
  });

  it('a replica that has only just started waits as long as one that has seen it all', async () => {
    const { time, start } = cluster();
    const a = start('a');
    await time.run(31);
    a.process.pause();
    const b = start('b');
    await time.run(45.999);
    expect(b.elector.leading).toBe(false);
    await time.run(46);
    expect(b.elector.leading).toBe(true);
  });

  it('a replica that knows the leader waits for him, even when somebody deletes the Lease; the epoch goes on', async () => {
    const { time, lease, start } = cluster();
    const a = start('a');
    await time.run(0.5);
    const b = start('b');
    await time.run(31);
    a.process.pause();
    lease.stored = undefined;
    await time.run(45.499);
    expect(b.elector.leading).toBe(false);
    await time.run(45.5);
    expect(b.events.at(-1)).toBe('Leading 1');
  });

  it('a Lease that nobody renews and that does not run out is to be freed by a person: deleting it frees no replica that waits', async () => {
    const { time, lease, start } = cluster();
    const record = { duration: seconds(2 ** 31 - 1), acquiredAt: epochSeconds(0), renewedAt: epochSeconds(0) };
    const stored = { record: { ...record, holder: 'evenkeel-shards', transitions: 4 }, metadata: {} };
    lease.stored = stored;
    const b = start('b');
    await time.run(600);
    lease.stored = undefined;
    await time.run(1_200);
    expect(b.events).toEqual(['Waiting evenkeel-shards']);
    lease.stored = { ...stored, record: { ...stored.record, holder: '' } };
    await time.run(1_205);
    expect(b.events.at(-1)).toBe('Leading 5');
  });
});

describe('a leader who cannot renew', () => {
  it.each([
    ['when nothing arrives', NOTHING_ARRIVES],
    ['when renewals arrive, but no answer comes back', NO_ANSWERS],
  ])(
    'acts until 10 s after the last renewal was sent, %s, and then ends its work with the reason',
    async (_, passage) => {
      const { time, start } = cluster();
      const a = start('a');
      await time.run(31);
      a.passage = passage;
      await time.run(39.999);
      expect(a.work()?.aborted).toBe(false);
      expect(() => a.elector.assertOpen()).not.toThrow();
      await time.run(40);
      expect(a.work()?.reason).toBeInstanceOf(LeadershipLostError);
      expect(a.outcome()).toBe(a.work()?.reason);
      expect(String(a.outcome())).toContain('could not be renewed within 10 s');
      expect(() => a.elector.assertOpen()).toThrow(LeadershipLostError);
      expect(a.events.at(-1)).toBe('Lost');
    },
  );

  it.each([
    ['the request', NOTHING_ARRIVES, [0, 3, 5, 7]],
    ['the answer', NO_ANSWERS, [0, 2, 3, 5, 7]],
  ])('is not late for long where %s is lost once', async (_, lost, written) => {
    const { time, lease, start } = cluster();
    start('a', { first: [AT_ONCE, AT_ONCE, lost] });
    await time.run(8);
    expect(lease.history.map(({ renewedAt, acquiredAt }) => renewedAt - acquiredAt)).toEqual(written);
  });

  it('leads on when an attempt succeeds in time', async () => {
    const { time, start } = cluster();
    const a = start('a');
    await time.run(31);
    a.passage = NO_ANSWERS;
    await time.run(36);
    a.passage = AT_ONCE;
    await time.run(100);
    expect(a.elector.leading).toBe(true);
    expect(a.events).toEqual(['Leading 0', 'Failed']);
  });

  it('has not renewed by an answer that came after the deadline', async () => {
    const { time, start } = cluster();
    const a = start('a');
    await time.run(31);
    a.passage = { there: 0, back: 4.9, lost: 'never' };
    a.process.pause();
    await time.run(41);
    a.process.resume(true);
    await time.run(50);
    expect(a.outcome()).toBeInstanceOf(LeadershipLostError);
  });

  it('stops at once when somebody else stands in the lease', async () => {
    const { time, lease, start } = cluster();
    const a = start('a');
    await time.run(31);
    const { stored } = lease;
    if (stored === undefined) {
      throw new Error('no lease');
    }
    await lease.store.update(stored, { ...stored.record, holder: 'b' }, new AbortController().signal);
    await time.run(32);
    expect(String(a.outcome())).toContain('the lease is held by "b"');
  });

  it('makes the Lease anew, with its epoch, when somebody deletes it', async () => {
    const { time, lease, start } = cluster();
    const a = start('a');
    await time.run(31);
    lease.stored = undefined;
    await time.run(60);
    expect(a.elector.leading).toBe(true);
    expect(lease.stored).toMatchObject({ record: { holder: 'a', transitions: 0 } });
  });

  it('does not give up a lease that may be that of somebody else', async () => {
    const { time, lease, start } = cluster();
    const a = start('a');
    await time.run(31);
    a.passage = NOTHING_ARRIVES;
    await time.run(41);
    expect(a.events).not.toContain('Released');
    expect(lease.stored?.record.holder).toBe('a');
  });
});

describe('a leader who cannot wait for the next renewal', () => {
  it('gives up at once, and says why', async () => {
    const { time, start } = cluster();
    let isBroken = false;
    const { clock } = time.process();
    const a = start('a', {
      sleep: (span, signal) => (isBroken ? Promise.reject(new Error('no timers')) : clock.sleep(span, signal)),
    });
    await time.run(3);
    expect(a.events).toEqual(['Leading 0']);
    isBroken = true;
    await time.run(5);
    expect(a.events).toEqual(['Leading 0', 'Lost']);
    expect(a.work()?.aborted).toBe(true);
    expect(a.outcome()).toMatchObject({
      message: 'renewing the lease failed for good',
      cause: expect.objectContaining({ message: 'no timers' }),
    });
  });
});

describe('a leader who was paused', () => {
  it.each([false, true])('finds its fence closed before any of its timers has run (reversed: %s)', async (reversed) => {
    const { time, start } = cluster();
    const a = start('a');
    await time.run(31);
    a.process.pause();
    await time.run(40);
    expect(a.work()?.aborted).toBe(false);
    a.process.resume(reversed);
    expect(() => a.elector.assertOpen()).toThrow(LeadershipLostError);
    expect(a.work()?.aborted).toBe(true);
    await time.run(41);
    expect(a.outcome()).toBeInstanceOf(LeadershipLostError);
  });

  it('leads on after a pause within its deadline', async () => {
    const { time, start } = cluster();
    const a = start('a');
    await time.run(31);
    a.process.pause();
    await time.run(39);
    a.process.resume(false);
    await time.run(60);
    expect(a.elector.leading).toBe(true);
  });
});

describe('a clean stop', () => {
  it('ends the work, releases the lease, and lets the next one lead within a retry period', async () => {
    const { time, lease, start } = cluster();
    const a = start('a');
    const b = start('b');
    await time.run(31);
    a.stop();
    await time.run(31.5);
    expect(a.outcome()).toBe('ended');
    expect(a.events).toEqual(['Leading 0', 'Released']);
    expect(lease.history.find(({ holder }) => holder === '')).toMatchObject({ duration: 1, transitions: 0 });
    expect(a.elector.leading).toBe(false);
    await time.run(33);
    expect(b.events.at(-1)).toBe('Leading 1');
  });

  it('renews until the work has ended', async () => {
    const { time, lease } = cluster();
    const process = time.process();
    const stop = new AbortController();
    const events: string[] = [];
    const elector = new Elector({
      identity: 'a',
      times: TIMES,
      store: lease.store,
      clock: process.clock,
      random: Math.random,
      report: (event) => events.push(describeEvent(event)),
    });
    const running = elector.run(() => process.clock.sleep(seconds(60), new AbortController().signal), stop.signal);
    await time.run(1);
    stop.abort();
    await time.run(59);
    expect(elector.leading).toBe(true);
    await time.run(60);
    await running;
    expect(events).toEqual(['Leading 0', 'Released']);
  });

  it('releases a lease that was won by a request whose answer never came', async () => {
    const { time, lease, start } = cluster();
    const a = start('a', { first: [AT_ONCE, NO_ANSWERS] });
    await time.run(1);
    expect(lease.stored?.record.holder).toBe('a');
    expect(a.elector.leading).toBe(false);
    a.stop();
    await time.run(2);
    expect(a.outcome()).toBe('ended');
    expect(lease.stored?.record.holder).toBe('');
  });

  it('of a replica that has written nothing asks for nothing more', async () => {
    const { time, lease, start } = cluster();
    start('a');
    await time.run(1);
    let asked = 0;
    const get = (signal: AbortSignal) => {
      asked += 1;
      return lease.store.get(signal);
    };
    const b = start('b', { store: { ...lease.store, get } });
    await time.run(31.5);
    const before = asked;
    b.stop();
    await time.run(32);
    expect([b.outcome(), before > 0, asked - before]).toEqual(['ended', true, 0]);
  });

  it('whose release fails says so, and ends all the same', async () => {
    const { time, lease, start } = cluster();
    let isCut = false;
    const get = async (signal: AbortSignal) => (isCut ? Promise.reject(new Error('503')) : lease.store.get(signal));
    const a = start('a', { store: { ...lease.store, get } });
    await time.run(31);
    isCut = true;
    a.stop();
    await time.run(32);
    expect([a.outcome(), a.events]).toEqual(['ended', ['Leading 0', 'Failed']]);
    expect(lease.stored?.record.holder).toBe('a');
  });

  it('leaves a lease alone that somebody else has taken over meanwhile', async () => {
    const { time, lease, start } = cluster();
    const a = start('a');
    await time.run(30.5);
    const stored = lease.stored ?? expect.fail('no lease');
    await lease.store.update(stored, { ...stored.record, holder: 'b' }, new AbortController().signal);
    a.stop();
    await time.run(31);
    expect([lease.stored?.record.holder, a.events]).toEqual(['b', ['Leading 0']]);
  });

  it.each([
    [1, '', 'Released'],
    [4, '', 'Released'],
    [5, 'a', 'Failed'],
  ])(
    'that meets with %d annotations between reads and writes leaves the lease to "%s": %s',
    async (most, holder, end) => {
      const { time, lease, start } = cluster();
      let isEnding = false;
      let annotated = 0;
      const get = async (signal: AbortSignal) => {
        const seen = await lease.store.get(signal);
        if (isEnding && annotated < most && seen !== undefined) {
          annotated += 1;
          const metadata = { ...seen.metadata, annotations: { by: `hand ${annotated}` } };
          await lease.store.update({ ...seen, metadata }, seen.record, signal);
        }
        return seen;
      };
      const a = start('a', { store: { ...lease.store, get } });
      await time.run(30.5);
      isEnding = true;
      a.stop();
      await time.run(31);
      expect([a.outcome(), a.events]).toEqual(['ended', ['Leading 0', end]]);
      expect(lease.stored).toMatchObject({ record: { holder }, metadata: { annotations: { by: `hand ${most}` } } });
    },
  );

  it('of a replica that never led touches nothing', async () => {
    const { time, lease, start } = cluster();
    start('a');
    const b = start('b');
    await time.run(31);
    const writes = lease.history.length;
    b.stop();
    await time.run(31.5);
    expect(b.outcome()).toBe('ended');
    expect(lease.history.slice(writes)).toEqual([]);
  });
});

describe('errors', () => {
  it('of the work end the term, and the lease is released', async () => {
    const { time, lease } = cluster();
    const { clock } = time.process();
    const options = {
      identity: 'a',
      times: TIMES,
      store: lease.store,
      clock,
      random: Math.random,
      report: () => undefined,
    };
    const running = new Elector(options).run(async () => {
      throw new Error('a bug');
    }, new AbortController().signal);
    await expect(running).rejects.toThrow('a bug');
    expect(lease.stored?.record.holder).toBe('');
  });

  it('of the work after the lease was lost are told as the loss', async () => {
    const { time, lease } = cluster();
    const { clock } = time.process();
    const options = {
      identity: 'a',
      times: TIMES,
      store: lease.store,
      clock,
      random: () => 0.5,
      report: () => undefined,
    };
    let outcome: unknown;
    const cutOff = (_: number, own: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) =>
        own.addEventListener('abort', () => reject(new Error('cut off')), { once: true }),
      );
    new Elector(options).run(cutOff, new AbortController().signal).catch((error: unknown) => {
      outcome = error;
    });
    await time.run(31);
    const { stored } = lease;
    await lease.store.update(
      stored ?? expect.fail('no lease'),
      { ...(stored?.record ?? expect.fail('no lease')), holder: 'b' },
      new AbortController().signal,
    );
    await time.run(32);
    expect(String(outcome)).toContain('the lease is held by "b"');
  });

  it('of the store are told, and tried again', async () => {
    const { time, start } = cluster();
    const a = start('a', { first: Array(5).fill(NOTHING_ARRIVES) });
    await time.run(20);
    expect(new Set(a.events)).toEqual(new Set(['Failed']));
    expect(a.elector.contactedAt).toBeUndefined();
    await time.run(45);
    expect(a.elector.leading).toBe(true);
    expect(a.elector.contactedAt).toBeGreaterThan(1000);
  });

  it('of the store are no reason to ask it more often than those who compete for a lease do', async () => {
    const { time, lease, start } = cluster();
    const asked: number[] = [];
    const get = async () => {
      asked.push(Math.round(10 * time.now()) / 10);
      throw new Error('503');
    };
    start('a', { store: { ...lease.store, get } });
    await time.run(10);
    // One retry period and 0.6 of it besides, by what the replica draws.
    expect(asked).toEqual([0, 3.2, 6.4, 9.6]);
  });

  it('that waiting does not mend end the election', async () => {
    const { time, lease, start } = cluster();
    const create = async () => {
      throw new NamespaceMissingError('no namespace');
    };
    const a = start('a', { store: { ...lease.store, create } });
    await time.run(1);
    expect(a.outcome()).toBeInstanceOf(NamespaceMissingError);
  });

  it('are thrown at whoever would change the cluster without leading', () => {
    const { start } = cluster();
    expect(() => start('a').elector.assertOpen()).toThrow('a replica that does not lead');
  });
});
