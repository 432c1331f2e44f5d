import { describe, expect, it } from 'vitest';
import {
  catchUp,
  createDecisions,
  type PlanVersions,
  RecordedPlans,
  type SharedPlans,
} from '../../../../src/control/shards/decisions.ts';
import { leaseOfDecisions, leaseOfReplica } from '../../../../src/control/shards/names.ts';
import { Sight } from '../../../../src/control/shards/sight.ts';
import { createMutex } from '../../../../src/model/mutex.ts';
import { seconds } from '../../../../src/model/units.ts';
import { StaleCacheError } from '../../../../src/ports.ts';
import {
  type FakeLease,
  type FakeLeases,
  fakeLeases,
  type Passage,
  sharedOverNetwork,
} from '../../../support/fake-leases.ts';
import { BASE, NEAR, NONE_ENDED, TIMES } from '../../../support/sharing-replicas.ts';
import { type VirtualProcess, type VirtualTime, virtualTime } from '../../../support/virtual-time.ts';

const NEVER = new AbortController().signal;
const LOST: Passage = { ...NEAR, lost: 'back' };
const CUT: Passage = { ...NEAR, lost: 'there' };
const WRITTEN = 'evenkeel.dev/written';

/** A replica that decides, whose plans are what it was told. */
interface Decider {
  readonly identity: string;
  readonly process: VirtualProcess;
  /** Decides for `span` seconds, and writes `wrote` at the end of it. Resolves to the instant at which it began. */
  decide(span: number, wrote?: Partial<PlanVersions>, signal?: AbortSignal): Promise<number>;
  /** Catches up without deciding. */
  catchUp(): Promise<void>;
  /** What was waited for, `renew` for all of it, in order. */
  readonly seen: (PlanVersions | 'renew')[];
  readonly failures: unknown[];
  /** How requests fare from now on. */
  passage: Passage;
  /** Plans never come to any version. */
  isStale: boolean;
}

interface Group {
  readonly time: VirtualTime;
  readonly leases: FakeLeases;
  readonly lease: FakeLease;
  join(identity: string): Decider;
  /** Runs until `instant`; fails as soon as two decide. */
  run(instant: number): Promise<void>;
}

function group(): Group {
  const time = virtualTime();
  const leases = fakeLeases();
  const { name, labels } = leaseOfDecisions(BASE);
  const deciding: VirtualProcess[] = [];
  const isAlone = (): void => {
    if (deciding.filter((each) => !each.paused()).length > 1) {
      throw new Error(`two decide at ${time.now()}`);
    }
  };
  return {
    time,
    leases,
    lease: leases.of(name, labels),
    join: (identity) => join(time, leases, identity, deciding),
    run: (instant) => time.run(instant, isAlone),
  };
}

