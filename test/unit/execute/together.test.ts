import { describe, expect, it } from 'vitest';
import type { MovePhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { entries } from '../../../src/execute/journal.ts';
import type { PlannedMove } from '../../../src/execute/move.ts';
import type { StoppedMoves } from '../../../src/execute/stop-rules.ts';
import { allowedTogether, nextDisruption, type StopRule, withoutIntents } from '../../../src/execute/together.ts';
import { aFailover, aMove, anAdmission, aPlan, aPreemption, aRemoval } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { API_1, DB_0, policy, WEB_1, WEB_2 } from '../../support/execution.ts';

function aPlanIn(moves: readonly PlannedMove[], phases: readonly MovePhase[]): RebalancePlan {
  const runs = moves.map(({ pod: { uid } }, index) => ({
    podUID: uid,
    phase: phases[index] ?? 'Planned',
    attempt: 0,
  }));
  return aPlan(policy, moves, { moves: runs });
}

describe('the next move that takes a pod away which runs', () => {
  const moves = [aMove(WEB_1, 'b'), aPreemption(API_1)];

  it('is the first that is Planned still', () => {
    expect(nextDisruption(aPlanIn(moves, []))).toEqual([moves[0]]);
    expect(nextDisruption(aPlanIn(moves, ['Landed']))).toEqual([moves[1]]);
    expect(nextDisruption(aPlanIn(moves, ['Landed', 'Intent']))).toEqual([]);
  });

  it('is none that costs no service', () => {
    const harmless = [anAdmission(WEB_1, 'b'), aFailover(WEB_2, 'b'), aRemoval(DB_0)];
    expect(nextDisruption(aPlanIn(harmless, []))).toEqual([]);
    expect(nextDisruption(aPlanIn([...harmless, aMove(API_1, 'b')], []))).toEqual([aMove(API_1, 'b')]);
  });
});

describe('moves that a rule lets begin together', () => {
  const moves = [aMove(WEB_1, 'b'), aFailover(WEB_2, 'c'), aMove(API_1, 'd')];
  const ready = entries(aPlanIn(moves, []));
  const atMost =
    (most: number, stops: StoppedMoves): StopRule =>
    (next) =>
      next.length > most ? { reason: 'BudgetExhausted', message: 'full', stops } : undefined;
  const allowed = (rule: StopRule | undefined) => allowedTogether(ready, rule).map(({ index }) => index);

  it('are all without a rule, or where it has room for all', () => {
    expect(allowed(undefined)).toEqual([0, 1, 2]);
    expect(allowed(atMost(3, 'All'))).toEqual([0, 1, 2]);
  });

  it('are each beside those before it', () => {
    expect(allowed(atMost(2, 'All'))).toEqual([0, 1]);
    expect(allowed(atMost(0, 'All'))).toEqual([]);
  });

  it('include what the rule does not stop', () => {
    expect(allowed(atMost(0, 'Disruptions'))).toEqual([1]);
    expect(allowed(atMost(1, 'Disruptions'))).toEqual([0, 1]);
  });

  it('leave room that one did not get to the next', () => {
    const notWeb: StopRule = (next) =>
      next.some(({ pod }) => pod.uid === WEB_1.uid)
        ? { reason: 'BudgetExhausted', message: 'none of web', stops: 'All' }
        : undefined;
    expect(allowed(notWeb)).toEqual([1, 2]);
  });
});

describe('all plans before the intents of one were stored', () => {
  it('have these moves Planned, and all others as they stand', () => {
    const moves = [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'd')];
    const plan = aPlanIn(moves, ['Intent', 'Intent', 'Landed']);
    const other = aPlan(aPolicy('other'), [aMove(WEB_2, 'c')], {
      moves: [{ podUID: WEB_2.uid, phase: 'Intent', attempt: 0 }],
    });
    const all = entries(plan);
    const before = withoutIntents([other, plan], plan, all.slice(1, 2));
    expect(before).toHaveLength(2);
    expect(before[0]).toBe(other);
    expect(before[1]?.status?.moves?.map(({ phase }) => phase)).toEqual(['Intent', 'Planned', 'Landed']);
    expect(before[1]?.metadata).toEqual(plan.metadata);
  });
});
