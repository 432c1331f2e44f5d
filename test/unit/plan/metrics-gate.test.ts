import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot, UsageSample } from '../../../src/model/snapshot.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import {
  coverageOf,
  gateMessage,
  idleTest,
  judgeNodes,
  NO_LIMITS,
  type NodeSample,
  noCoverage,
  sampleLimits,
  sampleProblem,
} from '../../../src/plan/metrics-gate.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { plan } from '../../../src/plan/planner.ts';
import { listRejections } from '../../../src/plan/rejections.ts';
import { type OptionFields, someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSample, aSnapshot, NOW } from '../../support/builders.ts';
import { transfersOf } from '../../support/transfers.ts';

/** Node a is full, b and c are nearly empty. `third` replaces the sample of c; `undefined` removes it. */
function lopsided(third: UsageSample | undefined, podsOnThird = true): ClusterSnapshot {
  const heavy = Array.from({ length: 8 }, (_, index) => aPod(`h-${index}`, { nodeName: 'a' }));
  const light = [aPod('l-b', { nodeName: 'b' }), ...(podsOnThird ? [aPod('l-c', { nodeName: 'c' })] : [])];
  const uses = Object.fromEntries([...heavy.map(({ name }) => [name, 400]), ...light.map(({ name }) => [name, 100])]);
  const snapshot = aSnapshot({ nodes: ['a', 'b', 'c'].map((name) => aNode(name)), pods: [...heavy, ...light], uses });
  const nodes = new Map(snapshot.usage?.nodes);
  if (third === undefined) {
    nodes.delete('c');
  } else {
    nodes.set('c', third);
  }
  return { ...snapshot, usage: { nodes, pods: snapshot.usage?.pods ?? new Map() } };
}

function planFor(snapshot: ClusterSnapshot, fields: OptionFields = { load: { minCoverage: 0.5 } }): Plan {
  return plan(snapshot, someOptions(fields));
}

function touched(plan: Plan): ReadonlySet<string> {
  return new Set(transfersOf(plan).flatMap(({ from, to }) => [from, to]));
}

