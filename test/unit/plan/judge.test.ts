import { describe, expect, it } from 'vitest';
import { allOf, type Budget, type BudgetRefusal } from '../../../src/plan/budgets/budget.ts';
import { createJudge, type Judge } from '../../../src/plan/judge.ts';
import type { State } from '../../../src/plan/state.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';
import { stateOf } from '../../support/state.ts';
import { loaded } from './strategies/loaded.ts';

const NO_LIMITS = { ...allOf([]), maxMoves: 1000 };

function judgeOver(state: State, budgets: readonly Budget[] = [], minGain = 5e6): Judge {
  return createJudge(state, { ...allOf(budgets), maxMoves: 1000 }, 'EachMove', minGain);
}

function aBudgetThatRefuses(code: BudgetRefusal['code']): Budget {
  return {
    check: () => ({ code, message: 'no', numbers: {} }),
    spend: () => undefined,
    refund: () => undefined,
  };
}

describe('whatever a strategy proposes, the planner', () => {
  it('accepts a move that is feasible, affordable and beneficial, and carries it out', () => {
    const state = stateOf(loaded([30, 20], [10]));
    const judge = judgeOver(state);
    expect(judge.judge({ pod: 1, to: 1 })).toEqual({ accepted: true });
    expect(state.nodeOf(1)).toBe(1);
    expect(judge.accepted).toMatchObject([
      { pod: 1, from: 0, to: 1, load: 2e8, gain: 2e8, before: { from: 5e8, to: 1e8 }, after: { from: 3e8, to: 3e8 } },
    ]);
    expect(judge.terms.movesLeft()).toBe(999);
  });

  it('refuses a pod that it has moved already', () => {
    const judge = judgeOver(stateOf(loaded([30, 20], [10], [0])));
    judge.judge({ pod: 1, to: 1 });
    expect(judge.judge({ pod: 1, to: 2 })).toEqual({ accepted: false, reach: 'Pod' });
  });

  it('refuses to move a pod to where it is, to a node that does not exist, or a pod that may not move', () => {
    const judge = judgeOver(stateOf(loaded([30, 20, 0], [10])));
    for (const proposal of [
      { pod: 0, to: 0 },
      { pod: 0, to: 9 },
      { pod: 0, to: -1 },
      { pod: 2, to: 1 },
      { pod: 99, to: 1 },
    ]) {
      expect(judge.judge(proposal)).toEqual({ accepted: false, reach: 'Pod' });
    }
    expect(judge.accepted).toEqual([]);
  });

  it('refuses a move that the filters do not allow at this position', () => {
    const requests = { cpu: 3000 };
    const pods = ['p', 'q', 'r'].map((name) => aPod(name, { nodeName: 'a', constraints: { requests } }));
    const nodes = [aNode('a', { allocatable: { cpu: 9000 } }), aNode('b')];
    const state = stateOf(aSnapshot({ nodes, pods, uses: { p: 300, q: 300, r: 5000 } }));
    const judge = judgeOver(state);
    expect(judge.judge({ pod: 0, to: 1 })).toEqual({ accepted: true });
    expect(judge.judge({ pod: 1, to: 1 })).toEqual({ accepted: false, reach: 'Move' });
    expect(state.nodeOf(1)).toBe(0);
  });

  it('refuses a move that gains too little, or raises the objective', () => {
    const judge = judgeOver(stateOf(loaded([30, 20], [10, 15])));
    expect(judge.judge({ pod: 0, to: 1 })).toEqual({ accepted: false, reach: 'Move' });
    const strict = judgeOver(stateOf(loaded([30, 4], [10])), [], 5e7);
    expect(strict.judge({ pod: 1, to: 1 })).toEqual({ accepted: false, reach: 'Move' });
  });

  it('does not ask for gain when the plan is judged as a whole', () => {
    const judge = createJudge(stateOf(loaded([30, 20], [10, 15])), NO_LIMITS, 'WholePlan', 5e6);
    expect(judge.judge({ pod: 0, to: 1 })).toEqual({ accepted: true });
  });

  it.each([
    ['Cooldown', 'Move'],
    ['PerOwner', 'Pod'],
    ['PerNode', 'Node'],
    ['MaxMoves', 'Plan'],
  ] as const)('refuses what exceeds %s, and says that this rules out every move of the %s', (code, reach) => {
    const judge = judgeOver(stateOf(loaded([30, 20], [10])), [aBudgetThatRefuses(code)]);
    expect(judge.judge({ pod: 1, to: 1 })).toEqual({ accepted: false, reach });
    expect(judge.refused.get(1)).toMatchObject({ code });
    expect(judge.terms.mayMove(0)).toBe(false);
  });
});
