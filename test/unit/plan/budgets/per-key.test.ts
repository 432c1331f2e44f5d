import { describe, expect, it } from 'vitest';
import type { MoveUnderWay } from '../../../../src/model/past-move.ts';
import { seconds } from '../../../../src/model/units.ts';
import type { Budget } from '../../../../src/plan/budgets/budget.ts';
import { perNamespace, perNode, perOwner } from '../../../../src/plan/budgets/per-key.ts';
import { aBudget } from '../../../support/builders/options.ts';
import { aNode, anOwner, aPod } from '../../../support/builders.ts';

const nodes = [aNode('a'), aNode('b')];
/** Pods 0 and 1 on a, 2 on b. */
const home = Int32Array.of(0, 0, 1);
const pods = [aPod('p'), aPod('q'), aPod('r', { namespace: 'bank' })];
/** The same pods by controller; a share of the replicas is 1 of web, and 2 of api. */
const owners = {
  list: [anOwner('web', { replicas: 2 }), anOwner('api', { replicas: 4 })],
  ofPod: Int32Array.of(0, 0, 1),
};

function underWay(fields: Partial<MoveUnderWay> = {}): MoveUnderWay {
  const base = { from: 'a', namespace: 'shop', owner: 'uid-web', isSent: true, cost: seconds(3) };
  return { purpose: 'one', ...base, ...fields };
}

const taken = (budget: Budget | undefined, pod: number): number | undefined =>
  Object.values(budget?.check(pod, 1)?.numbers ?? {})[0];

describe.each([
  {
    what: 'node',
    of: (limit: number, moves?: MoveUnderWay[]) => perNode([aBudget({ perNode: limit })], { home, nodes }, moves),
  },
  {
    what: 'namespace',
    of: (limit: number, moves?: MoveUnderWay[]) => perNamespace([aBudget({ perNamespace: limit })], pods, moves),
  },
  {
    what: 'controller',
    of: (count: number, moves?: MoveUnderWay[]) =>
      perOwner([aBudget({ perOwner: { kind: 'Count', count } })], owners, moves),
  },
])('a limit of each $what', ({ of }) => {
  it('is that of each alone, and is given back', () => {
    const budget = of(2);
    budget?.spend(0);
    expect([0, 1, 2].map((pod) => taken(budget, pod))).toEqual([undefined, undefined, undefined]);
    budget?.spend(1);
    expect([0, 1, 2].map((pod) => taken(budget, pod))).toEqual([2, 2, undefined]);
    budget?.refund(0);
    expect([0, 1, 2].map((pod) => taken(budget, pod))).toEqual([undefined, undefined, undefined]);
    budget?.spend(2);
    budget?.spend(2);
    expect([0, 1, 2].map((pod) => taken(budget, pod))).toEqual([undefined, undefined, 2]);
  });

  it('counts what is under way, once for each purpose', () => {
    expect(taken(of(1, [underWay()]), 0)).toBe(1);
    expect(taken(of(2, [underWay(), underWay()]), 0)).toBeUndefined();
    expect(taken(of(2, [underWay(), underWay({ purpose: 'two' })]), 0)).toBe(2);
    const elsewhere = underWay({ from: 'b', namespace: 'bank', owner: 'uid-api' });
    expect([0, 2].map((pod) => taken(of(1, [elsewhere]), pod))).toEqual([undefined, 1]);
    expect([0, 2].map((pod) => taken(of(1, [underWay(), elsewhere]), pod))).toEqual([1, 1]);
    const gone = underWay({ from: 'gone', namespace: 'gone', owner: 'gone' });
    expect([0, 2].map((pod) => taken(of(1, [gone]), pod))).toEqual([undefined, undefined]);
  });

  it('counts the preemptions that make room for one pod as one', () => {
    const budget = of(2);
    const preemptions = budget?.ofPreemptions;
    preemptions?.spend(0);
    preemptions?.spend(1);
    preemptions?.spend(0);
    expect(taken(budget, 0)).toBeUndefined();
    preemptions?.close();
    preemptions?.spend(0);
    expect(taken(budget, 1)).toBe(2);
    expect([taken(preemptions, 0), taken(preemptions, 2)]).toEqual([undefined, undefined]);
    preemptions?.close();
    expect([taken(preemptions, 0), taken(preemptions, 2)]).toEqual([2, undefined]);
  });

  it('is given back once none of the preemptions for one pod is left', () => {
    const budget = of(1);
    const preemptions = budget?.ofPreemptions;
    preemptions?.spend(0);
    preemptions?.spend(1);
    preemptions?.refund(0);
    expect([taken(budget, 0), taken(preemptions, 0)]).toEqual([1, undefined]);
    preemptions?.refund(1);
    expect([taken(budget, 0), taken(preemptions, 0)]).toEqual([undefined, undefined]);
    budget?.spend(0);
    expect(taken(preemptions, 0)).toBe(1);
  });
});

describe('limits of several entries', () => {
  it('are the smallest that any of them sets, in any order', () => {
    for (const limits of [
      [1, 2],
      [2, 1],
    ]) {
      const ofNodes = perNode(
        limits.map((each) => aBudget({ perNode: each })),
        { home, nodes },
      );
      const ofNamespaces = perNamespace(
        limits.map((each) => aBudget({ perNamespace: each })),
        pods,
      );
      const ofOwners = perOwner(
        limits.map((count) => aBudget({ perOwner: { kind: 'Count', count } })),
        owners,
      );
      for (const budget of [ofNodes, ofNamespaces, ofOwners]) {
        expect(taken(budget, 0)).toBeUndefined();
        budget?.spend(0);
        expect(taken(budget, 0)).toBe(1);
      }
    }
  });

  it('are none where no entry sets one', () => {
    const entries = [aBudget({ maxMoves: 1 }), aBudget({})];
    expect([perNode(entries, { home, nodes }), perNamespace(entries, pods), perOwner(entries, owners)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(perNode([aBudget({}), aBudget({ perNode: 0 })], { home, nodes })?.check(0, 1)?.code).toBe('PerNode');
  });

  it('of a share are those of the replicas of each controller', () => {
    const budget = perOwner([aBudget({ perOwner: { kind: 'Share', share: 0.5 } })], owners);
    budget?.spend(0);
    budget?.spend(2);
    expect([taken(budget, 0), taken(budget, 2)]).toEqual([1, undefined]);
    budget?.spend(2);
    expect(budget?.check(2, 1)).toEqual({
      code: 'PerOwner',
      message: 'the plan moves 2 pods of ReplicaSet api, which has 4 replicas, perOwner allows no more',
      numbers: { moved: 2, limit: 2, replicas: 4 },
    });
  });
});
