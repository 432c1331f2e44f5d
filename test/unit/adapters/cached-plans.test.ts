import { afterEach, describe, expect, it } from 'vitest';
import { createCachedPlans } from '../../../src/adapters/kubernetes/cached-plans.ts';
import { Reflector } from '../../../src/adapters/kubernetes/reflector.ts';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { ConflictError, type PlanStore } from '../../../src/ports.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPod } from '../../support/builders.ts';
import { fakeJournals } from '../../support/fake-journals.ts';
import { answer, type FakeWatchServer, fakeWatchServer } from '../../support/fake-watch-server.ts';
import { testClock } from '../../support/test-clock.ts';

const template = aPlan(aPolicy('even'), [aMove(aPod('web-1', { nodeName: 'a' }), 'b')]);
const stopping: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stopping.splice(0).map((stop) => stop()));
});

/** The message of a plan's status stands in its spec here, since the server keeps a spec alone. */
function liveStore(server: FakeWatchServer): PlanStore {
  const read = (name: string): RebalancePlan => {
    const found = server.objects.get(name);
    if (found === undefined) {
      throw new ConflictError(`${name} is gone`);
    }
    return { ...template, ...(found as object) } as RebalancePlan;
  };
  const put = (name: string, spec: unknown): RebalancePlan => {
    server.put(name, spec);
    return read(name);
  };
  const refused = (): never => {
    throw new Error('nothing lists live');
  };
  return {
    create: async ({ metadata, spec }) => put(metadata.name, spec),
    list: async () => refused(),
    get: async (name) => read(name),
    async writeStatus({ metadata: { name, resourceVersion } }, { message = '' }) {
      const now = read(name);
      if (now.metadata.resourceVersion !== resourceVersion) {
        throw new ConflictError(`${name} is newer`);
      }
      return put(name, { ...now.spec, message });
    },
    approve: async (name) => put(name, { ...read(name).spec, approved: true }),
    remove: async (name) => server.remove(name),
    watch: async () => refused(),
  };
}

function cached() {
  const clock = testClock();
  const server = fakeWatchServer(clock);
  const target = { group: 'evenkeel.dev', version: 'v1alpha1', resource: 'rebalanceplans' };
  const reports: unknown[] = [];
  const journalServer = fakeWatchServer(clock);
  const journals = fakeJournals();
  const plans = createCachedPlans(
    { live: liveStore(server), reflector: new Reflector(server.client, { target, metadataOnly: false }) },
    {
      live: journals.store,
      reflector: new Reflector(journalServer.client, {
        target: { ...target, resource: 'movejournals' },
        metadataOnly: false,
      }),
    },
    (error) => reports.push(error),
    () => {},
  );
  const controller = new AbortController();
  const { signal } = controller;
  const running = plans.run(signal);
  stopping.push(async () => {
    controller.abort();
    await running;
  });
  const messages = async () =>
    (await plans.store.list(signal)).map(({ metadata, spec }) => `${metadata.name}: ${spec.message}`);
  const create = (name: string) => plans.store.create({ ...template, metadata: { name } }, signal);
  return { clock, server, plans, store: plans.store, messages, create, signal, reports };
}

