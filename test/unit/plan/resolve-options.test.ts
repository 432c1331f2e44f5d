import { describe, expect, it } from 'vitest';
import { resolveOptions, resolveSelector, runTiming } from '../../../src/plan/resolve-options.ts';
import { aPolicy } from '../../support/builders/policy.ts';

const resolved = (spec: object = {}) => resolveOptions(aPolicy('even', spec).spec);
const strategyOf = (strategy: object, rest: object = {}) => resolved({ strategy, ...rest }).strategy;
const repairOf = (repair: object) => resolved({ repair }).repair;

describe('a spec, as the planner reads it', () => {
  it('has fractions and seconds for what it writes as text', () => {
    const { load, thresholds, makesRoom } = resolved({
      load: { maxAge: '2m', smoothing: '5m', minCoverage: '0.8', aggregate: 'Dominant' },
      thresholds: { trigger: '0.2', minGain: '0.01', minImprovement: '0.03', minReduction: '0.04' },
    });
    expect(load).toEqual({
      source: 'Measured',
      resources: [{ name: 'cpu', weight: 1 }],
      aggregate: 'Dominant',
      maxAge: 120,
      smoothing: 300,
      minCoverage: 0.8,
    });
    expect(thresholds).toEqual({ trigger: 0.2, minGain: 0.01, minImprovement: 0.03, minReduction: 0.04, headroom: [] });
    expect(makesRoom).toBe(false);
  });

  it('reads requests, makes room and opens gates only where that is asked for', () => {
    expect([resolved(), resolved({ load: { source: 'Requests' } })].map(({ load }) => load.source)).toEqual([
      'Measured',
      'Requests',
    ]);
    expect(resolved({ makeRoom: 'Pinned' }).makesRoom).toBe(true);
    const opens = (mode: string) => resolved({ steering: { mode } }).protections.opensGates;
    expect([opens('Gate'), opens('None')]).toEqual([true, false]);
  });

  it('protects what it says', () => {
    const protections = {
      minPodAge: '10m',
      minReplicas: 3,
      priorityThreshold: 7,
      localStorage: 'Allow',
      pvc: 'Allow',
      protectedStorageClasses: ['local'],
      withoutPDB: 'Protect',
      stabilization: '20m',
      cooldown: '30m',
    };
    expect(resolved({ protections }).protections).toEqual({
      ...protections,
      minPodAge: 600,
      protectedStorageClasses: new Set(['local']),
      stabilization: 1200,
      cooldown: 1800,
      opensGates: false,
    });
  });

  it('leaves out the namespaces and the pods of others that it is told of', () => {
    const { spec } = aPolicy('even');
    const [namespaces, pods] = [new Set(['ours']), new Set(['uid-1'])];
    expect(resolveOptions(spec, namespaces, pods).scope).toMatchObject({
      excludedNamespaces: namespaces,
      foreignPods: pods,
    });
    expect(resolveOptions(spec).scope.foreignPods).toEqual(new Set());
  });
});

describe('a selector', () => {
  it('asks for all of its labels and expressions', () => {
    expect(
      resolveSelector({
        matchLabels: { app: 'web' },
        matchExpressions: [
          { key: 'zone', operator: 'NotIn', values: ['a', 'b'] },
          { key: 'x', operator: 'Exists' },
        ],
      }),
    ).toEqual({
      requirements: [
        { key: 'app', operator: 'In', values: ['web'] },
        { key: 'zone', operator: 'NotIn', values: ['a', 'b'] },
        { key: 'x', operator: 'Exists', values: [] },
      ],
    });
    expect(resolveSelector({})).toEqual({ requirements: [] });
  });
});