function join(time: VirtualTime, leases: FakeLeases, identity: string, deciding: VirtualProcess[]): Decider {
  const process = time.process();
  const { clock } = process;
  let own: PlanVersions = { plans: '', journals: '' };
  const seen: Decider['seen'] = [];
  const failures: unknown[] = [];
  const max = (left: string, right: string): string => (Number(left) > Number(right) ? left : right);
  const plans: SharedPlans = {
    written: (before) => ({ plans: max(own.plans, before.plans), journals: max(own.journals, before.journals) }),
    async caughtUp({ plans, journals }, signal) {
      seen.push({ plans, journals });
      if (decider.isStale) {
        await clock.sleep(seconds(30), signal);
        throw new StaleCacheError('never come');
      }
      await clock.sleep(seconds(0.1), signal);
    },
    renew: () => void seen.push('renew'),
  };
  const shared = sharedOverNetwork(leases, time, process, TIMES.requestDeadline, () => decider.passage);
  const sight = new Sight({ base: BASE, duration: TIMES.duration, leases: shared, containers: NONE_ENDED, clock });
  const recorded = new RecordedPlans(plans);
  const report = ({ error }: { error: unknown }): void => void failures.push(error);
  const options = { base: BASE, identity, times: TIMES, leases: shared, clock, sight, recorded, report };
  const mutex = createDecisions(createMutex(), options);
  const member = leaseOfReplica(BASE, identity);
  const renew = async (): Promise<void> => {
    const { store } = leases.of(member.name, member.labels);
    const found = await store.get(NEVER);
    const { duration } = TIMES;
    const now = clock.now();
    const record = { holder: identity, duration, acquiredAt: now, renewedAt: now, transitions: 0 };
    await (found === undefined ? store.create(record, NEVER) : store.update(found, record, NEVER));
    await clock.sleep(TIMES.retryPeriod, NEVER);
    return renew();
  };
  const decider: Decider = {
    identity,
    process,
    decide: (span, wrote, signal = NEVER) =>
      mutex.runExclusive(async () => {
        const began = time.now();
        deciding.push(process);
        try {
          await clock.sleep(seconds(span), signal);
          own = { ...own, ...wrote };
          return began;
        } finally {
          deciding.splice(deciding.indexOf(process), 1);
        }
      }, signal),
    catchUp: () => catchUp(options, NEVER),
    seen,
    failures,
    passage: NEAR,
    isStale: false,
  };
  void shared.watch(() => sight.look(), NEVER);
  void renew();
  return decider;
}

/** What a promise came to; undefined while it is open. */
function outcomeOf<Value>(promise: Promise<Value>): () => Value | Error | undefined {
  let outcome: Value | Error | undefined;
  promise.then(
    (value) => {
      outcome = value;
    },
    (error: Error) => {
      outcome = error;
    },
  );
  return () => outcome;
}

function holderOf({ lease }: Group): string | undefined {
  return lease.stored?.record.holder;
}

/** A person writes annotations of the Lease. */
async function annotate({ lease }: Group, annotations: Readonly<Record<string, string>>): Promise<void> {
  const stored = lease.stored ?? expect.fail('no Lease');
  await lease.store.update({ ...stored, metadata: { ...stored.metadata, annotations } }, stored.record, NEVER);
}

describe('a decision', () => {
  it('waits for that of another replica, and begins soon after it', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    const first = outcomeOf(a.decide(3));
    await g.run(1.5);
    const second = outcomeOf(b.decide(1));
    await g.run(4);
    expect(holderOf(g)).toBe('a');
    expect([first(), second()]).toEqual([undefined, undefined]);
    await g.run(10);
    expect(first()).toBeLessThan(1.3);
    const freed = g.lease.history.filter(({ holder }) => holder === '').map(({ renewedAt }) => renewedAt);
    expect(freed).toHaveLength(2);
    expect(second()).toBeGreaterThan(4);
    expect(second()).toBeLessThan(5);
    expect(holderOf(g)).toBe('');
  });

  it('waits for what all have written before, in plans and journals, and adds its own', async () => {
    const g = group();
    const [a, b, c] = [g.join('a'), g.join('b'), g.join('c')];
    await g.run(1);
    void a.decide(0.1, { plans: '7' });
    await g.run(2);
    void b.decide(0.1, { journals: '12' });
    await g.run(3);
    void c.decide(0.1, { plans: '20' });
    await g.run(4);
    void a.decide(0.1);
    await g.run(5);
    expect(b.seen.at(-1)).toEqual({ plans: '7', journals: '' });
    expect(c.seen.at(-1)).toEqual({ plans: '7', journals: '12' });
    expect(a.seen.at(-1)).toEqual({ plans: '20', journals: '12' });
  });

  it('is over when it fails, too', async () => {
    const g = group();
    const a = g.join('a');
    await g.run(1);
    const stop = new AbortController();
    const first = outcomeOf(a.decide(10, {}, stop.signal));
    await g.run(2);
    stop.abort(new Error('stopped'));
    await g.run(2.1);
    expect(String(first())).toContain('stopped');
    expect(holderOf(g)).toBe('');
  });

  it('that is given up while it waits rejects, and leaves nothing held', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void a.decide(3);
    await g.run(1.5);
    const stop = new AbortController();
    const second = outcomeOf(b.decide(1, {}, stop.signal));
    await g.run(2);
    stop.abort(new Error('stopped'));
    await g.run(2.1);
    expect(String(second())).toContain('stopped');
    await g.run(20);
    expect(g.lease.history.map(({ holder }) => holder)).toEqual(['a', '']);
  });

  it('ends with a free Lease also where a person annotates it meanwhile', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void a.decide(1, { plans: '7' });
    await g.run(1.5);
    await annotate(g, { team: 'platform' });
    const second = outcomeOf(b.decide(0.1));
    await g.run(2.1);
    expect(holderOf(g)).toBe('a');
    await g.run(2.1 + 2 * TIMES.retryPeriod);
    expect(second()).toBeTypeOf('number');
    expect([...a.failures, ...b.failures]).toEqual([]);
    expect(b.seen.at(-1)).toEqual({ plans: '7', journals: '' });
    expect(holderOf(g)).toBe('');
  });

  it('that is given up while it catches up frees the Lease with what was said before', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void a.decide(0.1, { plans: '7' });
    await g.run(2);
    b.isStale = true;
    const stop = new AbortController();
    const second = outcomeOf(b.decide(1, {}, stop.signal));
    await g.run(3);
    expect(holderOf(g)).toBe('b');
    stop.abort(new Error('stopped'));
    await g.run(3.1);
    expect(String(second())).toContain('stopped');
    expect(holderOf(g)).toBe('');
    void a.decide(0.1);
    await g.run(5);
    expect(a.seen.at(-1)).toEqual({ plans: '7', journals: '' });
  });
});

