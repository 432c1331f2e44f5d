import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import type { PdbInfo } from '../../../../src/model/workload.ts';
import { perOwner } from '../../../../src/plan/budgets/per-key.ts';
import type { BudgetOptions, PolicyOptions } from '../../../../src/plan/options.ts';
import type { Plan, Transfer } from '../../../../src/plan/plan.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { listRejections } from '../../../../src/plan/rejections.ts';
import { aBudget, greedyLb, refineLb, someOptions } from '../../../support/builders/options.ts';
import { aNode, anOwner, aPdb, aPod, aSnapshot, aWorkload, selecting } from '../../../support/builders.ts';
import { transfersOf } from '../../../support/transfers.ts';

/** Twelve pods of 5 % each: all `web` in `shop` on node a, and `api` in `bank` on node b; nodes c and d are empty. */
function crowded(pdbs: readonly PdbInfo[] = [], replicas = 12): ClusterSnapshot {
  const web = Array.from({ length: 12 }, (_, index) => aPod(`web-${index}`, { nodeName: 'a', labels: { app: 'web' } }));
  const api = Array.from({ length: 12 }, (_, index) =>
    aPod(`api-${index}`, { namespace: 'bank', nodeName: 'b', owner: 'api', labels: { app: 'api' } }),
  );
  const uses = Object.fromEntries([...web, ...api].map(({ namespace, name }) => [`${namespace}/${name}`, 200]));
  return aSnapshot({
    nodes: ['a', 'b', 'c', 'd'].map((name) => aNode(name)),
    pods: [...web, ...api],
    workloads: [aWorkload('web', { replicas }), aWorkload('api', { namespace: 'bank', replicas })],
    uses,
    pdbs,
  });
}

const STRATEGIES: readonly PolicyOptions['strategy'][] = [
  refineLb({ overload: 1 }),
  refineLb({ overload: 1, refinements: 'None' }),
  greedyLb({ tolerance: 0 }),
];

function planWith(budgets: readonly BudgetOptions[], snapshot = crowded(), strategy = STRATEGIES[0]): Plan {
  return plan(
    snapshot,
    someOptions({ budgets, ...(strategy && { strategy }), thresholds: { minImprovement: 0, minReduction: 0 } }),
  );
}

function countBy(found: Plan, key: (move: Transfer) => string): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(transfersOf(found), key)].map(([name, moves]) => [name, moves.length]));
}

function codes(found: Plan): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(found.rejections.reasons, ({ code }) => code)].map(([code, list]) => [code, list.length]),
  );
}

describe.each(STRATEGIES.map((strategy) => ({ name: JSON.stringify(strategy), strategy })))(
  'budgets under $name',
  ({ strategy }) => {
    it('without any the plan balances', () => {
      expect(planWith([], crowded(), strategy).spread.planned).toBeLessThan(0.01);
    });

    it('says what a budget of one allows in the singular', () => {
      const messages = (budget: Partial<BudgetOptions>) =>
        new Set(
          listRejections(planWith([aBudget(budget)], crowded(), strategy).rejections).map(({ message }) => message),
        );
      expect(messages({ maxMoves: 1 })).toContain('the plan already has 1 move');
      expect(messages({ perNode: 1 })).toContain('the plan takes 1 pod from a, perNode allows no more');
      expect(messages({ perNamespace: 1 })).toContain(
        'the plan moves 1 pod of namespace shop, perNamespace allows no more',
      );
      expect(messages({ perOwner: { kind: 'Count', count: 1 } })).toContain(
        'the plan moves 1 pod of ReplicaSet web, which has 12 replicas, perOwner allows no more',
      );
    });

    it('maxMoves ends the plan, and the pods that would have moved say so', () => {
      const found = planWith([aBudget({ maxMoves: 3 })], crowded(), strategy);
      expect(found.moves).toHaveLength(3);
      expect(codes(found).MaxMoves).toBeGreaterThan(0);
    });

    it('maxMoves 0 allows nothing', () => {
      expect(planWith([aBudget({ place: 1, maxMoves: 0 })], crowded(), strategy).outcome).toEqual({
        kind: 'BudgetExhausted',
        message: 'no moves: budgets[1] has maxMoves 0',
      });
    });

    it('perNode limits what is taken from one node', () => {
      const found = planWith([aBudget({ perNode: 2 })], crowded(), strategy);
      expect(countBy(found, ({ from }) => from)).toEqual({ a: 2, b: 2 });
      expect(codes(found).PerNode).toBeGreaterThan(0);
    });

    it('perNamespace limits the pods of a namespace', () => {
      const found = planWith([aBudget({ perNamespace: 4 })], crowded(), strategy);
      expect(countBy(found, ({ pod }) => pod.namespace)).toEqual({ shop: 4, bank: 4 });
      expect(codes(found).PerNamespace).toBeGreaterThan(0);
    });

    it('perOwner as a share of the replicas is rounded up', () => {
      const found = planWith([aBudget({ perOwner: { kind: 'Share', share: 0.21 } })], crowded([], 10), strategy);
      expect(countBy(found, ({ owner }) => owner.name)).toEqual({ web: 3, api: 3 });
      expect(codes(found).PerOwner).toBeGreaterThan(0);
    });

    it('of several entries the most restrictive wins, limit by limit', () => {
      const found = planWith(
        [aBudget({ perNode: 1, maxMoves: 9 }), aBudget({ perNode: 5, maxMoves: 1 })],
        crowded(),
        strategy,
      );
      expect(found.moves).toHaveLength(1);
    });

    it('a PodDisruptionBudget allows no more than disruptionsAllowed', () => {
      const pdb = aPdb('web', { selector: selecting({ app: 'web' }), disruptionsAllowed: 2 });
      const found = planWith([], crowded([pdb]), strategy);
      expect(countBy(found, ({ owner }) => owner.name)).toMatchObject({ web: 2 });
      expect(codes(found).PodDisruptionBudget).toBeGreaterThan(0);
    });
  },
);

