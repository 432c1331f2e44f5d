import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import type { Plan, Rejection } from '../../../src/plan/plan.ts';
import { plan } from '../../../src/plan/planner.ts';
import { listRejections } from '../../../src/plan/rejections.ts';
import { applyPlan } from '../../support/apply-plan.ts';
import {
  aBudget,
  greedyLb,
  HARD_TAINTS,
  type OptionFields,
  pack,
  refineLb,
  someOptions,
} from '../../support/builders/options.ts';
import { aTaint, aToleration } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, aWorkload, type PodFields, type SnapshotFields } from '../../support/builders.ts';

/** Node a with the given pods, in millicores of its 4000, and an empty node b. */
function twoNodes(uses: Record<string, number>, fields: PodFields = {}, rest: SnapshotFields = {}): ClusterSnapshot {
  const pods = Object.keys(uses).map((name) => aPod(name, { nodeName: 'a', ...fields }));
  return aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses, ...rest });
}

/** Nodes a and d stay 60 points apart, since the pods of the others are too large; one small pod of b may go to d. */
function apart(): ClusterSnapshot {
  const uses = { a1: 3600, b1: 2240, b2: 80, c1: 1920, d1: 1200 };
  const pods = Object.keys(uses).map((name) => aPod(name, { nodeName: name.charAt(0) }));
  return aSnapshot({ nodes: ['a', 'b', 'c', 'd'].map((name) => aNode(name)), pods, uses });
}

const FOUR = { p1: 400, p2: 400, p3: 400, p4: 400 };

function planFor(snapshot: ClusterSnapshot, fields: OptionFields = {}): Plan {
  return plan(snapshot, someOptions(fields));
}

function rejectionOf({ rejections }: Plan, name: string): Rejection | undefined {
  return listRejections(rejections).find(({ pod }) => pod.name === name);
}