describe('after a kill in the middle of a decision', () => {
  async function killed() {
    const g = group();
    const [a, b, c] = [g.join('a'), g.join('b'), g.join('c')];
    await g.run(1);
    // So that b and c have nothing to list anew from before.
    for (const each of [b, c]) {
      void each.decide(0.1);
      await g.run(g.time.now() + 1);
    }
    void a.decide(5, { plans: '9' });
    await g.run(3.5);
    a.process.pause();
    b.seen.length = 0;
    c.seen.length = 0;
    return { g, a, b, c };
  }

  it('the others wait until the Lease of that replica is over, and list the plans anew, each of them once', async () => {
    const { g, b, c } = await killed();
    const next = outcomeOf(b.decide(0.1));
    await g.run(3.5 + TIMES.duration - TIMES.retryPeriod);
    expect(next()).toBeUndefined();
    await g.run(3.5 + TIMES.duration + TIMES.retryPeriod);
    expect(next()).toBeGreaterThan(3.5 + TIMES.duration - TIMES.retryPeriod);
    expect(b.seen.filter((each) => each === 'renew')).toHaveLength(1);
    void c.decide(0.1);
    await g.run(23);
    expect(c.seen[0]).toBe('renew');
    void b.decide(0.1);
    await g.run(24);
    void c.decide(0.1);
    await g.run(25);
    expect([b, c].map(({ seen }) => seen.filter((each) => each === 'renew').length)).toEqual([1, 1]);
  });

  it('all list anew also when the answer to the first who takes the Lease is lost', async () => {
    const { g, b, c } = await killed();
    const next = outcomeOf(b.decide(0.1));
    while (holderOf(g) !== 'b' && g.time.now() < 30) {
      await g.run(g.time.now() + 0.005);
    }
    // The write has arrived. b hears of the answer when it has given up.
    b.process.pause();
    await g.run(g.time.now() + 6);
    b.process.resume(true);
    await g.run(g.time.now() + TIMES.retryPeriod + 0.1);
    expect(String(next())).toContain('no answer');
    expect(holderOf(g)).toBe('');
    const third = outcomeOf(c.decide(0.1));
    await g.run(g.time.now() + 1);
    expect(third()).toBeTypeOf('number');
    expect(c.seen).toContain('renew');
  });
});