describe('a strategy', () => {
  it('has its defaults where it is only named', () => {
    expect(strategyOf({ type: 'RefineLB' })).toEqual({ type: 'RefineLB', overload: 1.05, refinements: 'Standard' });
    expect(strategyOf({ type: 'GreedyLB' })).toEqual({ type: 'GreedyLB', minimizeMoves: true, tolerance: 0.02 });
    expect(strategyOf({ type: 'Pack' })).toEqual({
      type: 'Pack',
      resources: [
        { name: 'cpu', below: 0.5 },
        { name: 'memory', below: 0.5 },
      ],
      headroom: 0.1,
      minNodeAge: 600,
    });
    expect(strategyOf({ type: 'TrafficAware' })).toMatchObject({
      perGiB: undefined,
      links: [],
      nodes: [],
      minSaving: 1e6,
    });
    expect(strategyOf({ type: 'QoSDriven' })).toEqual({
      type: 'QoSDriven',
      refinements: 'Standard',
      pressure: { overload: 0.9, runs: { interval: 300 } },
    });
    expect(strategyOf({ type: 'None' }, { makeRoom: 'Pinned' })).toEqual({ type: 'None' });
  });

  it('has the settings that it is given', () => {
    expect(strategyOf({ type: 'RefineLB', refineLB: { overload: '1.2', refinements: 'None' } })).toEqual({
      type: 'RefineLB',
      overload: 1.2,
      refinements: 'None',
    });
    expect(strategyOf({ type: 'GreedyLB', greedyLB: { minimizeMoves: false, tolerance: '0.1' } })).toEqual({
      type: 'GreedyLB',
      minimizeMoves: false,
      tolerance: 0.1,
    });
    const pack = { resources: [{ name: 'memory', below: '0.3' }], headroom: '0.2', minNodeAge: '1h' };
    expect(strategyOf({ type: 'Pack', pack })).toEqual({
      type: 'Pack',
      resources: [{ name: 'memory', below: 0.3 }],
      headroom: 0.2,
      minNodeAge: 3600,
    });
  });

  it('of traffic has prices and capacities of links and nodes where they are written', () => {
    const trafficAware = {
      domain: 'rack',
      perGiB: '0.01',
      links: [
        { between: ['a', 'b'], perGiB: '0.02' },
        { between: ['a', 'c'], capacity: '20M' },
      ],
      nodes: [
        { nodeSelector: { matchLabels: { pool: 'x' } }, cpuHour: '0.03', memoryGiBHour: '0.004' },
        { cpuHour: '0.01', memoryGiBHour: '0.002' },
      ],
      minSaving: '2M',
    };
    expect(strategyOf({ type: 'TrafficAware', trafficAware })).toEqual({
      type: 'TrafficAware',
      domain: 'rack',
      perGiB: 0.01,
      links: [
        { between: ['a', 'b'], perGiB: 0.02, capacity: Number.POSITIVE_INFINITY },
        { between: ['a', 'c'], perGiB: undefined, capacity: 2e7 },
      ],
      nodes: [
        {
          nodeSelector: { requirements: [{ key: 'pool', operator: 'In', values: ['x'] }] },
          cpuHour: 0.03,
          memoryGiBHour: 0.004,
        },
        { nodeSelector: { requirements: [] }, cpuHour: 0.01, memoryGiBHour: 0.002 },
      ],
      minSaving: 2e6,
    });
  });

  it('of service measures overload with its refinements, and not by requests', () => {
    const pressure = (qosDriven: object, load: object = {}) => {
      const strategy = strategyOf({ type: 'QoSDriven', qosDriven }, { load });
      return strategy.type === 'QoSDriven' ? strategy.pressure?.overload : 'another strategy';
    };
    expect(pressure({ overload: '0.8' })).toBe(0.8);
    expect(pressure({ refinements: 'None' })).toBeUndefined();
    expect(pressure({}, { source: 'Requests' })).toBeUndefined();
  });
});

describe('when a policy runs', () => {
  it('is its schedule in its zone, or else its interval', () => {
    const { spec } = aPolicy('even');
    const { interval: _, ...bare } = spec;
    expect(runTiming(bare)).toEqual({ interval: 300 });
    expect(runTiming({ ...bare, interval: '10m' })).toEqual({ interval: 600 });
    expect(runTiming({ ...bare, schedule: '0 3 * * *' })).toEqual({ schedule: '0 3 * * *', timeZone: 'Etc/UTC' });
    expect(runTiming({ ...bare, schedule: '0 3 * * *', timeZone: 'Europe/Berlin' })).toEqual({
      schedule: '0 3 * * *',
      timeZone: 'Europe/Berlin',
    });
  });
});

