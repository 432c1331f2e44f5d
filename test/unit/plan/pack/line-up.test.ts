import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../../src/model/pod.ts';
import { lineUp } from '../../../../src/plan/pack/line-up.ts';
import { isControlPlane, residentsOf } from '../../../../src/plan/pack/residents.ts';
import { anAffinityTerm } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, labels, type PodFields } from '../../../support/builders.ts';
import { clusterOf, stateOf } from '../../../support/state.ts';

/** Nodes a, b and c of one core, and pods by name on them. */
function snapshotOf(pods: Readonly<Record<string, PodFields>>) {
  const all = Object.entries(pods).map(([name, fields]) => aPod(name, fields));
  const uses = Object.fromEntries(all.map(({ name }) => [name, 100]));
  const nodes = ['a', 'b', 'c'].map((name) => aNode(name, { allocatable: { cpu: 1000 } }));
  return aSnapshot({ nodes, pods: all, uses });
}
const cpu = (nodeName: string, millicores: number): PodFields => ({
  nodeName,
  constraints: { requests: { cpu: millicores } },
});

describe('moves that empty nodes', () => {
  it('are carried out node by node, each where it is feasible', () => {
    const state = stateOf(snapshotOf({ p0: cpu('a', 500), p1: cpu('b', 500), p2: cpu('c', 300) }));
    const { moves, stuck } = lineUp(state, [
      { node: 0, pods: [{ pod: 0, to: 2 }] },
      { node: 1, pods: [{ pod: 1, to: 0 }] },
    ]);
    expect(moves.map(({ pod, from, to, partner }) => [pod, from, to, partner])).toEqual([
      [0, 0, 2, undefined],
      [1, 1, 0, undefined],
    ]);
    expect(stuck.size).toBe(0);
    expect([0, 1, 2].map((pod) => state.nodeOf(pod))).toEqual([2, 0, 2]);
  });

  it('wait within a node for those that make them feasible', () => {
    const near = [anAffinityTerm({ app: 'db' }, { topologyKey: 'kubernetes.io/hostname' })];
    const state = stateOf(
      snapshotOf({
        p0: { nodeName: 'a', constraints: { requests: { cpu: 100 }, podAffinity: near } },
        p1: { ...cpu('a', 100), labels: { app: 'db' } },
        p2: cpu('b', 100),
      }),
    );
    const { moves } = lineUp(state, [
      {
        node: 0,
        pods: [
          { pod: 0, to: 1 },
          { pod: 1, to: 1 },
        ],
      },
    ]);
    expect(moves.map(({ pod }) => pod)).toEqual([1, 0]);
  });

  it('are all taken back of a node from which one pod cannot go, and named by the first of those', () => {
    const state = stateOf(snapshotOf({ p0: cpu('a', 300), p1: cpu('a', 600), p2: cpu('b', 300), p3: cpu('c', 500) }));
    const { moves, stuck } = lineUp(state, [
      {
        node: 0,
        pods: [
          { pod: 0, to: 2 },
          { pod: 1, to: 2 },
        ],
      },
      { node: 1, pods: [{ pod: 2, to: 2 }] },
    ]);
    expect(moves.map(({ pod, to }) => [pod, to])).toEqual([[2, 2]]);
    expect([...stuck]).toEqual([[0, 1]]);
    expect([0, 1, 2, 3].map((pod) => state.nodeOf(pod))).toEqual([0, 0, 2, 2]);
  });
});

describe('the residents of a node', () => {
  const owner = (kind: string): PodInfo['owner'] => ({ kind, name: 'x', uid: 'x' });

  it('are the pods that do not go with it', () => {
    const cluster = clusterOf(
      snapshotOf({
        p0: cpu('a', 1),
        p1: { ...cpu('a', 1), owner: undefined },
        p2: { ...cpu('b', 1), mirror: true },
        p3: { ...cpu('b', 1), terminating: true },
        p4: { ...cpu('b', 1), owner: owner('Node') },
        p5: { ...cpu('b', 1), owner: owner('DaemonSet') },
        p6: { ...cpu('a', 1), owner: owner('Job') },
        p7: { nodeName: undefined },
      }),
    );
    const residents = residentsOf(cluster);
    expect([0, 1, 2].map((node) => [...residents.on(node)])).toEqual([[0, 1, 6], [], []]);
    expect([0, 1, 2].map((node) => residents.isEmpty(node))).toEqual([false, true, true]);
    residents.move(0, 0, 2);
    expect([[...residents.on(0)], [...residents.on(2)], residents.isEmpty(2)]).toEqual([[1, 6], [0], false]);
  });

  it('do not matter on nodes of the control plane', () => {
    const of = (key: string) => isControlPlane(labels({ [key]: '' }));
    expect(of('node-role.kubernetes.io/control-plane')).toBe(true);
    expect(of('node-role.kubernetes.io/master')).toBe(true);
    expect(of('node-role.kubernetes.io/worker')).toBe(false);
  });
});