describe('an answer that is lost', () => {
  it('to the taking of the Lease: the decision fails, and the Lease is freed soon, with what was said in it', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void b.decide(0.1, { plans: '7' });
    await g.run(2);
    a.passage = LOST;
    const first = outcomeOf(a.decide(1));
    await g.run(2.1);
    expect(holderOf(g)).toBe('a');
    a.passage = NEAR;
    await g.run(7.1);
    expect(String(first())).toContain('no answer');
    await g.run(7.1 + TIMES.retryPeriod + 0.1);
    expect(holderOf(g)).toBe('');
    void b.decide(0.1);
    await g.run(11);
    expect(b.seen.at(-1)).toEqual({ plans: '7', journals: '' });
  });

  it('to the taking of the Lease: the next decision of the same replica sees what was written before', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void b.decide(0.1, { plans: '7' });
    await g.run(2);
    a.passage = LOST;
    void a.decide(1).catch(() => undefined);
    await g.run(2.1);
    a.passage = NEAR;
    await g.run(7.05);
    expect(a.seen).toEqual([]);
    const next = outcomeOf(a.decide(0.1));
    await g.run(7.5);
    expect(next()).toBeTypeOf('number');
    expect(a.seen.at(-1)).toEqual({ plans: '7', journals: '' });
  });

  it('does not free the Lease of a decision that has begun since', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    a.passage = LOST;
    void a.decide(1).catch(() => undefined);
    await g.run(1.5);
    a.passage = NEAR;
    await g.run(6.1);
    // It looks whether its Lease is left while the next decision is under way, and while its taking is on its way.
    for (const [start, there, back] of [
      [7, 0.9, 0.3],
      [9.5, 0.01, 0.01],
    ] as const) {
      await g.run(start);
      a.passage = { there, back, lost: 'never' };
      void a.decide(3).catch(() => undefined);
      await g.run(start + 0.2);
      void b.decide(0.1).catch(() => undefined);
    }
    await g.run(40);
    expect(holderOf(g)).toBe('');
  });

  it('to the freeing: it is made up for, and tells what was written', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void a.decide(1, { plans: '7' });
    await g.run(1.9);
    a.passage = CUT;
    await g.run(7.5);
    expect(a.failures).toHaveLength(1);
    expect(holderOf(g)).toBe('a');
    a.passage = NEAR;
    const next = outcomeOf(b.decide(0.1));
    await g.run(7.5 + TIMES.retryPeriod + 1);
    expect(next()).toBeTypeOf('number');
    expect(b.seen.at(-1)).toEqual({ plans: '7', journals: '' });
  });

  it('to the freeing delays no further decision of the same replica', async () => {
    const g = group();
    const a = g.join('a');
    await g.run(1);
    void a.decide(1, { plans: '7' });
    await g.run(1.9);
    a.passage = CUT;
    await g.run(7.3);
    a.passage = NEAR;
    const next = outcomeOf(a.decide(0.1));
    await g.run(7.6);
    expect(next()).toBeTypeOf('number');
    await g.run(20);
    expect(holderOf(g)).toBe('');
  });
});

describe('a Lease that somebody has written since it was taken', () => {
  it('is left to whoever has it then, without a failure and another try', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    const first = outcomeOf(a.decide(1, { plans: '7' }));
    await g.run(1.5);
    const stored = g.lease.stored ?? expect.fail('no Lease');
    await g.lease.store.update(stored, { ...stored.record, holder: 'b' }, NEVER);
    await g.run(20);
    expect(first()).toBeTypeOf('number');
    expect(a.failures).toEqual([]);
    expect(g.lease.history.map(({ holder }) => holder)).toEqual(['a', 'b']);
    const next = outcomeOf(b.decide(0.1));
    await g.run(21);
    expect(next()).toBeTypeOf('number');
    expect(holderOf(g)).toBe('');
  });
});