describe('a PodDisruptionBudget', () => {
  it('that allows nothing keeps its pods where they are', () => {
    const found = planWith([], crowded([aPdb('web', { disruptionsAllowed: 0 })]));
    expect(countBy(found, ({ owner }) => owner.name)).toEqual({ api: 6 });
    expect(listRejections(found.rejections).find(({ pod }) => pod.name === 'web-0')).toMatchObject({
      code: 'PodDisruptionBudget',
      message: 'PodDisruptionBudget shop/web allows 0 disruptions',
      numbers: { disruptionsAllowed: 0 },
    });
  });

  it('does not reach into other namespaces, and selects nothing with a null selector', () => {
    expect(
      planWith([], crowded([aPdb('web', { namespace: 'bank', selector: undefined, disruptionsAllowed: 0 })])).moves,
    ).toHaveLength(12);
  });

  it('is one too many when another selects the same pod: the eviction API would answer 500', () => {
    const both = [aPdb('one', { disruptionsAllowed: 5 }), aPdb('two', { disruptionsAllowed: 5 })];
    const found = planWith([], crowded(both));
    expect(countBy(found, ({ owner }) => owner.name)).toEqual({ api: 6 });
    expect(listRejections(found.rejections).find(({ pod }) => pod.name === 'web-0')).toMatchObject({
      code: 'PodDisruptionBudget',
      message: '2 PodDisruptionBudgets select it (one, two): the eviction API refuses such pods',
    });
  });
});

describe('what a budget refuses', () => {
  it('is made up for by other pods of the same node', () => {
    const pods = [
      ...Array.from({ length: 8 }, (_, index) => aPod(`web-${index}`, { nodeName: 'a' })),
      ...Array.from({ length: 8 }, (_, index) => aPod(`api-${index}`, { nodeName: 'a', owner: 'api' })),
    ];
    const uses = Object.fromEntries(pods.map(({ name }) => [name, name.startsWith('web') ? 250 : 200] as const));
    const snapshot = aSnapshot({ nodes: ['a', 'b', 'c'].map((name) => aNode(name)), pods, uses });
    for (const strategy of STRATEGIES) {
      const found = planWith([aBudget({ perOwner: { kind: 'Count', count: 6 } })], snapshot, strategy);
      expect(countBy(found, ({ owner }) => owner.name).web).toBeGreaterThanOrEqual(5);
      expect(countBy(found, ({ owner }) => owner.name).api).toBeGreaterThanOrEqual(4);
      expect(found.spread.planned).toBeLessThan(0.1);
    }
  });
});

describe('a limit', () => {
  it.each([
    { share: 0.07, replicas: 100, limit: 7 },
    { share: 0.25, replicas: 2, limit: 1 },
    { share: 0.25, replicas: 4, limit: 1 },
    { share: 0.25, replicas: 5, limit: 2 },
    { share: 0, replicas: 100, limit: 0 },
  ])('of $share of $replicas replicas is $limit', ({ share, replicas, limit }) => {
    const budget = perOwner([aBudget({ perOwner: { kind: 'Share', share } })], {
      list: [anOwner('web', { replicas })],
      ofPod: new Int32Array(200),
    });
    let allowed = 0;
    while (allowed < 200 && budget?.check(0) === undefined) {
      budget?.spend(0);
      allowed += 1;
    }
    expect(allowed).toBe(limit);
  });

  it('that is not a number allows nothing', () => {
    for (const broken of [{ maxMoves: Number.NaN }, { perNode: Number.NaN }, { perNamespace: Number.NaN }]) {
      expect(planWith([aBudget(broken)]).moves).toEqual([]);
    }
  });
});
