import { describe, expect, it } from 'vitest';
import type { AppGraphInfo } from '../../../src/model/app-graph.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { explainApplication } from '../../../src/plan/explain/application.ts';
import { plan } from '../../../src/plan/planner.ts';
import { applicationExplanationText } from '../../../src/report/application-explanation-text.ts';
import { aBudget, type OptionFields, someOptions, trafficAware } from '../../support/builders/options.ts';
import { aNode, aPod, aSnapshot, type PodFields, type SnapshotFields } from '../../support/builders.ts';

const ZONE = 'topology.kubernetes.io/zone';
const MEGABIT = 1e6;
const HELD = { annotations: { 'evenkeel.dev/do-not-evict': 'true' } };
/** Two nodes of four cores in each zone: a1, a2, b1, b2, c1, c2. */
const NODES = ['a', 'b', 'c'].flatMap((zone) =>
  [1, 2].map((place) => aNode(`${zone}${place}`, { labels: { [ZONE]: `zone-${zone}` } })),
);
const of = (owner: string, nodes: readonly string[], fields: PodFields = {}): readonly PodInfo[] =>
  nodes.map((nodeName, place) =>
    aPod(`${owner}-${place}`, { nodeName, owner, constraints: { requests: { cpu: 500 } }, ...fields }),
  );
const member = (name: string) => ({ name, workload: { kind: 'ReplicaSet', name } });
const GRAPH: AppGraphInfo = {
  namespace: 'shop',
  name: 'checkout',
  uid: 'uid-checkout',
  generation: 1,
  members: [member('web'), member('db')],
  edges: [{ from: 'web', to: 'db', bandwidth: 40 * MEGABIT }],
};

function explained(
  fields: SnapshotFields,
  strategyFields: Parameters<typeof trafficAware>[0] = {},
  optionFields: OptionFields = {},
) {
  const snapshot = aSnapshot({ nodes: NODES, usage: undefined, appGraphs: [GRAPH], ...fields });
  const strategy = trafficAware(strategyFields);
  const load = { source: 'Requests' as const };
  const options = someOptions({ strategy, load, thresholds: { trigger: 0.5 }, ...optionFields });
  const app = explainApplication(snapshot, options, strategy, GRAPH);
  const pods = app.members.flatMap((each) => each.pods);
  return {
    ...app,
    app,
    made: plan(snapshot, options),
    text: applicationExplanationText(app, true),
    places: pods.map(({ pod, domain, planned }) => [pod.name, domain, planned]),
    /** Of each pod that would save traffic elsewhere: where, how much, and what is against it. */
    against: pods.flatMap(({ pod, protections, elsewhere }) =>
      elsewhere.map(({ domain, saving, obstacles }) => [
        `${pod.name} ${domain} ${saving.bandwidth / MEGABIT}`,
        ...[...protections, ...obstacles].map(({ code }) => code),
      ]),
    ),
  };
}

