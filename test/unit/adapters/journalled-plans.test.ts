import { describe, expect, it, vi } from 'vitest';
import { createJournalledPlans } from '../../../src/adapters/kubernetes/journalled-plans.ts';
import type { MovePhase, RebalancePlan, RebalancePlanStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { createJournals } from '../../../src/control/journals.ts';
import { openJournal, withRuns } from '../../../src/execute/journal.ts';
import { ConflictError, type PlanStore } from '../../../src/ports.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPod } from '../../support/builders.ts';
import { fakeJournalledPlans } from '../../support/fake-journals.ts';
import { testClock } from '../../support/test-clock.ts';

const { signal } = new AbortController();
const MOVES = 6;

/** What a process dies of, or is refused, right before a request. */
class Stopped extends Error {}

/** An executing plan of six moves on an API server. */
function cluster(moves = MOVES) {
  const server = fakeJournalledPlans();
  const planned = Array.from({ length: moves }, (_, index) =>
    aMove(aPod(`web-${index}`, { nodeName: 'a', uid: `uid-${index}` }), 'b'),
  );
  const bare = aPlan(aPolicy('even'), planned);
  const first = server.put({ ...bare, status: { ...bare.status, moves: [...openJournal(bare)] } });
  const { name } = first.metadata;
  const reports: unknown[] = [];

  /** The store of a process; `before` is called before each of its requests that changes something. */
  function process(before: (call: string) => void | Promise<void> = () => undefined, wholeUpTo = 0): PlanStore {
    const guarded = <Port extends object>(port: Port, prefix: string): Port =>
      Object.fromEntries(
        Object.entries(port).map(([key, method]) => [
          key,
          ['create', 'write', 'writeStatus', 'remove'].includes(key)
            ? async (...args: readonly unknown[]) => {
                await before(`${prefix}.${key}`);
                return method(...args);
              }
            : method,
        ]),
      ) as Port;
    const report = (error: unknown) => void reports.push(error);
    return createJournalledPlans(
      guarded(server.whole.store, 'plans'),
      guarded(server.journals.store, 'journals'),
      report,
      { wholeUpTo },
    );
  }
  const read = async (store: PlanStore): Promise<RebalancePlan> => {
    const plan = (await store.list(signal)).find(({ metadata }) => metadata.name === name);
    if (plan === undefined) {
      throw new Error('the plan is gone');
    }
    return plan;
  };
  return { server, name, process, read, reports };
}

/** The status with one move in another phase. */
function change(plan: RebalancePlan, index: number, phase: MovePhase): RebalancePlanStatus {
  const run = plan.status?.moves?.[index] ?? { podUID: `uid-${index}`, attempt: 0 };
  return withRuns(plan, new Map([[index, { ...run, phase }]]));
}

/** The status of a plan whose moves are all in this phase and that has ended. */
function ended(plan: RebalancePlan): RebalancePlanStatus {
  return { ...plan.status, phase: 'Completed', finishedAt: '2026-01-01T12:10:00Z' };
}

const phasesOf = ({ status }: RebalancePlan) => status?.moves?.map(({ phase }) => phase) ?? [];
const untouched = Array.from({ length: MOVES }, (): MovePhase => 'Planned');

/** Every move from Planned to Intent and to Landed, one after the other, then the end of the plan. */
const SCRIPT: readonly ((plan: RebalancePlan) => RebalancePlanStatus)[] = [
  ...Array.from({ length: MOVES }, (_, index) => index).flatMap((index) => [
    (plan: RebalancePlan) => change(plan, index, 'Intent'),
    (plan: RebalancePlan) => change(plan, index, 'Landed'),
  ]),
  ended,
];

describe('a plan with a journal', () => {
  it('is written whole once, and then little of it, until that has cost as much as the whole', async () => {
    const { server, process, read } = cluster();
    const calls: string[] = [];
    const store = process((call) => void calls.push(call));
    for (const next of SCRIPT) {
      const plan = await read(store);
      await store.writeStatus(plan, next(plan), signal);
    }
    expect(calls.slice(0, 4)).toEqual(['journals.create', 'plans.writeStatus', 'journals.write', 'journals.write']);
    expect(calls.slice(-3)).toEqual(['journals.write', 'plans.writeStatus', 'journals.remove']);
    const between = calls.slice(2, -3);
    expect(between.filter((call) => call === 'journals.write')).toHaveLength(SCRIPT.length - 2);
    expect(between.filter((call) => call === 'plans.writeStatus').length).toBeLessThan(4);
    const { status } = server.whole.of((await read(store)).metadata.name);
    expect(status).toMatchObject({ phase: 'Completed', summary: { total: MOVES, done: MOVES, landed: MOVES } });
    expect(status?.journal).toBeUndefined();
    expect(server.journals.stored.size).toBe(0);
  });

  it('is read as one by every process, in lists and alone, and does not show how it is stored', async () => {
    const { name, process, read } = cluster();
    const store = process();
    const first = await read(store);
    const intended = await store.writeStatus(first, change(first, 0, 'Intent'), signal);
    const written = await store.writeStatus(
      intended,
      { ...change(intended, 0, 'Evicting'), stopped: 'Suspended' },
      signal,
    );
    const other = process();
    for (const plan of [written, await read(store), await read(other), await other.get(name, signal)]) {
      expect(plan?.status).toMatchObject({ phase: 'Executing', stopped: 'Suspended', summary: { total: MOVES } });
      expect(plan && phasesOf(plan)).toEqual(['Evicting', ...untouched.slice(1)]);
      expect(plan?.status).not.toHaveProperty('journal');
    }
  });

  it('stays the same object as long as nothing has changed: what is worked out from it is remembered', async () => {
    const { process, read } = cluster();
    const store = process();
    const first = await read(store);
    const written = await store.writeStatus(first, change(first, 0, 'Intent'), signal);
    expect(await read(store)).toBe(written);
    const again = await store.writeStatus(written, change(written, 1, 'Intent'), signal);
    expect(await read(store)).toBe(again);
    expect(again.metadata.resourceVersion).not.toBe(written.metadata.resourceVersion);
  });

  it('has none while it is small, or is not carried out', async () => {
    const { server, process, read } = cluster();
    const small = process(undefined, MOVES);
    const first = await read(small);
    const written = await small.writeStatus(first, change(first, 0, 'Intent'), signal);
    expect(phasesOf(server.whole.of(written.metadata.name))).toEqual(['Intent', ...untouched.slice(1)]);
    const store = process();
    const superseded = await store.writeStatus(written, { ...written.status, phase: 'Superseded' }, signal);
    await store.writeStatus(superseded, { ...superseded.status, message: 'kept' }, signal);
    expect(server.journals.stored.size).toBe(0);
  });

  it.each([
    ['has none with 20 moves', 20, 0],
    ['has one with 21 moves', 21, 1],
  ])('%s, unless it is said otherwise', async (_, moves, journals) => {
    const { server, read } = cluster(moves);
    const store = createJournalledPlans(server.whole.store, server.journals.store, () => undefined);
    const plan = await read(store);
    await store.writeStatus(plan, change(plan, 0, 'Intent'), signal);
    expect(server.journals.stored.size).toBe(journals);
  });

  it('goes on where the version before, which knew no journals, has left it', async () => {
    const { server, process, read } = cluster();
    const { name } = server.put({ ...server.whole.of((await read(process())).metadata.name) }).metadata;
    const old = server.put({ ...server.whole.of(name), status: change(server.whole.of(name), 3, 'Evicting') });
    const store = process();
    const plan = await read(store);
    expect(plan.status).toEqual(old.status);
    await store.writeStatus(
      await store.writeStatus(plan, change(plan, 3, 'Landed'), signal),
      change(plan, 4, 'Intent'),
      signal,
    );
    expect(phasesOf(await read(process()))).toEqual(['Planned', 'Planned', 'Planned', 'Evicting', 'Intent', 'Planned']);
  });

  it('keeps what an operator of the version before has written to the plan amid it: what has ended stays so', async () => {
    const { server, name, process, read } = cluster();
    const store = process();
    const first = await read(store);
    const plan = await store.writeStatus(first, change(first, 0, 'Intent'), signal);
    await store.writeStatus(plan, change(plan, 1, 'Evicting'), signal);
    const whole = server.whole.of(name);
    const [run, other] = whole.status?.moves ?? [];
    const changed = new Map([
      [0, { ...run, podUID: 'uid-0', attempt: 0, phase: 'Landed' as const, finishedAt: '2026-01-01T12:05:00Z' }],
      [1, { ...other, podUID: 'uid-1', attempt: 0, phase: 'Skipped' as const, finishedAt: '2026-01-01T12:05:00Z' }],
    ]);
    server.put({ ...whole, status: { ...whole.status, ...withRuns(whole, changed) } });
    expect(phasesOf(await read(store)).slice(0, 2)).toEqual(['Landed', 'Skipped']);
  });

  it('is stored whole at once when more than its moves has changed', async () => {
    const { server, name, process, read } = cluster();
    const store = process();
    const first = await read(store);
    const plan = await store.writeStatus(first, change(first, 0, 'Intent'), signal);
    await store.writeStatus(plan, { ...change(plan, 0, 'Landed'), message: 'half way' }, signal);
    expect(server.whole.of(name).status).toMatchObject({
      message: 'half way',
      moves: [{ phase: 'Landed' }, {}, {}, {}, {}, {}],
    });
  });
});

describe('a process that dies', () => {
  it('before any of its requests leaves the plan as before or after the write that was under way', async () => {
    let survived = false;
    for (let fatal = 1; !survived; fatal += 1) {
      const { process, read } = cluster();
      let requests = 0;
      const store = process(() => {
        requests += 1;
        if (requests >= fatal) {
          throw new Stopped();
        }
      });
      let [before, after]: readonly (RebalancePlanStatus | undefined)[] = [];
      const work = async () => {
        for (const next of SCRIPT) {
          const plan = await read(store);
          before = plan.status;
          after = next(plan);
          await store.writeStatus(plan, after, signal);
          before = after;
        }
      };
      survived = await work().then(
        () => true,
        (error: unknown) => {
          expect(error).toBeInstanceOf(Stopped);
          return false;
        },
      );
      // The next leader.
      const heir = process();
      const found = await read(heir);
      expect([
        phasesOf({ ...found, status: before ?? {} }),
        phasesOf({ ...found, status: after ?? {} }),
      ]).toContainEqual(phasesOf(found));
      // Where the plan itself tells of the end, the moves do, too.
      if (found.status?.phase === 'Completed') {
        expect(new Set(phasesOf(found))).toEqual(new Set(['Landed']));
        continue;
      }
      let plan = found;
      for (let index = 0; index < MOVES; index += 1) {
        plan = await heir.writeStatus(plan, change(plan, index, 'Landed'), signal);
      }
      await heir.writeStatus(plan, ended(plan), signal);
      const end = await read(process());
      expect([end.status?.phase, new Set(phasesOf(end))]).toEqual(['Completed', new Set(['Landed'])]);
    }
  });
});

describe('a leader that is none any more', () => {
  /** Writes of the old leader, each after so many steps of the script; the last one ends the plan. */
  const steps = SCRIPT.map((_, index) => index).filter((index) => index < SCRIPT.length - 1);

  it.each(steps)('cannot undo what its successor wrote while it was held up in write %i', async (step) => {
    let finished = false;
    for (let held = 1; !finished; held += 1) {
      const { process, read } = cluster();
      let requests = Number.NEGATIVE_INFINITY;
      const arrived = Promise.withResolvers<void>();
      const resume = Promise.withResolvers<void>();
      const old = process(async () => {
        requests += 1;
        if (requests === held) {
          arrived.resolve();
          await resume.promise;
        }
      });
      for (const next of SCRIPT.slice(0, step)) {
        const plan = await read(old);
        await old.writeStatus(plan, next(plan), signal);
      }
      const seen = await read(old);
      const content = SCRIPT[step]?.(seen) ?? {};
      requests = 0;
      const writing = old.writeStatus(seen, content, signal).then(
        () => true,
        (error: unknown) => {
          expect(error).toBeInstanceOf(ConflictError);
          return false;
        },
      );
      finished = await Promise.race([writing.then(() => true), arrived.promise.then(() => false)]);
      if (finished) {
        break;
      }
      const heir = process();
      const found = await read(heir);
      const written = await heir.writeStatus(found, change(found, MOVES - 1, 'Evicting'), signal);
      resume.resolve();
      const succeeded = await writing;
      // What its successor did is there, whatever became of the write.
      expect(phasesOf(await read(process()))).toEqual(phasesOf(written));
      // Where the old leader goes on to evict, its successor has seen the intent.
      if (succeeded) {
        expect(phasesOf(found)).toEqual(phasesOf({ ...found, status: content }));
      }
      // Nor can it write again.
      const stale = { ...seen, status: content };
      await expect(old.writeStatus(stale, change(stale, 0, 'Failed'), signal)).rejects.toThrow(ConflictError);
    }
  });

  it('cannot make a journal anew when the plan has ended', async () => {
    const { process, read, server, name } = cluster();
    const old = process();
    const seen = await read(old);
    const heir = process();
    for (const next of SCRIPT) {
      const plan = await read(heir);
      await heir.writeStatus(plan, next(plan), signal);
    }
    for (let tries = 0; tries < 2; tries += 1) {
      await expect(old.writeStatus(seen, change(seen, 0, 'Intent'), signal)).rejects.toThrow(ConflictError);
    }
    expect(server.of(name).status?.phase).toBe('Completed');
    expect(phasesOf(await read(old))).toEqual(untouched.map(() => 'Landed'));
  });
});

describe('a journal that somebody has deleted', () => {
  it('is not missed by the process that wrote it: the next write stores all it said in the plan', async () => {
    const { server, name, process, read } = cluster();
    const store = process();
    let plan = await read(store);
    for (const index of [0, 1, 2]) {
      plan = await store.writeStatus(plan, change(plan, index, 'Evicting'), signal);
    }
    server.journals.remove(name);
    // The watch has not brought it yet.
    await expect(store.writeStatus(plan, change(plan, 3, 'Intent'), signal)).rejects.toThrow(ConflictError);
    const found = await read(store);
    expect(found.metadata.resourceVersion).toBe(plan.metadata.resourceVersion);
    expect(phasesOf(found)).toEqual(phasesOf(plan));
    server.put({
      ...server.whole.of(name),
      metadata: { ...server.whole.of(name).metadata, annotations: { team: 'shop' } },
    });
    const annotated = await read(store);
    expect(phasesOf(annotated)).toEqual(phasesOf(plan));
    expect(annotated.metadata.annotations).toEqual({ team: 'shop' });
    await store.writeStatus(annotated, change(annotated, 3, 'Intent'), signal);
    expect(phasesOf(await read(process()))).toEqual([...phasesOf(plan).slice(0, 3), 'Intent', 'Planned', 'Planned']);
    const next = await read(store);
    await store.writeStatus(next, change(next, 4, 'Intent'), signal);
    expect(server.journals.stored.size).toBe(1);
  });

  it('is gone on with when it was only missing in one list', async () => {
    const { server, process, read } = cluster();
    const list = vi.spyOn(server.journals.store, 'list');
    const store = process();
    const first = await read(store);
    const plan = await store.writeStatus(first, change(first, 0, 'Evicting'), signal);
    list.mockResolvedValueOnce([]);
    expect(phasesOf(await read(store))).toEqual(phasesOf(plan));
    const found = await read(store);
    await store.writeStatus(found, change(found, 1, 'Intent'), signal);
    expect(phasesOf(await read(process()))).toEqual(['Evicting', 'Intent', ...untouched.slice(2)]);
  });

  it('does not hold up what is noted: the next write has it', async () => {
    const { server, name, process, read } = cluster();
    const journals = createJournals(process(), testClock());
    const first = await read(journals);
    const plan = await journals.writeStatus(first, change(first, 0, 'Intent'), signal);
    const written = await journals.writeStatus(plan, change(plan, 0, 'Evicting'), signal);
    await journals.noteStatus(written, change(written, 0, 'Verifying'), signal);
    server.journals.remove(name);
    const noted = await read(journals);
    await journals.writeStatus(noted, change(noted, 1, 'Intent'), signal);
    expect(phasesOf(await read(process())).slice(0, 2)).toEqual(['Verifying', 'Intent']);
  });

  it('leaves another process with the status of the plan, which it can go on from', async () => {
    const { server, name, process, read } = cluster();
    const store = process();
    const first = await read(store);
    const plan = await store.writeStatus(first, change(first, 0, 'Evicting'), signal);
    await store.writeStatus(plan, change(plan, 1, 'Evicting'), signal);
    server.journals.remove(name);
    const heir = process();
    const found = await read(heir);
    expect(phasesOf(found)).toEqual(['Evicting', ...untouched.slice(1)]);
    await heir.writeStatus(found, change(found, 1, 'Landed'), signal);
    expect(phasesOf(await read(process())).slice(0, 2)).toEqual(['Evicting', 'Landed']);
  });
});

it('a journal of a deleted plan is not that of a plan that is made anew under its name', async () => {
  const { server, name, process, read } = cluster();
  const store = process();
  const first = await read(store);
  const plan = await store.writeStatus(first, change(first, 0, 'Evicting'), signal);
  await store.writeStatus(plan, change(plan, 1, 'Evicting'), signal);
  const left = server.journals.stored.get(name);
  await store.remove(name, signal);
  expect(await store.list(signal)).toEqual([]);
  await store.create({ ...first, metadata: { name } }, signal);
  expect(server.journals.stored.get(name)).toBe(left);
  for (const each of [store, process()]) {
    const anew = await read(each);
    expect(phasesOf(anew)).toEqual(untouched);
    // Until the garbage collector has been there.
    await expect(each.writeStatus(anew, change(anew, 0, 'Intent'), signal)).rejects.toThrow(ConflictError);
  }
  server.journals.remove(name);
  const anew = await read(store);
  await store.writeStatus(anew, change(anew, 0, 'Intent'), signal);
  expect(phasesOf(await read(process()))).toEqual(['Intent', ...untouched.slice(1)]);
});

it('a journal that the plan does not name yet is deleted at the end, and not written before', async () => {
  const { server, name, process, read } = cluster();
  const died = process((call) => {
    if (call === 'plans.writeStatus') {
      throw new Stopped();
    }
  });
  const first = await read(died);
  await expect(died.writeStatus(first, change(first, 0, 'Intent'), signal)).rejects.toThrow(Stopped);
  expect(server.journals.stored.size).toBe(1);
  const calls: string[] = [];
  const heir = process((call) => void calls.push(call));
  const found = await read(heir);
  await heir.writeStatus(found, ended(found), signal);
  expect(calls).toEqual(['plans.writeStatus', 'journals.remove']);
  expect([server.whole.of(name).status?.phase, server.journals.stored.size]).toEqual(['Completed', 0]);
});

it('a plan that has a journal goes on with it where plans of its size would get none', async () => {
  const { server, process, read } = cluster();
  const store = process();
  const first = await read(store);
  await store.writeStatus(first, change(first, 0, 'Evicting'), signal);
  const calls: string[] = [];
  const heir = process((call) => void calls.push(call), MOVES);
  const found = await read(heir);
  const written = await heir.writeStatus(found, change(found, 1, 'Intent'), signal);
  expect(calls).toEqual(['journals.write']);
  expect(phasesOf(await read(process()))).toEqual(['Evicting', 'Intent', ...untouched.slice(2)]);
  await heir.writeStatus(written, ended(written), signal);
  expect(server.journals.stored.size).toBe(0);
});

it('a journal that cannot be deleted at the end is reported, and the plan has ended all the same', async () => {
  const { server, process, read, reports, name } = cluster();
  const store = process((call) => {
    if (call === 'journals.remove') {
      throw new Error('403');
    }
  });
  const first = await read(store);
  const plan = await store.writeStatus(first, change(first, 0, 'Landed'), signal);
  const end = await store.writeStatus(plan, ended(plan), signal);
  expect([end.status?.phase, server.journals.stored.size, reports]).toEqual(['Completed', 1, [new Error('403')]]);
  expect((await read(process())).status).toEqual(server.whole.of(name).status);
});

it('what is noted of a plan outlives a write that stopped after the plan was written whole', async () => {
  const { process, read } = cluster();
  let wholes = 0;
  const store = process((call) => {
    wholes += call === 'plans.writeStatus' ? 1 : 0;
    if (wholes === 2 && call === 'journals.write') {
      throw new Stopped();
    }
  });
  const journals = createJournals(store, testClock());
  let isStopped = false;
  for (let write = 0; !isStopped && write < 100; write += 1) {
    const plan = await read(journals);
    const noted = await journals.noteStatus(plan, change(plan, 1, 'Verifying'), signal);
    const next = change(noted, 0, write % 2 === 0 ? 'Intent' : 'Evicting');
    isStopped = await journals.writeStatus(noted, next, signal).then(
      () => false,
      (error: unknown) => error instanceof Stopped,
    );
    if (!isStopped) {
      const written = await read(journals);
      await journals.noteStatus(written, change(written, 2, 'Verifying'), signal);
    }
  }
  expect(isStopped).toBe(true);
  expect(phasesOf(await read(journals)).slice(1, 3)).toEqual(['Verifying', 'Verifying']);
});

describe('lists of plans and journals that are not of one moment', () => {
  /** Plans and journals as they are listed before and after the plan was written whole for the second time. */
  async function moments() {
    const made = cluster();
    const { server, name, process, read } = made;
    const store = process();
    const list = async () => ({
      plans: await server.whole.store.list(signal),
      journals: await server.journals.store.list(signal),
    });
    const base = () => server.journals.stored.get(name)?.spec.base ?? 0;
    let before = await list();
    for (let write = 0; base() === 0; write += 1) {
      const plan = await read(store);
      before = await list();
      await store.writeStatus(plan, change(plan, write % MOVES, write < MOVES ? 'Intent' : 'Evicting'), signal);
    }
    const last = await read(store);
    await store.writeStatus(last, change(last, 0, 'Landed'), signal);
    const { whole, journals } = server;
    const stores = { plans: whole.store, journals: journals.store };
    return { ...made, before, stores, now: await read(process()) };
  }

  it('give no older state of a move than the plan has', async () => {
    const { before, stores, read, server, name } = await moments();
    const journals = { ...stores.journals, list: async () => before.journals };
    const found = await read(createJournalledPlans(stores.plans, journals, () => undefined));
    expect(phasesOf(found)).toEqual(phasesOf(server.whole.of(name)));
  });

  it('give the newest plan where its journal goes on from that', async () => {
    const { before, stores, read, now } = await moments();
    const plans = { ...stores.plans, list: async () => before.plans };
    expect(phasesOf(await read(createJournalledPlans(plans, stores.journals, () => undefined)))).toEqual(phasesOf(now));
    const [old] = before.plans;
    const stuck = createJournalledPlans({ ...plans, get: async () => old }, stores.journals, () => undefined);
    await expect(read(stuck)).rejects.toThrow('is older than its journal');
    const gone = createJournalledPlans({ ...plans, get: async () => undefined }, stores.journals, () => undefined);
    expect(await gone.list(signal)).toEqual([]);
  });
});
