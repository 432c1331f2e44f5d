import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { seconds } from '../../../../src/model/units.ts';
import type { FailedRepair, RepairOptions } from '../../../../src/plan/options.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { aBudget, greedyLb, HARD_TAINTS, type OptionFields, someOptions } from '../../../support/builders/options.ts';
import { aSpread, aTaint, aToleration } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, aSample, aSnapshot } from '../../../support/builders.ts';

const FAILED: FailedRepair = {
  reasons: undefined,
  exitCodes: undefined,
  includingInit: false,
  minAge: seconds(0),
  excludedOwnerKinds: new Set(),
};

function movesOf(snapshot: ClusterSnapshot, fields: OptionFields) {
  return plan(snapshot, someOptions(fields)).moves.map(({ pod, to, repairs }) => [pod.name, to, ...repairs]);
}

describe('the target of a repair', () => {
  /** b is asked for much and used little, c is used much and asked for little; the sample of d is as given. */
  function contrary(sample: number): ClusterSnapshot {
    const nodes = [aNode('a', { taints: [aTaint('old')] }), ...['b', 'c', 'd'].map((name) => aNode(name))];
    const pods = [
      aPod('p', { nodeName: 'a' }),
      aPod('asks', { nodeName: 'b', constraints: { requests: { cpu: 2000 } } }),
      aPod('uses', { nodeName: 'c', constraints: { requests: { cpu: 100 } } }),
      aPod('full', { nodeName: 'd', constraints: { requests: { cpu: 4000 } } }),
    ];
    const snapshot = aSnapshot({ nodes, pods, uses: { p: 100, asks: 100, uses: 2000, full: 3000 } });
    const { nodes: samples = new Map(), pods: podSamples = new Map() } = snapshot.usage ?? {};
    return { ...snapshot, usage: { nodes: new Map([...samples, ['d', aSample(sample)]]), pods: podSamples } };
  }

  const strategy = greedyLb();
  const thresholds = { trigger: 1 };

  it('is chosen by what is measured', () => {
    expect(movesOf(contrary(3000), { repair: { taints: HARD_TAINTS }, strategy, thresholds })).toEqual([
      ['p', 'b', 'Taints'],
    ]);
  });

  it('is chosen by requests where metrics do not suffice', () => {
    expect(movesOf(contrary(Number.NaN), { repair: { taints: HARD_TAINTS }, strategy, thresholds })).toEqual([
      ['p', 'c', 'Taints'],
    ]);
    const missing = { ...contrary(3000), usage: undefined };
    expect(movesOf(missing, { repair: { taints: HARD_TAINTS }, strategy, thresholds })).toEqual([['p', 'c', 'Taints']]);
  });
});

describe('what a strategy plans after repairs', () => {
  /** a has a pod that has failed and most of those that run. */
  const pods = Array.from({ length: 4 }, (_, place) => aPod(`p${place}`, { nodeName: 'a' }));
  const snapshot = aSnapshot({
    nodes: ['a', 'b'].map((name) => aNode(name)),
    pods,
    failedPods: [aPod('failed', { nodeName: 'a', phase: 'Failed', ready: false, readySince: undefined })],
    uses: Object.fromEntries(pods.map(({ name }) => [name, 500])),
  });
  const kinds = (budget: Parameters<typeof aBudget>[0], repair = { failed: FAILED }) =>
    plan(snapshot, someOptions({ repair, strategy: greedyLb({ tolerance: 0 }), budgets: [aBudget(budget)] })).moves.map(
      ({ to }) => to ?? 'gone',
    );

  it('counts the pods that are removed against its budgets', () => {
    expect(kinds({}).toSorted()).toEqual(['b', 'b', 'gone']);
    expect(kinds({ perNode: 2 }).toSorted()).toEqual(['b', 'gone']);
    expect(kinds({ perNamespace: 1 })).toEqual(['gone']);
    expect(kinds({ maxMoves: 2 }).toSorted()).toEqual(['b', 'gone']);
  });

  it('does not move again what a repair has moved', () => {
    const nodes = [aNode('a', { taints: [aTaint('old')] }), aNode('b'), aNode('c')];
    const found = plan(
      { ...snapshot, nodes },
      someOptions({ repair: { taints: HARD_TAINTS }, strategy: greedyLb({ tolerance: 0, minimizeMoves: false }) }),
    );
    const names = found.moves.map(({ pod }) => pod.name);
    expect(names.toSorted()).toEqual(['p0', 'p1', 'p2', 'p3']);
    expect(found.moves.every(({ repairs }) => repairs.includes('Taints'))).toBe(true);
    expect(found.moves.map(({ to }) => to).toSorted()).toEqual(['b', 'b', 'c', 'c']);
  });
});

