import { describe, expect, it } from 'vitest';
import type { Budget, BudgetRefusal } from '../../../src/plan/budgets/budget.ts';
import type { State } from '../../../src/plan/state.ts';
import { type ExplainInput, explainStay } from '../../../src/plan/stay-reason.ts';
import { aSpread, aTaint, aToleration } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, type NodeFields, type PodFields } from '../../support/builders.ts';
import { stateOf } from '../../support/state.ts';

const PERCENT = 1e7;
const FREE: Budget = { check: () => undefined, spend: () => undefined, refund: () => undefined };
const REFUSAL: BudgetRefusal = { code: 'PerNode', message: 'no more from n0', numbers: { limit: 1 } };

/** Pod 0 of 10 % on node 0, where others use `rest` percent; the other nodes of ten cores are at these percentages. */
function among(rest: number, others: readonly (readonly [number, NodeFields?])[], fields: PodFields = {}): State {
  const tolerations = [aToleration({ key: 'old' })];
  const nodes = [aNode('n0', { allocatable: { cpu: 10_000 }, labels: { zone: 'n0' } })].concat(
    others.map(([, each], place) =>
      aNode(`n${place + 1}`, { allocatable: { cpu: 10_000 }, labels: { zone: `n${place + 1}` }, ...each }),
    ),
  );
  const loads = [rest, ...others.map(([load]) => load)];
  const fillers = loads.map((_, place) =>
    aPod(`b${place}`, { nodeName: `n${place}`, constraints: { requests: { cpu: 1 }, tolerations } }),
  );
  const pod = aPod('a', { nodeName: 'n0', constraints: { requests: { cpu: 1000 } }, ...fields });
  const uses = Object.fromEntries([['a', 1000], ...loads.map((load, place) => [`b${place}`, load * 100] as const)]);
  return stateOf(aSnapshot({ nodes, pods: [pod, ...fillers], uses }));
}

function reasonOf(state: State, fields: Partial<Omit<ExplainInput, 'bounds'>> & Partial<ExplainInput['bounds']> = {}) {
  const { sourceAbove = 20 * PERCENT, targetBelow = 40 * PERCENT, targetUpTo = 45 * PERCENT, ...rest } = fields;
  const bounds = { belowCode: 'NotHeavy' as const, sourceAbove, targetBelow, targetUpTo, rule: 'the rule' };
  return explainStay({ state, bounds, minGain: PERCENT, budgets: FREE, refused: new Map(), ...rest })(0);
}

const HARD: NodeFields = { taints: [aTaint('old')] };
const TIGHT: NodeFields = { allocatable: { cpu: 1000 } };