describe('plans from a watch', () => {
  it('are asked for once, however often they are listed', async () => {
    const { clock, server, messages } = cached();
    server.put('first', { ...template.spec, message: 'one' });
    await clock.advance(5);
    for (let look = 0; look < 20; look += 1) {
      expect(await messages()).toEqual(['first: one']);
    }
    expect(server.asked).toHaveLength(2);
  });

  it('are never older than the last write, while the watch brings nothing', async () => {
    const { clock, server, store, messages, create, signal } = cached();
    await clock.advance(5);
    server.stall();
    const plan = await create('first');
    expect(await messages()).toEqual(['first: moves']);
    const written = await store.writeStatus(plan, { message: 'in flight' }, signal);
    expect(await messages()).toEqual(['first: in flight']);
    await expect(store.writeStatus(plan, { message: 'from an old list' }, signal)).rejects.toThrow(ConflictError);
    await store.writeStatus(written, { message: 'landed' }, signal);
    expect(await messages()).toEqual(['first: landed']);
    await store.remove('first', signal);
    expect(await messages()).toEqual([]);
  });

  it('are those of the watch again once it has come as far: what others have written since, and deleted', async () => {
    const { clock, server, messages, create } = cached();
    await clock.advance(5);
    await create('first');
    await create('second');
    await clock.advance(0);
    server.put('first', { ...template.spec, message: 'approved by somebody' });
    server.remove('second');
    await clock.advance(0);
    expect(await messages()).toEqual(['first: approved by somebody']);
  });

  it('are listed anew when writes conflict again and again, since the watch has missed a change', async () => {
    const { clock, server, store, messages, create, signal, reports } = cached();
    await clock.advance(5);
    const plan = await create('first');
    await clock.advance(0);
    server.stall();
    server.put('first', { ...template.spec, message: 'written late, after its writer gave up' });
    const write = () => store.writeStatus(plan, { message: 'in flight' }, signal);
    await expect(write()).rejects.toThrow(ConflictError);
    expect(await messages()).toEqual(['first: moves']);
    await expect(write()).rejects.toThrow(ConflictError);
    const read = messages();
    await clock.advance(1);
    expect(await read).toEqual(['first: written late, after its writer gave up']);
    expect(reports.map(String)).toEqual([expect.stringContaining('the watch has missed that first has changed')]);
  });

  it('are not listed anew for conflicts with what the watch brings', async () => {
    const { clock, server, store, create, signal } = cached();
    await clock.advance(5);
    let plan = await create('first');
    for (const message of ['one', 'two', 'three']) {
      server.put('first', { ...template.spec, message });
      await expect(store.writeStatus(plan, { message: 'mine' }, signal)).rejects.toThrow(ConflictError);
      await clock.advance(0);
      plan = (await store.list(signal))[0] ?? plan;
    }
    expect(server.asked).toHaveLength(2);
  });

  it('come back under the name of one that was removed', async () => {
    const { clock, server, store, messages, create, signal } = cached();
    await clock.advance(5);
    await create('first');
    await clock.advance(0);
    server.stall();
    await store.remove('first', signal);
    await create('first');
    expect(await messages()).toEqual(['first: moves']);
  });

  it('are listed anew for a replica that leads from now on, before anything is read', async () => {
    const { clock, server, plans, messages, reports } = cached();
    await clock.advance(5);
    server.stall();
    server.put('first', { ...template.spec, message: 'by the predecessor' });
    expect(await messages()).toEqual([]);
    plans.renew();
    const read = messages();
    await clock.advance(1);
    expect(await read).toEqual(['first: by the predecessor']);
    expect(reports).toEqual([]);
  });

  it('are not known when the server has been out of reach for a minute', async () => {
    const { clock, server, messages } = cached();
    await clock.advance(5);
    server.refuse(...Array.from({ length: 200 }, () => answer(503)));
    server.reset();
    await clock.advance(30);
    expect(await messages()).toEqual([]);
    await clock.advance(40);
    await expect(messages()).rejects.toThrow('rebalanceplans.evenkeel.dev have been cut off for');
  });

  it('tell of changes', async () => {
    const { clock, server, store, signal } = cached();
    let changes = 0;
    const watching = store.watch(
      () => {
        changes += 1;
      },
      AbortSignal.any([signal]),
    );
    await clock.advance(5);
    const before = changes;
    server.put('first', template.spec);
    await clock.advance(0);
    expect(changes).toBe(before + 1);
    stopping.push(() => watching);
  });

  it('keep all of one that has ended', async () => {
    const { clock, server, store, signal } = cached();
    const rejections = [
      { pod: { namespace: 'shop', name: 'x', uid: 'x' }, code: 'GainTooSmall', message: 'x', numbers: {} },
    ];
    const status = {
      phase: 'Completed',
      finishedAt: '2026-01-01T12:00:00Z',
      moves: [{ podUID: 'x', phase: 'Landed', attempt: 1 }],
    };
    server.put('ended', { ...template.spec, rejections });
    Object.assign(server.objects.get('ended') ?? {}, { status });
    server.put('open', { ...template.spec, rejections });
    await clock.advance(5);
    const [ended, open] = await store.list(signal);
    expect(ended?.status).toEqual(status);
    expect(ended?.spec).toEqual({ ...template.spec, rejections });
    expect(open?.spec).toEqual(ended?.spec);
  });
});
