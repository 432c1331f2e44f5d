import { describe, expect, it } from 'vitest';
import { runLoop } from '../../../src/control/loop.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import { readerFor, serverProblems, withUsage } from '../../../src/control/usage-source.ts';
import type { UsageSample } from '../../../src/model/snapshot.ts';
import { bytes, milliCpu, seconds } from '../../../src/model/units.ts';
import { UsageError, type UsageServer } from '../../../src/ports.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { forever } from '../../support/execution.ts';
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

describe('what a policy that reads load from Prometheus measures', () => {
  const forMain = { source: 'Prometheus', prometheus: { server: 'main' } };
  const { spec } = aPolicy('even', { load: forMain });

  it('is what is there where another source is named', async () => {
    const w = calmByMetricsApi();
    const snapshot = await w.ports.reader.snapshot(forever);
    const servers = new Map([['main', aServer(w)]]);
    expect(await withUsage(aPolicy('even').spec, snapshot, servers, forever)).toBe(snapshot);
    expect((await withUsage(spec, snapshot, servers, forever)).usage?.nodes.get('a')?.cpu).toBe(8_000);
  });

  it('is nothing where the server is not known, and says so', async () => {
    const w = calmByMetricsApi();
    const snapshot = await w.ports.reader.snapshot(forever);
    const { usage, usageProblem } = await withUsage(spec, snapshot, new Map([['other', aServer(w)]]), forever);
    expect([usage, usageProblem]).toEqual([undefined, 'no Prometheus server main is known here']);
    const reader = readerFor(spec, w.ports.reader, new Map());
    expect(await reader.nodeUsage(forever)).toBeUndefined();
  });

  it('is asked for by the queries of the policy, and nodes by one of their own only where there is one', async () => {
    const w = calmByMetricsApi();
    const snapshot = await w.ports.reader.snapshot(forever);
    const asked: unknown[] = [];
    const server: UsageServer = {
      ...aServer(w),
      nodes: async (request) => {
        asked.push(request);
        return new Map();
      },
      pods: async (request) => {
        asked.push(request);
        return new Map();
      },
      nodeLoads: async (promql, window) => {
        asked.push([promql, window]);
        return new Map();
      },
    };
    const own = aPolicy('even', {
      load: { source: 'Prometheus', maxAge: '90s', prometheus: { server: 'main', queries: { node: 'pressure' } } },
    });
    const request = { resources: ['cpu'], window: 90, queries: {} };
    await withUsage(own.spec, snapshot, new Map([['main', server]]), forever);
    expect(asked).toEqual([expect.objectContaining(request), expect.objectContaining(request), ['pressure', 90]]);
    asked.length = 0;
    await withUsage(spec, snapshot, new Map([['main', server]]), forever);
    expect(asked).toHaveLength(2);
  });

  it('of nodes alone is as old as the first of them, and nothing where there are none or the server cannot be asked', async () => {
    const w = calmByMetricsApi();
    const nodeUsage = (nodes: UsageServer['nodes']) =>
      readerFor(spec, w.ports.reader, new Map([['main', { ...aServer(w), nodes }]])).nodeUsage(forever);
    const found = await nodeUsage(aServer(w).nodes);
    expect([found?.nodes.size, found?.serverTime]).toEqual([3, w.clock.now()]);
    expect(await nodeUsage(async () => new Map())).toBeUndefined();
    expect(await nodeUsage(() => Promise.reject(new UsageError('503')))).toBeUndefined();
    await expect(nodeUsage(() => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug');
    expect(w.calls).toEqual([]);
  });
});

describe('serverProblems', () => {
  const { spec } = aPolicy('even', { load: { source: 'Prometheus', prometheus: { server: 'main' } } });

  it.each<[string, readonly string[], string | undefined]>([
    ['is known', ['other', 'main'], undefined],
    [
      'is not, and others are',
      ['one', 'two'],
      'is "main", which is no server that is known here: write one, two, or start it with --prometheus main=URL',
    ],
    [
      'is not, and none is',
      [],
      'is "main", which is no server that is known here: start it with --prometheus main=URL',
    ],
  ])('says what to do where the server that a policy names %s', (_, known, message) => {
    const servers = new Map(known.map((name) => [name, aServer(calmByMetricsApi())]));
    const path = ['spec', 'load', 'prometheus', 'server'];
    expect(serverProblems(spec, servers, 'start it with')).toEqual(message === undefined ? [] : [{ path, message }]);
  });

  it('has nothing to say where a policy names none', () => {
    expect(serverProblems(aPolicy('even').spec, new Map(), 'start it with')).toEqual([]);
  });
});
