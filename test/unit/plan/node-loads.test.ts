import { describe, expect, it } from 'vitest';
import type { UsageSamples } from '../../../src/model/snapshot.ts';
import { withNodeLoads } from '../../../src/plan/node-loads.ts';
import { aNode, aPod, aSample } from '../../support/builders.ts';

const NODES = [aNode('a', { allocatable: { cpu: 4000 } }), aNode('b', { allocatable: { cpu: 8000 } })];
const PODS = [aPod('p', { nodeName: 'a' }), aPod('q', { nodeName: 'a' }), aPod('r', { nodeName: 'b' })];

function usageOf(nodes: Record<string, number>, pods: Record<string, number>): UsageSamples {
  return {
    nodes: new Map(Object.entries(nodes).map(([name, cpu]) => [name, aSample(cpu, 7)])),
    pods: new Map(Object.entries(pods).map(([name, cpu]) => [`shop/${name}`, aSample(cpu, 7)])),
  };
}

describe('the load of nodes by a query', () => {
  const usage = usageOf({ a: 1000, b: 0 }, { p: 600, q: 200, r: 0 });
  const loads = new Map([
    ['a', 0.5],
    ['b', 0.25],
  ]);
  const { nodes, pods } = withNodeLoads(usage, loads, { nodes: NODES, pods: PODS });

  it('is that share of what the node can give', () => {
    expect([nodes.get('a')?.cpu, nodes.get('b')?.cpu]).toEqual([2000, 2000]);
  });

  it('is the pods’ by the CPU that they use, and the rest the node’s own', () => {
    expect([pods.get('shop/p')?.cpu, pods.get('shop/q')?.cpu]).toEqual([1200, 400]);
  });

  it('is nobody’s where nothing is used', () => {
    expect(pods.get('shop/r')?.cpu).toBe(0);
  });

  it('leaves memory and times alone', () => {
    expect(nodes.get('a')).toEqual({ ...aSample(2000, 7) });
  });

  it('is never less than what the pods are charged with, when they use more than their node is said to', () => {
    const odd = withNodeLoads(usageOf({ a: 100 }, { p: 600, q: 200 }), loads, { nodes: NODES, pods: PODS });
    expect((odd.pods.get('shop/p')?.cpu ?? 0) + (odd.pods.get('shop/q')?.cpu ?? 0)).toBe(2000);
  });

  it('is unknown where the query says nothing: there is no sample then', () => {
    const found = withNodeLoads(usage, new Map([['a', 0.5]]), { nodes: NODES, pods: PODS });
    expect([...found.nodes.keys()]).toEqual(['a']);
    expect([...found.pods.keys()]).toEqual(['shop/p', 'shop/q']);
  });
});
