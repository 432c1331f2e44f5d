import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../../src/model/pod.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import type { RepairOptions, TaintRepair } from '../../../../src/plan/options.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { ALL_REPAIRS, aBudget, HARD_TAINTS, refineLb, someOptions } from '../../../support/builders/options.ts';
import { anAffinityTerm, aSpread, aTaint, aToleration } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, NOW, type NodeFields, type SnapshotFields } from '../../../support/builders.ts';

const NONE = { type: 'None' } as const;

function repaired(
  fields: SnapshotFields,
  repair: Partial<RepairOptions>,
  strategy: Parameters<typeof someOptions>[0] = {},
) {
  const found = plan(aSnapshot({ usage: undefined, ...fields }), someOptions({ strategy: NONE, repair, ...strategy }));
  return {
    ...found,
    moved: found.moves.map(({ pod, from, to, repairs }) => [pod.name, from, to, ...repairs]),
    codes: found.rejections.reasons.map(({ code }) => code),
  };
}

const nodes = (...names: string[]) => names.map((name) => aNode(name));
const inZones = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).map(([name, zone]) => aNode(name, { labels: { zone } }));
const on = (nodeName: string, names: readonly string[], fields: Parameters<typeof aPod>[1] = {}): readonly PodInfo[] =>
  names.map((name) => aPod(name, { nodeName, labels: { app: 'web' }, ...fields }));
const prefer = (zone: string, weight: number) => ({
  weight,
  term: { expressions: [{ key: 'zone', operator: 'In' as const, values: [zone] }], fields: [] },
});

