import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { isChanged, orphaned } from '../../../src/control/ledger-changes.ts';
import { createLedgerNews } from '../../../src/control/ledger-health.ts';
import { keepLedgers } from '../../../src/control/ledgers.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { ConflictError, type LedgerStore, type ServiceView, type StoredLedger } from '../../../src/ports.ts';
import type { PodRecord, RequestRecord } from '../../../src/qos/ledger-record.ts';
import { ledgerName, ledgerSpec, ledgerStatus } from '../../../src/report/ledger-resource.ts';
import { aPlan, aPreemption } from '../../support/builders/plan.ts';
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
  view: (second: number) => ServiceView,
  evicted: readonly RebalancePlan[] = [],
  clock = testClock(),
  changes: readonly number[] = [],
) {
  const news = createLedgerNews();
  const preemptions: string[] = [];
  const logged: (readonly [what: string, fields: object])[] = [];
  const stopping = new AbortController();
  const failed: unknown[] = [];
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
        view: () => view(clock.now() - NOON),
        counted: () => undefined,
      },
      plans: { list: async () => evicted },
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
  return { failures: failed.length, news, preemptions, logged, clock };
}

describe('orphaned', () => {
  it.each([
    ['kept until the window of its class is over', 3600, true],
    ['given up after that', 3601, false],
  ])('an ended ledger is %s', async (_, age, isKept) => {
    const memory = aStore();
    await keep(300, memory, (second) => aView(second < 60 ? [aRequest('web', [aRunningPod('a')])] : []));
    const [stored] = memory.stored.values();
    const endedAt = stored?.ledger?.endedAt;
    if (stored === undefined || endedAt === undefined) {
      throw new Error('the ledger has not ended');
    }
    expect(orphaned(stored, aView([]), epochSeconds(endedAt + age)).ledger !== undefined).toBe(isKept);
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
    const view = (second: number) => aView(second < 60 ? [aRequest('web', [aRunningPod('a')])] : []);
    await keep(3000, memory, view);
    expect(memory.stored.get('deployment-web')?.ledger).toMatchObject({
      running: 0,
      message: 'the workload is gone: its ledger continues if the workload returns in time',
    });
    await keep(4000, memory, () => aView([]));
    expect(memory.calls).toEqual(['create deployment-web', 'write deployment-web', 'remove deployment-web']);
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
    const { news, clock, failures } = await keepFor(300, refused, () => aView(both));
    expect(news.health(clock.monotonic())).toEqual({ kind: 'Kept' });
    expect([...news.levels().ledgers.keys()]).toEqual(['uid-web']);
    expect(stored.size).toBe(1);
    expect(failures).toBeGreaterThan(1);
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
});