describe('the metrics gate', () => {
  it('lets nodes with a valid sample take part', () => {
    expect(touched(planFor(lopsided(aSample(100))))).toEqual(new Set(['a', 'b', 'c']));
  });

  it.each([
    { what: 'NaN', sample: aSample(Number.NaN), reason: 'its sample is not a number' },
    { what: 'infinite', sample: aSample(Number.POSITIVE_INFINITY), reason: 'its sample is not a number' },
    {
      what: 'NaN in a resource that the policy does not balance',
      sample: aSample(100, Number.NaN),
      reason: 'its sample is not a number',
    },
    { what: 'negative', sample: aSample(-1), reason: 'its sample is negative' },
    {
      what: 'too old',
      sample: aSample(100, 0, { timestamp: epochSeconds(NOW - 91) }),
      reason: 'its sample is 91 s old, load.maxAge is 90 s',
    },
    {
      what: 'of no time',
      sample: aSample(100, 0, { timestamp: epochSeconds(Number.NaN) }),
      reason: 'its sample names no time',
    },
    {
      what: 'from the future',
      sample: aSample(100, 0, { timestamp: epochSeconds(NOW + 31) }),
      reason: 'its sample is 31 s in the future',
    },
    { what: 'above 4 x allocatable', sample: aSample(16_001), reason: 'its sample is above 4 x allocatable cpu' },
    { what: 'missing', sample: undefined, reason: 'it has no sample' },
  ])('leaves out a node whose sample is $what, as source and as target', ({ sample, reason }) => {
    const found = planFor(lopsided(sample));
    expect(touched(found)).toEqual(new Set(['a', 'b']));
    expect(found.coverage).toMatchObject({ readyNodes: 3, sampledNodes: 2 });
    expect(listRejections(found.rejections).find(({ pod }) => pod.name === 'l-c')).toMatchObject({
      code: 'NodeNotParticipating',
      message: `c takes no part: ${reason}`,
    });
  });

  it.each([
    { what: 'as old as maxAge', sample: aSample(100, 0, { timestamp: epochSeconds(NOW - 90) }) },
    { what: 'a little in the future', sample: aSample(100, 0, { timestamp: epochSeconds(NOW + 30) }) },
    { what: 'exactly zero', sample: aSample(0) },
  ])('counts a sample that is $what', ({ sample }) => {
    expect(planFor(lopsided(sample)).coverage.sampledNodes).toBe(3);
  });

  it('takes a Ready node without pods and without a sample for idle', () => {
    const found = planFor(lopsided(undefined, false), {});
    expect(found.coverage).toMatchObject({ readyNodes: 3, sampledNodes: 3, ratio: 1 });
    expect(found.moves.map(({ to }) => to)).toContain('c');
  });

  it('does not take an invalid sample for idleness', () => {
    expect(touched(planFor(lopsided(aSample(Number.NaN), false)))).toEqual(new Set(['a', 'b']));
  });

  it('takes a node on which pods only start or end for idle', () => {
    const snapshot = lopsided(undefined);
    const pods = snapshot.pods.map((pod) =>
      pod.name === 'l-c' ? { ...pod, phase: 'Pending' as const, ready: false } : pod,
    );
    expect(planFor({ ...snapshot, pods }, {}).coverage.sampledNodes).toBe(3);
  });

  it('makes no plan below minCoverage, and says so', () => {
    const found = planFor(lopsided(aSample(Number.NaN)), {});
    expect(found.outcome).toEqual({
      kind: 'MetricsIncomplete',
      message: '2 of 3 Ready nodes have a valid sample (66.67 %), load.minCoverage is 95.00 %',
    });
    expect(found.moves).toEqual([]);
    expect(new Set(found.rejections.reasons.map(({ code }) => code))).toEqual(new Set(['NodeNotParticipating']));
  });

  it('makes no plan without a Metrics API, unless the load is that of the requests', () => {
    const snapshot = { ...lopsided(aSample(100)), usage: undefined };
    expect(planFor(snapshot, {}).outcome.kind).toBe('MetricsUnavailable');
    const byRequests = planFor(snapshot, { load: { source: 'Requests' }, thresholds: { trigger: 0.01 } });
    expect(byRequests.outcome.kind).toBe('Moves');
    expect(byRequests.coverage).toEqual({ readyNodes: 3, sampledNodes: 3, ratio: 1, maxAge: undefined });
  });

  it('does not ask NotReady and cordoned nodes for samples', () => {
    const snapshot = lopsided(aSample(Number.NaN));
    for (const change of [{ ready: false }, { unschedulable: true }]) {
      const nodes = snapshot.nodes.map((node) => (node.name === 'c' ? { ...node, ...change } : node));
      expect(planFor({ ...snapshot, nodes }, {}).coverage).toMatchObject({ readyNodes: 2, sampledNodes: 2 });
    }
  });

  it('reports the age of the oldest valid sample', () => {
    expect(planFor(lopsided(aSample(100, 0, { timestamp: epochSeconds(NOW - 77) }))).coverage.maxAge).toBe(77);
  });
});

describe('the limits of samples', () => {
  it('are four times what each node offers, and for one that offers nothing of a resource what the largest does', () => {
    const nodes = [
      aNode('a', { allocatable: { cpu: 1000, memory: 10 } }),
      aNode('b', { allocatable: { cpu: 3000, memory: 0 } }),
      aNode('c', { allocatable: { cpu: 0, memory: 30 } }),
    ];
    expect(sampleLimits(nodes)).toEqual([
      { cpu: 4000, memory: 40 },
      { cpu: 12_000, memory: 120 },
      { cpu: 12_000, memory: 120 },
    ]);
  });

  it('are none where no node offers a resource', () => {
    expect(sampleLimits([aNode('a', { allocatable: { cpu: 0, memory: 0 } })])).toEqual([NO_LIMITS]);
  });
});

describe('what is wrong with a sample', () => {
  const limits = { cpu: 4000, memory: 400 };
  const problem = (sample: UsageSample, maxAge = 90) => sampleProblem(sample, limits, NOW, seconds(maxAge));
  const aged = (age: number) => aSample(1, 1, { timestamp: epochSeconds(NOW - age) });

  it.each([
    { sample: aSample(4000, 400), says: undefined },
    { sample: aSample(0, 0), says: undefined },
    { sample: aSample(4001, 400), says: 'its sample is above 4 x allocatable cpu' },
    { sample: aSample(4000, 401), says: 'its sample is above 4 x allocatable memory' },
    { sample: aSample(4001, 401), says: 'its sample is above 4 x allocatable cpu' },
    { sample: aSample(-1, 0), says: 'its sample is negative' },
    { sample: aSample(0, -1), says: 'its sample is negative' },
    { sample: aSample(Number.NaN, 0), says: 'its sample is not a number' },
    { sample: aSample(0, Number.POSITIVE_INFINITY), says: 'its sample is not a number' },
    { sample: aged(90), says: undefined },
    { sample: aged(90.6), says: 'its sample is 91 s old, load.maxAge is 90 s' },
    { sample: aged(-30), says: undefined },
    { sample: aged(-30.6), says: 'its sample is 31 s in the future' },
    { sample: aged(Number.NaN), says: 'its sample names no time' },
  ])('is $says', ({ sample, says }) => {
    expect(problem(sample)).toBe(says);
  });
});

