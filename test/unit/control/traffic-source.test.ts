import { describe, expect, it } from 'vitest';
import { learningReader, withTraffic } from '../../../src/control/traffic-source.ts';
import type { AppGraphInfo, GraphMember, TrafficSample } from '../../../src/model/app-graph.ts';
import { type ClusterReader, UsageError, type UsageServer } from '../../../src/ports.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPod, aSnapshot, aWorkload, selecting } from '../../support/builders.ts';
import { world } from '../../support/fake-world.ts';

const { signal } = new AbortController();
const member = (name: string): GraphMember => ({ name, workload: { kind: 'Deployment', name } });
const between = (source: string | undefined, destination: string | undefined, bandwidth: number): TrafficSample => ({
  source,
  destination,
  bandwidth,
});

function aGraph(fields: Partial<AppGraphInfo> = {}): AppGraphInfo {
  const members = ['web', 'db', 'log'].map(member);
  const query = { server: 'main', promql: 'traffic' };
  return { namespace: 'shop', name: 'checkout', uid: 'u', generation: 1, members, edges: [], query, ...fields };
}

const fails = () => Promise.reject(new Error('not asked for'));

/** The graph as a plan sees it, when the server answers with these samples, or fails. */
async function learnt(answer: readonly TrafficSample[] | Error | undefined, graph = aGraph(), type = 'TrafficAware') {
  const traffic = async () => (answer instanceof Error ? Promise.reject(answer) : (answer ?? []));
  const server: UsageServer = { nodes: fails, pods: fails, nodeLoads: fails, traffic };
  const servers = new Map(answer === undefined ? [] : [['main', server]]);
  const top = { kind: 'Deployment', name: 'log', uid: 'uid-top' };
  const snapshot = aSnapshot({
    pods: [aPod('log-7f-1', { owner: 'log-7f', labels: { tier: 'logs' } })],
    workloads: [aWorkload('log-7f', { owner: top }), aWorkload('log', { kind: 'Deployment', uid: 'uid-top' })],
    appGraphs: [graph],
  });
  const found = await withTraffic(aPolicy('traffic', { strategy: { type } }).spec, snapshot, servers, signal);
  return found.appGraphs?.[0];
}

describe('an AppGraph that learns its edges', () => {
  it('has what flows between members, both directions together', async () => {
    const graph = await learnt([between('db', 'web', 30), between('web', 'db', 10), between('web', 'log', 5)]);
    expect(graph?.edges).toEqual([
      { from: 'web', to: 'db', bandwidth: 40 },
      { from: 'web', to: 'log', bandwidth: 5 },
    ]);
    expect(graph?.learning).toMatchObject({ kind: 'Learnt', ignored: 0 });
  });

  it('counts samples that are not between two members, or have no amount', async () => {
    const strange = [
      between('web', 'stranger', 1),
      between('web', 'web', 1),
      between(undefined, 'web', 1),
      between('web', 'db', Number.NaN),
      between('web', 'db', Number.POSITIVE_INFINITY),
    ];
    const graph = await learnt([between('web', 'db', 10), ...strange]);
    expect(graph?.edges).toEqual([{ from: 'web', to: 'db', bandwidth: 10 }]);
    expect(graph?.learning).toMatchObject({ ignored: 5 });
  });

  it('finds a member of a selector by the topmost controller of its pods', async () => {
    const members = [member('web'), { name: 'sink', selector: selecting({ tier: 'logs' }) }];
    const graph = await learnt([between('web', 'log', 10)], aGraph({ members }));
    expect(graph?.edges).toEqual([{ from: 'web', to: 'sink', bandwidth: 10 }]);
  });

  it.each<[string, readonly TrafficSample[] | Error | undefined, string, string]>([
    ['is not known', undefined, 'UnknownServer', 'it is not known here: add --prometheus main=URL'],
    ['fails', new UsageError('it answers 503: busy'), 'ServerFailed', 'it answers 503: busy'],
    ['answers nothing', [], 'NoSamples', 'the query gives no sample: has it the right metrics, labels and window?'],
    [
      'gives no labels',
      [between(undefined, undefined, 1)],
      'NoLabels',
      'no sample has the labels source_workload and destination_workload: write the query with "sum by (source_workload, destination_workload) (...)"',
    ],
    [
      'knows no member',
      [between('b', 'a', 1)],
      'NoMembers',
      'no sample is between two members, they name a, b: write members for these workloads, or correct the query',
    ],
  ])('has no edges where the server %s, whatever was learnt before', async (_, answer, reason, problem) => {
    const before = aGraph({ edges: [{ from: 'web', to: 'db', bandwidth: 40 }] });
    const graph = await learnt(answer, before);
    expect(graph?.edges).toEqual([]);
    expect(graph?.learning).toEqual({ kind: 'Unknown', reason, message: `Prometheus server main: ${problem}` });
  });

  it('has the edges that it was given where it has no query', async () => {
    const { query: _, ...given } = aGraph({ edges: [{ from: 'web', to: 'db', bandwidth: 1 }] });
    expect(await learnt([between('web', 'db', 10)], given)).toEqual(given);
    expect(await learnt(undefined, given)).toEqual(given);
  });

  it('is not asked for by a policy that does not go by traffic', async () => {
    expect(await learnt([between('web', 'db', 10)], aGraph(), 'RefineLB')).toEqual(aGraph());
  });

  it.each([
    ['TrafficAware', 'Learnt', [{ from: 'web', to: 'db', bandwidth: 10 }]],
    ['RefineLB', undefined, []],
  ])('comes with the snapshots of a policy of strategy %s as %s', async (type, kind, edges) => {
    const w = world([aNode('a')], [], []);
    const reader: ClusterReader = {
      ...w.ports.reader,
      snapshot: async (...args) => ({ ...(await w.ports.reader.snapshot(...args)), appGraphs: [aGraph()] }),
    };
    const traffic = async () => [between('web', 'db', 10)];
    const servers = new Map([['main', { nodes: fails, pods: fails, nodeLoads: fails, traffic }]]);
    const learning = learningReader(aPolicy('traffic', { strategy: { type } }).spec, reader, servers);
    const [graph] = (await learning.snapshot(signal)).appGraphs ?? [];
    expect(graph?.edges).toEqual(edges);
    expect(graph?.learning?.kind).toBe(kind);
    expect(learning.nodes).toBe(reader.nodes);
  });

  it('lets a failure of another kind through', async () => {
    await expect(learnt(new Error('a bug'))).rejects.toThrow('a bug');
  });
});
