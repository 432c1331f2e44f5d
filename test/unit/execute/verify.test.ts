import { describe, expect, it } from 'vitest';
import type { MovePhase, MoveStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { MoveEffect, Observation, PlannedMove, Replacement } from '../../../src/execute/move.ts';
import {
  ADMISSION_PATIENCE,
  awaitReplacement,
  isStuck,
  REPLACEMENT_DEADLINE,
  STUCK_PATIENCE,
  verify,
} from '../../../src/execute/verify.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { aFailover, aMove, anAdmission, aPreemption, aRemoval, aReplacement } from '../../support/builders/plan.ts';
import { aPod } from '../../support/builders.ts';
import { NOON } from '../../support/test-clock.ts';

const POD = aPod('old', { nodeName: 'a' });
const TRANSFER = aMove(POD, 'b');
const FAILOVER = aFailover(POD, 'b');
const ADMISSION = anAdmission(aPod('old'), 'b');
const WAITING = { gated: false, pinnedTo: undefined, unschedulable: false };
const REFUSED = { ...WAITING, pinnedTo: 'b', unschedulable: true };
const GATED = { ...WAITING, gated: true };

const later = (span: number) => epochSeconds(NOON + span);
const instant = (span: number) => formatInstant(later(span));

function run(phase: MovePhase, fields: Partial<MoveStatus> = {}): MoveStatus {
  return { podUID: POD.uid, phase, attempt: 0, startedAt: instant(0), ...fields };
}

/** What is seen so many seconds after the intent. */
function seen(span: number, replacement?: Partial<Replacement>, fields: Partial<Observation> = {}): Observation {
  return {
    pod: 'Gone',
    deletion: undefined,
    replacement: replacement === undefined ? undefined : aReplacement({ uid: 'uid-new', ...replacement }),
    awaited: true,
    serverTime: later(span),
    withoutEffect: seconds(0),
    ...fields,
  };
}

const UNBOUND = run('Verifying', { replacement: { name: 'new', uid: 'uid-new' } });
const BOUND = run('Verifying', { replacement: { name: 'new', uid: 'uid-new', node: 'b' } });

describe('a replacement that does not come to serve', () => {
  it.each<[string, PlannedMove, Partial<Replacement>, number, string]>([
    [
      'an admission that was never bound',
      ADMISSION,
      {},
      REPLACEMENT_DEADLINE,
      'pod new was never bound to a node after 600 s',
    ],
    [
      'a move whose replacement was never bound',
      TRANSFER,
      {},
      REPLACEMENT_DEADLINE,
      'replacement new was never bound to a node after 600 s',
    ],
    [
      'a move whose replacement is not Ready',
      TRANSFER,
      { node: 'c' },
      REPLACEMENT_DEADLINE,
      'replacement new is not Ready on c after 600 s',
    ],
    [
      'a move from a failed node whose replacement is not Ready',
      FAILOVER,
      { node: 'b' },
      REPLACEMENT_DEADLINE,
      'replacement new is not Ready on b after 600 s',
    ],
    [
      'an admission that the scheduler refuses',
      ADMISSION,
      { waiting: REFUSED },
      ADMISSION_PATIENCE,
      'pod new found no room on b for 60 s',
    ],
    [
      'a move from a failed node that the scheduler refuses',
      FAILOVER,
      { waiting: REFUSED },
      ADMISSION_PATIENCE,
      'replacement new found no room on b for 60 s',
    ],
    [
      'an admission that stays at the gate',
      ADMISSION,
      { waiting: GATED },
      ADMISSION_PATIENCE,
      'b could not take it for 60 s: it waits at the gate for another plan',
    ],
    [
      'a move from a failed node that stays at the gate',
      FAILOVER,
      { waiting: GATED },
      ADMISSION_PATIENCE,
      'b could not take it for 60 s: it waits at the gate for another plan',
    ],
  ])('fails %s when its time is over, and not before', (_, move, replacement, limit, outcome) => {
    expect(verify(UNBOUND, seen(limit, replacement), move).run.phase).toBe('Verifying');
    const end = verify(UNBOUND, seen(limit + 1, replacement), move);
    expect(end.run).toMatchObject({ phase: 'Failed', outcome, finishedAt: instant(limit + 1) });
    expect(end.effects).toEqual(['RemoveHint']);
  });

  it.each<[string, PlannedMove, NonNullable<Replacement['waiting']>]>([
    ['a move whose replacement is refused', TRANSFER, REFUSED],
    ['a move whose replacement is at the gate', TRANSFER, GATED],
    ['an admission that waits for the scheduler', ADMISSION, { ...REFUSED, unschedulable: false }],
    ['an admission that is kept to no node', ADMISSION, { ...REFUSED, pinnedTo: undefined }],
  ])('gives %s ten minutes', (_, move, waiting) => {
    expect(verify(UNBOUND, seen(REPLACEMENT_DEADLINE, { waiting }), move).run.phase).toBe('Verifying');
    expect(verify(UNBOUND, seen(REPLACEMENT_DEADLINE + 1, { waiting }), move).run.phase).toBe('Failed');
  });

  it('costs the service that was lost until then, where a pod was taken away that ran', () => {
    const late = seen(REPLACEMENT_DEADLINE + 1, {});
    expect(verify(UNBOUND, late, TRANSFER).run.unavailableSeconds).toBe(601);
    expect(verify(UNBOUND, late, FAILOVER).run).not.toHaveProperty('unavailableSeconds');
    expect(verify(UNBOUND, late, ADMISSION).run).not.toHaveProperty('unavailableSeconds');
  });
});

describe('a replacement that serves', () => {
  it.each<[string, PlannedMove, Partial<Replacement>, MovePhase, string]>([
    ['where it was to', TRANSFER, { node: 'b', available: true }, 'Landed', 'runs on b'],
    ['elsewhere', TRANSFER, { node: 'c', available: true }, 'Missed', 'runs on c instead of b'],
    ['of a failed node', FAILOVER, { node: 'b', available: true }, 'Landed', 'runs on b'],
    ['as an admission that is bound', ADMISSION, { node: 'b' }, 'Landed', 'runs on b'],
    ['as an admission that is bound elsewhere', ADMISSION, { node: 'c' }, 'Missed', 'runs on c instead of b'],
  ])('ends the move: %s', (_, move, replacement, phase, outcome) => {
    expect(verify(UNBOUND, seen(9, replacement), move)).toMatchObject({
      run: { phase, outcome, finishedAt: instant(9), replacement: { node: replacement.node } },
      effects: ['RemoveHint'],
    });
    expect(verify(BOUND, seen(9, replacement), move).effects).toEqual([]);
  });

  it.each<[string, PlannedMove, Partial<Replacement>]>([
    ['it is bound and does not serve', TRANSFER, { node: 'b' }],
    ['it is bound from a failed node and does not serve', FAILOVER, { node: 'b' }],
    ['it is not bound', TRANSFER, { available: true }],
    ['its pod is let in and not bound', ADMISSION, { available: true }],
  ])('is waited for while %s', (_, move, replacement) => {
    expect(verify(UNBOUND, seen(9, replacement), move).run.phase).toBe('Verifying');
  });

  it('costs the seconds from the intent until it was Ready, a day at most', () => {
    const cost = (start: MoveStatus, span: number, readySince?: number) => {
      const since = readySince === undefined ? undefined : later(readySince);
      const there = { node: 'b', available: true, readySince: since };
      return verify(start, seen(span, there), TRANSFER).run.unavailableSeconds;
    };
    const { startedAt: _, ...unknown } = UNBOUND;
    expect(cost(UNBOUND, 30, 12)).toBe(12);
    expect(cost(UNBOUND, 30)).toBe(30);
    expect(cost(UNBOUND, 30, -1)).toBe(0);
    expect(cost(UNBOUND, 90_000, 86_399)).toBe(86_399);
    expect(cost(UNBOUND, 90_000, 86_401)).toBe(86_400);
    expect(cost(unknown, 30, 12)).toBe(0);
  });

  it('is told why it missed its node, the first time that it is known, and nothing where it landed', () => {
    const miss = { reason: 'NotScored', message: 'x'.repeat(600) } as const;
    const known = { reason: 'OutscoredBy', message: 'known' } as const;
    const missed = verify(UNBOUND, seen(9, { node: 'c', available: true, miss }), TRANSFER).run;
    expect(missed.miss).toEqual({ reason: 'NotScored', message: `${'x'.repeat(499)}…` });
    const again = verify({ ...UNBOUND, miss: known }, seen(9, { node: 'c', available: true, miss }), TRANSFER).run;
    expect(again.miss).toEqual(known);
    const landed = verify({ ...UNBOUND, miss: known }, seen(9, { node: 'b', available: true }), TRANSFER).run;
    expect(landed).not.toHaveProperty('miss');
  });
});

describe('a replacement that is on its way', () => {
  it.each<[string, MoveStatus, Partial<Replacement>, readonly MoveEffect[]]>([
    ['is seen bound for the first time', UNBOUND, { node: 'b' }, ['RemoveHint']],
    ['is seen bound again', BOUND, { node: 'b' }, []],
    ['is at the gate', UNBOUND, { waiting: GATED }, ['OpenGate']],
    ['is another one, at the gate', UNBOUND, { uid: 'uid-other', waiting: GATED }, ['OpenGate']],
    ['waits', UNBOUND, { waiting: WAITING }, []],
    ['is another one', UNBOUND, { uid: 'uid-other' }, []],
  ])('that %s has these effects', (_, before, replacement, effects) => {
    const next = verify(before, seen(9, replacement), TRANSFER);
    expect(next.effects).toEqual(effects);
    const { uid = 'uid-new', node } = replacement;
    expect(next.run.replacement).toStrictEqual({ name: 'new', uid, ...(node === undefined ? {} : { node }) });
  });

  it('leaves the journal as it is where nothing about it has changed', () => {
    expect(verify(UNBOUND, seen(9, {}), TRANSFER).run).toBe(UNBOUND);
    expect(verify(BOUND, seen(9, { node: 'b' }), TRANSFER).run).toBe(BOUND);
    expect(verify(BOUND, seen(9, { node: 'c' }), TRANSFER).run).not.toBe(BOUND);
    const begun = run('Intent', { replacement: { name: 'new', uid: 'uid-new' } });
    expect(verify(begun, seen(9, {}), ADMISSION).run).toEqual({ ...begun, phase: 'Verifying' });
  });

  it('is removed where its node refuses it, unless it is the pod of an admission', () => {
    const stuck = { waiting: REFUSED, age: seconds(STUCK_PATIENCE + 1) };
    expect(verify(UNBOUND, seen(9, stuck), TRANSFER).effects).toEqual(['RemoveHint', 'Release']);
    expect(verify(UNBOUND, seen(9, stuck), FAILOVER).effects).toEqual(['RemoveHint', 'Release']);
    expect(verify(UNBOUND, seen(9, stuck), ADMISSION)).toEqual({ run: UNBOUND, effects: [] });
  });

  it('is stuck when its node has refused it for longer than half a minute', () => {
    const stuckAfter = (age: number, waiting: Replacement['waiting'] = REFUSED) =>
      isStuck({ waiting, age: seconds(age) });
    expect([stuckAfter(STUCK_PATIENCE), stuckAfter(STUCK_PATIENCE + 1)]).toEqual([false, true]);
    expect(stuckAfter(99, { ...REFUSED, pinnedTo: undefined })).toBe(false);
    expect(stuckAfter(99, { ...REFUSED, unschedulable: false })).toBe(false);
    expect(isStuck({ waiting: undefined, age: seconds(99) })).toBe(false);
  });

  it('is looked for anew when it is gone; an admission whose pod is gone has failed', () => {
    expect(verify(UNBOUND, seen(9), TRANSFER)).toEqual({ run: run('AwaitingReplacement'), effects: [] });
    expect(verify(UNBOUND, seen(9), ADMISSION).run).toMatchObject({
      phase: 'Failed',
      outcome: 'the pod was gone before it ran',
      finishedAt: instant(9),
    });
  });
});

describe('a move that waits for its pod to go', () => {
  const AWAITING = run('AwaitingReplacement');

  it.each<[string, PlannedMove, string]>([
    ['a preemption', aPreemption(POD), 'left its node'],
    ['a removal', aRemoval(POD), 'removed'],
  ])('is over as soon as the pod is gone, as %s', (_, move, outcome) => {
    expect(awaitReplacement(AWAITING, seen(9, {}, { pod: 'Terminating' }), move).run).toBe(AWAITING);
    const end = awaitReplacement(AWAITING, seen(9, {}), move).run;
    expect(end).toMatchObject({ phase: 'Vacated', outcome, finishedAt: instant(9) });
    expect(end).not.toHaveProperty('unavailableSeconds');
  });

  it.each<[string, PlannedMove, Observation['pod'], MovePhase]>([
    ['is gone', TRANSFER, 'Gone', 'Vacated'],
    ['is going', TRANSFER, 'Terminating', 'AwaitingReplacement'],
    ['runs', TRANSFER, 'Running', 'AwaitingReplacement'],
    ['is gone from a failed node', FAILOVER, 'Gone', 'Vacated'],
    ['is going from a failed node', FAILOVER, 'Terminating', 'Vacated'],
    ['runs on a failed node', FAILOVER, 'Running', 'AwaitingReplacement'],
  ])('and whose controller wants no other, when the pod %s', (_, move, pod, phase) => {
    expect(awaitReplacement(AWAITING, seen(9, undefined, { pod, awaited: false }), move).run.phase).toBe(phase);
    expect(awaitReplacement(AWAITING, seen(9, undefined, { pod }), move).run.phase).toBe('AwaitingReplacement');
  });

  it.each<[string, PlannedMove, Observation['pod'], number | undefined]>([
    ['a pod that is gone', TRANSFER, 'Gone', 601],
    ['a pod that is gone from a failed node', FAILOVER, 'Gone', undefined],
    ['a pod that goes from a failed node', FAILOVER, 'Terminating', undefined],
  ])('fails ten minutes later when the controller makes none, for %s', (_, move, pod, cost) => {
    const at = (span: number) => awaitReplacement(AWAITING, seen(span, undefined, { pod }), move).run;
    expect(at(REPLACEMENT_DEADLINE).phase).toBe('AwaitingReplacement');
    expect(at(REPLACEMENT_DEADLINE + 1)).toMatchObject({
      phase: 'Failed',
      outcome: 'its controller created no replacement',
    });
    expect(at(REPLACEMENT_DEADLINE + 1).unavailableSeconds).toBe(cost);
  });

  it('goes on with the replacement as soon as there is one', () => {
    const found = (replacement: Partial<Replacement>) => awaitReplacement(AWAITING, seen(9, replacement), TRANSFER);
    expect(found({}).run).toEqual({ ...UNBOUND });
    expect(found({}).effects).toEqual([]);
    expect(found({ waiting: GATED }).effects).toEqual(['OpenGate']);
    expect(found({ node: 'b' })).toEqual({ run: BOUND, effects: ['RemoveHint'] });
  });

  it('says after a minute what the deletion waits for', () => {
    const at = (span: number, deletion: Observation['deletion'], before = AWAITING) =>
      awaitReplacement(before, seen(span, undefined, { pod: 'Terminating', deletion }), TRANSFER).run.waitingFor;
    const began = `the deletion of its pod began at ${instant(0)}`;
    const finalizers = ['example.com/one', 'example.com/two'];
    expect(at(60, undefined)).toBeUndefined();
    expect(at(61, undefined)).toBe(began);
    expect(at(61, { due: later(62), finalizers })).toBe(`${began}: its grace period ends at ${instant(62)}`);
    expect(at(62, { due: later(62), finalizers })).toBe(
      `${began}: it waits for its finalizers (example.com/one, example.com/two)`,
    );
    expect(at(63, { due: later(62), finalizers: [] })).toBe(`${began}: its grace period ends at ${instant(62)}`);
    expect(at(60, undefined, { ...AWAITING, waitingFor: 'known' })).toBe('known');
    const told = { ...AWAITING, waitingFor: began };
    expect(awaitReplacement(told, seen(99, undefined, { pod: 'Terminating' }), TRANSFER).run).toBe(told);
    expect(awaitReplacement(AWAITING, seen(61, undefined, { pod: 'Running' }), TRANSFER).run).toBe(AWAITING);
  });

  it('counts ten minutes for the replacement from when the pod was gone that it has waited for', () => {
    const waited = { ...AWAITING, waitingFor: 'its finalizers' };
    const gone = awaitReplacement(waited, seen(5_000), TRANSFER).run;
    expect(gone).toEqual({ ...AWAITING, goneAt: instant(5_000) });
    expect(awaitReplacement(gone, seen(5_600), TRANSFER).run).toBe(gone);
    expect(awaitReplacement(gone, seen(5_601), TRANSFER).run.phase).toBe('Failed');
  });
});
