import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { inquire } from '../../../src/plan/explain/inquiry.ts';
import { bestCandidates, explainNode, explainNodeIn } from '../../../src/plan/explain/node.ts';
import { explainPod } from '../../../src/plan/explain/pod.ts';
import type { PolicyOptions } from '../../../src/plan/options.ts';
import { aBudget, pack, someOptions, trafficAware } from '../../support/builders/options.ts';
import { anAffinityTerm, aTaint } from '../../support/builders/scheduling.ts';
import { aNode, aPdb, aPod, aSnapshot } from '../../support/builders.ts';

/** Node `hot` with pods x, y and z of one core each; `cold` is empty, `tainted` and `small` refuse pods. */
function tilted(fields: Parameters<typeof aPod>[1] = {}): ClusterSnapshot {
  const nodes = [
    aNode('hot'),
    aNode('cold'),
    aNode('cordoned', { unschedulable: true }),
    aNode('full', { allocatable: { cpu: 100 }, taints: [aTaint('gpu', 'yes')] }),
  ];
  const pods = ['x', 'y', 'z'].map((name) =>
    aPod(name, { nodeName: 'hot', owner: name, constraints: { requests: { cpu: 1000 } }, ...fields }),
  );
  return aSnapshot({ nodes, pods, uses: { x: 1000, y: 1000, z: 1000 } });
}

function podOf(snapshot: ClusterSnapshot, name: string, options: PolicyOptions = someOptions()) {
  const uid = snapshot.pods.find((pod) => pod.name === name)?.uid ?? '';
  const found = explainPod(snapshot, options, uid);
  expect(found).toBeDefined();
  return found as NonNullable<typeof found>;
}

function nodeOf(snapshot: ClusterSnapshot, name: string, options: PolicyOptions = someOptions()) {
  const found = explainNode(snapshot, options, name);
  expect(found).toBeDefined();
  return found as NonNullable<typeof found>;
}