describe('the pods that no repair is about', () => {
  it('are moved by the strategy after the repairs', () => {
    const nodes = [aNode('a', { taints: [aTaint('old')] }), aNode('b'), aNode('c')];
    const pods = [aPod('p', { nodeName: 'a' }), ...['q', 'r', 's', 't'].map((name) => aPod(name, { nodeName: 'b' }))];
    const uses = { p: 100, q: 500, r: 500, s: 500, t: 500 };
    const { moves } = plan(
      aSnapshot({ nodes, pods, uses }),
      someOptions({ repair: { taints: HARD_TAINTS }, strategy: greedyLb({ tolerance: 0 }) }),
    );
    expect(moves.map(({ from, to, repairs, partner }) => [from, to, repairs, partner])).toEqual([
      ['a', 'c', ['Taints'], undefined],
      ['b', 'c', [], undefined],
      ['b', 'c', [], undefined],
    ]);
  });
});

describe('repairs after repairs', () => {
  it('mend what had to be broken for something worse, once pods have left and made room', () => {
    const spread = [aSpread({ app: 'web' }, { whenUnsatisfiable: 'ScheduleAnyway' })];
    const web = { labels: { app: 'web' }, constraints: { spread } };
    const nodes = [
      aNode('a', { labels: { zone: 'x' }, taints: [aTaint('old')] }),
      aNode('b', { labels: { zone: 'y' } }),
      aNode('c', { labels: { zone: 'x' }, allocatable: { pods: 1 } }),
      aNode('d', { labels: { zone: 'y', disk: 'ssd' }, taints: [aTaint('own')] }),
    ];
    const pods = [
      aPod('p', { nodeName: 'a', ...web }),
      aPod('s', { nodeName: 'b', ...web }),
      aPod('t', {
        nodeName: 'c',
        constraints: { nodeSelector: new Map([['disk', 'ssd']]), tolerations: [aToleration({ key: 'own' })] },
      }),
    ];
    const moved = (fields: Partial<RepairOptions>) =>
      movesOf(aSnapshot({ nodes, pods, usage: undefined }), {
        strategy: { type: 'None' },
        repair: { taints: HARD_TAINTS, topologySpread: { soft: true, tolerance: 0 }, ...fields },
      });
    expect(moved({})).toEqual([['p', 'b', 'Taints']]);
    expect(moved({ nodeAffinity: 'Required' })).toEqual([
      ['p', 'b', 'Taints'],
      ['t', 'd', 'NodeAffinity'],
      ['s', 'c', 'TopologySpread'],
    ]);
  });
});

describe('a pod outside of the policy', () => {
  it('is neither repaired nor moved to make room', () => {
    const nodes = [aNode('a', { taints: [aTaint('old')], allocatable: { cpu: 1000 } }), aNode('b')];
    const outside = aPod('p', { nodeName: 'a', namespace: 'kube-system', constraints: { requests: { cpu: 1000 } } });
    expect(movesOf(aSnapshot({ nodes, pods: [outside] }), { repair: { taints: HARD_TAINTS } })).toEqual([]);
    const full = [aNode('a', { allocatable: { cpu: 1000 }, labels: { pool: 'x' } }), aNode('b')];
    const waits = aPod('w', {
      phase: 'Pending',
      ready: false,
      readySince: undefined,
      waiting: { gated: false, pinnedTo: undefined, unschedulable: true },
      constraints: { requests: { cpu: 1000 }, nodeSelector: new Map([['pool', 'x']]) },
    });
    const options: OptionFields = { strategy: { type: 'None' }, makesRoom: true };
    expect(movesOf(aSnapshot({ nodes: full, pods: [outside, waits] }), options)).toEqual([]);
    const inside = { ...outside, namespace: 'shop' };
    expect(movesOf(aSnapshot({ nodes: full, pods: [inside, waits] }), options)).toEqual([['p', 'b']]);
  });
});
