import { describe, expect, it } from 'vitest';
import { ANSWER_GRACE } from '../../../src/execute/advance.ts';
import { step } from '../../../src/execute/executor.ts';
import { createMutex } from '../../../src/model/mutex.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { ConflictError, type PlanStore } from '../../../src/ports.ts';
import { aMove } from '../../support/builders/plan.ts';
import {
  API_1,
  aWorld,
  DB_0,
  execution,
  forever,
  noted,
  outcomes,
  PLAN,
  phases,
  put,
  run,
  stepOnce,
  WEB_1,
  web,
} from '../../support/execution.ts';
import type { Script } from '../../support/fake-cluster.ts';
import { drive, NOON } from '../../support/test-clock.ts';

describe('a step after a lost answer, a crash or a refusal of the API server', () => {
  it('resolves a lost answer by looking: evicted or not', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    let tries = 0;
    w.cluster.script = ({ name }, dryRun) => {
      tries += dryRun ? 0 : 1;
      return dryRun || tries > 2 ? undefined : { kind: 'Ambiguous', message: 'reset', acted: name === 'web-1' };
    };
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Landed', 'Landed']);
    expect(w.cluster.accepted).toEqual(['uid-web-1', 'uid-api-1']);
    expect(w.calls.filter((call) => call.startsWith('evict '))).toEqual(['evict web-1', 'evict api-1', 'evict api-1']);
  });

  it('waits for the effect of a lost eviction as long when API servers have clocks that differ by minutes', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    w.cluster.script = (_pod, dryRun) => (dryRun ? undefined : { kind: 'Ambiguous', message: 'reset', acted: false });
    await stepOnce(w);
    const { reader } = w.ports;
    const pod: typeof reader.pod = async (ref, signal) => {
      const live = await reader.pod(ref, signal);
      return { ...live, serverTime: epochSeconds(live.serverTime + 300) };
    };
    const elsewhere = { ...w.ports, reader: { ...reader, pod } };
    const tries: (number | undefined)[] = [];
    for (let second = 0; second <= ANSWER_GRACE + 1; second += 1) {
      const { status } = await drive(w.clock, step(await noted(w), execution(), elsewhere, forever));
      tries.push(status?.moves?.[0]?.attempt);
      await w.clock.advance(1);
    }
    expect(tries).toEqual([...Array<number>(ANSWER_GRACE + 1).fill(0), 1]);
  });

  it('owns up to an eviction whose effect comes late, during a look that has read the pod before', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    w.cluster.script = (_pod, dryRun) => (dryRun ? undefined : { kind: 'Ambiguous', message: 'reset', acted: false });
    await stepOnce(w);
    await stepOnce(w);
    await w.clock.advance(8);
    const { reader, evictor } = w.ports;
    w.cluster.script = () => undefined;
    const podsOfOwner: typeof reader.podsOfOwner = async (...args) => {
      await w.clock.sleep(seconds(1), forever);
      await evictor.evict(WEB_1, { dryRun: false }, forever);
      await w.clock.sleep(ANSWER_GRACE, forever);
      return reader.podsOfOwner(...args);
    };
    const slow = { ...w.ports, reader: { ...reader, podsOfOwner } };
    await drive(w.clock, step(await noted(w), execution(), slow, forever));
    expect(phases(await run(w))).toEqual(['Landed']);
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
  });

  it('takes up an intent that a crash left behind: the eviction was sent', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    w.tap = (when, call) => {
      if (when === 'after' && call === 'evictor.evict' && w.cluster.accepted.length > 0) {
        throw new Error('killed');
      }
    };
    await expect(stepOnce(w)).rejects.toThrow('killed');
    expect(phases(w.plans.of(PLAN))).toEqual(['Intent']);
    w.tap = () => undefined;
    expect(phases(await run(w))).toEqual(['Landed']);
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
  });

  it('takes up an intent that a crash left behind: the eviction was not sent', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    w.tap = (when, call) => {
      if (when === 'before' && call === 'evictor.evict' && w.calls.includes('evict web-1')) {
        throw new Error('killed');
      }
    };
    await expect(stepOnce(w)).rejects.toThrow('killed');
    w.tap = () => undefined;
    expect(phases(await run(w))).toEqual(['Landed']);
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
    expect(w.clock.now() - NOON).toBeGreaterThan(15);
  });

  it.each([
    ['before the first eviction', 0, ['Aborted', 'Aborted', 'Aborted']],
    ['after a dry run, and sees to the move that is in flight', 1, ['Landed', 'Aborted', 'Aborted']],
  ] as const)('stops the plan when it may not evict any more: %s', async (_, allowed, ends) => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'c')]);
    const message = 'may not create pods/eviction';
    w.cluster.script = () => (w.cluster.accepted.length < allowed ? undefined : { kind: 'Forbidden', message });
    const plan = await run(w);
    expect(phases(plan)).toEqual(ends);
    expect(plan.status).toMatchObject({ phase: 'Aborted', stopped: 'EvictionForbidden', message });
    expect(w.calls.filter((call) => call.startsWith('evict '))).toHaveLength(2 * allowed);
  });

  it('skips a move that a PDB refuses five times, naming the PDB, and goes on with the others meanwhile', async () => {
    const w = aWorld();
    w.cluster.minAvailable.set(web.uid, 2);
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')], { steering: 'AdmissionPolicy' });
    const plan = await run(w, execution(1));
    expect(phases(plan)).toEqual(['Skipped', 'Landed']);
    expect(outcomes(plan)[0]).toMatch(/^refused 5 times: .*keep-web needs 2 healthy pods/);
    expect(w.calls.filter((call) => call === 'dry-run web-1')).toHaveLength(5);
    expect(w.cluster.accepted).toEqual(['uid-api-1']);
    // 10 + 40 + 160 + 600 s of waiting.
    expect(w.clock.now() - NOON).toBeGreaterThanOrEqual(810);
    expect(w.events.filter(({ reason }) => reason === 'MoveSkipped')).toHaveLength(1);
  });

  it('skips for good what the server refuses for good', async () => {
    const w = aWorld();
    w.cluster.script = () => ({ kind: 'Refused', message: 'two budgets' });
    put(w, [aMove(WEB_1, 'b')]);
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Skipped']);
    expect(outcomes(plan)).toEqual(['two budgets']);
  });

  it('comes back to an overloaded server when it said, not before', async () => {
    const w = aWorld();
    w.cluster.script = () =>
      w.clock.now() < NOON + 60
        ? { kind: 'TryLater', message: 'too many requests', retryAfter: seconds(45) }
        : undefined;
    put(w, [aMove(WEB_1, 'b')]);
    expect(phases(await run(w))).toEqual(['Landed']);
    expect(w.calls.filter((call) => call === 'dry-run web-1')).toHaveLength(3);
  });

  it.each<[string, Script]>([
    [
      '429 without a budget',
      { kind: 'TryLater', message: 'webhook keep.example.com: not now', retryAfter: seconds(1) },
    ],
    ['5xx', { kind: 'Ambiguous', message: 'webhook keep.example.com: not now', acted: false }],
  ])('skips an eviction that a webhook answers with %s again and again, and keeps its words', async (_, answer) => {
    for (const refused of ['dry run', 'eviction']) {
      const w = aWorld();
      w.cluster.script = (_pod, dryRun) => (dryRun === (refused === 'dry run') ? answer : undefined);
      put(w, [aMove(WEB_1, 'b')]);
      const plan = await run(w);
      expect(phases(plan)).toEqual(['Skipped']);
      expect(outcomes(plan)[0]).toMatch(/^refused 5 times: .*webhook keep.example.com: not now$/);
      expect(w.calls.filter((call) => call.endsWith('web-1'))).toHaveLength(refused === 'dry run' ? 5 : 10);
      expect(w.clock.now() - NOON).toBeLessThan(1_800);
      expect(w.cluster.accepted).toEqual([]);
    }
  });

  it('rejects with a ConflictError, and evicts nothing, when somebody else has written the plan', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    const stale = w.plans.of(PLAN);
    w.plans.put(w.plans.of(PLAN));
    await expect(drive(w.clock, step(stale, execution(), w.ports, forever))).rejects.toThrow(ConflictError);
    expect(w.cluster.accepted).toEqual([]);
  });

  it('lets a deposed leader write no intent over one of the next leader, and evicts nothing for it', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    const next = { ...w.ports, leaderEpoch: 1 };
    const writeStatus: PlanStore['writeStatus'] = async (...args) => {
      await drive(w.clock, step(w.plans.of(PLAN), execution(1), next, forever));
      return w.ports.plans.writeStatus(...args);
    };
    const old = { ...w.ports, plans: { ...w.ports.plans, writeStatus }, leaderEpoch: 0, recording: createMutex() };
    await expect(drive(w.clock, step(w.plans.of(PLAN), execution(2), old, forever))).rejects.toThrow(ConflictError);
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
    expect(w.plans.of(PLAN).status?.moves?.map(({ leaderEpoch }) => leaderEpoch)).toEqual([1, undefined]);
  });

  it('takes the last intent of a deposed leader for one in flight, whoever sends its eviction', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    const old = { ...w.ports, leaderEpoch: 0 };
    const next = { ...w.ports, leaderEpoch: 1 };
    const stale = w.plans.of(PLAN);
    w.tap = (when, call) => {
      if (when === 'before' && call === 'evictor.evict' && w.plans.of(PLAN).status?.moves?.[0]?.phase === 'Intent') {
        throw new Error('the fence is closed');
      }
    };
    await expect(drive(w.clock, step(stale, execution(1), old, forever))).rejects.toThrow('the fence is closed');
    w.tap = () => undefined;
    await expect(drive(w.clock, step(stale, execution(1), next, forever))).rejects.toThrow(ConflictError);
    const seen = await drive(w.clock, step(w.plans.of(PLAN), execution(1), next, forever));
    expect(phases(seen)).toEqual(['Evicting', 'Planned']);
    expect(w.cluster.accepted).toEqual([]);
    await w.clock.advance(20);
    await run({ ...w, ports: next }, execution(1));
    expect(w.cluster.accepted).toEqual(['uid-web-1', 'uid-api-1']);
    expect(w.plans.of(PLAN).status?.moves?.map(({ leaderEpoch }) => leaderEpoch)).toEqual([1, 1]);
  });

  it('evicts nothing when the plan was deleted, or the cluster cannot be read', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    const plan = w.plans.of(PLAN);
    w.tap = (_, call) => {
      if (call === 'reader.node') {
        throw new Error('503');
      }
    };
    await expect(stepOnce(w)).rejects.toThrow('503');
    w.tap = () => undefined;
    await w.plans.store.remove(PLAN, forever);
    await expect(drive(w.clock, step(plan, execution(), w.ports, forever))).rejects.toThrow(ConflictError);
    expect(w.cluster.accepted).toEqual([]);
  });
});