describe('whether a node is idle', () => {
  it('depends on pods that run there and stay', () => {
    const pods = [
      aPod('runs', { nodeName: 'a' }),
      aPod('starts', { nodeName: 'b', phase: 'Pending' }),
      aPod('ends', { nodeName: 'c', terminating: true }),
      aPod('waits'),
    ];
    expect(['a', 'b', 'c', 'd'].map(idleTest(pods))).toEqual([false, true, true, true]);
  });

  it('is asked only of nodes without a sample, and each sample is held to the limits of its own node', () => {
    const nodes = [aNode('a', { allocatable: { cpu: 100 } }), aNode('b'), aNode('c'), aNode('d')];
    const samples = new Map([
      ['a', aSample(401)],
      ['b', aSample(401)],
    ]);
    const judged = judgeNodes(nodes, [aPod('p', { nodeName: 'c' })], { nodes: samples }, NOW, seconds(90));
    expect(judged).toEqual([
      { kind: 'Unusable', problem: 'its sample is above 4 x allocatable cpu' },
      { kind: 'Valid', sample: aSample(401) },
      { kind: 'Unusable', problem: 'it has no sample' },
      { kind: 'Idle' },
    ]);
  });
});

describe('the coverage of metrics', () => {
  const valid = (age: number): NodeSample => ({
    kind: 'Valid',
    sample: aSample(1, 1, { timestamp: epochSeconds(NOW - age) }),
  });
  const unusable: NodeSample = { kind: 'Unusable', problem: 'x' };

  it('counts nodes with a sample and idle ones, and has the age of the oldest sample in any order', () => {
    expect(coverageOf([valid(10), { kind: 'Idle' }, valid(40), unusable, valid(20)], NOW)).toEqual({
      readyNodes: 5,
      sampledNodes: 4,
      ratio: 0.8,
      maxAge: 40,
    });
  });

  it('is whole without nodes, and knows no age without samples', () => {
    expect(coverageOf([], NOW)).toEqual({ readyNodes: 0, sampledNodes: 0, ratio: 1, maxAge: undefined });
    expect(coverageOf([unusable], NOW)).toEqual({ readyNodes: 1, sampledNodes: 0, ratio: 0, maxAge: undefined });
  });

  it('takes the age of a sample from the future for none', () => {
    expect(coverageOf([valid(-5)], NOW).maxAge).toBe(0);
  });

  it('is none without a Metrics API, but for a cluster without nodes', () => {
    expect(noCoverage(2)).toEqual({ readyNodes: 2, sampledNodes: 0, ratio: 0, maxAge: 0 });
    expect(noCoverage(0)).toEqual({ readyNodes: 0, sampledNodes: 0, ratio: 1, maxAge: 0 });
  });

  it('suffices from minCoverage on', () => {
    const usage = { nodes: new Map(), pods: new Map() };
    const says = (ratio: number) =>
      gateMessage({ usage }, { readyNodes: 4, sampledNodes: 3, ratio, maxAge: undefined }, 0.75);
    expect(says(0.75)).toBeUndefined();
    expect(says(0.7499)).toEqual({
      kind: 'MetricsIncomplete',
      message: '3 of 4 Ready nodes have a valid sample (74.99 %), load.minCoverage is 75.00 %',
    });
  });

  it('says what is wrong with the Metrics API where that is known, and else how to get one', () => {
    const says = (problem: { readonly usageProblem?: string }) =>
      gateMessage({ usage: undefined, ...problem }, noCoverage(0), 0)?.message;
    expect(says({ usageProblem: 'it is forbidden' })).toBe('it is forbidden');
    expect(says({})).toContain('install metrics-server');
  });
});
