import { describe, expect, it } from 'vitest';
import type { AppGraphInfo } from '../../../../src/model/app-graph.ts';
import type { PodInfo } from '../../../../src/model/pod.ts';
import { EVERYTHING } from '../../../../src/model/selector.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { applyPlan } from '../../../support/apply-plan.ts';
import { aBudget, type OptionFields, someOptions, trafficAware } from '../../../support/builders/options.ts';
import {
  aNode,
  aPdb,
  aPod,
  aSnapshot,
  aWorkload,
  type PodFields,
  type SnapshotFields,
  selecting,
} from '../../../support/builders.ts';

const ZONE = 'topology.kubernetes.io/zone';
/** Two nodes of four cores in each zone: a1, a2, b1, b2, c1, c2. */
const NODES = ['a', 'b', 'c'].flatMap((zone) =>
  [1, 2].map((place) => aNode(`${zone}${place}`, { labels: { [ZONE]: `zone-${zone}` } })),
);
/** Pods of half a core, by node. */
const of = (owner: string, nodes: readonly string[], fields: PodFields = {}): readonly PodInfo[] =>
  nodes.map((nodeName, place) =>
    aPod(`${owner}-${place}`, { nodeName, owner, constraints: { requests: { cpu: 500 } }, ...fields }),
  );
const member = (name: string) => ({ name, workload: { kind: 'ReplicaSet', name } });
const MEGABIT = 1e6;

function aGraph(fields: Partial<AppGraphInfo> = {}): AppGraphInfo {
  return {
    namespace: 'shop',
    name: 'checkout',
    uid: 'uid-checkout',
    generation: 1,
    members: [member('web'), member('db')],
    edges: [{ from: 'web', to: 'db', bandwidth: 40 * MEGABIT }],
    ...fields,
  };
}

function rerouted(
  fields: SnapshotFields,
  strategy: Parameters<typeof trafficAware>[0] = {},
  options: OptionFields = {},
) {
  const snapshot = aSnapshot({ nodes: NODES, usage: undefined, appGraphs: [aGraph()], ...fields });
  const load = { source: 'Requests' as const };
  const thresholds = { trigger: 0.5 };
  const asked = someOptions({ strategy: trafficAware(strategy), load, thresholds, ...options });
  const found = plan(snapshot, asked);
  return {
    ...found,
    moved: found.moves.map(({ pod, from, to }) => [pod.name, from, to]),
    crossing: found.traffic && [found.traffic.before.bandwidth / MEGABIT, found.traffic.planned.bandwidth / MEGABIT],
    reasons: new Map(found.rejections.pods.map(({ name }, place) => [name, found.rejections.reasons[place]?.code])),
    again: plan(applyPlan(snapshot, found), asked),
  };
}