describe('explainPod', () => {
  it('lists every node of the cluster, those that fit first, then as the scheduler ranks them', () => {
    const { nodes } = podOf(tilted(), 'x');
    expect(nodes.map(({ node, fits, current }) => [node, fits, current])).toEqual([
      ['cold', true, false],
      ['hot', true, true],
      ['cordoned', false, false],
      ['full', false, false],
    ]);
  });

  it('gives the rejection of every filter that refuses, with its numbers', () => {
    const full = podOf(tilted(), 'x').nodes.find(({ node }) => node === 'full');
    expect(full?.rejections.map(({ filter }) => filter)).toEqual(['TaintToleration', 'NodeResourcesFit']);
    expect(full?.rejections[1]).toEqual({
      filter: 'NodeResourcesFit',
      message: 'has 100m of 1000m cpu free',
      numbers: { need: 1000, free: 100 },
    });
    expect(full?.score).toBeUndefined();
  });

  it('sums a score from those of the plugins, for nodes that fit', () => {
    const [cold, hot] = podOf(tilted(), 'x').nodes;
    expect(cold?.score).toBeGreaterThan(hot?.score ?? Number.POSITIVE_INFINITY);
    expect(Object.values(cold?.scores ?? {}).reduce((sum, score) => sum + score, 0)).toBe(cold?.score);
    expect(cold?.scores.TaintToleration).toBe(300);
  });

  it('gives the gain of the move to each node that takes part, and none where it runs', () => {
    const { nodes, load } = podOf(tilted(), 'x');
    expect(load).toBeCloseTo(0.25);
    expect(nodes.map(({ gain }) => gain)).toEqual([0.25, undefined, undefined, undefined]);
  });

  it.each(['a', 'b'])('gives the load that the pod adds to node %s, whichever comes first', (nodeName) => {
    const pods = [aPod('x', { nodeName, constraints: { requests: { cpu: 1000 } } })];
    const snapshot = aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses: { x: 1000 } });
    expect(podOf(snapshot, 'x').load).toBeCloseTo(0.25);
  });

  it.each([true, false])('knows of a pod that a strategy may move without regard to loads: protected %s', (held) => {
    const snapshot = tilted(held ? { annotations: { 'evenkeel.dev/do-not-evict': 'true' } } : {});
    expect(podOf(snapshot, 'x', someOptions({ strategy: pack() })).movable).toBe(!held);
  });

  it('says which nodes take no part', () => {
    const { nodes } = podOf(tilted(), 'x');
    expect(nodes.map(({ node, absent }) => [node, absent !== undefined])).toEqual([
      ['cold', false],
      ['hot', false],
      ['cordoned', true],
      ['full', true],
    ]);
  });

  it('looks at the own node as if the pod had left it', () => {
    const constraints = { podAntiAffinity: [anAffinityTerm({ app: 'x' })] };
    const snapshot = aSnapshot({
      nodes: [aNode('a'), aNode('b')],
      pods: [aPod('x', { nodeName: 'a', labels: { app: 'x' }, constraints })],
      uses: { x: 1000 },
    });
    expect(podOf(snapshot, 'x').nodes.map(({ fits }) => fits)).toEqual([true, true]);
  });

  it('tells what a plan made now does with it', () => {
    const decisions = ['x', 'y', 'z'].map((name) => podOf(tilted(), name).decision.kind);
    expect(decisions).toContain('Moves');
    expect(decisions).toContain('Stays');
  });

  it('names every protection, not just the first', () => {
    const snapshot = tilted({ annotations: { 'evenkeel.dev/do-not-evict': 'true' }, priority: 5_000_000 });
    const options = someOptions({ protections: { priorityThreshold: 1000 } });
    const { movable, protections } = podOf(snapshot, 'x', options);
    expect(movable).toBe(false);
    expect(protections.map(({ code }) => code)).toEqual(['PriorityThreshold', 'DoNotEvict']);
  });

  it('names the PodDisruptionBudget that holds it', () => {
    const snapshot = { ...tilted(), pdbs: [aPdb('guard', { disruptionsAllowed: 0 })] };
    expect(podOf(snapshot, 'x').protections.map(({ code }) => code)).toEqual(['PodDisruptionBudget']);
  });

  it('says that the policy is not about it, and why', () => {
    const options = someOptions({ scope: { excludedNamespaces: new Set(['shop']) } });
    const { protections, decision } = podOf(tilted(), 'x', options);
    expect(protections).toEqual([
      { code: 'OutOfScope', message: 'pods of its namespace are never moved', numbers: {} },
    ]);
    expect(decision).toEqual({ kind: 'NotConsidered' });
  });

  it('names the budget that allows no move at all', () => {
    const options = someOptions({ budgets: [aBudget({ maxMoves: 0 })] });
    const { nodes, movable, decision } = podOf(tilted(), 'x', options);
    expect(movable).toBe(true);
    expect(nodes[0]?.budgets.map(({ code }) => code)).toEqual(['MaxMoves']);
    expect(decision).toMatchObject({ kind: 'Stays', code: 'MaxMoves' });
  });

  it('explains a pending pod: where it would fit, and no gain', () => {
    const snapshot = aSnapshot({
      nodes: [aNode('a'), aNode('b', { unschedulable: true })],
      pods: [aPod('new', { nodeName: undefined, phase: 'Pending', ready: false })],
    });
    const { node, nodes, protections } = podOf(snapshot, 'new');
    expect(node).toBeUndefined();
    expect(protections.map(({ code }) => code)).toEqual(['Pending']);
    expect(nodes.map(({ fits, gain }) => [fits, gain])).toEqual([
      [true, undefined],
      [false, undefined],
    ]);
  });

  it('gives verdicts and scores without metrics, and says that loads are not known', () => {
    const { usage: _, ...rest } = tilted();
    const { movable, load, nodes, protections } = podOf({ ...rest, usage: undefined }, 'x');
    expect([movable, load, nodes[0]?.gain]).toEqual([false, undefined, undefined]);
    expect(nodes[0]?.score).toBeGreaterThan(0);
    expect(protections[0]?.message).toContain('no node takes part: ');
  });

  it('says of a pod on a node that takes no part why that is so, after what holds the pod itself', () => {
    const pods = [aPod('x', { nodeName: 'c', localStorage: true }), aPod('y', { nodeName: 'a' })];
    const snapshot = aSnapshot({
      nodes: [aNode('a'), aNode('c', { unschedulable: true })],
      pods,
      uses: { x: 1, y: 1 },
    });
    const { protections, movable, load, nodes } = podOf(snapshot, 'x');
    expect(protections.map(({ code }) => code)).toEqual(['LocalStorage', 'NodeNotParticipating']);
    expect(protections[1]?.message).toBe('c takes no part: it is cordoned');
    expect([movable, load]).toEqual([false, undefined]);
    // From a node that takes no part there is nothing to gain, nor by a move to one.
    expect(nodes.map(({ gain }) => gain)).toEqual([undefined, undefined]);
    expect(podOf(snapshot, 'y').nodes.map(({ gain }) => gain)).toEqual([undefined, undefined]);
  });

  it('says that a pod without usage does not matter for the balance, unless something else holds it', () => {
    const pods = ['x', 'y', 'z'].map((name) => aPod(name, { nodeName: 'a', ready: name !== 'z' }));
    const snapshot = aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses: { x: 0, y: 100, z: 0 } });
    const of = (name: string, options?: PolicyOptions) => {
      const { movable, protections } = podOf(snapshot, name, options);
      return [movable, ...protections.map(({ code }) => code)];
    };
    expect([of('x'), of('y'), of('z')]).toEqual([[false, 'NoUsage'], [true], [false, 'NotReady']]);
    for (const strategy of [pack(), trafficAware()]) {
      expect([of('x', someOptions({ strategy })), of('z', someOptions({ strategy }))]).toEqual([
        [true],
        [false, 'NotReady'],
      ]);
    }
  });

  it('names the budgets against each node that the pod could go to, and none where it is or may not leave', () => {
    const budgets = [aBudget({ maxMoves: 0 })];
    const codesOf = (fields: Parameters<typeof aPod>[1] = {}) =>
      podOf(tilted(fields), 'x', someOptions({ budgets })).nodes.map(({ node, budgets: found }) => [
        node,
        ...found.map(({ code }) => code),
      ]);
    expect(codesOf()).toEqual([['cold', 'MaxMoves'], ['hot'], ['cordoned'], ['full']]);
    expect(codesOf({ localStorage: true })).toEqual([['cold'], ['hot'], ['cordoned'], ['full']]);
  });

  it('gives the load of the nodes that take part', () => {
    expect(podOf(tilted(), 'x').nodes.map(({ load }) => load)).toEqual([0, 0.75, undefined, undefined]);
    expect(podOf({ ...tilted(), usage: undefined }, 'x').nodes.map(({ load }) => load)).toEqual(
      Array(4).fill(undefined),
    );
  });

  it('lists nodes of one rank by name', () => {
    const nodes = ['c', 'a', 'b'].map((name) => aNode(name));
    const pods = [aPod('x', { nodeName: undefined, phase: 'Pending', ready: false })];
    expect(podOf(aSnapshot({ nodes, pods }), 'x').nodes.map(({ node }) => node)).toEqual(['a', 'b', 'c']);
  });

  it('knows no pod of another uid', () => {
    expect(explainPod(tilted(), someOptions(), 'gone')).toBeUndefined();
  });
});

