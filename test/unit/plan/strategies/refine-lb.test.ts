import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../../src/plan/plan.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { applyPlan } from '../../../support/apply-plan.ts';
import { aBudget, refineLb, someOptions } from '../../../support/builders/options.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';
import { bestPossibleHighest, pictureOf } from '../../../support/oracle.ts';
import { transfersOf } from '../../../support/transfers.ts';
import { loaded } from './loaded.ts';

function steps({ moves }: Plan): readonly string[] {
  return moves.map(({ pod, to }) => `${pod.name} -> ${to}`);
}

const EAGER = { thresholds: { trigger: 0, minGain: 0, minImprovement: 0, minReduction: 0 } };

describe('RefineLB as published', () => {
  const published = (overload: number) =>
    someOptions({ strategy: refineLb({ overload, refinements: 'None' }), ...EAGER });

  it('takes the largest pod that fits, to the light node that it fills best', () => {
    // Mean 30, limit 30: p0-0 (20) would take n1 to 32 but n2 to 25; p0-1 (10) then fills n1 to 22.
    const snapshot = loaded([20, 10, 5, 5, 5], [12], [5], [58 - 20]);
    const found = plan(snapshot, published(1));
    expect(steps(found)[0]).toBe('p0-0 -> n2');
  });

  it('prefers the fuller of two light nodes', () => {
    const found = plan(loaded([20, 20, 20], [10], [15], [15, 20]), published(1.2));
    // Limit 36: 20 on n1 gives 30, on n2 35.
    expect(steps(found)[0]).toBe('p0-0 -> n2');
  });

  it('never takes a target above mean x overload, and so may leave a heavy node as it is', () => {
    const found = plan(loaded([50, 50], [10]), published(1));
    expect(found.outcome.kind).toBe('NoBeneficialMove');
  });

  it('comes back to a pod whose best target would have raised the objective', () => {
    // Found by fast-check: refused as a proposal, the pod was lost to the plan, and the next one moved it.
    const options = someOptions({
      strategy: refineLb({ overload: 1.2, refinements: 'None' }),
      thresholds: { trigger: 0, minGain: 0.025, minImprovement: 0, minReduction: 0 },
    });
    const sizes = [4000, 8000, 2000, 2000];
    const uses = { p2a: 500, p2b: 100, p2c: 500, p3a: 300 };
    const snapshot = aSnapshot({
      nodes: sizes.map((cpu, index) => aNode(`n${index}`, { allocatable: { cpu } })),
      pods: Object.keys(uses).map((name) => aPod(name, { nodeName: `n${name[1]}`, constraints: { requests: {} } })),
      uses,
    });
    const found = plan(snapshot, options);
    expect(found.moves.length).toBeGreaterThan(0);
    expect(plan(applyPlan(snapshot, found), options).moves).toEqual([]);
  });

  it('does nothing when no node is heavy', () => {
    expect(plan(loaded([20, 11], [30], [29]), published(1.05)).moves).toEqual([]);
  });
});

describe('RefineLB with its standard refinements', () => {
  const standard = (overload = 1) => someOptions({ strategy: refineLb({ overload }), ...EAGER });

  it('takes from the highest node the pod that evens out best, to the lowest', () => {
    const found = plan(loaded([40, 25, 10], [20, 20], [5], [20, 20]), standard());
    expect(steps(found)).toEqual(['p0-1 -> n2', 'p0-2 -> n2']);
    expect(found.spread.planned).toBeCloseTo(0, 9);
  });

  it('moves a pod that no light node could hold below the limit, as long as the highest node falls', () => {
    const found = plan(loaded([50, 50], [10]), standard());
    expect(steps(found)).toEqual(['p0-0 -> n1']);
    expect(found.imbalance.planned.cpu?.max).toBeCloseTo(0.6, 9);
  });

  it('stops at mean x overload', () => {
    const found = plan(loaded([10, 10, 10, 10, 10, 10], [10, 10, 10, 10]), standard(1.2));
    // Mean 50: 60 is not above 60.
    expect(found.moves).toEqual([]);
  });

  it('takes nothing from a node that is no longer heavy when its turn comes', () => {
    // Found by fast-check: a pod that the search moves twice goes straight to its last node, but later than others.
    const snapshot = loaded([25, 1, 23], [38, 14, 19, 1, 9], [32, 18, 37]);
    const found = plan(snapshot, standard());
    expect(found.moves.length).toBeGreaterThan(0);
    for (const [index, { from }] of transfersOf(found).entries()) {
      const { loads, mean } = pictureOf(applyPlan(snapshot, found, index), standard());
      expect(loads.get(from)).toBeGreaterThan(mean);
    }
  });

  it.each([
    ['n0', 'n1'],
    ['n1', 'n0'],
  ])('makes the move first that evens out most, to %s', (best, other) => {
    const nodes = ['n0', 'n1', 'n2'].map((name) =>
      aNode(name, { labels: { host: name }, allocatable: { cpu: 10_000 } }),
    );
    const only = (name: string, host: string) =>
      aPod(name, { nodeName: 'n2', constraints: { requests: {}, nodeSelector: new Map([['host', host]]) } });
    const pods = [only('big', best), only('small', other), only('rest', 'n2')];
    const snapshot = aSnapshot({ nodes, pods, uses: { big: 2500, small: 1500, rest: 4000 } });
    const options = { strategy: refineLb(), ...EAGER, budgets: [aBudget({ maxMoves: 1 })] };
    expect(steps(plan(snapshot, someOptions(options)))).toEqual([`big -> ${best}`]);
  });

  it('spreads what three nodes should share with as few moves as there are pods too many', () => {
    const found = plan(loaded(Array(30).fill(2), [], Array(30).fill(2)), standard());
    expect(found.moves).toHaveLength(20);
    expect(found.imbalance.planned.cpu).toMatchObject({ max: 0.4, range: 0 });
  });
});

describe('five nodes whose optimum is known (algorithms.md 9)', () => {
  // 5 x 100: perfect balance puts 60 + 40, 55 + 45, 50 + 50, 70 + 30 and 65 + 35 together.
  const snapshot = loaded([60, 55, 50], [70, 65], [40, 45], [50, 30], [35]);

  const options = someOptions({ strategy: refineLb({ overload: 1 }), ...EAGER });
  const optimum = bestPossibleHighest(snapshot, options);

  it('brute force finds the optimum', () => {
    expect(optimum).toBeCloseTo(1, 9);
  });

  it('RefineLB ends within 2 - 2/(m + 1) times the optimum', () => {
    const found = plan(snapshot, options);
    expect(found.imbalance.before.cpu?.max).toBeCloseTo(1.65, 9);
    expect(found.imbalance.planned.cpu?.max).toBeLessThanOrEqual((2 - 2 / 6) * optimum);
    expect(found.imbalance.planned.cpu?.max).toBeLessThanOrEqual(1.1 + 1e-9);
  });
});
