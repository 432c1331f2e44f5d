import { describe, expect, it } from 'vitest';
import { giveWay } from '../../../src/execute/executor.ts';
import type { PlannedMove } from '../../../src/execute/move.ts';
import { recordSiblings } from '../../../src/execute/siblings.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { seconds } from '../../../src/model/units.ts';
import type { Telemetry } from '../../../src/ports.ts';
import { aMove, anAdmission } from '../../support/builders/plan.ts';
import { aPodOf, atGate, aWorkload } from '../../support/builders.ts';
import {
  API_1,
  aWorld,
  DB_0,
  execution,
  forever,
  noted,
  PODS,
  phases,
  put,
  run,
  stepOnce,
  WEB_1,
  WEB_2,
  web,
} from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';
import { drive, NOON } from '../../support/test-clock.ts';

/** A status in which these moves wait for their replacements. */
function awaiting(pods: readonly PodInfo[]) {
  return {
    moves: pods.map(({ uid, owner }) => ({
      podUID: uid,
      phase: 'AwaitingReplacement' as const,
      attempt: 0,
      startedAt: formatInstant(NOON),
      siblings: recordSiblings(pods.filter((pod) => pod.owner?.uid === owner?.uid)),
    })),
  };
}

describe('a look at the moves in flight', () => {
  it('takes no pod for the replacement of two moves of one owner, also when both come at once', async () => {
    const w = aWorld();
    w.cluster.vanish('pod', WEB_1.uid);
    w.cluster.vanish('pod', WEB_2.uid);
    w.cluster.putPod({ ...aPodOf(web, 'web-8', 'b'), ready: false });
    w.cluster.putPod({ ...aPodOf(web, 'web-9', 'c'), ready: false });
    put(w, [aMove(WEB_1, 'b'), aMove(WEB_2, 'c')], awaiting([WEB_1, WEB_2]));
    const { status } = await stepOnce(w);
    expect(status?.moves?.map(({ replacement }) => replacement?.name)).toEqual(['web-8', 'web-9']);
  });

  it('reads for ten owners at a time, and for all in the end', async () => {
    const pods = Array.from({ length: 12 }, (_, index) =>
      aPodOf(aWorkload(`w${index}`, { replicas: 3 }), `w${index}-1`, 'a'),
    );
    const w = aWorld(pods);
    put(
      w,
      pods.map((pod) => aMove(pod, 'b')),
      awaiting(pods),
    );
    const reads = { now: 0, most: 0, all: 0 };
    const pod: World['ports']['reader']['pod'] = async (...args) => {
      reads.now += 1;
      reads.all += 1;
      reads.most = Math.max(reads.most, reads.now);
      await w.clock.sleep(seconds(0.1), forever);
      reads.now -= 1;
      return w.ports.reader.pod(...args);
    };
    await stepOnce({ ...w, ports: { ...w.ports, reader: { ...w.ports.reader, pod } } }, execution(100));
    expect(reads).toEqual({ now: 0, most: 10, all: 12 });
  });
});

describe('usage of the nodes', () => {
  it('is read when a pod that runs may be evicted, and not while all that is left waits', async () => {
    const w = aWorld();
    w.cluster.delays.ready = 60;
    put(w, [aMove(WEB_1, 'b'), aMove(WEB_2, 'c')]);
    await stepOnce(w);
    expect(w.calls).toContain('reader.nodeUsage');
    w.calls.splice(0);
    await w.clock.advance(1);
    await stepOnce(w);
    expect(w.calls).not.toContain('reader.nodeUsage');
  });
});

describe('an eviction that the server forbids after it let the dry run pass', () => {
  it('stops the plan, which says so', async () => {
    const w = aWorld();
    w.cluster.script = (_, dryRun) => (dryRun ? undefined : { kind: 'Forbidden', message: 'no right to evict' });
    put(w, [aMove(WEB_1, 'b')]);
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Aborted']);
    expect(plan.status).toMatchObject({
      phase: 'Aborted',
      stopped: 'EvictionForbidden',
      message: 'no right to evict',
    });
    expect(w.lines.map(({ line }) => line)).toContain('plan stopped');
    expect(w.events.at(-1)).toMatchObject({
      type: 'Warning',
      reason: 'PlanAborted',
      note: `plan ${plan.metadata.name} was stopped: no right to evict`,
      regarding: { kind: 'RebalancePolicy', name: 'even' },
    });
  });
});

