import { describe, expect, it } from 'vitest';
import { bandwidthText } from '../../../src/model/bandwidth.ts';
import { type JsonObject, MalformedField } from '../../../src/model/json.ts';
import { keepFields } from '../../../src/observe/fields.ts';
import { APP_GRAPH_FIELDS, projectAppGraph } from '../../../src/observe/project/app-graph.ts';

const members = ['web', 'db'].map((name) => ({ name, workload: { kind: 'Deployment', name } }));

function resource(spec: object): JsonObject {
  const metadata = { name: 'checkout', namespace: 'shop', uid: 'u', generation: 3 };
  return { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'AppGraph', metadata, spec: { members, ...spec } };
}

function projected(spec: object, status?: object) {
  return projectAppGraph({ ...resource(spec), ...(status === undefined ? {} : { status }) });
}

describe('an AppGraph', () => {
  it('has the edges of its spec, whatever its status lists', () => {
    const edges = [{ from: 'web', to: 'db', bandwidth: '1.5M' }];
    const status = { learntAt: '2026-01-01T00:00:00Z', edges: [{ from: 'db', to: 'web', bandwidth: '3M' }] };
    const graph = projected({ edges }, status);
    expect(graph.edges).toEqual([{ from: 'web', to: 'db', bandwidth: 1_500_000 }]);
    expect(graph.query).toBeUndefined();
    expect(graph.generation).toBe(3);
  });

  it('asks by the query of its mesh, in its namespace and over its window', () => {
    const { query } = projected({ traffic: { server: 'main', preset: 'Istio', window: '5m' } });
    expect(query?.server).toBe('main');
    expect(query?.promql).toContain(
      'rate(istio_tcp_sent_bytes_total{reporter="source",source_workload_namespace="shop",destination_workload_namespace="shop"}[300s])',
    );
    expect(query?.promql).toMatch(/^8 \* sum by \(source_workload, destination_workload\) \(.*\)$/);
  });

  it('asks by a query of its own', () => {
    const query = 'sum by (source_workload, destination_workload) (rate(bits{ns="$namespace"}[$window]))';
    expect(projected({ traffic: { server: 'main', query } }).query?.promql).toBe(
      'sum by (source_workload, destination_workload) (rate(bits{ns="shop"}[3600s]))',
    );
  });

  it('has what its status learnt, between members that there still are', () => {
    const edges = [
      { from: 'web', to: 'db', bandwidth: '20M' },
      { from: 'web', to: 'gone', bandwidth: '30M' },
    ];
    const status = { learntAt: '2026-01-01T00:00:00Z', edges, ignoredSamples: 4 };
    const graph = projected({ traffic: { server: 'main', preset: 'Linkerd' } }, status);
    expect(graph.edges).toEqual([{ from: 'web', to: 'db', bandwidth: 20_000_000 }]);
    expect(graph.learning).toEqual({ kind: 'Learnt', at: Date.UTC(2026) / 1000, ignored: 4 });
  });

  it('has no edge from or to a member that is gone, and ignored no samples where it does not say', () => {
    const edges = [
      { from: 'gone', to: 'db', bandwidth: '20M' },
      { from: 'db', to: 'gone', bandwidth: '20M' },
      { from: 'db', to: 'web', bandwidth: '20M' },
    ];
    const status = { learntAt: '2026-01-01T00:00:00Z', edges };
    const graph = projected({ traffic: { server: 'main', preset: 'Linkerd' } }, status);
    expect(graph.edges).toEqual([{ from: 'db', to: 'web', bandwidth: 20_000_000 }]);
    expect(graph.learning).toMatchObject({ ignored: 0 });
  });

  it('has members that are workloads, or pods that are selected', () => {
    const selected = { name: 'cache', selector: { matchLabels: { app: 'cache' } } };
    expect(projected({ members: [...members, selected], edges: [] }).members).toEqual([
      { name: 'web', workload: { kind: 'Deployment', name: 'web' } },
      { name: 'db', workload: { kind: 'Deployment', name: 'db' } },
      { name: 'cache', selector: { requirements: [{ key: 'app', operator: 'In', values: ['cache'] }] } },
    ]);
  });

  it('is the same from a snapshot file, which keeps what plans read', () => {
    const status = {
      learntAt: '2026-01-01T00:00:00Z',
      edges: [{ from: 'web', to: 'db', bandwidth: '20M' }],
      ignoredSamples: 4,
      crossDomain: [{ domain: 'zone', bandwidth: '20M' }],
    };
    const object = { ...resource({ traffic: { server: 'main', preset: 'Istio' } }), status };
    const kept = keepFields(object, APP_GRAPH_FIELDS) as JsonObject;
    expect(kept['status']).not.toHaveProperty('crossDomain');
    expect(projectAppGraph(kept)).toEqual(projectAppGraph(object));
  });

  it('knows of no traffic before any was learnt', () => {
    const { edges, learning } = projected({ traffic: { server: 'main', preset: 'Linkerd' } });
    expect(edges).toEqual([]);
    expect(learning).toMatchObject({ message: 'nothing was learnt from Prometheus server main yet' });
  });

  it('takes no edges from a status that does not say when they were learnt', () => {
    const status = { edges: [{ from: 'web', to: 'db', bandwidth: '20M' }], ignoredSamples: 4 };
    const { edges, learning } = projected({ traffic: { server: 'main', preset: 'Linkerd' } }, status);
    expect(edges).toEqual([]);
    expect(learning).toMatchObject({ kind: 'Unknown', reason: 'NoSamples' });
  });

  it('has generation 0 where none is written, as in a manifest', () => {
    const { metadata, ...rest } = resource({ edges: [{ from: 'web', to: 'db', bandwidth: '1M' }] });
    const { generation: _, ...written } = metadata as JsonObject;
    expect(projectAppGraph({ ...rest, metadata: written }).generation).toBe(0);
  });

  it('is refused with a status that is no bandwidth', () => {
    const learnt = (edge: object) =>
      projected(
        { traffic: { server: 'main', preset: 'Istio' } },
        { learntAt: '2026-01-01T00:00:00Z', edges: [{ from: 'web', to: 'db', bandwidth: '1M' }, edge] },
      );
    expect(() => learnt({ from: 'web', to: 'db', bandwidth: 'much' })).toThrow(MalformedField);
    expect(() => learnt({ from: 'web', to: 'db' })).toThrow('status.edges[1].bandwidth: is missing');
    expect(() => learnt({ to: 'db', bandwidth: '1M' })).toThrow('status.edges[1].from: is missing');
    expect(() => learnt({ from: 'web', bandwidth: '1M' })).toThrow('status.edges[1].to: is missing');
  });
});

it.each([
  [0, '0k'],
  [12_345, '12.345k'],
  [20_000_000, '20M'],
  [1_234_567_890, '1.235G'],
])('%d bits per second are %s', (bandwidth, text) => {
  expect(bandwidthText(bandwidth)).toBe(text);
});