describe('an annotation that a person has broken', () => {
  it.each([
    ['is no JSON', { [WRITTEN]: 'seven' }],
    ['is empty', { [WRITTEN]: '{}' }],
    ['is of another type', { [WRITTEN]: '{"plans":7,"journals":null,"unknown":0}' }],
    ['says nothing of kills', { [WRITTEN]: '{"plans":"7","journals":""}' }],
    ['says more of kills than there can be', { [WRITTEN]: '{"plans":"7","journals":"","unknown":1000}' }],
    ['is gone', {}],
  ])('has the plans listed anew by each, once, when it %s', async (_, annotations) => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    for (const each of [b, a]) {
      void each.decide(0.1, { plans: '7' });
      await g.run(g.time.now() + 1);
    }
    await annotate(g, annotations);
    for (const each of [b, a, b, a]) {
      each.seen.length = 0;
      void each.decide(0.1);
      await g.run(g.time.now() + 1);
      each.seen.push(...(each.seen.includes('renew') ? (['renew'] as const) : []));
    }
    // The second time nothing is listed anew, and what was written is waited for again.
    expect([a, b].flatMap(({ seen }) => seen)).toEqual([
      { plans: '7', journals: '' },
      { plans: '7', journals: '' },
    ]);
  });

  it('names a version that never comes: it is waited for once by each, not at every decision', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void a.decide(0.1);
    await g.run(2);
    await annotate(g, { [WRITTEN]: '{"plans":"99999999","journals":"","unknown":0}' });
    b.isStale = true;
    const first = outcomeOf(b.decide(0.1));
    await g.run(33);
    expect(first()).toBeTypeOf('number');
    expect(b.seen.at(-1)).toBe('renew');
    void a.decide(0.1);
    await g.run(35);
    expect(a.seen.slice(-2)).toEqual(['renew', { plans: '', journals: '' }]);
  });
});

describe('a person who deletes the Lease', () => {
  it('while a decision is under way does not let another one begin beside it; plans are listed anew after', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void b.decide(0.1);
    await g.run(2);
    void a.decide(3);
    await g.run(3);
    await g.lease.store.remove(g.lease.stored ?? expect.fail('no Lease'), NEVER);
    b.seen.length = 0;
    const next = outcomeOf(b.decide(0.1));
    await g.run(3 + TIMES.duration + 2);
    expect(next()).toBeGreaterThan(5);
    expect(b.seen).toContain('renew');
  });
});

describe('catching up without a decision', () => {
  it('waits for what the Lease says, and takes no Lease', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void a.decide(0.1, { journals: '12' });
    await g.run(2);
    const done = outcomeOf(b.catchUp().then(() => g.time.now()));
    await g.run(3);
    expect(done()).toBeGreaterThan(2.1);
    expect(b.seen.at(-1)).toEqual({ plans: '', journals: '12' });
    expect(g.lease.history.map(({ holder }) => holder)).toEqual(['a', '']);
  });

  it('waits for a replica that decides to say what it has written', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void a.decide(0.5, { plans: '7' });
    await g.run(1.2);
    const done = outcomeOf(b.catchUp().then(() => g.time.now()));
    await g.run(3);
    expect(done()).toBeGreaterThan(1.5);
    expect(b.seen.at(-1)).toEqual({ plans: '7', journals: '' });
  });

  it('lists all anew where that replica could not free the Lease: its pods are evicted all the same', async () => {
    const g = group();
    const [a, b] = [g.join('a'), g.join('b')];
    await g.run(1);
    void a.decide(0.5, { plans: '7' });
    await g.run(1.4);
    a.passage = CUT;
    await g.run(2);
    const done = outcomeOf(b.catchUp().then(() => g.time.now()));
    await g.run(4);
    expect(done()).toBeLessThan(3.5);
    expect(b.seen).toEqual(['renew']);
  });
});
