import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { applyPlan } from '../../../support/apply-plan.ts';
import { aBudget, greedyLb, type OptionFields, pack, someOptions } from '../../../support/builders/options.ts';
import { anAffinityTerm, aTaint, aToleration } from '../../../support/builders/scheduling.ts';
import {
  aNode,
  aPdb,
  aPod,
  aSnapshot,
  constraints,
  NOW,
  type NodeFields,
  type PodFields,
  TEN_CORES,
} from '../../../support/builders.ts';

const UNSCHEDULABLE: PodFields = {
  phase: 'Pending',
  ready: false,
  readySince: undefined,
  waiting: { gated: false, pinnedTo: undefined, unschedulable: true },
};

const small = (name: string, cpu = 2000, fields: NodeFields = {}) =>
  aNode(name, { labels: { pool: 'small' }, allocatable: { cpu }, ...fields });
const large = (name: string) => aNode(name, { labels: { pool: 'large' }, ...TEN_CORES });
const running = (name: string, nodeName: string, cpu: number, fields: PodFields = {}) =>
  aPod(name, { nodeName, constraints: { requests: { cpu } }, ...fields });
const waiting = (name: string, cpu: number, fields: PodFields = {}) =>
  aPod(name, {
    ...UNSCHEDULABLE,
    owner: 'pinned',
    constraints: { requests: { cpu }, nodeSelector: new Map([['pool', 'small']]) },
    ...fields,
  });

function planned(snapshot: ClusterSnapshot, fields: OptionFields = {}) {
  return plan(snapshot, someOptions({ strategy: { type: 'None' }, makesRoom: true, ...fields }));
}

function movesOf(snapshot: ClusterSnapshot, fields: OptionFields = {}) {
  return planned(snapshot, fields).moves.map(({ pod, to, makesRoomFor }) => [pod.name, to, makesRoomFor]);
}

function reasonFor(name: string, snapshot: ClusterSnapshot, fields: OptionFields = {}) {
  const { rejections } = planned(snapshot, fields);
  return rejections.reasons[rejections.pods.findIndex((pod) => pod.name === name)];
}

/** A small node that two pods of one core fill, and a large one that is empty. */
const FULL = aSnapshot({
  nodes: [small('s1'), large('l1')],
  pods: [running('a', 's1', 1000), running('b', 's1', 1000), waiting('w', 1000)],
});

