import { describe, expect, it } from 'vitest';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { locatePods } from '../../../src/plan/order.ts';
import { indexOwners } from '../../../src/plan/owners.ts';
import { sortIntoKinds } from '../../../src/plan/pod-kinds.ts';
import { measurePods } from '../../../src/plan/pod-usage.ts';
import { type OptionFields, someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSample, aSnapshot, NOW, type PodFields } from '../../support/builders.ts';

const BOTH = ['cpu', 'memory', 'pods', 'gpu'].map((name) => ({ name, weight: 1 }));

/** What is thought to be used by pods on node a, in their order, that request 100 m, 50 bytes and two gpu. */
function measured(
  pods: Readonly<Record<string, PodFields>>,
  samples: Readonly<Record<string, ReturnType<typeof aSample>>> | undefined,
  load: OptionFields['load'] = {},
) {
  const nodes = [aNode('a', { allocatable: { cpu: 1000, memory: 1000 } })];
  const constraints = { requests: { cpu: 100, memory: 50, extended: { gpu: 2 } } };
  const all = Object.entries(pods).map(([name, fields]) => aPod(name, { nodeName: 'a', constraints, ...fields }));
  const kinds = sortIntoKinds(all);
  const subjects = { pods: all, nodes, kinds, owners: indexOwners(kinds, new Map()), located: locatePods(all, nodes) };
  const usage = samples && { nodes: new Map(), pods: new Map(Object.entries(samples)) };
  const snapshot = aSnapshot({ nodes, pods: all, usage });
  const found = measurePods(subjects, snapshot, someOptions({ load: { resources: BOTH, ...load } }));
  return {
    resources: found.resources,
    values: all.map((_, pod) => found.values.map((values) => values[pod])),
    sampled: [...found.sampled],
  };
}

describe('what a pod uses', () => {
  it('is its sample, and its request of what is not measured', () => {
    expect(measured({ p: {} }, { 'shop/p': aSample(300, 400) })).toEqual({
      resources: ['cpu', 'memory', 'pods', 'gpu'],
      values: [[300, 400, 1, 2]],
      sampled: [1],
    });
  });

  it('is its request where the policy goes by requests, and where there are no metrics', () => {
    const samples = { 'shop/p': aSample(300, 400) };
    for (const found of [measured({ p: {} }, samples, { source: 'Requests' }), measured({ p: {} }, undefined)]) {
      expect([found.values, found.sampled]).toEqual([[[100, 50, 1, 2]], [0]]);
    }
  });

  it('is the mean of its siblings without a sample of its own, and its request where none of these has one', () => {
    const samples = { 'shop/a': aSample(300, 400), 'shop/b': aSample(100, 0) };
    const found = measured({ a: {}, b: {}, c: {}, d: { owner: 'api' }, e: { owner: undefined } }, samples);
    expect(found.values.map(([cpu, memory]) => [cpu, memory])).toEqual([
      [300, 400],
      [100, 0],
      [200, 200],
      [100, 50],
      [100, 50],
    ]);
    expect(found.sampled).toEqual([1, 1, 0, 0, 0]);
  });

  it.each([
    ['older than the pod', aSample(300, 400, { timestamp: epochSeconds(NOW - 40) }), 0],
    ['as old as the pod', aSample(300, 400, { timestamp: epochSeconds(NOW - 30) }), 1],
    ['too old', aSample(300, 400, { timestamp: epochSeconds(NOW - 91) }), 0],
    ['negative', aSample(-1, 400), 0],
    ['above four times what its node offers', aSample(4001, 400), 0],
    ['four times what its node offers', aSample(4000, 400), 1],
  ])('is not a sample that is %s unless that is of this pod and sane', (what, sample, isSampled) => {
    const createdAt = what.includes('as the pod') || what.includes('than the pod') ? NOW - 30 : NOW - 3600;
    const found = measured(
      { p: { createdAt: epochSeconds(createdAt) } },
      { 'shop/p': sample },
      { maxAge: seconds(90) },
    );
    expect(found.sampled).toEqual([isSampled]);
    expect(found.values[0]?.[0]).toBe(isSampled === 1 ? sample.cpu : 100);
  });

  it('is no sample where its node is not known', () => {
    const samples = { 'shop/p': aSample(300, 400), 'shop/q': aSample(300, 400) };
    expect(measured({ p: { nodeName: undefined }, q: { nodeName: 'gone' } }, samples).sampled).toEqual([0, 0]);
  });

  it('is its own sample in whatever order samples come, and of the very namespace and name', () => {
    const names = ['a', 'aa', 'ab', 'b', 'c'];
    const pods = Object.fromEntries(names.map((name) => [name, { owner: name }]));
    const samples = names.map((name, place) => [`shop/${name}`, aSample(200 + place)] as const);
    const others = [
      ['sho/pa', aSample(1)],
      ['shop/0', aSample(2)],
      ['shop/aaa', aSample(3)],
      ['shopxb', aSample(4)],
      ['thop/c', aSample(5)],
    ] as const;
    const orders = [
      samples,
      samples.toReversed(),
      [...others, ...samples],
      [...samples, ...others],
      [...samples, ...others].toSorted(([left], [right]) => (left < right ? -1 : 1)),
    ];
    for (const order of orders) {
      const found = measured(pods, Object.fromEntries(order));
      expect(found.values.map(([cpu]) => cpu)).toEqual([200, 201, 202, 203, 204]);
    }
    const without = measured(pods, Object.fromEntries([...others, ...samples.slice(1, 3)]));
    expect(without.values.map(([cpu]) => cpu)).toEqual([100, 201, 202, 100, 100]);
  });
});