describe('why a pod stays', () => {
  it('is first that its node is not above the limit', () => {
    const below = {
      code: 'NotHeavy',
      message: 'n0 at 60.00 % is not above 60.00 % (the rule)',
      numbers: { load: 0.6, limit: 0.6 },
    };
    const refused = new Map([[0, REFUSAL]]);
    expect(reasonOf(among(50, [[10]]), { sourceAbove: 60 * PERCENT, refused })).toEqual(below);
    expect(reasonOf(among(50, [[10]]), { sourceAbove: 60 * PERCENT - 1, refused })).toEqual(REFUSAL);
  });

  it('is that it would only move the hot spot', () => {
    expect(reasonOf(among(25, [[30]]))).toEqual({
      code: 'TooLarge',
      message: 'adds 10.00 %: n1 would be at 40.00 %, its own node is at 35.00 %: only the hot spot would move',
      numbers: { load: 0.1, from: 0.35, after: 0.4 },
    });
    expect(reasonOf(among(30, [[30]]))?.code).toBe('TooLarge');
    expect(reasonOf(among(30, [[30]]), { minGain: 10 * PERCENT + 1 })?.code).toBe('GainTooSmall');
  });

  it('is that the target would be above its limit', () => {
    expect(reasonOf(among(50, [[36]]))).toEqual({
      code: 'TooLarge',
      message: 'adds 10.00 %: n1 would be at 46.00 %, above the limit of 45.00 % (the rule)',
      numbers: { load: 0.1, from: 0.6, after: 0.46, limit: 0.45 },
    });
    expect(reasonOf(among(50, [[35]]))?.code).toBe('InBalance');
    expect(reasonOf(among(50, [[36]]), { minGain: 20 * PERCENT })?.code).toBe('GainTooSmall');
  });

  it('is that it would gain too little', () => {
    expect(reasonOf(among(50, [[10]]), { minGain: 10 * PERCENT + 1 })).toEqual({
      code: 'GainTooSmall',
      message: 'would gain 10.00 % on n1, thresholds.minGain is 10.00 %',
      numbers: { load: 0.1, from: 0.6, after: 0.2, gain: 0.1, minGain: 0.100000001 },
    });
    expect(reasonOf(among(50, [[10]]), { minGain: 10 * PERCENT })?.code).toBe('InBalance');
  });

  it('is a budget, or else that the plan balances without it', () => {
    expect(reasonOf(among(50, [[10]]), { budgets: { ...FREE, check: () => REFUSAL } })).toEqual(REFUSAL);
    expect(reasonOf(among(50, [[10]]))).toEqual({
      code: 'InBalance',
      message: 'would gain 10.00 % on n1, but the plan balances without it',
      numbers: { load: 0.1, from: 0.6, after: 0.2 },
    });
  });

  it('is told by the least loaded node that takes it', () => {
    const name = (state: State) => /on (\w+),/.exec(reasonOf(state)?.message ?? '')?.[1];
    expect(name(among(50, [[20], [10], [30]]))).toBe('n2');
    expect(name(among(50, [[20], [20]]))).toBe('n1');
    expect(name(among(50, [[20], [10, HARD], [5, TIGHT]]))).toBe('n1');
  });
});

describe('why a pod fits nowhere else', () => {
  it('is that no other node is below the limit', () => {
    const none = { code: 'NoFeasibleNode', message: 'no other node is below the balance point', numbers: { nodes: 0 } };
    expect(reasonOf(among(50, [[40]]))).toEqual(none);
    expect(reasonOf(among(50, [[40 - 1e-7]]))?.code).not.toBe('NoFeasibleNode');
  });

  it('is what the only filter says of the least loaded node that refuses it', () => {
    expect(reasonOf(among(50, [[20, HARD], [10, HARD], [60]]))).toMatchObject({
      code: 'TaintToleration',
      message: 'fits on none of 2 nodes: n2 has the taint old:NoSchedule, which the pod does not tolerate',
      numbers: { nodes: 2 },
    });
    expect(reasonOf(among(50, [[20, HARD]]))?.message).toContain('fits on none of 1 node: n1 has');
    expect(reasonOf(among(50, [[2, TIGHT]]))).toEqual({
      code: 'NodeResourcesFit',
      message: 'fits on none of 1 node: n1 has 999m of 1000m cpu free',
      numbers: { nodes: 1, need: 1000, free: 999 },
    });
  });

  it('is how many nodes each filter refuses where several do', () => {
    expect(
      reasonOf(
        among(50, [
          [20, HARD],
          [2, TIGHT],
          [10, HARD],
        ]),
      ),
    ).toEqual({
      code: 'NoFeasibleNode',
      message: 'fits on none of 3 nodes: NodeResourcesFit on 1, TaintToleration on 2',
      numbers: { nodes: 3 },
    });
  });

  it('depends on where other pods are for a pod with a spread constraint', () => {
    const web = { labels: { app: 'web' }, constraints: { spread: [aSpread({ app: 'web' })] } };
    const state = among(50, [[10], [20]], web);
    expect(reasonOf(state)?.message).toContain('on n1, but');
    const crowd = Array.from({ length: 2 }, (_, place) =>
      aPod(`c${place}`, { nodeName: 'n1', labels: { app: 'web' } }),
    );
    const { nodes, pods } = state.cluster;
    const uses = Object.fromEntries(
      pods.map(({ name }, pod) => [name, name === 'a' ? 1000 : ([0, 5000, 1000, 2000][pod] ?? 0)]),
    );
    const crowded = stateOf(
      aSnapshot({ nodes: [...nodes], pods: [...pods, ...crowd], uses: { ...uses, c0: 0, c1: 0 } }),
    );
    expect(reasonOf(crowded)?.message).toContain('on n2, but');
  });
});