describe('an admission', () => {
  it('asks for no eviction, not even to try', async () => {
    const gated: PodInfo = atGate(aPodOf(web, 'web-3', ''));
    const w = aWorld([...PODS, gated]);
    w.cluster.gated.add(web.uid);
    put(w, [anAdmission(gated, 'b')]);
    expect(phases(await run(w))).toEqual(['Landed']);
    expect(w.calls.filter((call) => /^(evict|dry-run) /.test(call))).toEqual([]);
    expect(w.events.map(({ reason, type, note }) => [reason, type, note])).toEqual([
      ['MoveLanded', 'Normal', expect.stringMatching(/^admission to b \(plan /)],
    ]);
  });
});

describe('what is told of moves', () => {
  it('is normal of those that start and land, and a warning of others', async () => {
    const w = aWorld();
    w.cluster.bindTo = ({ owner }, hinted) => (owner?.name === 'api' ? 'd' : hinted);
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'gone')], { steering: 'AdmissionPolicy' });
    expect(phases(await run(w, execution(3)))).toEqual(['Landed', 'Missed', 'Skipped']);
    expect(w.events.map(({ reason, type }) => `${reason} ${type}`).sort()).toEqual([
      'MoveLanded Normal',
      'MoveMissed Warning',
      'MoveSkipped Warning',
      'MoveStarted Normal',
      'MoveStarted Normal',
    ]);
    expect(w.events.find(({ reason }) => reason === 'MoveStarted')?.note).toMatch(
      /^evicted from a so that its replacement runs on b \(plan .*\): a test wants it so$/,
    );
  });

  it('counts how long each took since its intent, and what service it cost', async () => {
    const w = aWorld();
    const ended: Parameters<Telemetry['moveEnded']>[0][] = [];
    const moveEnded: Telemetry['moveEnded'] = (move) => void ended.push(move);
    const ports = { ...w.ports, telemetry: { ...w.ports.telemetry, moveEnded } };
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'gone')]);
    const { status } = await run({ ...w, ports });
    expect(ended).toEqual([
      { strategy: 'RefineLB', result: 'Skipped', reason: 'Balance', duration: undefined, unavailable: undefined },
      {
        strategy: 'RefineLB',
        result: 'Landed',
        reason: 'Balance',
        duration: Date.parse(status?.finishedAt ?? '') / 1000 - NOON,
        unavailable: status?.moves?.[0]?.unavailableSeconds,
      },
    ]);
    expect(ended[1]?.unavailable).toBeGreaterThan(0);
  });
});

describe('a plan that gives way to a later one', () => {
  const givenWay = async (w: World) => drive(w.clock, giveWay(await noted(w), 'a later plan', w.ports, forever));
  const moves: readonly PlannedMove[] = [aMove(WEB_1, 'b'), aMove(WEB_2, 'c')];

  it('ends as superseded when nothing has begun', async () => {
    const w = aWorld();
    put(w, [...moves]);
    const { status } = await givenWay(w);
    expect(status).toMatchObject({ phase: 'Superseded', message: 'a later plan' });
    expect(status?.moves?.map(({ phase, outcome }) => [phase, outcome])).toEqual([
      ['Aborted', 'a later plan'],
      ['Aborted', 'a later plan'],
    ]);
    expect(w.events).toEqual([]);
  });

  it('carries on what has begun, and no more', async () => {
    const w = aWorld();
    put(w, [...moves]);
    await stepOnce(w);
    expect(phases(await givenWay(w))).toEqual(['Evicting', 'Aborted']);
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Landed', 'Aborted']);
    expect(plan.status?.phase).toBe('Superseded');
    expect(w.cluster.accepted).toEqual([WEB_1.uid]);
  });
});
