import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { plan } from '../../../src/plan/planner.ts';
import { listRejections } from '../../../src/plan/rejections.ts';
import { greedyLb, type OptionFields, someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSample, aSnapshot, NOW } from '../../support/builders.ts';

const EAGER: OptionFields = {
  thresholds: { trigger: 0.01, minGain: 0.001, minImprovement: 0, minReduction: 0 },
  strategy: greedyLb({ tolerance: 0 }),
};

function planFor(snapshot: ClusterSnapshot, fields: OptionFields = {}): Plan {
  return plan(snapshot, someOptions({ ...EAGER, ...fields }));
}

describe('the load of a node', () => {
  it('is its sample, of which what no pod accounts for stays behind as a floor', () => {
    const nodes = [aNode('a'), aNode('b')];
    const pods = ['p', 'q'].map((name) => aPod(name, { nodeName: 'a' }));
    const found = planFor(aSnapshot({ nodes, pods, uses: { p: 400, q: 400 }, daemons: { a: 1200, b: 0 } }));
    expect(found.imbalance.before.cpu).toMatchObject({ mean: 0.25, max: 0.5, range: 0.5 });
    expect(found.imbalance.planned.cpu).toMatchObject({ max: 0.3 });
    expect(found.moves.map(({ load, gain }) => [load, gain])).toEqual([
      [0.1, 0.1],
      [0.1, 0.1],
    ]);
  });

  it('is what its pods use together when its own sample is lower', () => {
    const snapshot = aSnapshot({
      nodes: [aNode('a'), aNode('b')],
      pods: [aPod('p', { nodeName: 'a' })],
      uses: { p: 1000 },
    });
    const nodes = new Map(snapshot.usage?.nodes).set('a', aSample(700));
    expect(
      planFor({ ...snapshot, usage: { nodes, pods: snapshot.usage?.pods ?? new Map() } }).imbalance.before.cpu?.max,
    ).toBe(0.25);
  });

  it('is the requests of the pods that stay on it when the source says so', () => {
    const pods = [
      aPod('p', { nodeName: 'a', constraints: { requests: { cpu: 1000 } } }),
      aPod('q', { nodeName: 'a', terminating: true, constraints: { requests: { cpu: 600 } } }),
    ];
    const found = planFor(aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, usage: undefined }), {
      load: { source: 'Requests' },
    });
    expect(found.imbalance.before.cpu?.max).toBe(0.25);
  });

  it('is what it will be when pods that are being deleted are gone, and so is balanced as it is', () => {
    const ending = ['e0', 'e1', 'e2', 'e3'].map((name) => aPod(name, { nodeName: 'a', terminating: true }));
    const staying = ['p', 'q'].map((name) => aPod(name, { nodeName: 'a' }));
    const pods = [...ending, ...staying, ...['r', 's'].map((name) => aPod(name, { nodeName: 'b' }))];
    const uses = Object.fromEntries(pods.map(({ name }) => [name, 400]));
    const found = planFor(aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses }));
    expect(found.outcome.kind).toBe('Balanced');
    expect(found.imbalance.before.cpu).toMatchObject({ max: 0.2, range: 0 });
  });

  it('leaves the room of pods that are being deleted taken until they are gone', () => {
    const full = { requests: { cpu: 2000 } };
    const pods = [
      aPod('ending', { nodeName: 'b', terminating: true, constraints: { requests: { cpu: 3000 } } }),
      ...['p', 'q'].map((name) => aPod(name, { nodeName: 'a', constraints: full })),
    ];
    const uses = { ending: 100, p: 1900, q: 1900 };
    const found = planFor(aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses }));
    expect(found.moves).toEqual([]);
    expect(listRejections(found.rejections).find(({ pod }) => pod.name === 'p')?.message).toContain('cpu');
  });

  it('is never above its own sample because pods without samples request much', () => {
    const requests = { requests: { cpu: 1500 } };
    const pods = [
      ...['p', 'q'].map((name) => aPod(name, { nodeName: 'a', owner: name, constraints: requests })),
      aPod('r', { nodeName: 'b' }),
    ];
    const snapshot = aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses: { r: 400 } });
    const nodes = new Map(snapshot.usage?.nodes).set('a', aSample(400));
    const found = planFor({ ...snapshot, usage: { nodes, pods: snapshot.usage?.pods ?? new Map() } });
    expect(found.imbalance.before.cpu?.max).toBe(0.1);
    expect(found.outcome.kind).toBe('Balanced');
  });
});