describe('explainApplication', () => {
  it('has where the pods are and where the plan has them, by member', () => {
    const { places, moves, members, stays } = explained({ pods: [...of('web', ['a1', 'b1']), ...of('db', ['a2'])] });
    expect(members.map(({ name, pods }) => [name, pods.length])).toEqual([
      ['web', 2],
      ['db', 1],
    ]);
    expect(places).toEqual([
      ['web-0', 'zone-a', 'zone-a'],
      ['web-1', 'zone-b', 'zone-a'],
      ['db-0', 'zone-a', 'zone-a'],
    ]);
    expect([moves, stays]).toEqual([1, undefined]);
  });

  it('shares the traffic between domains among the edges, as the plan counts it, and prices it', () => {
    const pods = [...of('web', ['a1', 'b1']), ...of('db', ['a2', 'c1'], HELD), ...of('log', ['c2'])];
    const graph = {
      ...GRAPH,
      members: [...GRAPH.members, member('log')],
      edges: [...GRAPH.edges, { from: 'log', to: 'db', bandwidth: 8 * MEGABIT }],
    };
    const { edges, made, before, planned } = explained({ pods, appGraphs: [graph] }, { perGiB: 0.01 });
    const [own] = made.traffic?.applications ?? [];
    expect([before, planned]).toEqual([own?.before, own?.planned]);
    expect(edges.map(({ from, to, bandwidth }) => [from, to, bandwidth / MEGABIT])).toEqual([
      ['web', 'db', 40],
      ['log', 'db', 8],
    ]);
    expect(edges.map((edge) => edge.before.bandwidth / MEGABIT)).toEqual([30, 4]);
    const sum = (of: (edge: (typeof edges)[number]) => number | undefined) =>
      edges.reduce((total, edge) => total + (of(edge) ?? 0), 0);
    expect(sum((edge) => edge.before.cost)).toBeCloseTo(before.cost ?? 0);
    expect(sum((edge) => edge.planned.bandwidth)).toBeCloseTo(planned.bandwidth);
  });

  it('has the protections of a pod that would save traffic elsewhere', () => {
    const pods = [...of('web', ['b1'], HELD), ...of('db', ['a1'], HELD)];
    const { against, stays } = explained({ pods });
    expect(against).toEqual([
      ['web-0 zone-a 40', 'DoNotEvict'],
      ['db-0 zone-b 40', 'DoNotEvict'],
    ]);
    expect(stays?.code).toBe('NotWorthMoving');
  });

  it('has the filter that refuses it on the nodes of the domain', () => {
    const tight = { constraints: { requests: { cpu: 3900 } } };
    const pods = [...of('web', ['b1']), ...of('db', ['a1'], HELD), ...of('big', ['a1', 'a2'], tight)];
    const { against, members } = explained({ pods });
    expect(against).toEqual([
      ['web-0 zone-a 40', 'NodeResourcesFit'],
      ['db-0 zone-b 40', 'DoNotEvict'],
    ]);
    const [obstacle] = members[0]?.pods[0]?.elsewhere[0]?.obstacles ?? [];
    expect(obstacle).toMatchObject({ nodes: 2, message: expect.stringMatching(/^a1 has -?\d+m of 500m cpu free$/) });
  });

  it('has the load that no node may exceed', () => {
    const pods = [...of('web', ['b1']), ...of('db', ['a1', 'a2'], HELD), ...of('other', ['a1', 'a1', 'a2', 'a2'])];
    const { against, text } = explained({ pods }, {}, { thresholds: { trigger: 0.05 } });
    expect(against[0]).toEqual(['web-0 zone-a 40', 'NodeLoad']);
    expect(text).toContain('NodeLoad on 2 of 2 nodes: a1 would be at 50.00 %, above 37.50 %');
  });

  it('has the budgets with what the plan spends of them', () => {
    const pods = [...of('web', ['b1', 'c1']), ...of('db', ['a1'], HELD)];
    const { against, moves } = explained({ pods }, {}, { budgets: [aBudget({ maxMoves: 1 })] });
    expect(moves).toBe(1);
    expect(against.filter(([, code]) => code === 'MaxMoves')).toHaveLength(1);
  });

  it('has the link that would carry too much', () => {
    const graph = {
      ...GRAPH,
      members: [...GRAPH.members, member('log')],
      edges: [...GRAPH.edges, { from: 'web', to: 'log', bandwidth: 30 * MEGABIT }],
    };
    const pods = [...of('web', ['c1']), ...of('db', ['a1'], HELD), ...of('log', ['b1'], HELD)];
    const links = [{ between: ['zone-a', 'zone-b'] as const, perGiB: undefined, capacity: 29 * MEGABIT }];
    const { against, text } = explained({ pods, appGraphs: [graph] }, { links });
    expect(against.slice(0, 2)).toEqual([
      ['web-0 zone-a 40', 'LinkCapacity'],
      ['web-0 zone-b 30', 'LinkCapacity'],
    ]);
    expect(text).toContain('LinkCapacity: zone-a and zone-b would exchange 30 Mb/s of 29 Mb/s');
  });

  it('says when the move saves less than minSaving', () => {
    const pods = [...of('web', ['b1']), ...of('db', ['a1'], HELD)];
    expect(explained({ pods }, { minSaving: 41 * MEGABIT }).against[0]).toEqual(['web-0 zone-a 40', 'NotWorthMoving']);
  });

  it('of pods that add no load says that they may be moved', () => {
    const idle = { constraints: { requests: { cpu: 0 } } };
    const { members } = explained({ pods: [...of('web', ['b1'], idle), ...of('db', ['a1'])] });
    const pods = members.flatMap((each) => each.pods);
    expect(pods.map(({ movable, protections }) => [movable, protections])).toEqual([
      [true, []],
      [true, []],
    ]);
  });

  it('counts nothing of pods on nodes without the label', () => {
    const nodes = [...NODES, aNode('nowhere')];
    const { places, before, stays, text } = explained({
      nodes,
      pods: [...of('web', ['nowhere']), ...of('db', ['a1'])],
    });
    expect(places[0]).toEqual(['web-0', undefined, undefined]);
    expect([before.bandwidth, stays?.code]).toEqual([0, 'NodeNotParticipating']);
    expect(text).toContain('no domain 1');
  });

  it.each([80, 100])('fits into %i columns', (columns) => {
    const { app } = explained(
      { pods: [...of('web', ['a1', 'b1']), ...of('db', ['a2', 'c1'], HELD)] },
      { perGiB: 0.01 },
    );
    const text = applicationExplanationText(app, false, { columns, paint: (_tone, each) => each });
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(columns);
    expect(text).toMatch(/^STAYS +IN /m);
  });

  it('has why it stays itself, whatever others of its namespace do', () => {
    const archive = { ...GRAPH, name: 'archive', uid: 'uid-archive', members: [member('log')], edges: [] };
    const pods = [...of('web', ['a1', 'b1']), ...of('db', ['a2']), ...of('log', ['nowhere'])];
    const snapshot = aSnapshot({
      nodes: [...NODES, aNode('nowhere')],
      pods,
      usage: undefined,
      appGraphs: [GRAPH, archive],
    });
    const strategy = trafficAware();
    const options = someOptions({ strategy, load: { source: 'Requests' }, thresholds: { trigger: 0.5 } });
    const staysOf = (graph: AppGraphInfo) => explainApplication(snapshot, options, strategy, graph).stays?.code;
    expect([staysOf(GRAPH), staysOf(archive)]).toEqual([undefined, 'NodeNotParticipating']);
  });

  it('without metrics says so', () => {
    const { stays, moves } = explained({ pods: of('web', ['a1']) }, {}, { load: { source: 'Measured' } });
    expect([stays?.code, moves]).toEqual(['NodeNotParticipating', 0]);
  });

  it('names pods that another member has already', () => {
    const graph = {
      ...GRAPH,
      members: [member('web'), { ...member('db'), workload: member('web').workload }],
      edges: [],
    };
    const { claimed, text } = explained({ pods: of('web', ['a1']), appGraphs: [graph] });
    expect(claimed).toHaveLength(1);
    expect(text).toContain('Other members have these pods already: ');
  });
});
