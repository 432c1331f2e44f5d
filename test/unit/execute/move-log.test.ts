import { describe, expect, it } from 'vitest';
import type { MovePhase, MoveStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { logMove, nameOf, reasonOf } from '../../../src/execute/move-log.ts';
import { aFailover, aMove, anAdmission, aPlan, aPreemption, aRemoval } from '../../support/builders/plan.ts';
import { aPodOf } from '../../support/builders.ts';
import { LOGGED_MOVE, policy, WEB_1, web } from '../../support/execution.ts';
import type { LoggedLine } from '../../support/fake-world.ts';

type Run = Partial<MoveStatus>;

/** What is logged when a move has gone from one state to another. */
function logged(before: Run, after: Run): readonly LoggedLine[] {
  const lines: LoggedLine[] = [];
  const move = aMove(WEB_1, 'b');
  const run = (state: Run): MoveStatus => ({ podUID: WEB_1.uid, phase: 'Planned', attempt: 0, ...state });
  const entry = { index: 0, move, run: run(after) };
  logMove((line, fields) => void lines.push({ line, fields }), aPlan(policy, [move]), entry, run(before));
  return lines;
}

const WHY = 'a test wants it so';

describe('the log of a move', () => {
  it.each<[string, Run, Run, string | undefined]>([
    ['is to be evicted', {}, { phase: 'Intent' }, undefined],
    ['was evicted', { phase: 'Intent' }, { phase: 'Evicting' }, 'pod evicted'],
    ['had no answer', { phase: 'Intent' }, { phase: 'Evicting', outcome: 'reset' }, 'eviction unanswered'],
    ['is seen to go before there was an answer', { phase: 'Intent' }, { phase: 'AwaitingReplacement' }, 'pod evicted'],
    [
      'is seen to go without an answer',
      { phase: 'Evicting', outcome: 'reset' },
      { phase: 'AwaitingReplacement' },
      'pod evicted',
    ],
    ['is seen to go after its answer', { phase: 'Evicting' }, { phase: 'AwaitingReplacement' }, undefined],
    ['is looked at again', { phase: 'Evicting', outcome: 'reset' }, { phase: 'Evicting', outcome: 'reset' }, undefined],
    ['lost its replacement', { phase: 'Verifying' }, { phase: 'AwaitingReplacement' }, undefined],
    ['has a replacement', { phase: 'AwaitingReplacement' }, { phase: 'Verifying' }, undefined],
    ['has a replacement at once', { phase: 'Intent' }, { phase: 'Verifying' }, undefined],
    ['was refused', { phase: 'Planned' }, { phase: 'Planned', attempt: 1 }, 'move postponed'],
    [
      'was refused when it was to go',
      { phase: 'Intent', attempt: 1 },
      { phase: 'Planned', attempt: 2 },
      'move postponed',
    ],
    ['goes back without a try', { phase: 'Intent', attempt: 1 }, { phase: 'Planned', attempt: 1 }, undefined],
    ['is refused for good', { attempt: 4 }, { phase: 'Skipped', attempt: 5 }, 'move skipped'],
    ['landed', { phase: 'Verifying' }, { phase: 'Landed' }, 'move landed'],
    ['missed its node', { phase: 'Verifying' }, { phase: 'Missed' }, 'move missed'],
    ['failed', { phase: 'Verifying' }, { phase: 'Failed' }, 'move failed'],
    ['left', { phase: 'AwaitingReplacement' }, { phase: 'Vacated' }, 'move vacated'],
    ['did not begin', {}, { phase: 'Aborted' }, 'move aborted'],
    ['had ended before', { phase: 'Landed' }, { phase: 'Landed' }, undefined],
  ])('of a pod that %s', (_, before, after, line) => {
    expect(logged(before, after).map((each) => each.line)).toEqual(line === undefined ? [] : [line]);
  });

  it('says why a pod was evicted, and how that is known', () => {
    expect(logged({ phase: 'Intent' }, { phase: 'Evicting' })[0]?.fields).toEqual({
      ...LOGGED_MOVE,
      result: 'the API server accepted the eviction',
      why: WHY,
    });
    expect(logged({ phase: 'Intent' }, { phase: 'AwaitingReplacement' })[0]?.fields).toEqual({
      ...LOGGED_MOVE,
      result: 'the eviction had no answer, and the pod is gone or terminating',
      why: WHY,
    });
    expect(logged({ phase: 'Intent' }, { phase: 'Evicting', outcome: 'reset' })[0]?.fields).toEqual({
      ...LOGGED_MOVE,
      result: 'reset',
      why: WHY,
    });
  });

  it('says when a move is tried again', () => {
    const notBefore = '2026-01-01T12:00:10Z';
    expect(logged({}, { attempt: 1, notBefore, outcome: 'refused' })[0]?.fields).toEqual({
      ...LOGGED_MOVE,
      result: 'refused',
      attempt: 1,
      notBefore,
    });
  });

  it.each<MovePhase>(['Landed', 'Missed', 'Failed'])(
    'says of a move that has %s which pod replaces it, and what that cost',
    (phase) => {
      const replacement = { name: 'web-9', uid: 'uid-web-9' };
      const after = { phase, replacement, unavailableSeconds: 7, outcome: 'as it was' };
      const told = { ...LOGGED_MOVE, result: 'as it was', replacement: 'shop/web-9', unavailableSeconds: 7 };
      expect(logged({ phase: 'Verifying' }, after)[0]?.fields).toEqual(told);
      expect(logged({ phase: 'Verifying' }, { phase })[0]?.fields).toEqual({ ...LOGGED_MOVE, result: phase });
    },
  );
});

it('a move is named by its pod, and what it is for', () => {
  const pod = aPodOf(web, 'web-1', 'a');
  const moves = [aMove(pod, 'b'), aFailover(pod, 'b'), aPreemption(pod), anAdmission(pod, 'b'), aRemoval(pod)];
  expect(moves.map(reasonOf)).toEqual(['Balance', 'Failover', 'Preemption', 'Admission', 'Removal']);
  const run = { podUID: pod.uid, phase: 'Planned', attempt: 0 } as const;
  expect(nameOf({ index: 0, move: aMove(pod, 'b'), run })).toBe('move of shop/web-1');
});