describe('repair', () => {
  it('does nothing to a pod where nothing is wrong, and says so', () => {
    const found = repaired({ nodes: nodes('a', 'b'), pods: on('a', ['p']) }, ALL_REPAIRS);
    expect(found.moves).toEqual([]);
    expect(found.outcome.kind).toBe('NothingToRepair');
  });

  it('needs no metrics, and goes before a strategy that waits for them', () => {
    const tainted = [aNode('a', { taints: [aTaint('old')] }), aNode('b')];
    const found = repaired({ nodes: tainted, pods: on('a', ['p']) }, { taints: HARD_TAINTS }, { strategy: refineLb() });
    expect(found.moved).toEqual([['p', 'a', 'b', 'Taints']]);
    expect(found.outcome).toMatchObject({ kind: 'Moves', obstacle: expect.stringContaining('no move besides') });
  });

  it('moves a pod once although two things are wrong with it, and names both', () => {
    const tainted = [aNode('a', { taints: [aTaint('old')] }), aNode('b', { labels: { disk: 'ssd' } })];
    const pods = on('a', ['p'], { constraints: { nodeSelector: new Map([['disk', 'ssd']]) } });
    const found = repaired({ nodes: tainted, pods }, { taints: HARD_TAINTS, nodeAffinity: 'Required' });
    expect(found.moved).toEqual([['p', 'a', 'b', 'Taints', 'NodeAffinity']]);
    expect(found.moves[0]?.reason).toBe(
      "a has the taint old:NoSchedule, which the pod does not tolerate; a does not match the pod's nodeSelector; adds 2.50 % to its node: source 2.50 % -> 0.00 %, target 0.00 % -> 2.50 %",
    );
  });

  it('keeps budgets and protections, and says which repair could not be done', () => {
    const tainted = [aNode('a', { taints: [aTaint('old')] }), aNode('b')];
    const pods = [...on('a', ['p', 'q']), ...on('a', ['r'], { localStorage: true })];
    const found = repaired({ nodes: tainted, pods }, { taints: HARD_TAINTS }, { budgets: [aBudget({ maxMoves: 1 })] });
    expect(found.moved).toEqual([['p', 'a', 'b', 'Taints']]);
    expect(found.codes).toEqual(['MaxMoves', 'LocalStorage']);
    expect(found.rejections.reasons[0]?.message).toContain('a has the taint old:NoSchedule');
    expect(found.rejections.reasons[1]?.message).toContain('a has the taint old:NoSchedule');
  });

  it.each<readonly [string, Partial<RepairOptions>]>([
    ['taints', { taints: HARD_TAINTS }],
    ['required node affinity', { nodeAffinity: 'Required' }],
    ['preferred node affinity', { nodeAffinity: 'Preferred' }],
    ['anti-affinity', { podAntiAffinity: true }],
    ['topology spread', { topologySpread: { soft: false, tolerance: 0 } }],
    ['duplicates', { duplicates: true }],
  ])('moves pods that are Ready alone for %s', (_, repair) => {
    const all = [
      aNode('a', { labels: { zone: 'x' }, taints: [aTaint('old')] }),
      aNode('b', { labels: { zone: 'y', disk: 'ssd' } }),
    ];
    const pods = (ready: boolean) =>
      on('a', ['p', 'q', 'r'], {
        ready,
        constraints: {
          nodeSelector: new Map(repair.nodeAffinity === 'Required' ? [['disk', 'ssd']] : []),
          preferredNodeAffinity: [prefer('y', 10)],
          podAntiAffinity: repair.podAntiAffinity === true ? [anAffinityTerm({ app: 'web' })] : [],
          spread: repair.topologySpread === undefined ? [] : [aSpread({ app: 'web' })],
          tolerations: repair.taints === undefined ? [aToleration({ key: 'old' })] : [],
        },
      });
    expect(repaired({ nodes: all, pods: pods(true) }, repair).moves).not.toEqual([]);
    const held = repaired({ nodes: all, pods: pods(false) }, repair);
    expect(held.moves).toEqual([]);
    expect(held.codes).toContain('NotReady');
  });

  it('spends of the budgets that the strategy has', () => {
    const tainted = [aNode('a', { taints: [aTaint('old')] }), aNode('b'), aNode('c')];
    const pods = [...on('a', ['p']), ...on('b', ['q', 'r', 's'], { constraints: { requests: { cpu: 1000 } } })];
    const options = {
      strategy: refineLb(),
      budgets: [aBudget({ maxMoves: 1 })],
      load: { source: 'Requests' },
    } as const;
    expect(repaired({ nodes: tainted, pods }, { taints: HARD_TAINTS }, options).moved).toEqual([
      ['p', 'a', 'c', 'Taints'],
    ]);
  });

  it('leaves it to the strategy to balance from where pods are then, and to name the repair that it needs', () => {
    const small: NodeFields = { allocatable: { cpu: 4000, pods: 2 } };
    const all = [aNode('a', { taints: [aTaint('old')], ...small }), aNode('b', small), aNode('c', small)];
    const big = { constraints: { requests: { cpu: 1500 } } };
    const pods = [...on('a', ['p'], { constraints: { requests: { cpu: 100 } } }), ...on('b', ['q', 'r'], big)];
    const found = repaired(
      { nodes: all, pods },
      { taints: HARD_TAINTS },
      { strategy: refineLb(), load: { source: 'Requests' } },
    );
    expect(found.moved).toEqual([
      ['p', 'a', 'c', 'Taints'],
      ['q', 'b', 'c'],
    ]);
    expect(found.spread.before).toBeCloseTo(0.75);
    expect(found.imbalance.planned.cpu?.max).toBeCloseTo(0.4);
  });

  it('takes lower priorities first, then by class, deletion cost and age', () => {
    const tainted = [aNode('a', { taints: [aTaint('old')] }), aNode('b', { allocatable: { pods: 4 } })];
    const pods = [
      ...on('a', ['important'], { priority: 10 }),
      ...on('a', ['older'], { createdAt: epochSeconds(NOW - 7200) }),
      ...on('a', ['younger']),
      ...on('a', ['guaranteed'], { qosClass: 'Guaranteed' }),
      ...on('a', ['dear'], { deletionCost: 5 }),
    ];
    const found = repaired({ nodes: tainted, pods }, { taints: HARD_TAINTS });
    expect(found.moved.map(([name]) => name)).toEqual(['younger', 'older', 'dear', 'guaranteed']);
    expect(found.rejections.reasons[0]?.message).toContain('fits on none of 1 other node');
  });

  it('says of a pod on the only node that it has nowhere to go, and of others what each node refuses', () => {
    const tainted = (...others: readonly ReturnType<typeof aNode>[]) => {
      const all = [aNode('a', { taints: [aTaint('old')] }), ...others];
      const [reason] = repaired({ nodes: all, pods: on('a', ['p']) }, { taints: HARD_TAINTS }).rejections.reasons;
      return { code: reason?.code, message: reason?.message?.split('; ').at(-1), numbers: reason?.numbers };
    };
    const full = aNode('b', { allocatable: { pods: 0 } });
    const refused = aNode('c', { taints: [aTaint('other')] });
    expect(tainted()).toEqual({
      code: 'NoFeasibleNode',
      message: 'can be repaired on none of 0 other nodes',
      numbers: { nodes: 0 },
    });
    expect(tainted(full)).toMatchObject({ code: 'NodeResourcesFit', numbers: { nodes: 1 } });
    expect(tainted(full, { ...full, name: 'c' })).toMatchObject({
      code: 'NodeResourcesFit',
      message: expect.stringContaining('fits on none of 2 other nodes: b has 0 free pod slots'),
    });
    expect(tainted(refused, full)).toEqual({
      code: 'NoFeasibleNode',
      message: 'can be repaired on none of 2 other nodes: NodeResourcesFit on 1, TaintToleration on 1',
      numbers: { nodes: 2 },
    });
  });

  it('does not move pods from or to a node that is not Ready, drained or out of scope', () => {
    const draining = aTaint('ToBeDeletedByClusterAutoscaler');
    const all = [
      aNode('a', { taints: [aTaint('old'), draining] }),
      aNode('b', { taints: [aTaint('old')] }),
      aNode('c', { ready: false }),
      aNode('d', { unschedulable: true }),
    ];
    const found = repaired({ nodes: all, pods: [...on('a', ['p']), ...on('b', ['q'])] }, { taints: HARD_TAINTS });
    expect(found.moves).toEqual([]);
    expect(found.outcome.kind).toBe('NoBeneficialMove');
  });
});