describe('makeRoom', () => {
  it('moves one pod away for one that is pinned to its full node, and says why', () => {
    const found = planned(FULL);
    expect(found.outcome).toEqual({ kind: 'Moves', obstacle: undefined });
    expect(found.moves).toMatchObject([
      { pod: { name: 'a' }, from: 's1', to: 'l1', repairs: [], makesRoomFor: 'shop/w', after: [] },
    ]);
    expect(found.moves[0]?.reason).toMatch(/^makes room for shop\/w; adds /);
    expect(reasonFor('w', FULL)).toEqual({
      code: 'Pending',
      message: 'has no node yet: 1 move of the plan makes room for it on s1',
      numbers: { moves: 1 },
    });
  });

  it('does nothing unless the policy asks for it', () => {
    expect(movesOf(FULL, { makesRoom: false, strategy: greedyLb(), thresholds: { trigger: 1 } })).toEqual([]);
  });

  it('leaves the room alone while the pod still waits', () => {
    const after = applyPlan(FULL, planned(FULL));
    expect(planned(after).moves).toEqual([]);
    expect(reasonFor('w', after)?.message).toBe('has no node yet: s1 has room for it, which the plan leaves free');
    expect(planned(after).outcome.kind).toBe('NothingToRepair');
  });

  it('leaves the room of the first node alone as well', () => {
    const found = aSnapshot({
      nodes: [small('a1'), large('z1')],
      pods: [running('a', 'a1', 1000), waiting('w', 1000)],
    });
    expect(planned(found).moves).toEqual([]);
    expect(reasonFor('w', found)?.message).toBe('has no node yet: a1 has room for it, which the plan leaves free');
  });

  it('moves a pod away for one that is pinned by the pods that it wants to be near', () => {
    const near = {
      constraints: constraints({
        requests: { cpu: 1000 },
        podAffinity: [anAffinityTerm({ app: 'cache' }, { topologyKey: 'kubernetes.io/hostname' })],
      }),
    };
    const hosts = ['h1', 'h2'].map((name) =>
      aNode(name, { labels: { 'kubernetes.io/hostname': name }, allocatable: { cpu: 2000 } }),
    );
    const pods = [
      running('cache', 'h1', 1000, { labels: { app: 'cache' }, priority: 5 }),
      running('a', 'h1', 1000),
      waiting('w', 1000, near),
    ];
    expect(movesOf(aSnapshot({ nodes: hosts, pods }))).toEqual([['a', 'h2', 'shop/w']]);
  });

  it('takes the largest pods where too many sets of them would have to be looked at, for each of two pods', () => {
    const names = ['s1', 's2'];
    const sizes = Array.from({ length: 30 }, (_, place) => place);
    const pods = names.flatMap((name) =>
      sizes.map((place) => running(`${name}-${place}`, name, 20 + place, { priority: place })),
    );
    const nodes = [...names.map((name) => small(name, 1035)), large('l1')];
    // What the ten largest of either node request.
    const found = movesOf(aSnapshot({ nodes, pods: [...pods, waiting('w1', 445), waiting('w2', 445)] }));
    const movedFor = (name: string) => found.filter(([, , pod]) => pod === name).map(([pod]) => pod);
    const largest = (name: string) => sizes.slice(20).map((place) => `${name}-${place}`);
    expect(movedFor('shop/w1').toSorted()).toEqual(largest('s1'));
    expect(movedFor('shop/w2').toSorted()).toEqual(largest('s2'));
  });

  it('takes few pods before unimportant ones, and of as few the least important', () => {
    const pods = [
      running('x', 's1', 500, { priority: -1 }),
      running('y', 's1', 500, { priority: -1 }),
      running('z', 's1', 1000, { priority: 5 }),
      running('t', 's2', 2000, { priority: 6 }),
    ];
    const nodes = [small('s1'), small('s2'), large('l1')];
    expect(movesOf(aSnapshot({ nodes, pods: [...pods, waiting('w', 1000)] }))).toEqual([['z', 'l1', 'shop/w']]);
    expect(movesOf(aSnapshot({ nodes, pods: [...pods, waiting('w', 500)] }))).toEqual([['x', 'l1', 'shop/w']]);
  });

  it('tries again for a pod that is like one without room, once pods have moved for another', () => {
    const nodes = [
      small('s1'),
      aNode('l1', { labels: { pool: 'large' }, allocatable: { cpu: 2000 } }),
      aNode('l2', { taints: [aTaint('own')], allocatable: { cpu: 2000 } }),
    ];
    const tolerant = { constraints: { requests: { cpu: 2000 }, tolerations: [aToleration({ key: 'own' })] } };
    const onLarge = { constraints: { requests: { cpu: 500 }, nodeSelector: new Map([['pool', 'large']]) } };
    const pods = [
      running('stays', 's1', 1000, { localStorage: true }),
      running('x', 's1', 1000),
      running('q', 'l1', 2000, tolerant),
      waiting('first', 1000, { priority: 3 }),
      waiting('last', 1000, { priority: 1 }),
    ];
    expect(movesOf(aSnapshot({ nodes, pods }))).toEqual([]);
    const between = waiting('between', 500, { priority: 2, ...onLarge });
    expect(movesOf(aSnapshot({ nodes, pods: [...pods, between] }))).toEqual([
      ['q', 'l2', 'shop/between'],
      ['x', 'l1', 'shop/last'],
    ]);
  });

  it('evicts BestEffort pods before Guaranteed ones for a slot', () => {
    const nodes = [small('s1', 2000, { allocatable: { cpu: 2000, pods: 2 } }), large('l1')];
    const pods = [
      running('guaranteed', 's1', 100, { qosClass: 'Guaranteed' }),
      running('idle', 's1', 0, { qosClass: 'BestEffort' }),
    ];
    expect(movesOf(aSnapshot({ nodes, pods: [...pods, waiting('w', 100)] }))).toEqual([['idle', 'l1', 'shop/w']]);
  });

  it('moves pods that hold a host port or an extended resource that the pod asks for', () => {
    const nodes = [
      small('s1', 2000, { allocatable: { cpu: 2000, extended: { 'gpu/x': 1 } } }),
      aNode('l1', { allocatable: { extended: { 'gpu/x': 1 } } }),
    ];
    const pool = new Map([['pool', 'small']]);
    const hostPorts = [{ ip: '0.0.0.0', protocol: 'TCP', port: 80 }];
    const port = aPod('port', { nodeName: 's1', constraints: constraints({ hostPorts }) });
    const gpu = aPod('gpu', { nodeName: 's1', constraints: { requests: { extended: { 'gpu/x': 1 } } } });
    const wantsPort = waiting('w', 0, { constraints: constraints({ hostPorts, nodeSelector: pool }) });
    const wantsGpu = waiting('w', 0, {
      constraints: { requests: { extended: { 'gpu/x': 1 } }, nodeSelector: pool },
    });
    expect(movesOf(aSnapshot({ nodes, pods: [port, gpu, wantsPort] }))).toEqual([['port', 'l1', 'shop/w']]);
    expect(movesOf(aSnapshot({ nodes, pods: [port, gpu, wantsGpu] }))).toEqual([['gpu', 'l1', 'shop/w']]);
  });

  it('serves by priority, then age, and leaves nobody half served', () => {
    const pods = [running('a', 's1', 2000), running('b', 's2', 2000), running('c', 'l1', 7000)];
    const nodes = [small('s1'), small('s2'), large('l1')];
    const young = waiting('young', 2000, { createdAt: epochSeconds(NOW - 60) });
    const old = waiting('old', 2000, { createdAt: epochSeconds(NOW - 600) });
    const urgent = waiting('urgent', 2000, { createdAt: epochSeconds(NOW - 30), priority: 1 });
    expect(movesOf(aSnapshot({ nodes, pods: [...pods, young, old] })).map(([, , pod]) => pod)).toEqual(['shop/old']);
    const found = aSnapshot({ nodes, pods: [...pods, young, old, urgent] });
    expect(movesOf(found).map(([, , pod]) => pod)).toEqual(['shop/urgent']);
    const { outcome } = planned(found);
    expect(outcome.kind === 'Moves' && outcome.obstacle).toMatch(
      /^2 pinned pods without a node cannot be served; the first: shop\/old has no node, and no room can be made for it on any of 2 nodes that it may run on: s/,
    );
  });

  it.each([
    ['has a gate', { waiting: { gated: true, pinnedTo: undefined, unschedulable: false } }],
    ['was not looked at by the scheduler', { waiting: { gated: false, pinnedTo: undefined, unschedulable: false } }],
    ['is steered to a node', { waiting: { gated: false, pinnedTo: 's1', unschedulable: true } }],
    ['is being deleted', { terminating: true }],
    ['gets its room from the scheduler', { nominatedNode: 's1' }],
    ['is out of scope', { namespace: 'kube-system' }],
    ['may run anywhere', { constraints: { requests: { cpu: 1000 } } }],
    ['may run nowhere', { constraints: { nodeSelector: new Map([['pool', 'none']]) } }],
    [
      'could not run there even without them',
      { constraints: { requests: { cpu: 2001 }, nodeSelector: new Map([['pool', 'small']]) } },
    ],
  ] satisfies [string, PodFields][])('moves nothing for a pod that %s', (_, fields) => {
    const pods = [running('a', 's1', 1000), running('b', 's1', 1000), running('c', 'l1', 8000)];
    const nodes = [small('s1'), large('l1')];
    expect(movesOf(aSnapshot({ nodes, pods: [...pods, waiting('w', 1000, fields)] }))).toEqual([]);
  });

  it('does not take the want of a cordoned node for being pinned, and leaves a pod that fits outside of the policy alone', () => {
    const nodes = [small('s1'), small('s2'), aNode('cordoned', { unschedulable: true })];
    const pods = [running('a', 's1', 1500), running('b', 's2', 1000)];
    expect(movesOf(aSnapshot({ nodes, pods: [...pods, waiting('w', 1500)] }))).toEqual([]);
    const outside = aNode('other', { labels: { pool: 'small', policy: 'other' } });
    const selector = [{ key: 'policy', operator: 'DoesNotExist', values: [] }] as const;
    expect(
      movesOf(
        { ...FULL, nodes: [...FULL.nodes, outside] },
        { scope: { nodeSelector: { requirements: selector } as never } },
      ),
    ).toEqual([]);
  });

  it.each([
    ['s1', 's2'],
    ['s2', 's1'],
  ])(
    'makes room on a node that no other pod waits for, rather than more of it elsewhere: %s is wanted',
    (wanted, other) => {
      const disk = new Map([['disk', 'fast']]);
      const nodes = ['s1', 's2'].map((name) =>
        small(name, 2000, { labels: { pool: 'small', ...(name === wanted ? { disk: 'fast' } : {}) } }),
      );
      const pods = [
        running('big', wanted, 2000),
        running('half', other, 1000),
        running('rest', other, 1000, { priority: 1 }),
        waiting('first', 1000, { priority: 1 }),
        waiting('second', 2000, { constraints: { requests: { cpu: 2000 }, nodeSelector: disk } }),
      ];
      expect(movesOf(aSnapshot({ nodes: [...nodes, large('l1')], pods }))).toEqual([
        ['half', 'l1', 'shop/first'],
        ['big', 'l1', 'shop/second'],
      ]);
    },
  );

  it('leaves protected pods, budgets, PodDisruptionBudgets and headroom as they are, and says what stands in the way', () => {
    const protectedOnes = aSnapshot({
      nodes: FULL.nodes,
      pods: [
        running('a', 's1', 1000, { owner: undefined }),
        running('b', 's1', 1000, { priority: 2e9 }),
        waiting('w', 1000),
      ],
    });
    expect(reasonFor('w', protectedOnes)).toMatchObject({
      code: 'NoFeasibleNode',
      message:
        'has no node, and no room can be made for it on the only node that it may run on: s1 has 0m of 1000m cpu free; of 2 pods there 0 may be moved (CriticalPriority 1, NoController 1), and 0 of them fit elsewhere',
    });
    expect(planned(FULL, { budgets: [aBudget({ maxMoves: 0 })] }).outcome).toMatchObject({
      kind: 'BudgetExhausted',
      message: expect.stringContaining(
        's1 has 0m of 1000m cpu free, and a budget blocks 2 of 2 pods that may be moved: no moves: budgets[0] has maxMoves 0',
      ),
    });
    expect(reasonFor('w', { ...FULL, pdbs: [aPdb('web', { disruptionsAllowed: 0 })] })?.code).toBe('NoFeasibleNode');
    expect(movesOf({ ...FULL, pdbs: [aPdb('web', { disruptionsAllowed: 1 })] })).toHaveLength(1);
    const kept = { kind: 'Amount', amount: 9500 } as const;
    const headroom = [
      { nodeSelector: new Map([['pool', 'large']]), cpu: kept, memory: { kind: 'Amount', amount: 0 } as const },
    ];
    expect(reasonFor('w', FULL, { thresholds: { headroom } })?.message).toContain(
      'of 2 pods there 2 may be moved, and 0 of them fit elsewhere',
    );
  });

  it('makes all moves for a pod or none: two are one too many for this budget', () => {
    const both = aSnapshot({ nodes: FULL.nodes, pods: [...FULL.pods.slice(0, 2), waiting('w', 2000)] });
    expect(movesOf(both)).toHaveLength(2);
    expect(movesOf(both, { budgets: [aBudget({ maxMoves: 1 })] })).toEqual([]);
    expect(movesOf(both, { budgets: [aBudget({ perNode: 1 })] })).toEqual([]);
  });

  it('seats pods so that nobody is moved for one that fits beside them', () => {
    const nodes = [small('s1'), small('s2', 2000, { labels: { pool: 'small', disk: 'fast' } }), large('l1')];
    const fast = new Map([['disk', 'fast']]);
    const pods = [
      running('a', 's1', 1000),
      running('b', 's2', 1000),
      waiting('w1', 1000),
      waiting('w2', 1000, { createdAt: NOW, constraints: { requests: { cpu: 1000 }, nodeSelector: fast } }),
    ];
    expect(movesOf(aSnapshot({ nodes, pods }))).toEqual([]);
  });

  it.each([greedyLb({ minimizeMoves: false }), pack({ headroom: 0, minNodeAge: seconds(0) })])(
    'keeps the room of the pod from what $type moves afterwards',
    (strategy) => {
      const nodes = [small('s1', 4000), ...['l1', 'l2', 'l3'].map(large)];
      const pods = [
        running('a', 's1', 2000),
        running('b', 's1', 2000),
        ...Array.from({ length: 6 }, (_, place) => running(`c${place}`, 'l1', 1000)),
        running('d', 'l2', 500),
        waiting('w', 2000),
      ];
      const uses = Object.fromEntries(pods.map(({ name, constraints }) => [name, constraints.requests.cpu]));
      const snapshot = aSnapshot({ nodes, pods, uses });
      const found = planned(snapshot, { strategy, thresholds: { trigger: 0, minGain: 0 } });
      expect(found.moves.some(({ makesRoomFor }) => makesRoomFor === 'shop/w')).toBe(true);
      expect(found.moves.length).toBeGreaterThan(1);
      const there = applyPlan(snapshot, found).pods.filter(({ nodeName }) => nodeName === 's1');
      expect(there.reduce((sum, { constraints }) => sum + constraints.requests.cpu, 0)).toBeLessThanOrEqual(2000);
    },
  );
});
