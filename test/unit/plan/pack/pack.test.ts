import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../../src/model/pod.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { applyPlan } from '../../../support/apply-plan.ts';
import { aBudget, HARD_TAINTS, type OptionFields, pack, someOptions } from '../../../support/builders/options.ts';
import { anAffinityTerm, aTaint } from '../../../support/builders/scheduling.ts';
import {
  aNode,
  aPdb,
  aPod,
  aSnapshot,
  NOW,
  type PodFields,
  type SnapshotFields,
  selecting,
} from '../../../support/builders.ts';

const nodes = (...names: string[]) => names.map((name) => aNode(name));
/** A quarter of the cores of a node each. */
const on = (nodeName: string, names: readonly string[], fields: PodFields = {}): readonly PodInfo[] =>
  names.map((name) => aPod(name, { nodeName, constraints: { requests: { cpu: 1000 } }, ...fields }));
const sized = (cpu: number, fields: PodFields = {}) => ({ constraints: { requests: { cpu } }, ...fields });
const small = sized(400);

function packed(fields: SnapshotFields, strategy: Parameters<typeof pack>[0] = {}, options: OptionFields = {}) {
  const snapshot = aSnapshot({ usage: undefined, ...fields });
  const asked = someOptions({ strategy: pack(strategy), ...options });
  const found = plan(snapshot, asked);
  return {
    ...found,
    moved: found.moves.map(({ pod, from, to }) => [pod.name, from, to]),
    emptied: found.packing?.emptied,
    removable: found.packing?.removable,
    kept: found.packing?.kept.map(({ node, pod, reason }) => [node, pod?.name, reason.code]),
    reasons: new Map(found.rejections.pods.map(({ name }, place) => [name, found.rejections.reasons[place]])),
    again: plan(applyPlan(snapshot, found), asked),
  };
}