describe('the load of a pod', () => {
  /** One pod on a, measured or not; a sibling on b that uses 600m. */
  function lone(fields: Parameters<typeof aPod>[1], uses: Record<string, number>): Plan {
    const pods = [aPod('p', { nodeName: 'a', ...fields }), aPod('sibling', { nodeName: 'b' })];
    return planFor(aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses }));
  }

  it("differs with the node: it is usage over that node's allocatable", () => {
    const nodes = [aNode('small', { allocatable: { cpu: 1000 } }), aNode('large', { allocatable: { cpu: 10_000 } })];
    const pods = ['p', 'q'].map((name) => aPod(name, { nodeName: 'small' }));
    const found = planFor(aSnapshot({ nodes, pods, uses: { p: 400, q: 400 } }));
    expect(found.moves[0]).toMatchObject({ load: 0.4, gain: 0.4 });
    expect(found.imbalance.before.cpu?.mean).toBeCloseTo(800 / 11_000, 12);
  });

  it('without a sample is the mean of its siblings', () => {
    const found = lone({ createdAt: NOW }, { sibling: 600 });
    // The pod is younger than the node's sample, so its usage comes on top.
    expect(found.imbalance.before.cpu).toMatchObject({ mean: 0.15, range: 0 });
  });

  it("without a sample is part of its node's sample when it is old enough", () => {
    const snapshot = aSnapshot({
      nodes: [aNode('a'), aNode('b')],
      pods: [aPod('p', { nodeName: 'a' }), aPod('sibling', { nodeName: 'b' })],
      uses: { sibling: 600 },
      daemons: { a: 1000 },
    });
    expect(planFor(snapshot).imbalance.before.cpu?.max).toBe(0.25);
  });

  it('without a sample and without measured siblings is its request', () => {
    const found = lone({ owner: 'other', createdAt: NOW }, { sibling: 600 });
    expect(found.imbalance.before.cpu?.mean).toBeCloseTo(700 / 8000, 12);
  });

  it('ignores a sample that is not valid', () => {
    const snapshot = aSnapshot({
      nodes: [aNode('a'), aNode('b')],
      pods: [aPod('p', { nodeName: 'a', createdAt: NOW }), aPod('sibling', { nodeName: 'b' })],
      uses: { sibling: 600 },
    });
    for (const sample of [
      aSample(Number.NaN),
      aSample(-5),
      aSample(20_000),
      aSample(900, 0, { timestamp: epochSeconds(NOW - 500) }),
    ]) {
      const pods = new Map(snapshot.usage?.pods).set('shop/p', sample);
      const found = planFor({ ...snapshot, usage: { nodes: snapshot.usage?.nodes ?? new Map(), pods } });
      expect(found.imbalance.before.cpu?.mean).toBe(0.15);
    }
  });

  it('ignores a sample that no node could bear, on a node that does not offer the resource', () => {
    const nodes = [aNode('a'), aNode('b'), aNode('c', { allocatable: { cpu: 0 } })];
    const pods = [aPod('p', { nodeName: 'a', createdAt: NOW }), aPod('sibling', { nodeName: 'c' })];
    const usage = {
      nodes: new Map([
        ['a', aSample(0)],
        ['b', aSample(0)],
        ['c', aSample(0)],
      ]),
      pods: new Map([['shop/sibling', aSample(1e300)]]),
    };
    expect(planFor(aSnapshot({ nodes, pods, usage })).imbalance.before.cpu?.max).toBe(0.025);
  });

  it('ignores a sample from before the pod was created: it is about an earlier pod of that name', () => {
    const found = lone({ createdAt: epochSeconds(NOW - 10) }, { p: 3000, sibling: 600 });
    // 3000m of the predecessor are still in the node's sample; the pod itself counts as its sibling.
    expect(found.imbalance.before.cpu?.max).toBe(0.9);
  });

  it('is nothing when it neither uses nor requests anything, and then it is not moved', () => {
    const pods = [
      aPod('p', { nodeName: 'a' }),
      aPod('idle', { nodeName: 'a', owner: 'idle', constraints: { requests: { cpu: 0 } } }),
    ];
    const found = planFor(aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses: { p: 2000 }, daemons: { a: 500 } }));
    expect(listRejections(found.rejections).find(({ pod }) => pod.name === 'idle')?.code).toBe('NoUsage');
  });
});

describe('several resources', () => {
  const GIB = 2 ** 30;
  const both = [
    { name: 'cpu', weight: 3 },
    { name: 'memory', weight: 1 },
  ] as const;
  const snapshot = aSnapshot({
    nodes: [aNode('a'), aNode('b')],
    pods: [aPod('p', { nodeName: 'a' }), aPod('q', { nodeName: 'b' })],
    uses: { p: [2000, 4 * GIB], q: [400, 12 * GIB] },
  });

  it('become one load as their weighted mean', () => {
    // a: (3 x 0.5 + 0.25) / 4 = 0.4375; b: (3 x 0.1 + 0.75) / 4 = 0.2625.
    expect(planFor(snapshot, { load: { resources: both } }).spread.before).toBeCloseTo(0.175, 9);
  });

  it('become one load as the largest of them', () => {
    expect(planFor(snapshot, { load: { resources: both, aggregate: 'Dominant' } }).spread.before).toBeCloseTo(0.25, 9);
  });

  it('do not count on a node that does not offer them', () => {
    const nodes = [aNode('a'), aNode('b', { allocatable: { memory: 0 } })];
    expect(planFor({ ...snapshot, nodes }, { load: { resources: both } }).spread.before).toBeCloseTo(0.3375, 9);
  });

  it('are reported one by one', () => {
    const { before } = planFor(snapshot, { load: { resources: both } }).imbalance;
    expect(before.cpu).toMatchObject({ mean: 0.3, max: 0.5, range: 0.4, stddev: 0.2, ema: 0.2 });
    expect(before.memory).toMatchObject({ mean: 0.5, max: 0.75, range: 0.5 });
  });
});
