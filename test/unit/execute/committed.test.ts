import { describe, expect, it } from 'vitest';
import type { MovePhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { beneficiaries, movesUnderWay, openMoves } from '../../../src/execute/committed.ts';
import type { PlannedMove } from '../../../src/execute/move.ts';
import { aFailover, aMove, anAdmission, aPlan, aPreemption, aRemoval } from '../../support/builders/plan.ts';
import { API_1, DB_0, PLAN, policy, WEB_1, WEB_2 } from '../../support/execution.ts';

function aPlanIn(moves: readonly (readonly [PlannedMove, MovePhase])[]): RebalancePlan {
  return aPlan(
    policy,
    moves.map(([move]) => move),
    { moves: moves.map(([{ pod }, phase]) => ({ podUID: pod.uid, phase, attempt: 0 })) },
  );
}

function open(plan: RebalancePlan) {
  const { committed, pending } = openMoves(plan);
  return { committed: committed.map(({ index }) => index), pending: pending.map(({ index }) => index) };
}

describe('the moves of a plan that have not ended', () => {
  it('stay with it once they are in flight, and not before', () => {
    const plan = aPlanIn([
      [aMove(WEB_1, 'b'), 'Planned'],
      [aMove(WEB_2, 'b'), 'Intent'],
      [aMove(API_1, 'b'), 'Landed'],
      [aMove(DB_0, 'b'), 'Verifying'],
    ]);
    expect(open(plan)).toEqual({ committed: [1, 3], pending: [0] });
  });

  it('are none of a plan that is not carried out', () => {
    const plan = aPlanIn([[aMove(WEB_1, 'b'), 'Intent']]);
    expect(open({ ...plan, status: { ...plan.status, phase: 'Completed' } })).toEqual({ committed: [], pending: [] });
  });

  it.each<[MovePhase, readonly number[], readonly number[]]>([
    ['Planned', [], [0, 1, 2, 3]],
    ['Intent', [0, 1, 2], [3]],
    ['Vacated', [1, 2], [3]],
    ['Skipped', [], [1, 2, 3]],
  ])('include who waits and the other preemptions for it, once the first is %s', (phase, committed, pending) => {
    const plan = aPlanIn([
      [aPreemption(WEB_1), phase],
      [aPreemption(API_1), 'Planned'],
      [anAdmission(DB_0, 'b', [0, 1]), 'Planned'],
      [aMove(WEB_2, 'c'), 'Planned'],
    ]);
    expect(open(plan)).toEqual({ committed, pending });
  });

  it('include nobody who only waits for a move that is no preemption', () => {
    const plan = aPlanIn([
      [aMove(WEB_1, 'b'), 'Intent'],
      [anAdmission(DB_0, 'a', [0]), 'Planned'],
    ]);
    expect(open(plan)).toEqual({ committed: [0], pending: [1] });
  });
});

describe('whom a preemption makes room for', () => {
  it('is the first that needs it: an admission, or a move from a failed node', () => {
    const plan = aPlanIn([
      [aPreemption(WEB_1), 'Planned'],
      [aMove(API_1, 'b'), 'Planned'],
      [{ ...aMove(WEB_2, 'c'), after: [0] }, 'Planned'],
      [aFailover(DB_0, 'a', [0, 1, 9]), 'Planned'],
      [anAdmission({ ...DB_0, uid: 'uid-db-1' }, 'a', [0]), 'Planned'],
    ]);
    expect([...beneficiaries(plan)]).toEqual([[0, 3]]);
  });
});

describe('the evictions that count against budgets', () => {
  it('are those that have begun or are bound to come, with what they cost and what they are for', () => {
    const plan = aPlanIn([
      [{ ...aPreemption(WEB_1), cost: '12.5' }, 'Evicting'],
      [aPreemption(API_1), 'Planned'],
      [anAdmission({ ...DB_0, uid: 'uid-db-1' }, 'b', [0, 1]), 'Planned'],
      [aMove(DB_0, 'b'), 'Verifying'],
      [aMove(WEB_2, 'c'), 'Planned'],
    ]);
    const common = { from: 'a', namespace: 'shop' };
    const found = movesUnderWay([plan]).toSorted((left, right) => (left.owner < right.owner ? -1 : 1));
    expect(found).toEqual([
      { ...common, purpose: `${PLAN} 2`, owner: 'uid-api', isSent: false, cost: 0 },
      { ...common, purpose: `${PLAN} 3`, owner: 'uid-db', isSent: true, cost: 0 },
      { ...common, purpose: `${PLAN} 2`, owner: 'uid-web', isSent: true, cost: 12.5 },
    ]);
  });

  it('are none from failed nodes, but removals are', () => {
    const plan = aPlanIn([
      [aFailover(WEB_1, 'b'), 'Evicting'],
      [aRemoval(API_1), 'Evicting'],
      [anAdmission(DB_0, 'b'), 'Intent'],
    ]);
    expect(movesUnderWay([plan]).map(({ owner }) => owner)).toEqual(['uid-api']);
    expect(movesUnderWay([])).toEqual([]);
  });
});
