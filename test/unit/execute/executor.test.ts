import { describe, expect, it } from 'vitest';
import type { MovePhase, RebalancePlanStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { StaleCacheError } from '../../../src/ports.ts';
import { aMove } from '../../support/builders/plan.ts';
import {
  API_1,
  aWorld,
  DB_0,
  execution,
  noted,
  PLAN,
  phases,
  put,
  run,
  stepOnce,
  WEB_1,
  WEB_2,
  web,
} from '../../support/execution.ts';
import { placements } from '../../support/fake-cluster.ts';
import type { World } from '../../support/fake-world.ts';
import { NOON } from '../../support/test-clock.ts';

describe('a step', () => {
  it('keeps nothing of how long it has looked at an eviction once that had its effect', async () => {
    const w = aWorld();
    const [ever, looked] = [new Set<string>(), new Set<string>()];
    const firstLooks: World['ports']['firstLooks'] = {
      since(podUID, sentAt) {
        ever.add(podUID);
        looked.add(podUID);
        return w.ports.firstLooks.since(podUID, sentAt);
      },
      forget(podUID) {
        looked.delete(podUID);
        w.ports.firstLooks.forget(podUID);
      },
    };
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    expect(phases(await run({ ...w, ports: { ...w.ports, firstLooks } }))).toEqual(['Landed', 'Landed']);
    expect([...ever].sort()).toEqual([API_1.uid, WEB_1.uid]);
    expect([...looked]).toEqual([]);
  });

  it('moves pods to where the plan says and says so', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'b')], { steering: 'AdmissionPolicy' });
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Landed', 'Landed', 'Landed']);
    expect(plan.status).toMatchObject({
      phase: 'Completed',
      message: '3 of 3 replacements landed as planned',
      summary: { total: 3, done: 3, landed: 3 },
    });
    expect(placements(w.cluster)).toEqual(['api on c', 'db on b', 'web on a', 'web on b']);
    expect([...w.cluster.hints.keys()]).toEqual([]);
    expect(w.ended).toEqual(['Landed', 'Landed', 'Landed']);
    expect(w.steered).toEqual(['AdmissionPolicy hit', 'AdmissionPolicy hit', 'AdmissionPolicy hit']);
    expect(w.events.map(({ reason }) => reason).sort()).toEqual([
      ...['MoveLanded', 'MoveLanded', 'MoveLanded'],
      ...['MoveStarted', 'MoveStarted', 'MoveStarted'],
    ]);
  });

  it('stores the intent, places the hint and waits for it before it sends the eviction', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')], { steering: 'AdmissionPolicy' });
    let journal: readonly (MovePhase | undefined)[] = [];
    w.tap = (when, call) => {
      if (when === 'before' && call === 'evictor.evict') {
        journal = phases(w.plans.of(PLAN));
      }
    };
    await stepOnce(w);
    const order = w.calls.filter((call) => /writeStatus|steering|evict|dry-run/.test(call));
    expect(order).toEqual(['dry-run web-1', 'plans.writeStatus', 'steering.place', 'evict web-1']);
    expect(journal).toEqual(['Intent']);
    expect(w.clock.now() - NOON).toBe(1);
    expect(phases(await noted(w))).toEqual(['Evicting']);
  });

  it('reads nothing twice in one check before an eviction', async () => {
    const w = aWorld();
    const reads: string[] = [];
    w.tap = (when, call, args) => {
      if (when === 'before' && call.startsWith('reader.')) {
        reads.push(`${call} ${JSON.stringify(args.slice(0, -1))}`);
      } else if (when === 'before' && /^(plans.writeStatus|evictor.evict)$/.test(call)) {
        const own = reads.splice(0);
        expect(own.filter((read, place) => own.indexOf(read) !== place)).toEqual([]);
      }
    };
    put(w, [aMove(WEB_1, 'b')], { steering: 'None' });
    await stepOnce(w);
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
  });

  it('places no hint and does not wait when nothing steers', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')], { steering: 'None' });
    await run(w);
    expect(w.calls).not.toContain('steering.place');
    expect(w.steered).toEqual(['None hit']);
  });

  it('records a replacement that runs elsewhere as missed', async () => {
    const w = aWorld();
    w.cluster.bindTo = () => 'c';
    put(w, [aMove(WEB_1, 'b')], { steering: 'AdmissionPolicy' });
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Missed']);
    const message = 'b would have scored 870, c 670: the scheduler did not look at it, one of 4 nodes with room';
    expect(plan.status?.moves?.[0]).toMatchObject({
      outcome: 'runs on c instead of b',
      miss: { reason: 'NotScored', message },
    });
    expect(plan.status?.message).toBe('0 of 1 replacements landed as planned (missed: NotScored 1)');
    expect(w.steered).toEqual(['AdmissionPolicy miss']);
    expect(w.events.at(-1)).toMatchObject({
      type: 'Warning',
      reason: 'MoveMissed',
      note: `move from a to b (plan ${PLAN}): runs on c instead of b (NotScored: ${message})`,
      regarding: { kind: 'Pod', name: 'web-1' },
    });
  });

  it('begins nothing while the caches are behind, as they are after a start, and spends no try', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    w.tap = (when, call) => {
      if (when === 'before' && call === 'reader.placements') {
        throw new StaleCacheError('pods not listed yet');
      }
    };
    for (let restart = 0; restart < 6; restart += 1) {
      expect((await stepOnce(w)).status?.moves ?? []).toEqual([]);
    }
    w.tap = () => undefined;
    expect(phases(await run(w))).toEqual(['Landed']);
  });

  it('leaves a miss unexplained while the caches are behind', async () => {
    const w = aWorld();
    w.cluster.bindTo = () => 'c';
    put(w, [aMove(WEB_1, 'b')], { steering: 'AdmissionPolicy' });
    w.tap = (_, call) => {
      if (call === 'reader.placements' && w.calls.includes('evict web-1')) {
        throw new StaleCacheError('cut off');
      }
    };
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Missed']);
    expect(plan.status?.message).toBe('0 of 1 replacements landed as planned (missed: Unexplained 1)');
  });

  it('moves one pod of an owner at a time, until the replacement has been Ready for minReadySeconds', async () => {
    const w = aWorld();
    w.cluster.putWorkload({ ...web, minReadySeconds: seconds(30) });
    put(w, [aMove(WEB_1, 'b'), aMove(WEB_2, 'c')]);
    let second: number | undefined;
    w.tap = () => {
      second ??= w.calls.includes('evict web-2') ? w.clock.now() - NOON : undefined;
    };
    const plan = await run(w, execution(5));
    expect(phases(plan)).toEqual(['Landed', 'Landed']);
    // Recreated after 1 s, bound after 1 s, Ready after 2 s, available 30 s later.
    expect(second).toBeGreaterThanOrEqual(34);
  });

  it('passes over a busy owner to the next', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(WEB_2, 'c'), aMove(API_1, 'c')]);
    expect(phases(await stepOnce(w))).toEqual(['Evicting', 'Planned', 'Evicting']);
  });

  it.each([1, 2, 3])('has at most maxConcurrent %i moves in flight, lost answers included', async (maxConcurrent) => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'd')]);
    w.cluster.script = (_, dryRun) => (dryRun ? undefined : { kind: 'Ambiguous', message: 'reset', acted: false });
    const inFlight: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      const plan = await stepOnce(w, execution(maxConcurrent));
      inFlight.push(phases(plan).filter((phase) => phase === 'Evicting').length);
      await w.clock.advance(1);
    }
    expect(Math.max(...inFlight)).toBe(maxConcurrent);
  });

  it('looks for another replacement when the first one failed on its node', async () => {
    const w = aWorld();
    w.cluster.delays.ready = Number.POSITIVE_INFINITY;
    put(w, [aMove(WEB_1, 'b')]);
    await stepOnce(w);
    await w.clock.advance(5);
    await stepOnce(w);
    await stepOnce(w);
    const [first] = [...w.cluster.pods.values()].filter(({ name }) => name === 'web-00001');
    const rejected: PodInfo = { ...(first ?? WEB_1), phase: 'Failed', createdAt: epochSeconds(NOON + 1) };
    w.cluster.putPod(rejected);
    const second = {
      ...rejected,
      name: 'web-9',
      uid: 'uid-web-9',
      phase: 'Running',
      ready: true,
      nodeName: 'b',
    } as const;
    w.cluster.putPod({
      ...second,
      createdAt: epochSeconds(NOON + 2),
      readySince: epochSeconds(NOON + 3),
    });
    expect(phases(await run(w, execution(), 60))).toEqual(['Landed']);
  });

  it('does not take a pod that was there before for the replacement', async () => {
    const w = aWorld();
    w.cluster.delays.recreate = 5;
    put(w, [aMove(WEB_1, 'b')]);
    await stepOnce(w);
    await w.clock.advance(4);
    await stepOnce(w);
    const plan = await stepOnce(w);
    expect(phases(plan)).toEqual(['AwaitingReplacement']);
  });

  it('ends a plan without moves at once', async () => {
    const w = aWorld();
    put(w, []);
    expect((await run(w)).status).toMatchObject({ phase: 'Completed' });
  });

  it('does nothing new for a policy that has no options', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    const plan = await stepOnce(w, execution(2, { options: undefined }));
    expect(plan.status?.phase).toBe('Executing');
    expect(w.calls.filter((call) => /evict|dry-run/.test(call))).toEqual([]);
  });

  it('stores what came of moves together with the next intents', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(WEB_2, 'c')]);
    let stored: readonly (MovePhase | undefined)[] = [];
    w.tap = (when, call, [, status]) => {
      const { moves = [] } = when === 'before' && call === 'plans.writeStatus' ? (status as RebalancePlanStatus) : {};
      stored = moves[1]?.phase === 'Intent' ? moves.map(({ phase }) => phase) : stored;
    };
    await run(w);
    expect(stored).toEqual(['Landed', 'Intent']);
  });

  it('stores alone what was seen, when no intent follows', async () => {
    const w = aWorld();
    w.cluster.delays.grace = 100;
    put(w, [aMove(WEB_1, 'b')]);
    await stepOnce(w);
    expect(phases(w.plans.of(PLAN))).toEqual(['Intent']);
    await w.clock.advance(1);
    await stepOnce(w);
    expect(phases(w.plans.of(PLAN))).toEqual(['AwaitingReplacement']);
  });

  it('finds out by looking what a process has noted that was killed', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')], { steering: 'AdmissionPolicy' });
    await stepOnce(w);
    expect(phases(w.plans.of(PLAN))).toEqual(['Intent', 'Intent']);
    await w.clock.advance(10);
    const next = { ...w, ports: w.newProcess() };
    expect(phases(await run(next))).toEqual(['Landed', 'Landed']);
    expect(w.cluster.accepted).toEqual(['uid-web-1', 'uid-api-1']);
  });

  it('writes nothing while nothing changes', async () => {
    const w = aWorld();
    w.cluster.delays.ready = 100;
    put(w, [aMove(WEB_1, 'b')]);
    for (let count = 0; count < 10; count += 1) {
      await stepOnce(w);
      await w.clock.advance(1);
    }
    const before = w.plans.of(PLAN).metadata.resourceVersion;
    await stepOnce(w);
    await stepOnce(w);
    expect(w.plans.of(PLAN).metadata.resourceVersion).toBe(before);
  });
});
