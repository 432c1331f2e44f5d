import { describe, expect, it } from 'vitest';
import { epochSeconds } from '../../../src/model/units.ts';
import { aNode, aPod, aSnapshot, NOW, type PodFields } from '../../support/builders.ts';
import { clusterOf } from '../../support/state.ts';

/** Pods by name on nodes a, b and c; each uses a tenth of a core unless it uses nothing. */
function clusterWith(pods: Readonly<Record<string, PodFields>>, idle: readonly string[] = []) {
  const names = Object.keys(pods);
  return clusterOf(
    aSnapshot({
      nodes: ['a', 'b', 'c'].map((name) => aNode(name)),
      pods: Object.entries(pods).map(([name, fields]) => aPod(name, { constraints: { requests: {} }, ...fields })),
      uses: Object.fromEntries(names.map((name) => [name, idle.includes(name) ? 0 : 100])),
    }),
  );
}

function namesOn(cluster: ReturnType<typeof clusterWith>, node: number): readonly (string | undefined)[] {
  return Array.from(cluster.movableByNode.on(node), (pod) => cluster.pods[pod]?.name);
}

describe('the movable pods of a node', () => {
  it('come in the order in which they are taken, whatever their names', () => {
    const cluster = clusterWith({
      p1: { nodeName: 'a', priority: 5 },
      p2: { nodeName: 'b', priority: 2 },
      p3: { nodeName: 'a', createdAt: epochSeconds(NOW - 900) },
      p4: { nodeName: 'b', priority: 1 },
      p5: { nodeName: 'a', createdAt: epochSeconds(NOW - 400) },
      p6: { nodeName: 'a', createdAt: epochSeconds(NOW - 400) },
    });
    const first = [0, 1, 2].map((node) => namesOn(cluster, node));
    expect(first).toEqual([['p5', 'p6', 'p3', 'p1'], ['p4', 'p2'], []]);
    expect([0, 1, 2].map((node) => namesOn(cluster, node))).toEqual(first);
  });

  it('are all of them together, node by node', () => {
    const cluster = clusterWith({ p1: { nodeName: 'c' }, p2: { nodeName: 'a' }, p3: { nodeName: 'c' } });
    expect(Array.from(cluster.movableByNode.all, (pod) => cluster.pods[pod]?.name)).toEqual(['p2', 'p1', 'p3']);
  });

  it('are those that add to its load, and run on a node that takes part', () => {
    const cluster = clusterWith({ p1: { nodeName: 'a' }, p2: { nodeName: 'a' }, p3: { nodeName: undefined } }, ['p1']);
    expect([0, 1, 2].map((node) => namesOn(cluster, node))).toEqual([['p2'], [], []]);
    expect([...cluster.movable]).toEqual([0, 1, 0]);
    expect([...cluster.home]).toEqual([0, 0, -1]);
  });
});