describe('explainNode', () => {
  it('lists what runs there, with what each adds and why it stays or goes', () => {
    const { load, pods } = nodeOf(tilted(), 'hot');
    expect(load).toBeCloseTo(0.75);
    expect(pods.map(({ pod }) => pod.name)).toEqual(['x', 'y', 'z']);
    expect(pods.map(({ load: adds }) => adds)).toEqual([0.25, 0.25, 0.25]);
    expect(pods.map(({ decision }) => decision.kind).sort()).toEqual(['Moves', 'Stays', 'Stays']);
  });

  it('lists what could come, those that fit first, then by gain', () => {
    const { pods, candidates } = nodeOf(tilted(), 'cold');
    expect(pods).toEqual([]);
    expect(candidates.map(({ pod, fits, gain }) => [pod.name, fits, gain])).toEqual([
      ['x', true, 0.25],
      ['y', true, 0.25],
      ['z', true, 0.25],
    ]);
  });

  it('says why a node takes no part, and offers it nothing', () => {
    const { absent, load, candidates } = nodeOf(tilted(), 'cordoned');
    expect([absent, load, candidates]).toEqual(['it is cordoned', undefined, []]);
  });

  it('counts requests as the scheduler does', () => {
    expect(nodeOf(tilted(), 'hot').resources[0]).toEqual({ name: 'cpu', allocatable: 4000, requested: 3000 });
  });

  it('knows no node of another name', () => {
    expect(explainNode(tilted(), someOptions(), 'gone')).toBeUndefined();
  });

  it('lists the pods that add most first, and those that run elsewhere not', () => {
    const pods = [
      ...['x', 'y', 'z'].map((name) => aPod(name, { nodeName: 'a' })),
      aPod('other', { nodeName: 'b' }),
      aPod('waits', { nodeName: undefined, phase: 'Pending', ready: false }),
    ];
    const snapshot = aSnapshot({
      nodes: [aNode('a'), aNode('b')],
      pods,
      uses: { x: 100, y: 300, z: 200, other: 400 },
    });
    expect(nodeOf(snapshot, 'a').pods.map(({ pod }) => pod.name)).toEqual(['y', 'z', 'x']);
    expect(nodeOf(snapshot, 'a').candidates.map(({ pod }) => pod.name)).toEqual(['other']);
    expect(nodeOf(snapshot, 'a').mean).toBeCloseTo(0.125);
  });

  /** Pods of four sizes on a, of which the third does not fit on b, and the fourth may not leave. */
  function choice(): ClusterSnapshot {
    const pods = [
      aPod('small', { nodeName: 'a' }),
      aPod('tall', { nodeName: 'a' }),
      aPod('stuck', { nodeName: 'a', constraints: { nodeSelector: new Map([['pool', 'x']]) } }),
      aPod('held', { nodeName: 'a', localStorage: true }),
      aPod('own', { nodeName: 'b' }),
    ];
    const uses = { small: 200, tall: 400, stuck: 800, held: 600, own: 100 };
    return aSnapshot({ nodes: [aNode('a', { labels: { pool: 'x' } }), aNode('b')], pods, uses });
  }

  it('lists what fits before what does not, and each by its gain', () => {
    const { candidates } = nodeOf(choice(), 'b');
    expect(
      candidates.map(({ pod, fits, rejections }) => [pod.name, fits, ...rejections.map((each) => each.filter)]),
    ).toEqual([
      ['tall', true],
      ['small', true],
      ['stuck', false, 'NodeAffinity'],
    ]);
  });

  it('can choose the best of what fits and gains something', () => {
    const best = (most: number, node: string) =>
      explainNodeIn(inquire(choice(), someOptions()), node, bestCandidates(most))?.candidates.map(
        ({ pod, fits, rejections, gain }) => [pod.name, fits, rejections.length, gain],
      );
    expect(best(5, 'b')).toEqual([
      ['tall', true, 0, 0.1],
      ['small', true, 0, 0.05],
    ]);
    expect(best(1, 'b')).toEqual([['tall', true, 0, 0.1]]);
    expect(best(0, 'b')).toEqual([]);
    // What would come from the emptier node gains nothing.
    expect(best(5, 'a')).toEqual([]);
  });

  it('counts the resources of the policy besides CPU and memory', () => {
    const gpu = { requests: { cpu: 500, memory: 1024, extended: { gpu: 1 } } };
    const snapshot = aSnapshot({
      nodes: [aNode('a', { allocatable: { memory: 4096, extended: { gpu: 4 } } })],
      pods: [aPod('x', { nodeName: 'a', constraints: gpu }), aPod('y', { nodeName: 'a', constraints: gpu })],
      uses: { x: 1, y: 1 },
    });
    const both = [
      { name: 'cpu', allocatable: 4000, requested: 1000 },
      { name: 'memory', allocatable: 4096, requested: 2048 },
    ];
    expect(nodeOf(snapshot, 'a').resources).toEqual(both);
    const resources = ['cpu', 'gpu'].map((name) => ({ name, weight: 1 }));
    expect(nodeOf(snapshot, 'a', someOptions({ load: { resources } })).resources).toEqual([
      ...both,
      { name: 'gpu', allocatable: 4, requested: 2 },
    ]);
  });

  it('says without metrics why, of nodes that would take part and of others what keeps them out, and no loads', () => {
    const without = { ...tilted(), usage: undefined };
    const cold = nodeOf(without, 'cold');
    expect(cold.absent).toContain('there are no metrics');
    expect(nodeOf(without, 'cordoned').absent).toBe('it is cordoned');
    expect([cold.load, cold.mean, cold.candidates]).toEqual([undefined, undefined, []]);
    expect(nodeOf(tilted(), 'cold')).toMatchObject({ absent: undefined, repaired: false, load: 0, mean: 0.375 });
  });
});