describe('taints', () => {
  it('moves who does not tolerate, by keys and effects, and not off a cordoned node', () => {
    const all = [
      aNode('a', { taints: [aTaint('old')] }),
      aNode('b', { taints: [aTaint('slow', '', 'PreferNoSchedule')] }),
      aNode('c', { unschedulable: true, taints: [aTaint('node.kubernetes.io/unschedulable')] }),
      aNode('d'),
    ];
    const tolerant = { constraints: { tolerations: [aToleration({ key: 'old' })] } };
    const pods = [...on('a', ['p']), ...on('a', ['t'], tolerant), ...on('b', ['q']), ...on('c', ['r'])];
    const moved = (fields: Partial<TaintRepair>) =>
      repaired({ nodes: all, pods }, { taints: { ...HARD_TAINTS, ...fields } }).moved.map(
        ([name, , to]) => `${name} ${to}`,
      );
    expect(moved({})).toEqual(['p d']);
    expect(moved({ soft: true })).toEqual(['p d', 'q d']);
    expect(moved({ soft: true, excludedTaints: new Set(['old']) })).toEqual(['q d']);
    expect(moved({ includedTaints: new Set(['node.kubernetes.io/unschedulable']) })).toEqual(['r d']);
  });

  it('selects taints by key, or by key and value', () => {
    const all = [
      aNode('a', { taints: [aTaint('team', 'web')] }),
      aNode('b', { taints: [aTaint('team', 'db')] }),
      aNode('c', { taints: [aTaint('team')] }),
      aNode('d'),
    ];
    const pods = [...on('a', ['p']), ...on('b', ['q']), ...on('c', ['r'])];
    const moved = (fields: Partial<TaintRepair>) =>
      repaired({ nodes: all, pods }, { taints: { ...HARD_TAINTS, ...fields } })
        .moved.map(([name]) => name)
        .toSorted();
    expect(moved({ includedTaints: new Set(['team']) })).toEqual(['p', 'q', 'r']);
    expect(moved({ includedTaints: new Set(['team=web']) })).toEqual(['p']);
    expect(moved({ includedTaints: new Set(['team=']) })).toEqual(['r']);
    expect(moved({ excludedTaints: new Set(['team=web', 'other']) })).toEqual(['q', 'r']);
  });

  it('prefers targets without a PreferNoSchedule taint, even where these have more load', () => {
    const all = [
      aNode('a', { taints: [aTaint('old')] }),
      aNode('b', { taints: [aTaint('slow', '', 'PreferNoSchedule')] }),
      aNode('c'),
    ];
    const tolerant = { constraints: { tolerations: [aToleration({ key: 'slow' })] } };
    const pods = [...on('a', ['p']), ...on('a', ['t'], tolerant), ...on('c', ['x', 'y', 'z'])];
    const { moved } = repaired({ nodes: all, pods }, { taints: HARD_TAINTS });
    expect(moved.map(([name, , to]) => `${name} ${to}`)).toEqual(['p c', 't b']);
    const full = repaired({ nodes: all.slice(0, 2), pods: on('a', ['p']) }, { taints: HARD_TAINTS });
    expect(full.moved.map(([, , to]) => to)).toEqual(['b']);
  });
});

