import { describe, expect, it } from 'vitest';
import { runLoop } from '../../../src/control/loop.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import type { UsageSample } from '../../../src/model/snapshot.ts';
import { bytes, milliCpu, seconds } from '../../../src/model/units.ts';
import { UsageError, type UsageServer } from '../../../src/ports.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive } from '../../support/test-clock.ts';

const OWNERS = ['api', 'db', 'mail', 'web'].map((name) => aWorkload(name, { replicas: 3 }));

/** Eight pods on node a, of which the Metrics API says that they use next to nothing. */
function calmByMetricsApi(): World {
  const pods = OWNERS.flatMap((owner) => [1, 2].map((index) => aPodOf(owner, `${owner.name}-${index}`, 'a', 1)));
  return world([aNode('a', TEN_CORES), aNode('b', TEN_CORES), aNode('c', TEN_CORES)], OWNERS, pods);
}

/** A server by which each pod uses a core, and node a all of them. */
function aServer(w: World): UsageServer {
  const sample = (cpu: number): UsageSample => ({
    cpu: milliCpu(cpu),
    memory: bytes(0),
    timestamp: w.clock.now(),
    window: seconds(1),
  });
  return {
    nodes: async () => new Map(['a', 'b', 'c'].map((name) => [name, sample(name === 'a' ? 8_000 : 0)])),
    pods: async () =>
      new Map(OWNERS.flatMap(({ name }) => [1, 2].map((index) => [`shop/${name}-${index}`, sample(1_000)]))),
    nodeLoads: async () => new Map(),
    traffic: async () => [],
  };
}

async function play(w: World, server: UsageServer | undefined, span: number): Promise<void> {
  const stop = new AbortController();
  w.clock.at(w.clock.now() + span, () => stop.abort());
  const usageServers = new Map(server === undefined ? [] : [['main', server]]);
  const settings = {
    excludedNamespaces: new Set<string>(),
    maxInFlight: 100,
    pace: OPERATOR_PACE,
    passed: () => undefined,
  };
  await drive(w.clock, runLoop({ ...w.ports, usageServers }, settings, stop.signal));
}

const byPrometheus = {
  mode: 'DryRun',
  interval: '10s',
  load: { source: 'Prometheus', prometheus: { server: 'main' } },
};

function conditionOf(w: World, type: string): string {
  const found = w.policies.stored.get('even')?.policy.status?.conditions?.find((each) => each.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

describe('a policy that reads load from Prometheus', () => {
  it('plans by what the server says, and never asks the Metrics API', async () => {
    const w = calmByMetricsApi();
    w.policies.apply('even', byPrometheus);
    await play(w, aServer(w), 60);
    expect([...w.plans.stored.values()][0]?.spec.moves.length).toBeGreaterThan(0);
    expect(w.calls).not.toContain('reader.nodeUsage');
  });

  it('plans by what its query says of nodes, which is the load of cpu', async () => {
    const w = calmByMetricsApi();
    w.policies.apply('even', {
      ...byPrometheus,
      load: { source: 'Prometheus', prometheus: { server: 'main', queries: { node: 'pressure' } } },
    });
    const pressed = new Map([
      ['a', 0.75],
      ['b', 0],
      ['c', 0],
    ]);
    await play(w, { ...aServer(w), nodeLoads: async () => pressed }, 60);
    expect([...w.plans.stored.values()][0]?.status?.imbalance?.before?.['cpu']?.max).toBe('0.75');
  });

  it('moves nothing while the server cannot be asked, and says why', async () => {
    const w = calmByMetricsApi();
    const fails = () => Promise.reject(new UsageError('it answers 503: busy'));
    w.policies.apply('even', byPrometheus);
    await play(w, { nodes: fails, pods: fails, nodeLoads: fails, traffic: fails }, 60);
    expect([...w.plans.stored.values()]).toEqual([]);
    expect(conditionOf(w, 'MetricsFresh')).toBe(
      'False MetricsUnavailable: Prometheus server main: it answers 503: busy',
    );
  });

  it('is not accepted by an operator that knows no such server', async () => {
    const w = calmByMetricsApi();
    w.policies.apply('even', byPrometheus);
    await play(w, undefined, 60);
    expect(conditionOf(w, 'Accepted')).toBe(
      'False InvalidSpec: spec.load.prometheus.server: is "main", which is no server that is known here: start the operator with --prometheus main=URL',
    );
  });

  it('fails, and is not taken for one without metrics, when something else breaks', async () => {
    const w = calmByMetricsApi();
    const breaks = () => Promise.reject(new Error('a bug'));
    w.policies.apply('even', byPrometheus);
    await play(w, { nodes: breaks, pods: breaks, nodeLoads: breaks, traffic: breaks }, 30);
    expect(conditionOf(w, 'Degraded')).toBe('True ObserveFailed: a bug');
  });
});