describe('Pack', () => {
  it('empties the least used nodes onto the fullest that takes their pods, and names those that can be removed', () => {
    const pods = [...on('a', ['a1']), ...on('b', ['b1', 'b2']), ...on('c', ['c1'], small)];
    const found = packed({ nodes: nodes('a', 'b', 'c', 'd'), pods });
    expect(found.moved).toEqual([
      ['c1', 'c', 'b'],
      ['a1', 'a', 'b'],
    ]);
    expect(found.emptied).toEqual(['c', 'a']);
    expect(found.removable).toEqual(['a', 'c', 'd']);
    expect(found.moves[0]?.reason).toBe(
      'empties c; adds 5.00 % to its node: source 5.00 % -> 0.00 %, target 25.00 % -> 30.00 %',
    );
    expect(found.again.moves).toEqual([]);
    expect(found.again.outcome).toEqual({
      kind: 'NothingToPack',
      message:
        'no node with pods has requests below 50.00 % of cpu and 50.00 % of memory; an autoscaler can remove 3 nodes',
    });
  });

  it('sends a pod on whose target is emptied, too, and moves it once', () => {
    const sizes = { allocatable: { cpu: 4000, pods: 3 } };
    const pods = [...on('a', ['a1'], small), ...on('b', ['b1', 'b2'], small), ...on('c', ['c1', 'c2', 'c3'])];
    const all = [aNode('a', sizes), aNode('b', sizes), aNode('c', { allocatable: { cpu: 6000, pods: 6 } })];
    const found = packed({ nodes: all, pods });
    expect(new Set(found.moved.map(([name]) => name)).size).toBe(found.moved.length);
    expect(found.moved.every(([, , to]) => to === 'c')).toBe(true);
    expect(found.emptied).toEqual(['a', 'b']);
    expect(found.again.moves).toEqual([]);
  });

  it('counts a pod once that is sent on from a node that is emptied later', () => {
    const pods = [
      ...on('a', ['a1'], sized(400)),
      ...on('b', ['b1', 'b2'], sized(600)),
      ...on('c', ['c1'], sized(800, { localStorage: true })),
    ];
    const emptied = (maxMoves: number) =>
      packed({ nodes: nodes('a', 'b', 'c'), pods }, {}, { budgets: [aBudget({ maxMoves })] }).emptied;
    expect(emptied(3)).toEqual(['a', 'b']);
    expect(emptied(2)).toEqual(['a']);
  });

  it('sends all pods of one kind to the first node of all, where that is the fullest', () => {
    const pods = [...on('a', ['a1', 'a2']), ...on('b', ['b1', 'b2'], small)];
    expect(packed({ nodes: nodes('a', 'b'), pods }).moved).toEqual([
      ['b1', 'b', 'a'],
      ['b2', 'b', 'a'],
    ]);
  });

  it('keeps a node with a pod that other pods keep off every other node', () => {
    const web = {
      requests: { cpu: 400 },
      podAntiAffinity: [anAffinityTerm({ app: 'db' }, { topologyKey: 'kubernetes.io/hostname' })],
    };
    const pods = [
      ...on('a', ['a1'], small),
      ...on('a', ['a2'], { constraints: web }),
      ...on('b', ['b1', 'b2'], { labels: { app: 'db' } }),
    ];
    const found = packed({ nodes: nodes('a', 'b'), pods });
    expect([found.moves, found.emptied]).toEqual([[], []]);
    expect(found.kept).toEqual([['a', 'a2', 'NoFeasibleNode']]);
  });

  it('sends a pod to the node from which another of its kind could go nowhere', () => {
    const all = [aNode('a', { allocatable: { cpu: 8000 } }), aNode('b', { allocatable: { cpu: 4000, pods: 1 } })];
    const pods = ['a', 'b'].flatMap((name) => on(name, [`${name}1`], { constraints: { requests: { cpu: 1500 } } }));
    const found = packed({ nodes: all, pods });
    expect(found.moved).toEqual([['b1', 'b', 'a']]);
    expect(found.kept).toEqual([['a', 'a1', 'NoFeasibleNode']]);
  });

  it('sends a pod to the fullest node although another of its kind found no room there behind a larger one', () => {
    const pods = [
      ...on('a', ['a1'], sized(1000)),
      ...on('a', ['a2'], sized(600)),
      ...on('b', ['b1'], sized(600)),
      ...on('c', ['c1'], sized(2500)),
    ];
    const all = [
      aNode('a', { allocatable: { cpu: 8000 } }),
      aNode('b', { allocatable: { cpu: 1300, pods: 1 } }),
      aNode('c'),
    ];
    const found = packed({ nodes: all, pods }, { headroom: 0 });
    expect(found.moved).toEqual([['b1', 'b', 'c']]);
    expect(found.kept?.map(([node]) => node)).toEqual(['a']);
  });

  it('leaves headroom on every target', () => {
    const pods = [...on('a', ['a1', 'a2']), ...on('b', ['b1', 'b2', 'b3'])];
    expect(packed({ nodes: nodes('a', 'b'), pods }, { headroom: 0.1 }).moves).toEqual([]);
    const two = [...on('a', ['a1']), ...on('b', ['b1', 'b2', 'b3'])];
    expect(packed({ nodes: nodes('a', 'b'), pods: two }, { headroom: 0.1 }).kept).toEqual([
      ['a', 'a1', 'NoFeasibleNode'],
    ]);
    expect(packed({ nodes: nodes('a', 'b'), pods: two }, { headroom: 0 }).emptied).toEqual(['a']);
  });

  it('moves all pods of a node or none, and says which pod keeps it', () => {
    const pods = [
      ...on('a', ['a1', 'a2'], small),
      ...on('a', ['local'], { ...small, localStorage: true }),
      ...on('b', ['b1', 'b2']),
    ];
    const found = packed({ nodes: nodes('a', 'b'), pods });
    expect(found.moves).toEqual([]);
    expect(found.kept).toEqual([['a', 'local', 'LocalStorage']]);
    expect(found.outcome.kind).toBe('NoBeneficialMove');
    expect(found.reasons.get('a1')).toMatchObject({
      code: 'NodeNotEmptied',
      message: expect.stringContaining('a keeps its pods: shop/local'),
    });
    expect(found.reasons.get('b1')?.code).toBe('NotUnderutilized');
  });

  it('lets pods of DaemonSets and mirror pods go with their node, and waits for none that is being deleted', () => {
    const daemon = { kind: 'DaemonSet', name: 'agent', uid: 'uid-agent' };
    const pods = [
      ...on('a', ['agent'], { ...small, owner: daemon }),
      ...on('a', ['static'], { ...small, mirror: true }),
      ...on('a', ['going'], { ...small, terminating: true }),
      ...on('b', ['b1', 'b2']),
    ];
    const found = packed({ nodes: nodes('a', 'b'), pods });
    expect(found.moves).toEqual([]);
    expect(found.removable).toEqual(['a']);
  });

  it('moves nothing to an empty node, so that it can be removed', () => {
    const found = packed({ nodes: nodes('a', 'b'), pods: on('a', ['a1'], small) });
    expect(found.moves).toEqual([]);
    expect(found.kept).toEqual([['a', 'a1', 'NoFeasibleNode']]);
    expect(found.removable).toEqual(['b']);
  });

  it('moves pods that request nothing, too', () => {
    const none = { constraints: { requests: {} } };
    const found = packed({ nodes: nodes('a', 'b'), pods: [...on('a', ['a1'], none), ...on('b', ['b1', 'b2'])] });
    expect(found.moved).toEqual([['a1', 'a', 'b']]);
  });

  it('does not empty a node that is new, cordoned, drained or of the control plane', () => {
    const all = [
      aNode('new', { createdAt: epochSeconds(NOW - 60) }),
      aNode('cordoned', { unschedulable: true }),
      aNode('drained', { taints: [aTaint('ToBeDeletedByClusterAutoscaler')] }),
      aNode('master', { labels: { 'node-role.kubernetes.io/control-plane': '' } }),
      aNode('z'),
    ];
    const pods = [
      ...['new', 'cordoned', 'drained', 'master'].flatMap((name) => on(name, [`${name}-pod`], small)),
      ...on('z', ['z1', 'z2']),
    ];
    const found = packed({ nodes: all, pods });
    expect(found.moves).toEqual([]);
    expect(found.kept).toEqual([
      ['master', undefined, 'NodeNotEmptied'],
      ['new', undefined, 'MinNodeAge'],
    ]);
    expect(packed({ nodes: all, pods }, { minNodeAge: seconds(0) }).emptied).toEqual(['new']);
  });

  it('judges by every resource that it is told, and not by those that a node does not offer', () => {
    const gib = 2 ** 30;
    const pods = [
      ...on('a', ['a1'], { constraints: { requests: { cpu: 400, memory: 10 * gib } } }),
      ...on('b', ['b1']),
    ];
    const below = (name: string) => ({ name, below: 0.5 });
    const fields = { nodes: nodes('a', 'b'), pods };
    expect(packed(fields).emptied).toEqual(['b']);
    expect(packed(fields, { resources: [below('cpu'), below('nvidia.com/gpu')] }).emptied).toEqual(['a']);
  });

  it('empties a node within its budgets or not at all, and says which budget is too small', () => {
    const pods = [...on('a', ['a1', 'a2', 'a3'], small), ...on('b', ['b1', 'b2'])];
    const few = packed({ nodes: nodes('a', 'b'), pods }, {}, { budgets: [aBudget({ maxMoves: 2 })] });
    expect(few.moves).toEqual([]);
    expect(few.outcome).toEqual({
      kind: 'BudgetExhausted',
      message:
        '1 node below strategy.pack keeps its pods: on a a takes 3 moves, and maxMoves leaves 2: a node is emptied whole or not at all',
    });
    const perNode = packed({ nodes: nodes('a', 'b'), pods }, {}, { budgets: [aBudget({ perNode: 2 })] });
    expect(perNode.kept).toEqual([['a', 'a3', 'PerNode']]);
    expect(perNode.outcome.kind).toBe('BudgetExhausted');
    expect(packed({ nodes: nodes('a', 'b'), pods }, {}, { budgets: [aBudget({ maxMoves: 3 })] }).moves).toHaveLength(3);
  });

  it('gives back what a node has spent of the budgets that is not emptied', () => {
    const web = { labels: { app: 'web' } };
    const pods = [
      ...on('a', ['a1', 'a2'], { ...small, ...web }),
      ...on('b', ['b1'], { constraints: { requests: { cpu: 1500 } }, ...web }),
      ...on('c', ['c1', 'c2', 'c3']),
    ];
    const big = [aNode('a'), aNode('b'), aNode('c', { allocatable: { cpu: 8000 } })];
    const pdbs = [aPdb('web', { selector: selecting({ app: 'web' }), disruptionsAllowed: 1 })];
    const found = packed({ nodes: big, pods, pdbs });
    expect(found.moved).toEqual([['b1', 'b', 'c']]);
    expect(found.kept).toEqual([['a', 'a1', 'PodDisruptionBudget']]);
  });

  it('gives back the room that a node has taken that is not emptied, and says how many of its pods had gone', () => {
    const tiny = { constraints: { requests: { cpu: 100 } } };
    const all = [
      aNode('a'),
      aNode('b', { allocatable: { cpu: 450, pods: 2 } }),
      aNode('c', { allocatable: { cpu: 4000, pods: 5 } }),
    ];
    const pods = [...on('a', ['a1', 'a2', 'a3'], tiny), ...on('b', ['b1', 'b2'], tiny), ...on('c', ['c1', 'c2', 'c3'])];
    const found = packed({ nodes: all, pods });
    expect(found.moved).toEqual([
      ['b1', 'b', 'c'],
      ['b2', 'b', 'c'],
    ]);
    expect(found.kept).toEqual([['a', 'a1', 'NoFeasibleNode']]);
    const few = packed({ nodes: all, pods: pods.filter(({ nodeName }) => nodeName !== 'b') });
    expect(few.moves).toEqual([]);
    expect(few.kept).toEqual([['a', 'a3', 'NoFeasibleNode']]);
    expect(few.packing?.kept[0]?.reason).toEqual({
      code: 'NoFeasibleNode',
      message:
        'fits on no other node that runs pods, with strategy.pack.headroom left there, once 2 of the 3 pods of a have gone',
      numbers: { pods: 3, placed: 2 },
    });
  });

  it('leaves a pod where it was sent first when the node there is not emptied after all', () => {
    const pods = [
      ...on('a', ['a1'], sized(600)),
      ...on('b', ['b1', 'b2'], sized(500)),
      ...on('c', ['c1'], sized(900, { localStorage: true })),
    ];
    const all = [aNode('a'), aNode('b'), aNode('c', { allocatable: { cpu: 4000, pods: 2 } })];
    const found = packed({ nodes: all, pods });
    expect(found.moved).toEqual([['a1', 'a', 'b']]);
    expect(found.emptied).toEqual(['a']);
    expect(found.kept).toEqual([
      ['c', 'c1', 'LocalStorage'],
      ['b', 'b1', 'NoFeasibleNode'],
    ]);
    // It counts once, wherever it would go on to.
    const one = packed({ nodes: all, pods }, {}, { budgets: [aBudget({ maxMoves: 1 })] });
    expect(one.moved).toEqual([['a1', 'a', 'b']]);
    expect(one.kept).toEqual([
      ['c', 'c1', 'LocalStorage'],
      ['b', undefined, 'MaxMoves'],
    ]);
  });

  it('puts a pod that others must be near first', () => {
    const near = {
      labels: { app: 'web' },
      constraints: {
        requests: { cpu: 300 },
        podAffinity: [anAffinityTerm({ app: 'db' }, { topologyKey: 'kubernetes.io/hostname' })],
      },
    };
    const pods = [
      ...on('a', ['a-web'], near),
      ...on('a', ['b-db'], { labels: { app: 'db' }, constraints: { requests: { cpu: 100 } } }),
      ...on('b', ['b1', 'b2']),
    ];
    expect(packed({ nodes: nodes('a', 'b'), pods }).moved).toEqual([
      ['b-db', 'a', 'b'],
      ['a-web', 'a', 'b'],
    ]);
  });

  it('packs after repairs, within what they leave of the budgets, and undoes none', () => {
    const taint = aTaint('old');
    const all = [aNode('a', { taints: [taint] }), aNode('b'), aNode('c'), aNode('d')];
    const pods = [...on('a', ['a1'], small), ...on('b', ['b1', 'b2']), ...on('c', ['c1'], small)];
    const repair = { taints: HARD_TAINTS };
    const found = packed({ nodes: all, pods }, {}, { repair });
    expect(found.moves.map(({ pod, to, repairs }) => [pod.name, to, ...repairs])).toEqual([
      ['a1', 'b', 'Taints'],
      ['c1', 'b'],
    ]);
    const one = packed({ nodes: all, pods }, {}, { repair, budgets: [aBudget({ maxMoves: 1 })] });
    expect(one.moved).toEqual([['a1', 'a', 'b']]);
  });

  it('names for every move other full nodes, and never one that is emptied', () => {
    const pods = [
      ...on('a', ['a1'], small),
      ...on('b', ['b1', 'b2']),
      ...on('c', ['c1', 'c2']),
      ...on('d', ['d1'], small),
    ];
    const found = packed({ nodes: nodes('a', 'b', 'c', 'd', 'e'), pods });
    expect(found.emptied).toEqual(['a', 'd']);
    expect(found.moves.map(({ fallbacks }) => fallbacks)).toEqual([['b'], ['b']]);
  });

  it('has nothing to do on a cluster without pods, and on one without nodes', () => {
    expect(packed({ nodes: nodes('a', 'b'), pods: [] }).outcome.kind).toBe('NothingToPack');
    expect(packed({ nodes: [], pods: [] }).outcome.kind).toBe('NothingToPack');
  });
});
