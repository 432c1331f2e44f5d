import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot, UsageSample } from '../../../src/model/snapshot.ts';
import { epochSeconds } from '../../../src/model/units.ts';
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