describe('TrafficAware', () => {
  it('moves the pod of an application that runs in another zone to the zone of those that it talks to', () => {
    const found = rerouted({ pods: [...of('web', ['a1', 'b1']), ...of('db', ['a2'])] });
    expect(found.moved).toEqual([['web-1', 'b1', 'a1']]);
    expect(found.crossing).toEqual([20, 0]);
    expect(found.traffic?.between).toEqual([{ domains: ['zone-a', 'zone-b'], before: 20 * MEGABIT, planned: 0 }]);
    expect(found.outcome).toEqual({ kind: 'Moves', obstacle: undefined });
    expect(found.moves[0]?.reason).toMatch(/^brings shop\/checkout closer together, from zone-b to zone-a; /);
    expect(found.again.moves).toEqual([]);
  });

  it('has nothing to do for an application without pods', () => {
    const found = rerouted({ pods: of('other', ['a1']) });
    expect(found.outcome.kind).toBe('NothingToReroute');
  });

  it('says what passes between each two zones, before and as planned', () => {
    const mail = aGraph({
      name: 'mail',
      uid: 'uid-mail',
      members: [member('smtp'), member('imap')],
      edges: [{ from: 'smtp', to: 'imap', bandwidth: 90 * MEGABIT }],
    });
    const pods = [...of('web', ['a1', 'b1']), ...of('db', ['a2']), ...of('smtp', ['c1']), ...of('imap', ['b2'])];
    const found = rerouted({ pods, appGraphs: [aGraph(), mail] }, { minSaving: 95 * MEGABIT });
    expect(found.traffic?.between).toEqual([
      { domains: ['zone-b', 'zone-c'], before: 90 * MEGABIT, planned: 90 * MEGABIT },
      { domains: ['zone-a', 'zone-b'], before: 20 * MEGABIT, planned: 20 * MEGABIT },
    ]);
  });

  describe('with prices of nodes', () => {
    const nodes = [
      { nodeSelector: selecting({ [ZONE]: 'zone-a' }), cpuHour: 0.1, memoryGiBHour: 0 },
      { nodeSelector: EVERYTHING, cpuHour: 0.3, memoryGiBHour: 0 },
    ];

    it('moves an application whole to where running costs less', () => {
      const found = rerouted({ pods: [...of('web', ['b1', 'b2']), ...of('db', ['b1'])] }, { perGiB: 0.01, nodes });
      expect(found.moved.map(([, , to]) => to?.[0])).toEqual(['a', 'a', 'a']);
      expect(found.traffic?.before).toEqual({ bandwidth: 0, cost: expect.closeTo(0.45, 9) });
      expect(found.traffic?.planned).toEqual({ bandwidth: 0, cost: expect.closeTo(0.15, 9) });
      expect(found.traffic?.applications.map(({ moves }) => moves)).toEqual([3]);
      expect(found.again.moves).toEqual([]);
    });

    const held = { annotations: { 'evenkeel.dev/do-not-evict': 'true' } };

    it('leaves traffic between zones that costs less than running together', () => {
      const graph = aGraph({ edges: [{ from: 'web', to: 'db', bandwidth: 2 * MEGABIT }] });
      const apart = { pods: [...of('web', ['a1']), ...of('db', ['b1'], held)], appGraphs: [graph] };
      expect(rerouted(apart, { perGiB: 0.01, nodes, minSaving: 1 }).moved).toEqual([]);
      expect(rerouted(apart, { perGiB: 10, nodes, minSaving: 1 }).moved).toEqual([['web-0', 'a1', 'b2']]);
    });
  });

  it('names other nodes of the same zone as fallbacks', () => {
    const found = rerouted({ pods: [...of('web', ['a1', 'b1']), ...of('db', ['a2'])] });
    expect(found.moves[0]?.fallbacks).toEqual(['a2']);
  });

  it('leaves pods where they are when each move would save less than minSaving', () => {
    const found = rerouted({ pods: [...of('web', ['a1', 'b1']), ...of('db', ['a2'])] }, { minSaving: 21 * MEGABIT });
    expect(found.moved).toEqual([]);
    expect(found.outcome.kind).toBe('NoBeneficialMove');
    expect(found.reasons.get('web-1')).toBe('NotWorthMoving');
  });

  it('counts traffic by its price where the policy has prices', () => {
    const links = [{ between: ['zone-a', 'zone-b'] as const, perGiB: 0.02, capacity: Number.POSITIVE_INFINITY }];
    const found = rerouted({ pods: [...of('web', ['b1']), ...of('db', ['a2'])] }, { perGiB: 0.01, links });
    // 40 Mb/s are 16.76 GiB an hour.
    expect(found.traffic?.before.cost).toBeCloseTo(0.3353, 4);
    expect(found.traffic?.planned.cost).toBe(0);
  });

  it('sends no more between two zones than their link has capacity for', () => {
    // Two halves that cannot leave, and a pod between them that talks to both; the link to zone-a is nearly full.
    const held = { annotations: { 'evenkeel.dev/do-not-evict': 'true' } };
    const graph = aGraph({
      members: [member('web'), member('db'), member('log')],
      edges: [
        { from: 'web', to: 'db', bandwidth: 40 * MEGABIT },
        { from: 'web', to: 'log', bandwidth: 30 * MEGABIT },
      ],
    });
    const pods = [...of('web', ['c1']), ...of('db', ['a1'], held), ...of('log', ['b1'], held)];
    const link = (one: string, other: string, capacity: number) => ({
      between: [one, other] as const,
      perGiB: undefined,
      capacity: capacity * MEGABIT,
    });
    expect(rerouted({ pods, appGraphs: [graph] }).moved).toEqual([['web-0', 'c1', 'a2']]);
    const limited = rerouted({ pods, appGraphs: [graph] }, { links: [link('zone-a', 'zone-b', 29)] });
    expect(limited.moved).toEqual([]);
  });

  it('moves no pod that a protection holds, and brings the others to it', () => {
    const held = { annotations: { 'evenkeel.dev/do-not-evict': 'true' } };
    const found = rerouted({ pods: [...of('web', ['b1'], held), ...of('db', ['a1', 'a2'])] });
    expect(found.moved.map(([name, , to]) => [name, to])).toEqual([
      ['db-0', 'b2'],
      ['db-1', 'b1'],
    ]);
    expect(found.reasons.get('web-0')).toBe('DoNotEvict');
  });

  it('finds the best placement that budgets allow, and says which pods they refuse', () => {
    const pods = [...of('web', ['b1', 'b2', 'c1']), ...of('db', ['a1', 'a1'])];
    const found = rerouted({ pods }, {}, { budgets: [aBudget({ maxMoves: 1 })] });
    expect(found.moved).toHaveLength(1);
    expect([...found.reasons.values()]).toContain('MaxMoves');
    expect(found.crossing?.[1]).toBeLessThan(found.crossing?.[0] ?? 0);
  });

  describe('where a PodDisruptionBudget lets pods go one after the other', () => {
    const labelled = (pods: readonly PodInfo[]): readonly PodInfo[] =>
      pods.map((pod) => ({ ...pod, labels: new Map([['app', pod.owner?.name ?? '']]) }));
    const allowing = (disruptionsAllowed: number) =>
      ['web', 'db'].map((app) => aPdb(app, { selector: selecting({ app }), disruptionsAllowed }));
    const edges = [{ from: 'web', to: 'db', bandwidth: 120 * MEGABIT }];

    it('plans all moves at once, which wait for each other', () => {
      const pods = labelled([...of('web', ['b1', 'c1', 'a1', 'b2']), ...of('db', ['b1', 'b2', 'b1'])]);
      const found = rerouted({ pods, pdbs: allowing(1), appGraphs: [aGraph({ edges })] });
      expect(found.crossing).toEqual([60, 0]);
      expect(found.moves.map(({ pod }) => pod.name).sort()).toEqual(['web-1', 'web-2']);
    });

    it('brings two pods together with those that they talk to where moving one of them alone saves too little', () => {
      const pods = labelled([...of('web', ['a1', 'a2']), ...of('db', ['b1', 'b2', 'b1', 'b2'])]);
      const minSaving = 40 * MEGABIT;
      const found = rerouted({ pods, pdbs: allowing(1), appGraphs: [aGraph({ edges })] }, { minSaving });
      expect(found.crossing).toEqual([120, 0]);
    });

    it('moves no pod of a budget that allows nothing now', () => {
      const pods = labelled([...of('web', ['a1', 'a2']), ...of('db', ['b1', 'b2'])]);
      const found = rerouted({ pods, pdbs: allowing(0), appGraphs: [aGraph({ edges })] });
      expect(found.moves).toEqual([]);
      expect(found.reasons.get('web-0')).toBe('PodDisruptionBudget');
    });
  });

  it('loads no node more than the trigger above the mean, or than the fullest node is', () => {
    const full = of('other', ['a1', 'a1', 'a1', 'a2', 'a2', 'a2'], { constraints: { requests: { cpu: 1000 } } });
    const pods = [...full, ...of('small', ['a2']), ...of('web', ['b1']), ...of('db', ['a1'])];
    const found = rerouted({ pods }, {}, { thresholds: { trigger: 0.1 } });
    expect(found.moved).toEqual([['db-0', 'a1', 'b2']]);
  });

  it('leaves an application alone that shares a pod with an earlier one, and says so', () => {
    const second = aGraph({ name: 'payment', members: [member('web'), member('bank')], edges: [] });
    const pods = [...of('web', ['a1']), ...of('db', ['a2']), ...of('bank', ['b1'])];
    const found = rerouted({ pods, appGraphs: [aGraph(), second] });
    expect(found.outcome).toEqual({
      kind: 'Blocked',
      message:
        '1 application stays as it is: shop/payment: selects shop/web-0, which AppGraph checkout has already: put all that it talks to into one AppGraph, or select other pods',
    });
    expect(Object.fromEntries(found.reasons)).toMatchObject({ 'web-0': 'NotNeeded', 'bank-0': 'SharedWorkload' });
  });

  it('counts a pod that two members select for the first of them, and says so', () => {
    const all = { name: 'all', selector: selecting({}) };
    const pods = [...of('web', ['a1']), ...of('db', ['a2'])];
    const found = rerouted({ pods, appGraphs: [aGraph({ members: [member('web'), member('db'), all] })] });
    expect(found.outcome).toEqual({
      kind: 'NothingToReroute',
      message:
        'no traffic of 1 AppGraph passes between values of topology.kubernetes.io/zone; AppGraph shop/checkout selects shop/db-0, which another member has already: a pod belongs to one member',
    });
  });

  it('leaves an application alone of whose traffic nothing is known, and brings the others together', () => {
    const learning = { kind: 'Unknown', reason: 'NoSamples', message: 'Prometheus server main: no answer' } as const;
    const unknown = aGraph({ name: 'payment', members: [member('bank'), member('log')], edges: [], learning });
    const pods = [...of('web', ['a1', 'b1']), ...of('db', ['a2']), ...of('bank', ['b1']), ...of('log', ['c1'])];
    const found = rerouted({ pods, appGraphs: [aGraph(), unknown] });
    expect(found.moved).toEqual([['web-1', 'b1', 'a1']]);
    expect(found.outcome).toEqual({
      kind: 'Moves',
      obstacle: '1 application stays as it is: shop/payment: Prometheus server main: no answer',
    });
    expect(found.again.outcome.kind).toBe('Blocked');
    expect(found.reasons.get('bank-0')).toBe('TrafficUnknown');
  });

  it('selects members by labels and by the controller above the ReplicaSet, in the namespace of the AppGraph alone', () => {
    const top = { kind: 'Deployment', name: 'web', uid: 'uid-top' };
    const workloads = [
      aWorkload('web-7f', { owner: top }),
      aWorkload('web', { kind: 'Deployment', uid: 'uid-top' }),
      aWorkload('db'),
    ];
    const graph = aGraph({
      members: [
        { name: 'web', workload: { kind: 'Deployment', name: 'web' } },
        { name: 'db', selector: selecting({ app: 'db' }) },
      ],
    });
    const pods = [
      ...of('web-7f', ['b1']),
      ...of('db', ['a2', 'a1'], { labels: { app: 'db' } }),
      ...of('stranger', ['c1'], { namespace: 'bank', labels: { app: 'db' } }),
    ];
    const found = rerouted({
      pods,
      workloads: [...workloads, aWorkload('stranger', { namespace: 'bank' })],
      appGraphs: [graph],
    });
    expect(found.moved.map(([name, from]) => [name, from])).toEqual([['web-7f-0', 'b1']]);
    expect(found.reasons.get('stranger-0')).toBe('NotNeeded');
  });

  it('leaves an application alone of which a pod runs on a node without the label', () => {
    const nodes = [...NODES, aNode('plain')];
    const found = rerouted({ nodes, pods: [...of('web', ['plain', 'b1']), ...of('db', ['a1'])] });
    expect(found.moved).toEqual([]);
    expect(found.traffic?.applications[0]?.stays?.message).toBe(
      'runs on plain, which has no label topology.kubernetes.io/zone',
    );
  });

  it('says that there is no AppGraph', () => {
    const found = rerouted({ appGraphs: [], pods: of('web', ['a1']) });
    expect(found.outcome.kind).toBe('NothingToReroute');
  });
});