describe('node affinity', () => {
  it('moves a pod to the node that it prefers most of those that take it', () => {
    const constraints = { preferredNodeAffinity: [prefer('x', 10), prefer('y', 50), prefer('z', 90)] };
    const all = [
      ...inZones({ a: 'x', b: 'y', d: 'w' }),
      aNode('c', { labels: { zone: 'z' }, allocatable: { cpu: 50 } }),
    ];
    const found = repaired({ nodes: all, pods: on('a', ['p'], { constraints }) }, { nodeAffinity: 'Preferred' });
    expect(found.moved).toEqual([['p', 'a', 'b', 'NodeAffinity']]);
    const again = repaired({ nodes: all, pods: on('b', ['p'], { constraints }) }, { nodeAffinity: 'Preferred' });
    expect(again.moves).toEqual([]);
    expect(repaired({ nodes: all, pods: on('a', ['p'], { constraints }) }, { nodeAffinity: 'Required' }).moves).toEqual(
      [],
    );
  });
});

describe('pod anti-affinity', () => {
  const apart = {
    constraints: { podAntiAffinity: [anAffinityTerm({ app: 'web' }, { topologyKey: 'kubernetes.io/hostname' })] },
  };

  it('leaves one of those who repel each other', () => {
    const found = repaired(
      { nodes: nodes('a', 'b', 'c'), pods: on('a', ['p', 'q', 'r'], apart) },
      { podAntiAffinity: true },
    );
    expect(found.moved).toEqual([
      ['p', 'a', 'b', 'PodAntiAffinity'],
      ['q', 'a', 'c', 'PodAntiAffinity'],
    ]);
  });

  it('moves the one in the middle, not all around it', () => {
    const lonely = on('a', ['z'], { ...apart, labels: {}, owner: 'db' });
    const found = repaired(
      { nodes: nodes('a', 'b'), pods: [...on('a', ['p', 'q']), ...lonely] },
      { podAntiAffinity: true },
    );
    expect(found.moved).toEqual([['z', 'a', 'b', 'PodAntiAffinity']]);
  });

  it('moves those around it when it must stay', () => {
    const lonely = on('a', ['z'], { ...apart, labels: {}, owner: 'db', localStorage: true });
    const found = repaired(
      { nodes: nodes('a', 'b'), pods: [...on('a', ['p', 'q']), ...lonely] },
      { podAntiAffinity: true },
    );
    expect(found.moved.map(([name]) => name)).toEqual(['p', 'q']);
  });

  it('leaves pods without a node out of account', () => {
    const waits = aPod('w', {
      phase: 'Pending',
      ready: false,
      readySince: undefined,
      labels: { app: 'web' },
      ...apart,
    });
    const found = repaired(
      { nodes: nodes('a', 'b'), pods: [...on('a', ['p', 'q'], apart), waits] },
      { podAntiAffinity: true },
    );
    expect(found.moved).toEqual([['p', 'a', 'b', 'PodAntiAffinity']]);
  });
});