describe('what a policy repairs', () => {
  it('is nothing where nothing of it is on', () => {
    expect([repairOf({}), resolved().repair]).toEqual([undefined, undefined]);
    expect([repairOf({ duplicates: false }), repairOf({ duplicates: true })?.duplicates]).toEqual([undefined, true]);
    expect(repairOf({ podAntiAffinity: 'Required' })?.podAntiAffinity).toBe(true);
    expect(repairOf({ nodeAffinity: 'Preferred' })).toMatchObject({
      nodeAffinity: 'Preferred',
      podAntiAffinity: false,
    });
  });

  it('is soft where it ranks nodes', () => {
    const taints = (fields: object) => repairOf({ taints: fields })?.taints;
    expect(taints({ effect: 'PreferNoSchedule', includedTaints: ['a'] })).toEqual({
      soft: true,
      includedTaints: new Set(['a']),
      excludedTaints: new Set(),
    });
    const rest = { soft: false, includedTaints: undefined };
    expect(taints({})).toEqual({ ...rest, excludedTaints: new Set() });
    expect(taints({ excludedTaints: ['b'] })).toEqual({ ...rest, excludedTaints: new Set(['b']) });
    const spread = (fields: object) => repairOf({ topologySpread: fields })?.topologySpread?.soft;
    expect([spread({}), spread({ constraints: 'All' })]).toEqual([false, true]);
  });

  it('is about some states and failures, or all of them', () => {
    const some = repairOf({
      restarts: { atLeast: 5, states: ['CrashLoopBackOff'] },
      maxLifetime: { age: '24h', states: ['Running'] },
      failed: { reasons: ['Evicted'], exitCodes: [1], minAge: '2h', excludedOwnerKinds: ['Job'] },
    });
    expect(some?.restarts).toMatchObject({ atLeast: 5, states: new Set(['CrashLoopBackOff']) });
    expect(some?.maxLifetime).toMatchObject({ age: 86_400, states: new Set(['Running']) });
    expect(some?.failed).toMatchObject({
      reasons: new Set(['Evicted']),
      exitCodes: new Set([1]),
      minAge: 7200,
      excludedOwnerKinds: new Set(['Job']),
    });
    const all = repairOf({ restarts: { atLeast: 5 }, maxLifetime: { age: '24h' }, failed: {} });
    expect([all?.restarts?.states, all?.maxLifetime?.states, all?.failed?.reasons, all?.failed?.exitCodes]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a budget', () => {
  const budgets = (...all: readonly object[]) => resolved({ budgets: all }).budgets;

  it('limits what it names, a count or a share of replicas, and is known by its place', () => {
    const [shared, counted] = budgets(
      { maxMoves: 3, maxConcurrent: 1, perOwner: '50%' },
      { perOwner: 2, perNode: 4, perNamespace: 6 },
    );
    expect(shared).toMatchObject({ place: 0, maxMoves: 3, maxConcurrent: 1, perOwner: { kind: 'Share', share: 0.5 } });
    expect(counted).toMatchObject({ place: 1, perOwner: { kind: 'Count', count: 2 }, perNode: 4, perNamespace: 6 });
  });

  it('has an overhead for a window, and a time in which it is in force', () => {
    const [plain, bound, nightly] = budgets(
      { maxMoves: 1 },
      { maxOverhead: '10m', window: '24h' },
      { maxMoves: 1, schedule: '0 3 * * *', duration: '2h' },
    );
    expect([plain?.overhead, plain?.window]).toEqual([undefined, undefined]);
    expect([bound?.overhead, bound?.window]).toEqual([{ limit: 600, window: 86_400 }, undefined]);
    expect([nightly?.overhead, nightly?.window]).toEqual([
      undefined,
      { schedule: '0 3 * * *', timeZone: 'Etc/UTC', duration: 7200 },
    ]);
  });
});

describe('headroom', () => {
  it('is a share of a node, an amount, or nothing', () => {
    const headroom = [{ nodeSelector: { pool: 'x' }, cpu: '10%', memory: '1Gi' }, { cpu: 2 }];
    expect(resolved({ thresholds: { headroom } }).thresholds.headroom).toEqual([
      {
        nodeSelector: new Map([['pool', 'x']]),
        cpu: { kind: 'Share', share: 0.1 },
        memory: { kind: 'Amount', amount: 2 ** 30 },
      },
      { nodeSelector: new Map(), cpu: { kind: 'Amount', amount: 2000 }, memory: { kind: 'Amount', amount: 0 } },
    ]);
  });
});
