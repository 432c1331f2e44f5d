import { describe, expect, it } from 'vitest';
import type { MovePhase, MoveStatus, RebalancePlanStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { createFailures } from '../../../src/execute/failures.ts';
import type { PlannedMove } from '../../../src/execute/move.ts';
import { notify, reportEnd } from '../../../src/execute/tell-moves.ts';
import { aFailover, aMove, anAdmission, aPlan, aPreemption, aRemoval } from '../../support/builders/plan.ts';
import { aWorld, forever, PLAN, policy, WEB_1 } from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';

const POD = { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'uid-web-1' };

/** What is told to metrics and events of a move of which `tell` tells. */
async function toldOf(
  tell: typeof reportEnd,
  run: Partial<MoveStatus> = {},
  move: PlannedMove = aMove(WEB_1, 'b'),
  status: RebalancePlanStatus = {},
) {
  const w = aWorld();
  const ended: Parameters<World['ports']['telemetry']['moveEnded']>[0][] = [];
  const telemetry = { ...w.ports.telemetry, moveEnded: (each: (typeof ended)[number]) => void ended.push(each) };
  const entry = { index: 0, move, run: { podUID: WEB_1.uid, phase: 'Planned' as const, attempt: 0, ...run } };
  const ports = { ...w.ports, telemetry };
  const plan = aPlan(policy, [move], status);
  await tell({ plan, ports, signal: forever, failures: createFailures(forever) }, entry);
  return { ended, steered: w.steered, events: w.events };
}

describe('the end of a move', () => {
  it('is counted with its strategy, result, reason, duration and cost', async () => {
    const startedAt = '2026-01-01T11:59:13Z';
    const { ended } = await toldOf(reportEnd, { phase: 'Landed', startedAt, unavailableSeconds: 7 });
    const told = { strategy: 'RefineLB', result: 'Landed', reason: 'Balance' };
    expect(ended).toEqual([{ ...told, duration: 47, unavailable: 7 }]);
    const skipped = await toldOf(reportEnd, { phase: 'Skipped' });
    expect(skipped.ended).toEqual([{ ...told, result: 'Skipped', duration: undefined, unavailable: undefined }]);
    const removed = await toldOf(reportEnd, { phase: 'Vacated', unavailableSeconds: 0 }, aRemoval(WEB_1));
    expect(removed.ended).toMatchObject([{ reason: 'Removal', unavailable: 0 }]);
  });

  it.each<[MovePhase, readonly string[], string | undefined, string | undefined]>([
    ['Landed', ['Gate hit'], 'MoveLanded', 'Normal'],
    ['Missed', ['Gate miss'], 'MoveMissed', 'Warning'],
    ['Failed', [], 'MoveFailed', 'Warning'],
    ['Skipped', [], 'MoveSkipped', 'Warning'],
    ['Aborted', [], undefined, undefined],
    ['Vacated', [], undefined, undefined],
  ])('in phase %s counts for the steering: %j, and sends the event %s', async (phase, steered, reason, type) => {
    const told = await toldOf(reportEnd, { phase, outcome: 'as it was' }, undefined, { steering: 'Gate' });
    expect(told.steered).toEqual(steered);
    const note = `move from a to b (plan ${PLAN}): as it was`;
    expect(told.events).toEqual(reason === undefined ? [] : [{ type, reason, note, regarding: POD }]);
  });

  it('counts as not steered where the plan says nothing of it', async () => {
    expect((await toldOf(reportEnd, { phase: 'Landed' })).steered).toEqual(['None hit']);
  });
});

describe('the event about a move', () => {
  const told = async (reason: Parameters<typeof notify>[2], move: PlannedMove, run: Partial<MoveStatus> = {}) =>
    (await toldOf((recorder, entry) => notify(recorder, entry, reason), run, move)).events;

  it.each<[string, PlannedMove]>([
    ['evicted from a so that its replacement runs on b', aMove(WEB_1, 'b')],
    ['evicted from a so that its replacement runs on b', aFailover(WEB_1, 'b')],
    ['evicted from a so that another pod gets its room', aPreemption(WEB_1)],
    ['evicted from a since it has failed', aRemoval(WEB_1)],
  ])('says what it is for when it begins: %s', async (started, move) => {
    const note = `${started} (plan ${PLAN}): a test wants it so`;
    expect(await told('MoveStarted', move)).toEqual([{ type: 'Normal', reason: 'MoveStarted', note, regarding: POD }]);
  });

  it.each<[string, PlannedMove]>([
    ['move from a to b', aMove(WEB_1, 'b')],
    ['move from a, which has failed, to b', aFailover(WEB_1, 'b')],
    ['preemption on a', aPreemption(WEB_1)],
    ['admission to b', anAdmission(WEB_1, 'b')],
    ['removal from a', aRemoval(WEB_1)],
  ])('says what became of it when it ends: %s', async (ended, move) => {
    const note = `${ended} (plan ${PLAN}): late`;
    const event = { type: 'Warning', reason: 'MoveFailed', note, regarding: POD };
    expect(await told('MoveFailed', move, { outcome: 'late' })).toEqual([event]);
  });
});