describe('topology spread', () => {
  const spread = (...fields: Parameters<typeof aSpread>[1][]) => ({
    constraints: { spread: fields.map((each) => aSpread({ app: 'web' }, each)) },
  });
  const HARD = { topologySpread: { soft: false, tolerance: 0 } };

  it('fills the zone that came back, with no more moves than it takes', () => {
    const all = inZones({ a: 'x', b: 'y', c: 'z' });
    const pods = [...on('a', ['p', 'q', 'r'], spread({})), ...on('b', ['s', 't', 'u'], spread({}))];
    const found = repaired({ nodes: all, pods }, HARD);
    expect(found.moved).toEqual([
      ['p', 'a', 'c', 'TopologySpread'],
      ['s', 'b', 'c', 'TopologySpread'],
    ]);
    expect(found.moves[0]?.reason).toContain('zone x has 3 pods of its spread, the emptiest 0, and maxSkew is 1');
  });

  it('takes another one where the first must stay, and says nothing of that one then', () => {
    const pods = [...on('a', ['p'], { ...spread({}), localStorage: true }), ...on('a', ['q'], spread({}))];
    const found = repaired({ nodes: inZones({ a: 'x', b: 'y' }), pods }, HARD);
    expect(found.moved).toEqual([['q', 'a', 'b', 'TopologySpread']]);
    expect(found.rejections.reasons.map(({ message }) => message)).toEqual([expect.not.stringContaining('spread')]);
  });

  it('waits while the skew is within the tolerance', () => {
    const all = inZones({ a: 'x', b: 'y' });
    const pods = on('a', ['p', 'q'], spread({}));
    expect(repaired({ nodes: all, pods }, HARD).moves).toHaveLength(1);
    expect(repaired({ nodes: all, pods }, { topologySpread: { soft: false, tolerance: 1 } }).moves).toEqual([]);
  });

  it.each([
    [2, []],
    [3, [['p', 'a', 'b', 'TopologySpread']]],
  ])('compares with zero pods where there are fewer zones than minDomains, here 2 of %i', (minDomains, moved) => {
    const constrained = spread({ maxSkew: 2, minDomains });
    const pods = [...on('a', ['p', 'q', 'r'], constrained), ...on('b', ['s'], constrained)];
    expect(repaired({ nodes: inZones({ a: 'x', b: 'y' }), pods }, HARD).moved).toEqual(moved);
  });

  it('compares with the emptiest zone where there are enough, in what it tolerates and what it says', () => {
    const all = [...inZones({ a: 'x' }), aNode('b', { labels: { zone: 'y' }, allocatable: { pods: 1 } })];
    const pods = [...on('a', ['p', 'q', 'r'], spread({})), ...on('b', ['s'], spread({}))];
    expect(repaired({ nodes: all, pods }, HARD).rejections.reasons.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('zone x has 3 pods of its spread, the emptiest 1, and maxSkew is 1; '),
    );
    const roomy = { nodes: inZones({ a: 'x', b: 'y' }), pods };
    expect(repaired(roomy, HARD).moves).toHaveLength(1);
    expect(repaired(roomy, { topologySpread: { soft: false, tolerance: 1 } }).moves).toEqual([]);
  });

  it('moves no pod within its zone, for that does not help', () => {
    const labels = { zone: 'y' };
    const all = [...inZones({ a: 'x', b: 'x' }), aNode('c', { labels, allocatable: { pods: 0 } })];
    expect(repaired({ nodes: all, pods: on('a', ['p', 'q', 'r'], spread({})) }, HARD).moves).toEqual([]);
    const soft = on('a', ['p', 'q', 'r'], spread({ whenUnsatisfiable: 'ScheduleAnyway' }));
    expect(repaired({ nodes: all, pods: soft }, { topologySpread: { soft: true, tolerance: 0 } }).moves).toEqual([]);
  });

  it('says nothing of a pod in a zone that is not crowded', () => {
    const all = [...inZones({ a: 'x', b: 'y' }), aNode('c', { labels: { zone: 'z' }, allocatable: { pods: 0 } })];
    const pods = [...on('a', ['p', 'q'], { ...spread({}), localStorage: true }), ...on('b', ['s'], spread({}))];
    const { moves, rejections } = repaired({ nodes: all, pods }, HARD);
    expect(moves).toEqual([]);
    expect(rejections.reasons.map(({ message }) => message.includes('pods of its spread'))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('tells a zone from a node outside of all zones, where a pod is of no more use', () => {
    const soft = spread({ whenUnsatisfiable: 'ScheduleAnyway' });
    const all = [aNode('a'), ...inZones({ b: 'x', c: 'y' })];
    const pods = [
      ...on('c', ['p', 'q', 'r'], soft),
      aPod('busy', { nodeName: 'b', constraints: { requests: { cpu: 1000 } } }),
    ];
    const asked = { topologySpread: { soft: true, tolerance: 0 } };
    expect(repaired({ nodes: all, pods }, asked, { load: { source: 'Requests' } }).moved).toEqual([
      ['p', 'c', 'b', 'TopologySpread'],
    ]);
  });

  it('repairs what only ranks nodes when it is asked to, and never at the price of what does not', () => {
    const all = inZones({ a: 'x', b: 'y' });
    const soft = spread({ whenUnsatisfiable: 'ScheduleAnyway' });
    const pods = on('a', ['p', 'q'], soft);
    expect(repaired({ nodes: all, pods }, HARD).moves).toEqual([]);
    expect(repaired({ nodes: all, pods }, { topologySpread: { soft: true, tolerance: 0 } }).moves).toHaveLength(1);
    const racks = [
      aNode('a', { labels: { zone: 'x', rack: '1' } }),
      aNode('b', { labels: { zone: 'y', rack: '2' } }),
      aNode('c', { labels: { zone: 'y', rack: '1' } }),
    ];
    const torn = spread({}, { whenUnsatisfiable: 'ScheduleAnyway', topologyKey: 'rack' });
    const even = [...on('a', ['p'], torn), ...on('c', ['q'], torn)];
    expect(repaired({ nodes: racks, pods: even }, { topologySpread: { soft: true, tolerance: 0 } }).moved).toEqual([
      ['q', 'c', 'b', 'TopologySpread'],
    ]);
  });

  it.each([
    ['DoNotSchedule', false],
    ['ScheduleAnyway', true],
  ] as const)(
    'goes to the node that restores both of two constraints, though others are less loaded: %s',
    (whenUnsatisfiable, soft) => {
      const both = spread({ whenUnsatisfiable }, { whenUnsatisfiable, topologyKey: 'rack' });
      const at = (name: string, zone: string, rack: string) => aNode(name, { labels: { zone, rack } });
      const half = ['b', 'c', 'd', 'e'].map((name) => at(name, 'y', '1'));
      const pods = [
        ...on('a', ['p', 'q'], both),
        aPod('busy', { nodeName: 'z', constraints: { requests: { cpu: 2000 } } }),
      ];
      const all = [at('a', 'x', '1'), ...half, at('z', 'y', '2')];
      expect(
        repaired({ nodes: all, pods }, { topologySpread: { soft, tolerance: 0 } }, { load: { source: 'Requests' } })
          .moved,
      ).toEqual([['p', 'a', 'z', 'TopologySpread']]);
    },
  );

  it('says of as many pods as would have to move why they stay', () => {
    const all = [...inZones({ a: 'x' }), aNode('b', { labels: { zone: 'y' }, allocatable: { pods: 0 } })];
    const found = repaired({ nodes: all, pods: on('a', ['p', 'q', 'r'], spread({})) }, HARD);
    expect(found.moves).toEqual([]);
    expect(found.rejections.reasons.map(({ code }) => code)).toEqual(['NodeResourcesFit', 'NotNeeded', 'NotNeeded']);
    expect(found.rejections.reasons[0]?.message).toBe(
      'zone x has 3 pods of its spread, the emptiest 0, and maxSkew is 1; fits on none of 1 other node: b has 0 free pod slots',
    );
    const held = on('a', ['p', 'q', 'r', 's'], { ...spread({}), localStorage: true });
    const protectedOnes = repaired({ nodes: inZones({ a: 'x', b: 'y' }), pods: held }, HARD);
    const clauses = protectedOnes.rejections.reasons.filter(({ message }) => message.startsWith('zone x has 4 pods'));
    expect(clauses.map(({ code }) => code)).toEqual(['LocalStorage', 'LocalStorage']);
  });

  it('moves the pod that restores both of two constraints, though others come first for either', () => {
    const at = (name: string, zone: string, rack: string) => aNode(name, { labels: { zone, rack } });
    const overZones = aSpread({ app: 'web' });
    const overRacks = aSpread({ tier: 'front' }, { topologyKey: 'rack' });
    const pods = [
      aPod('p', { nodeName: 'a', labels: { app: 'web' }, constraints: { spread: [overZones] } }),
      aPod('q', { nodeName: 'a', labels: { tier: 'front' }, constraints: { spread: [overRacks] } }),
      aPod('r', {
        nodeName: 'a',
        labels: { app: 'web', tier: 'front' },
        constraints: { spread: [overZones, overRacks] },
      }),
    ];
    expect(repaired({ nodes: [at('a', 'x', '1'), at('b', 'y', '2')], pods }, HARD).moved).toEqual([
      ['r', 'a', 'b', 'TopologySpread'],
    ]);
  });

  it('lets the strategy break nothing that it repairs', () => {
    const all = inZones({ a: 'x', b: 'y' });
    const pods = [
      ...on('a', ['p', 'q'], spread({ whenUnsatisfiable: 'ScheduleAnyway' })),
      ...on('b', ['r', 's'], spread({ whenUnsatisfiable: 'ScheduleAnyway' })),
    ];
    const heavy = pods.map((pod) =>
      pod.nodeName === 'a'
        ? {
            ...pod,
            constraints: aPod('x', {
              constraints: { ...spread({ whenUnsatisfiable: 'ScheduleAnyway' }).constraints, requests: { cpu: 1800 } },
            }).constraints,
          }
        : pod,
    );
    const options = { strategy: refineLb(), load: { source: 'Requests' } } as const;
    expect(repaired({ nodes: all, pods: heavy }, HARD, options).moves).not.toEqual([]);
    expect(
      repaired({ nodes: all, pods: heavy }, { topologySpread: { soft: true, tolerance: 0 } }, options).moves,
    ).toEqual([]);
  });
});

describe('duplicates', () => {
  it('spreads pods of one controller with the same images over the nodes that take them', () => {
    const found = repaired({ nodes: nodes('a', 'b', 'c'), pods: on('a', ['p', 'q', 'r', 's']) }, { duplicates: true });
    expect(found.moved.map(([, , to]) => to)).toEqual(['b', 'c']);
    expect(found.moves[0]?.reason).toContain('a has 4 pods of its controller, 2 for each node are even');
  });

  it('leaves pods of other images or controllers alone', () => {
    const pods = [
      ...on('a', ['p']),
      ...on('a', ['q'], { constraints: { images: ['x'] } }),
      ...on('a', ['r'], { owner: 'db' }),
    ];
    expect(repaired({ nodes: nodes('a', 'b'), pods }, { duplicates: true }).moves).toEqual([]);
  });

  it('does not count nodes that the pods cannot run on', () => {
    const all = [aNode('a'), aNode('b', { taints: [aTaint('old')] })];
    expect(repaired({ nodes: all, pods: on('a', ['p', 'q']) }, { duplicates: true }).moves).toEqual([]);
  });
});

describe('restarts', () => {
  it('moves what fails again and again, Ready or not, but not what is protected otherwise', () => {
    const failing = { restarts: 12, initRestarts: 8, ready: false };
    const pods = [
      ...on('a', ['p'], failing),
      ...on('a', ['q'], { ...failing, localStorage: true }),
      ...on('a', ['r'], { ...failing, restarts: 3 }),
    ];
    const repair = (includingInit: boolean) => ({ restarts: { atLeast: 10, includingInit, states: undefined } });
    const found = repaired({ nodes: nodes('a', 'b'), pods }, repair(false));
    expect(found.moved).toEqual([['p', 'a', 'b', 'Restarts']]);
    expect(found.moves[0]?.reason).toContain('12 restarts, repair.restarts.atLeast is 10');
    expect(repaired({ nodes: nodes('a', 'b'), pods }, repair(true)).moved.map(([name]) => name)).toEqual(['p', 'r']);
  });
});

describe('lifetime', () => {
  it('moves what has run for longer, the oldest first', () => {
    const age = (hours: number) => ({ createdAt: epochSeconds(NOW - hours * 3600) });
    const pods = [...on('a', ['p'], age(3)), ...on('a', ['q'], age(5)), ...on('a', ['r'], age(1))];
    const found = repaired(
      { nodes: nodes('a', 'b'), pods },
      { maxLifetime: { age: seconds(7200), states: undefined, includingInit: false } },
    );
    expect(found.moved).toEqual([
      ['q', 'a', 'b', 'MaxLifetime'],
      ['p', 'a', 'b', 'MaxLifetime'],
    ]);
  });
});