describe('the outcome', () => {
  it('is Moves with the moves, their worth and what they lead to', () => {
    const found = planFor(twoNodes(FOUR), { strategy: refineLb({ overload: 1 }) });
    expect(found.outcome).toEqual({ kind: 'Moves', obstacle: undefined });
    expect(found.moves[0]).toEqual({
      pod: { namespace: 'shop', name: 'p1', uid: 'uid-shop-p1' },
      owner: { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' },
      from: 'a',
      to: 'b',
      load: 0.1,
      gain: 0.1,
      fallbacks: [],
      cost: 0,
      reason:
        'adds 10.00 % to its node: source 40.00 % -> 30.00 %, target 0.00 % -> 10.00 %, the higher one falls by 10.00 %',
      repairs: [],
      after: [],
      partner: undefined,
    });
    expect(found.spread).toEqual({ before: 0.4, planned: 0 });
    expect(found.imbalance.before.cpu).toEqual({ mean: 0.2, ema: 0.2, stddev: 0.2, range: 0.4, max: 0.4 });
    expect(found.imbalance.planned.cpu).toEqual({ mean: 0.2, ema: 0, stddev: 0, range: 0, max: 0.2 });
  });

  it('is Balanced below the trigger, and Moves at it', () => {
    const snapshot = twoNodes(FOUR);
    const balanced = planFor(snapshot, { thresholds: { trigger: 0.401 } });
    expect(balanced.outcome).toEqual({
      kind: 'Balanced',
      message: 'highest and lowest node are 40.00 % apart, thresholds.trigger is 40.10 %',
    });
    expect(new Set(balanced.rejections.reasons.map(({ code }) => code))).toEqual(new Set(['InBalance']));
    expect(balanced.spread).toEqual({ before: 0.4, planned: 0.4 });
    expect(planFor(snapshot, { thresholds: { trigger: 0.4 } }).outcome.kind).toBe('Moves');
  });

  it('is NothingToBalance without a second node, without nodes, and in the empty cluster', () => {
    expect(planFor(aSnapshot({ nodes: [aNode('a')] })).outcome).toMatchObject({
      kind: 'NothingToBalance',
      message: expect.stringContaining('only one node takes part'),
    });
    expect(planFor(aSnapshot()).outcome).toMatchObject({
      kind: 'NothingToBalance',
      message: expect.stringContaining('no node takes part'),
    });
  });

  it('is Blocked when no pod may be moved, with what protects them', () => {
    expect(planFor(twoNodes(FOUR, { localStorage: true })).outcome).toEqual({
      kind: 'Blocked',
      message: 'all 4 pods in scope are protected by localStorage',
    });
  });

  it('is NoBeneficialMove when minGain is out of reach, with the reasons', () => {
    expect(planFor(twoNodes(FOUR), { thresholds: { minGain: 0.11 } }).outcome).toEqual({
      kind: 'NoBeneficialMove',
      message: 'no move helps; 4 pods that may be moved stay: GainTooSmall 4',
    });
  });

  it('is NoBeneficialMove when all moves together gain too little', () => {
    const found = planFor(twoNodes(FOUR), { thresholds: { minImprovement: 0.25 } });
    expect(found.outcome).toEqual({
      kind: 'NoBeneficialMove',
      message: 'the 2 moves of the plan would gain 20.00 % together, thresholds.minImprovement is 25.00 %',
    });
    expect(found.moves).toEqual([]);
    expect(found.spread.planned).toBe(found.spread.before);
    expect(rejectionOf(found, 'p1')?.code).toBe('GainTooSmall');
  });

  it('is NoBeneficialMove when all moves together leave the deviation nearly as it is', () => {
    const found = planFor(apart(), { strategy: refineLb({ overload: 1 }), thresholds: { trigger: 0.15 } });
    expect(found.outcome).toEqual({
      kind: 'NoBeneficialMove',
      message:
        'the 1 move of the plan would lower the standard deviation by 2.78 % of itself, and no node by thresholds.trigger 15.00 %; thresholds.minReduction is 5.00 %',
    });
    expect(found.moves).toEqual([]);
    expect(rejectionOf(found, 'b2')?.code).toBe('GainTooSmall');
  });

  it.each<[string, OptionFields]>([
    ['minReduction asks for no more', { thresholds: { trigger: 0.15, minReduction: 0.02 } }],
    ['a node falls by the trigger', { thresholds: { trigger: 0.02 } }],
    [
      'a budget leaves it only some of its moves',
      { thresholds: { trigger: 0.15 }, budgets: [aBudget({ maxMoves: 1 })] },
    ],
  ])('is Moves for as little when %s', (_, fields) => {
    expect(
      planFor(apart(), { strategy: refineLb({ overload: 1 }), ...fields }).moves.map(({ pod }) => pod.name),
    ).toEqual(['b2']);
  });

  it('says how much capacity is missing when even perfect balance would overload the nodes', () => {
    const found = planFor(
      twoNodes(
        { p1: 4500, p2: 4500 },
        { constraints: { requests: { cpu: 2000 } } },
        { nodes: [aNode('a'), aNode('b', { allocatable: { cpu: 1500 } })] },
      ),
    );
    expect(found.outcome).toMatchObject({ kind: 'NoBeneficialMove' });
    expect(found.outcome).toHaveProperty('message', expect.stringContaining('under-provisioned by 3.5 cores'));
  });
});

describe('a plan with repairs', () => {
  it('without a strategy says how evenly the cluster is loaded where that is known', () => {
    const found = planFor(twoNodes(FOUR), { strategy: { type: 'None' } });
    expect(found.outcome.kind).toBe('NothingToRepair');
    expect(found.imbalance.before.cpu?.max).toBe(0.4);
    expect(found.spread).toEqual({ before: 0.4, planned: 0.4 });
    const unknown = planFor(twoNodes(FOUR, {}, { usage: undefined }), { strategy: { type: 'None' } });
    expect(unknown.outcome.kind).toBe('NothingToRepair');
    expect([unknown.imbalance, unknown.spread]).toEqual([
      { before: {}, planned: {} },
      { before: 0, planned: 0 },
    ]);
  });

  it('says how uneven the cluster was before them', () => {
    const nodes = ['a', 'b'].map((name) => aNode(name, { labels: { zone: name } }));
    const nodeAffinity = [{ expressions: [{ key: 'zone', operator: 'In' as const, values: ['b'] }], fields: [] }];
    const pods = [aPod('p', { nodeName: 'a', constraints: { nodeAffinity } }), aPod('q', { nodeName: 'b' })];
    const found = planFor(aSnapshot({ nodes, pods, uses: { p: 1000, q: 200 } }), {
      repair: { nodeAffinity: 'Required' },
    });
    expect(found.moves.map(({ pod }) => pod.name)).toContain('p');
    expect(found.spread.before).toBe(0.2);
  });

  it('leaves the strategy as many moves as they have left', () => {
    const sized = (cpu: number) => ({ constraints: { requests: { cpu } } });
    const nodes = [aNode('a'), aNode('b'), aNode('old', { taints: [aTaint('old')] })];
    const pods = [
      ...['a1', 'a2'].map((name) => aPod(name, { nodeName: 'a', ...sized(400) })),
      aPod('b1', { nodeName: 'b', ...sized(2000), localStorage: true }),
      aPod('o1', { nodeName: 'old', ...sized(400) }),
    ];
    const kept = (maxMoves: number) => {
      const fields = { strategy: pack(), repair: { taints: HARD_TAINTS }, budgets: [aBudget({ maxMoves })] };
      const found = planFor(aSnapshot({ usage: undefined, nodes, pods }), fields);
      const reasons = found.packing?.kept.flatMap(({ node, reason }) => (node === 'a' ? [reason.message] : []));
      return [found.moves.map(({ pod }) => pod.name), reasons];
    };
    expect(kept(3)).toEqual([['o1', 'a1', 'a2'], []]);
    expect(kept(2)).toEqual([
      ['o1'],
      ['a takes 2 moves, and maxMoves leaves 1: a node is emptied whole or not at all'],
    ]);
  });
});

describe('a pod that stays', () => {
  it('is on a node that is not heavy', () => {
    const pods = [...Object.keys(FOUR).map((name) => aPod(name, { nodeName: 'a' })), aPod('q', { nodeName: 'c' })];
    const snapshot = aSnapshot({ nodes: ['a', 'b', 'c'].map((name) => aNode(name)), pods, uses: { ...FOUR, q: 560 } });
    expect(rejectionOf(planFor(snapshot), 'q')).toMatchObject({
      code: 'NotHeavy',
      message: 'c at 14.00 % is not above 18.90 % (mean 18.00 % x overload 1.05)',
      numbers: { load: 0.14, limit: 0.189 },
    });
  });

  it('is too large: only the hot spot would move', () => {
    const found = planFor(twoNodes({ p1: 2000 }));
    expect(rejectionOf(found, 'p1')).toEqual({
      pod: { namespace: 'shop', name: 'p1', uid: 'uid-shop-p1' },
      code: 'TooLarge',
      message: 'adds 50.00 %: b would be at 50.00 %, its own node is at 50.00 %: only the hot spot would move',
      numbers: { load: 0.5, from: 0.5, after: 0.5 },
    });
  });

  it('is too large for what the published RefineLB allows a target', () => {
    const snapshot = twoNodes({ p1: 1600, p2: 1200 }, {}, { daemons: { b: 400 } });
    const found = planFor(snapshot, {
      strategy: refineLb({ refinements: 'None' }),
      thresholds: { minImprovement: 0, minReduction: 0 },
    });
    // Mean 40 %, limit 42 %: b at 10 % could take p2 to 40 %; then a is not heavy any more. Without p2 nothing fits.
    expect(found.moves.map(({ pod }) => pod.name)).toEqual(['p2']);
    const pods = snapshot.pods.map((pod) => (pod.name === 'p2' ? { ...pod, localStorage: true } : pod));
    const stuck = planFor({ ...snapshot, pods }, { strategy: refineLb({ refinements: 'None' }) });
    expect(rejectionOf(stuck, 'p1')).toMatchObject({
      code: 'TooLarge',
      numbers: { load: 0.4, after: 0.5, limit: 0.42 },
    });
  });

  it('gains too little', () => {
    const found = planFor(twoNodes({ p1: 1900, p2: 10 }), { thresholds: { minGain: 0.01 } });
    expect(rejectionOf(found, 'p2')).toMatchObject({
      code: 'GainTooSmall',
      message: 'would gain 0.25 % on b, thresholds.minGain is 1.00 %',
      numbers: { gain: 0.0025, minGain: 0.01 },
    });
  });

  it('fits nowhere, for the reason that one filter gives everywhere', () => {
    const nodes = [aNode('a'), aNode('b', { allocatable: { cpu: 4000, pods: 0 } })];
    expect(rejectionOf(planFor(twoNodes(FOUR, {}, { nodes })), 'p1')).toMatchObject({
      code: 'NodeResourcesFit',
      message: 'fits on none of 1 node: b has 0 free pod slots',
      numbers: { nodes: 1, need: 1, free: 0 },
    });
  });

  it('fits nowhere, for several reasons', () => {
    const nodes = [aNode('a'), aNode('b', { allocatable: { pods: 0 } }), aNode('c', { taints: [aTaint('x')] })];
    const extra = aPod('tolerant', { nodeName: 'a', constraints: { tolerations: [aToleration()] } });
    const snapshot = twoNodes(FOUR, {}, { nodes });
    const found = planFor(
      aSnapshot({
        ...snapshot,
        workloads: [aWorkload('web')],
        pods: [...snapshot.pods, extra],
        uses: { ...FOUR, tolerant: 10 },
      }),
    );
    expect(rejectionOf(found, 'p1')).toMatchObject({
      code: 'NoFeasibleNode',
      message: expect.stringMatching(/NodeResourcesFit on 1, TaintToleration on 1/),
    });
  });

  it('keeps nobody else off a node that it does not tolerate itself', () => {
    const nodes = [aNode('a'), aNode('b', { taints: [aTaint('pool')] })];
    const tolerant = aPod('tolerant', { nodeName: 'a', constraints: { tolerations: [aToleration({ key: 'pool' })] } });
    const snapshot = twoNodes(FOUR, {}, { nodes });
    const pods = [...snapshot.pods, tolerant];
    const found = planFor(aSnapshot({ nodes, pods, uses: { ...FOUR, tolerant: 600 } }));
    expect(found.moves.map(({ pod }) => pod.name)).toEqual(['tolerant']);
    expect(rejectionOf(found, 'p1')?.code).toBe('TaintToleration');
  });

  it('comes back to its node because its template names it', () => {
    const found = planFor(twoNodes(FOUR, {}, { workloads: [aWorkload('web', { pinnedNode: 'a' })] }));
    expect(rejectionOf(found, 'p1')).toMatchObject({
      code: 'NodeName',
      message: 'fits on none of 1 node: b is not a, to which the template binds the pod',
    });
  });

  it('is protected, whatever the outcome', () => {
    for (const trigger of [0.1, 0.9]) {
      const snapshot = twoNodes(FOUR);
      const pods = snapshot.pods.map((pod) => (pod.name === 'p1' ? { ...pod, localStorage: true } : pod));
      expect(rejectionOf(planFor({ ...snapshot, pods }, { thresholds: { trigger } }), 'p1')?.code).toBe('LocalStorage');
    }
  });

  it('counts the pods of a controller that nobody describes', () => {
    const one = twoNodes({ p1: 400 }, { owner: { kind: 'CloneSet', name: 'c', uid: 'c' } });
    expect(rejectionOf(planFor(one), 'p1')).toMatchObject({
      code: 'MinReplicas',
      message: 'CloneSet c has 1 replica, protections.minReplicas is 2',
    });
    expect(planFor(twoNodes(FOUR, { owner: { kind: 'CloneSet', name: 'c', uid: 'c' } })).moves).toHaveLength(2);
  });
});

describe('the hash', () => {
  const snapshot = twoNodes(FOUR);

  it('is the SHA-256 of strategy and moves, whenever the plan was made', () => {
    const found = planFor(snapshot);
    expect(found.hash).toMatch(/^[0-9a-f]{64}$/);
    const reasons = planFor({ ...snapshot, problems: ['something'] });
    expect(reasons.hash).toBe(found.hash);
  });

  it('differs with the strategy and with the moves', () => {
    const hashes = [
      planFor(snapshot),
      planFor(snapshot, { strategy: greedyLb() }),
      planFor(twoNodes({ ...FOUR, p5: 400, p6: 400 })),
      planFor(twoNodes({ p1: 2000 })),
    ].map(({ hash }) => hash);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

describe('equal loads', () => {
  it('are told apart by namespace and name, so that every machine makes the same plan', () => {
    const found = planFor(twoNodes({ z: 400, b: 400, m: 400, a: 400 }));
    expect(found.moves.map(({ pod }) => pod.name)).toEqual(['a', 'b']);
  });
});

describe('after a plan', () => {
  it('the next one is empty', () => {
    const snapshot = twoNodes({ ...FOUR, p5: 350, p6: 90, p7: 10 });
    for (const strategy of [refineLb(), greedyLb(), refineLb({ refinements: 'None' })]) {
      const found = planFor(snapshot, { strategy });
      expect(found.moves.length).toBeGreaterThan(0);
      expect(planFor(applyPlan(snapshot, found), { strategy }).moves).toEqual([]);
    }
  });
});
