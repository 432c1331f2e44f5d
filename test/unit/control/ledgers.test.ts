import { describe, expect, it } from 'vitest';
import type { MovePhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { isChanged, orphaned } from '../../../src/control/ledger-changes.ts';
import { createLedgerNews } from '../../../src/control/ledger-health.ts';
import { keepLedgers, preemptionsOf } from '../../../src/control/ledgers.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { ConflictError, type LedgerStore, type ServiceView, type StoredLedger } from '../../../src/ports.ts';
import type { PodRecord, RequestRecord } from '../../../src/qos/ledger-record.ts';
import { ledgerName, ledgerSpec, ledgerStatus } from '../../../src/report/ledger-resource.ts';
import { aMove, aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aServiceClass } from '../../support/builders/service-levels.ts';
import { aPodOf, aWorkload } from '../../support/builders.ts';
import { drive, NOON, testClock } from '../../support/test-clock.ts';

const terms = aServiceClass({ name: 'gold' });
const gold = { terms, createdAt: epochSeconds(0) };

function aRequest(name: string, pods: readonly PodRecord[] = []): RequestRecord {
  const owner = { kind: 'Deployment', name, uid: `uid-${name}` };
  return { namespace: 'shop', owner, createdAt: NOON, desired: 1, completedAt: undefined, pods };
}

function aRunningPod(uid: string): PodRecord {
  const mark = { ready: true, since: epochSeconds(NOON + 2), startedAt: undefined, stoppedAt: undefined };
  const rest = { scheduledAt: NOON, end: undefined, missedAt: undefined, hot: undefined };
  return { uid, createdAt: NOON, marks: [mark], ...rest };
}

function aView(requests: readonly RequestRecord[], classes: ServiceView['classes'] = new Map([['gold', gold]])) {
  return {
    classes,
    requests: requests.map((record) => ({ record, className: 'gold' })),
    recordOf: ({ namespace, owner }) => ({
      ...aRequest('gone'),
      namespace,
      owner,
      createdAt: epochSeconds(0),
      desired: 0,
    }),
    problems: [],
  } satisfies ServiceView;
}

/** A store in memory, which counts what is written. */
function aStore() {
  const stored = new Map<string, StoredLedger>();
  const calls: string[] = [];
  let version = 0;
  let fail: Error | undefined;
  const put = (ledger: NonNullable<StoredLedger['ledger']>): StoredLedger => {
    if (fail !== undefined) {
      const error = fail;
      fail = undefined;
      throw error;
    }
    version += 1;
    const name = ledgerName(ledger.owner);
    const metadata = { name, namespace: ledger.namespace, uid: `uid-${name}`, resourceVersion: String(version) };
    const resource = {
      apiVersion: 'evenkeel.dev/v1alpha1',
      kind: 'QoSLedger',
      metadata,
      spec: ledgerSpec(ledger),
      status: ledgerStatus(ledger, terms),
    } as const;
    const value = { namespace: ledger.namespace, name, resource, ledger, problem: undefined };
    stored.set(name, value);
    return value;
  };
  const store: LedgerStore = {
    list: async () => [...stored.values()],
    get: async ({ name }) => stored.get(name),
    create: async (ledger) => {
      calls.push(`create ${ledgerName(ledger.owner)}`);
      return put(ledger);
    },
    write: async (old, ledger) => {
      calls.push(`write ${old.name}`);
      return put(ledger);
    },
    remove: async ({ name }) => {
      calls.push(`remove ${name}`);
      stored.delete(name);
    },
  };
  return { store, stored, calls, failOnce: (error: Error) => (fail = error) };
}

/** Keeps ledgers for `span` seconds, while `view` says what is known. */
async function keep(span: number, { store }: ReturnType<typeof aStore>, view: (second: number) => ServiceView) {
  const { failures } = await keepFor(span, store, view);
  return failures;
}

/** The same, with what others hear of it. */
async function keepFor(
  span: number,
  store: LedgerStore,
  view: (second: number) => ServiceView | undefined,
  evicted: readonly RebalancePlan[] = [],
  clock = testClock(),
  changes: readonly number[] = [],
) {
  const news = createLedgerNews();
  const preemptions: string[] = [];
  const logged: (readonly [what: string, fields: object])[] = [];
  const stopping = new AbortController();
  const failed: unknown[] = [];
  const looks: number[] = [];
  const counted: (readonly [second: number, name: string])[] = [];
  const planLists: number[] = [];
  clock.at(NOON + span, () => stopping.abort());
  const keeping = keepLedgers(
    {
      ledgers: store,
      records: {
        follow: (changed) => {
          for (const second of changes) {
            clock.at(NOON + second, changed);
          }
        },
        view: () => {
          looks.push(clock.now() - NOON);
          return view(clock.now() - NOON);
        },
        counted: ({ owner }) => void counted.push([clock.now() - NOON, owner.name]),
      },
      plans: {
        list: async () => {
          planLists.push(clock.now() - NOON);
          return evicted;
        },
      },
      clock,
      log: (what, fields) => void logged.push([what, fields]),
      runFailed: () => failed.push(clock.now()),
      ledgerNews: news,
      preempted: (className, times) => void preemptions.push(`${className} ${times}`),
    },
    { pace: OPERATOR_PACE },
    stopping.signal,
  );
  await drive(clock, keeping);
  return { failures: failed.length, news, preemptions, logged, clock, looks, counted, planLists };
}

describe('orphaned', () => {
  const hours = (count: number): number => count * 3600;

  it.each<[string, number, boolean, ServiceView['classes']?]>([
    ['kept until the window of its class is over', hours(1), true],
    ['given up after that', hours(1) + 1, false],
    ['kept for a day where its class is gone as well', hours(24), true, new Map()],
    ['given up after that day', hours(24) + 1, false, new Map()],
  ])('an ended ledger is %s', async (_, age, isKept, classes) => {
    const memory = aStore();
    await keep(300, memory, (second) => aView(second < 60 ? [aRequest('web', [aRunningPod('a')])] : []));
    const [stored] = memory.stored.values();
    const endedAt = stored?.ledger?.endedAt;
    if (stored === undefined || endedAt === undefined) {
      throw new Error('the ledger has not ended');
    }
    expect(orphaned(stored, aView([], classes), epochSeconds(endedAt + age)).ledger !== undefined).toBe(isKept);
  });
});

describe('isChanged', () => {
  it.each<[string, Partial<typeof terms>, boolean, boolean]>([
    ['the ledger of a class that promises something else now', { slo: 0.5 }, false, true],
    ['the ledger of a class that promises the same', {}, false, false],
    ['an ended ledger, whatever its class promises', { slo: 0.5 }, true, false],
  ])('judges whether %s has to be written', async (_, promise, hasEnded, isDue) => {
    const memory = aStore();
    await keep(300, memory, (second) => aView(hasEnded && second >= 60 ? [] : [aRequest('web', [aRunningPod('a')])]));
    const [stored] = memory.stored.values();
    const view = aView([], new Map([['gold', { ...gold, terms: { ...terms, ...promise } }]]));
    expect(stored?.ledger?.endedAt !== undefined).toBe(hasEnded);
    expect(isChanged({ stored, ledger: stored?.ledger, record: aRequest('web') }, view)).toBe(isDue);
  });
});

describe('preemptionsOf', () => {
  it.each<[MovePhase, boolean]>([
    ['Planned', false],
    ['Skipped', false],
    ['Aborted', false],
    ['Intent', true],
    ['Evicting', true],
    ['Vacated', true],
  ])('has the pod of a preemption in phase %s: %s, and the pod of no other move', (phase, isPreempted) => {
    const workload = aWorkload('web', { replicas: 3 });
    const [evicted, moved] = [aPodOf(workload, 'web-1', 'a'), aPodOf(workload, 'web-2', 'a')];
    const runs = [evicted, moved].map(({ uid }) => ({ podUID: uid, phase, attempt: 0 }));
    const plan = aPlan(aPolicy('qos'), [aPreemption(evicted), aMove(moved, 'b')], { moves: runs });
    expect(preemptionsOf(plan)).toEqual(isPreempted ? [evicted.uid] : []);
  });
});

describe('keepLedgers', () => {
  it('creates the ledger of a workload with a class, and writes it only when something changes', async () => {
    const memory = aStore();
    const web = [aRunningPod('a')];
    await keep(1000, memory, (second) => aView([aRequest('web', second < 300 ? web : [...web, aRunningPod('b')])]));
    expect(memory.calls).toEqual(['create deployment-web']);
    expect(memory.stored.get('deployment-web')?.ledger).toMatchObject({ running: 1, asOf: NOON + 2 });
  });

  it('goes on from what was stored when it starts again', async () => {
    const memory = aStore();
    await keep(60, memory, () => aView([aRequest('web', [aRunningPod('a')])]));
    await keep(60, memory, () => aView([aRequest('web', [aRunningPod('a')])]));
    expect(memory.calls).toEqual(['create deployment-web']);
  });

  it('writes a few a second, each in its turn', async () => {
    const memory = aStore();
    const names = Array.from({ length: 60 }, (_, index) => `web-${index}`);
    await keep(9, memory, () => aView(names.map((name) => aRequest(name, [aRunningPod(`pod-${name}`)]))));
    expect(memory.calls.length).toBeLessThanOrEqual(5 * 5);
    expect(memory.calls.length).toBeGreaterThanOrEqual(15);
    expect(new Set(memory.calls).size).toBe(memory.calls.length);
  });

  it('ends the ledger of a workload that is gone, and removes it after the window of its class', async () => {
    const memory = aStore();
    const view = (second: number) => aView(second < 100 ? [aRequest('web', [aRunningPod('a')])] : []);
    await keep(3000, memory, view);
    expect(memory.stored.get('deployment-web')?.ledger).toMatchObject({
      running: 0,
      message: 'the workload is gone: its ledger continues if the workload returns in time',
    });
    await keep(4000, memory, () => aView([]));
    expect(memory.calls).toEqual(['create deployment-web', 'write deployment-web', 'remove deployment-web']);
  });

  it('ends the ledger of a workload that names no class any more, and says so', async () => {
    const memory = aStore();
    const request = aRequest('web', [aRunningPod('a')]);
    const unclassed: ServiceView = { ...aView([]), recordOf: () => request };
    await keep(300, memory, (second) => (second < 60 ? aView([request]) : unclassed));
    expect(memory.stored.get('deployment-web')?.ledger).toMatchObject({
      endedAt: expect.any(Number),
      message: 'the workload no longer names a ServiceClass',
    });
  });

  it('stops the ledger of a workload whose class is gone, and says so', async () => {
    const memory = aStore();
    const request = aRequest('web', [aRunningPod('a')]);
    await keep(300, memory, (second) => aView([request], second < 60 ? new Map([['gold', gold]]) : new Map()));
    expect(memory.stored.get('deployment-web')?.ledger).toMatchObject({
      message: 'there is no ServiceClass gold: add it, or remove the label',
    });
  });

  it('reads a ledger anew that somebody else has written, and loses nothing', async () => {
    const memory = aStore();
    memory.failOnce(new ConflictError('newer'));
    expect(await keep(120, memory, () => aView([aRequest('web', [aRunningPod('a')])]))).toBe(0);
    expect(memory.stored.get('deployment-web')?.ledger).toMatchObject({ running: 1, asOf: NOON + 2 });
  });

  it('goes on after a failure, and says so', async () => {
    const memory = aStore();
    memory.failOnce(new Error('no'));
    expect(await keep(120, memory, () => aView([aRequest('web', [aRunningPod('a')])]))).toBe(1);
    expect(memory.stored.get('deployment-web')?.ledger).toMatchObject({ running: 1 });
  });

  it('tells the others of the ledgers that go on, and of their classes', async () => {
    const { store } = aStore();
    const both = [aRequest('web', [aRunningPod('a')]), aRequest('api', [aRunningPod('b')])];
    const { news, clock } = await keepFor(300, store, (second) => aView(second < 100 ? both : both.slice(0, 1)));
    expect(news.health(clock.monotonic())).toEqual({ kind: 'Kept' });
    expect([...news.levels().ledgers.keys()]).toEqual(['uid-web']);
    expect(news.levels().classes.get('gold')).toBe(terms);
  });

  it('goes on keeping the others while one cannot be written, as in a namespace that is being deleted', async () => {
    const { store, stored } = aStore();
    const refused: LedgerStore = {
      ...store,
      create: async (ledger, ...rest) => {
        if (ledger.owner.name === 'api') {
          throw new Error('namespace shop is being terminated');
        }
        return store.create(ledger, ...rest);
      },
    };
    const both = [aRequest('web', [aRunningPod('a')]), aRequest('api', [aRunningPod('b')])];
    const { news, clock, failures, logged } = await keepFor(300, refused, () => aView(both));
    expect(news.health(clock.monotonic())).toEqual({ kind: 'Kept' });
    expect([...news.levels().ledgers.keys()]).toEqual(['uid-web']);
    expect(stored.size).toBe(1);
    expect(failures).toBeGreaterThan(1);
    const told = { ledger: 'shop/deployment-api', err: new Error('namespace shop is being terminated') };
    expect(logged).toEqual(Array.from({ length: failures }, () => ['ledger not written', told]));
  });

  it('logs no failure of a write that it breaks off when it is stopped', async () => {
    const { store, calls } = aStore();
    const clock = testClock();
    const slow: LedgerStore = {
      ...store,
      create: async (ledger, terms, signal) => {
        calls.push('begin');
        await clock.sleep(seconds(600), signal);
        return store.create(ledger, terms, signal);
      },
    };
    const { logged, failures } = await keepFor(60, slow, () => aView([aRequest('web')]), [], clock);
    expect([calls, logged, failures]).toEqual([['begin'], [], 0]);
  });

  it('lists ledgers anew after five minutes, and not before', async () => {
    const { store } = aStore();
    const clock = testClock();
    const lists: number[] = [];
    const listed: LedgerStore = {
      ...store,
      list: async (signal) => {
        lists.push(clock.now() - NOON);
        return store.list(signal);
      },
    };
    // It looks a second after each change, first at 5 s.
    await keepFor(320, listed, () => aView([]), [], clock, [303, 304]);
    expect(lists).toEqual([5, 305]);
  });

  it('tells the others why nothing is kept', async () => {
    const { store } = aStore();
    const refused: LedgerStore = { ...store, list: async () => Promise.reject(new Error('forbidden')) };
    const { news, clock } = await keepFor(300, refused, () => aView([]));
    expect(news.health(clock.monotonic())).toEqual({ kind: 'Failing', why: 'forbidden' });
  });

  it('logs what is wrong with a ServiceClass once, and again when it comes back', async () => {
    const { store } = aStore();
    const view = (second: number): ServiceView => {
      const problems = second < 200 ? ['slo of gold'] : second < 400 ? ['slo of iron'] : ['slo of iron', 'slo of gold'];
      return { ...aView([]), problems };
    };
    const { logged } = await keepFor(600, store, view);
    expect(logged).toEqual(
      ['slo of gold', 'slo of iron', 'slo of gold'].map((problem) => ['ServiceClass not valid', { problem }]),
    );
  });

  it('counts each preemption once, by the class of the evicted', async () => {
    const { store } = aStore();
    const gone: PodRecord = {
      ...aRunningPod('a'),
      end: { at: epochSeconds(NOON + 100), how: 'Deleted' },
    };
    const pod = aPodOf(aWorkload('web', { replicas: 3 }), 'a', 'node');
    const plan = aPlan(aPolicy('qos'), [aPreemption({ ...pod, uid: 'a' })], {
      moves: [{ podUID: 'a', phase: 'Vacated', attempt: 0 }],
    });
    const view = (second: number) => aView([aRequest('web', [second < 100 ? aRunningPod('a') : gone])]);
    const { preemptions } = await keepFor(1000, store, view, [plan]);
    expect(preemptions).toEqual(['gold 1']);
  });

  it('counts those that come later besides, and no others', async () => {
    const { store } = aStore();
    const goneAt = (uid: string, second: number): PodRecord => ({
      ...aRunningPod(uid),
      end: { at: epochSeconds(NOON + second), how: 'Deleted' },
    });
    const workload = aWorkload('web', { replicas: 3 });
    const evicted = ['a', 'b', 'unsent'].map((name) => ({ ...aPodOf(workload, name, 'node'), uid: name }));
    const plan = aPlan(aPolicy('qos'), evicted.map(aPreemption), {
      moves: [
        { podUID: 'a', phase: 'Vacated', attempt: 0 },
        { podUID: 'b', phase: 'Evicting', attempt: 0 },
        { podUID: 'unsent', phase: 'Planned', attempt: 0 },
      ],
    });
    const pods = (second: number) => [
      second < 100 ? aRunningPod('a') : goneAt('a', 100),
      second < 200 ? aRunningPod('b') : goneAt('b', 200),
      second < 300 ? aRunningPod('unsent') : goneAt('unsent', 300),
      aRunningPod('d'),
    ];
    const view = (second: number) => aView([aRequest('api', [aRunningPod('x')]), aRequest('web', pods(second))]);
    const { preemptions } = await keepFor(1000, store, view, [plan]);
    expect(preemptions).toEqual(['gold 1', 'gold 1']);
  });

  it('asks for the plans only where a pod has gone', async () => {
    const { store } = aStore();
    const gone: PodRecord = { ...aRunningPod('a'), end: { at: epochSeconds(NOON + 50), how: 'Deleted' } };
    const others = [aRequest('api', [aRunningPod('x')])];
    const view = (second: number) =>
      aView([...others, aRequest('web', [second < 60 ? aRunningPod('a') : gone, aRunningPod('b')])]);
    const { planLists } = await keepFor(80, store, view);
    expect(planLists).toEqual([67]);
  });

  it('looks twice a minute, and a second after a change, however many come', async () => {
    const { store } = aStore();
    const { looks } = await keepFor(80, store, () => aView([]), [], testClock(), [10, 10.25, 10.5]);
    expect(looks).toEqual([5, 11, 12, 43, 74]);
  });

  it('looks again half a minute later, and says of no failure, while the cluster is not known yet', async () => {
    const { store, calls } = aStore();
    const view = (second: number) => (second < 30 ? undefined : aView([aRequest('web', [aRunningPod('a')])]));
    const { looks, failures, logged } = await keepFor(60, store, view);
    expect([looks, failures, logged]).toEqual([[5, 36], 0, []]);
    expect(calls).toEqual(['create deployment-web']);
  });

  it('says of each ledger that it has counted, when it is written and when there was nothing to write, once', async () => {
    const { store } = aStore();
    const view = aView([aRequest('web', [aRunningPod('a')])]);
    const { counted } = await keepFor(300, store, () => view);
    expect(counted).toEqual([
      [5, 'web'],
      [36, 'web'],
    ]);
  });

  /** Names of the ledgers that are tried one after the other in 24 s, where none can be made; `many` says how many are wanted. */
  async function triedOf(many: (second: number) => number, changes: readonly number[] = []): Promise<string> {
    const { store } = aStore();
    const tried: string[] = [];
    const refused: LedgerStore = {
      ...store,
      create: async ({ owner }) => {
        tried.push(owner.name);
        throw new Error('forbidden');
      },
    };
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
    const view = (second: number) => aView(names.slice(0, many(second)).map((name) => aRequest(name)));
    await keepFor(24, refused, view, [], testClock(), changes);
    return tried.join(' ');
  }

  it('tries those that cannot be written in turns, beginning with the first', async () => {
    expect(await triedOf(() => 12)).toBe('a b c d e f g h i j k l a b c d e f g h');
  });

  it('begins the turns with the first once they are more than are tried at a time', async () => {
    // It looks at 5, 11, 17 and 23 s.
    const many = (second: number) => (second < 11 ? 0 : second < 17 ? 5 : 12);
    expect(await triedOf(many, [10])).toBe('a b c d e a b c d e f g h i j');
  });

  it.each([
    [1, '1 ledger could not be written: forbidden'],
    [6, '6 ledgers could not be written: forbidden'],
  ])('tells the others that nothing is kept where none of %d ledgers can be written', async (many, why) => {
    const { store } = aStore();
    const requests = Array.from({ length: many }, (_, place) => aRequest(`web-${place}`, [aRunningPod(`${place}`)]));
    await keepFor(60, store, () => aView(requests));
    const refused: LedgerStore = { ...store, write: async () => Promise.reject(new Error('forbidden')) };
    // All workloads are gone: their ledgers are to end.
    const { news, clock, failures } = await keepFor(300, refused, () => aView([]));
    expect(news.health(clock.monotonic())).toEqual({ kind: 'Failing', why });
    expect(failures).toBeGreaterThan(5);
  });

  it('forgets that a ledger could not be created when its workload is gone', async () => {
    const { store } = aStore();
    const refused: LedgerStore = { ...store, create: async () => Promise.reject(new Error('forbidden')) };
    const view = (second: number) => aView(second < 60 ? [aRequest('web', [aRunningPod('a')])] : []);
    const { news, clock, failures } = await keepFor(300, refused, view);
    expect(news.health(clock.monotonic())).toEqual({ kind: 'Kept' });
    const soon = await keepFor(60, refused, view);
    expect(failures).toBe(soon.failures);
  });

  it('says which ledger cannot be read, and leaves it as it is while no workload has it', async () => {
    const { store, stored, calls } = aStore();
    await keepFor(60, store, () => aView([aRequest('web', [aRunningPod('a')])]));
    const [readable] = stored.values();
    stored.set('deployment-web', {
      ...(readable ?? expect.fail('nothing is stored')),
      ledger: undefined,
      problem: 'status.asOf: no time',
    });
    const { logged, news } = await keepFor(60, store, () => aView([]));
    const told = { ledger: 'shop/deployment-web', problem: 'status.asOf: no time' };
    expect(logged).toEqual([['ledger not readable', told]]);
    expect(news.levels().ledgers.size).toBe(0);
    expect(calls).toEqual(['create deployment-web']);
  });

  it('makes a ledger anew that somebody has deleted, as soon as there is something to write', async () => {
    const { store, stored, calls } = aStore();
    const clock = testClock();
    const guarded: LedgerStore = {
      ...store,
      write: async (old, ...rest) => {
        if (!stored.has(old.name)) {
          calls.push('conflict');
          throw new ConflictError('it is gone');
        }
        return store.write(old, ...rest);
      },
    };
    clock.at(NOON + 50, () => stored.clear());
    const view = (second: number) => aView(second < 60 ? [aRequest('web', [aRunningPod('a')])] : []);
    const back = (second: number) => (second < 120 ? view(second) : view(0));
    const { logged, failures } = await keepFor(150, guarded, back, [], clock);
    expect(calls).toEqual(['create deployment-web', 'conflict', 'create deployment-web']);
    const conflict = { policy: undefined, ledger: 'shop/deployment-web', problem: 'it is gone' };
    expect([logged, failures]).toEqual([[['write conflict', conflict]], 0]);
  });

  it('goes on from what somebody else has written meanwhile, and makes no second ledger', async () => {
    const { store, stored, calls } = aStore();
    let conflicts = 1;
    const guarded: LedgerStore = {
      ...store,
      write: async (old, ...rest) => {
        if (conflicts > 0) {
          conflicts -= 1;
          const now = stored.get(old.name) ?? expect.fail('it is not there');
          stored.set(old.name, {
            ...now,
            resource: { ...now.resource, metadata: { ...now.resource.metadata, resourceVersion: '77' } },
          });
          throw new ConflictError('newer');
        }
        calls.push(`over ${old.resource.metadata.resourceVersion}`);
        return store.write(old, ...rest);
      },
    };
    await keepFor(150, guarded, (second) => aView(second < 60 ? [aRequest('web', [aRunningPod('a')])] : []));
    expect(calls).toEqual(['create deployment-web', 'over 77', 'write deployment-web']);
  });

  it('counts those also that it finds when it makes the ledger', async () => {
    const { store } = aStore();
    const gone: PodRecord = { ...aRunningPod('a'), end: { at: epochSeconds(NOON + 3), how: 'Deleted' } };
    const pod = { ...aPodOf(aWorkload('web', { replicas: 3 }), 'a', 'node'), uid: 'a' };
    const plan = aPlan(aPolicy('qos'), [aPreemption(pod)], {
      moves: [{ podUID: 'a', phase: 'Vacated', attempt: 0 }],
    });
    const { preemptions } = await keepFor(100, store, () => aView([aRequest('web', [gone])]), [plan]);
    expect(preemptions).toEqual(['gold 1']);
  });
});
