import { describe, expect, it } from 'vitest';
import { plan } from '../../../src/plan/planner.ts';
import { greedyLb, refineLb, someOptions } from '../../support/builders/options.ts';
import { anAffinityTerm } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';
import { loaded } from './strategies/loaded.ts';

const EAGER = { trigger: 0, minGain: 0, minImprovement: 0, minReduction: 0 };

describe('the sequence of a plan', () => {
  it('relieves the worst node first', () => {
    const { moves } = plan(
      loaded([30, 30, 10], [40, 40, 20], [], [5]),
      someOptions({ strategy: refineLb({ overload: 1 }), thresholds: EAGER }),
    );
    expect(moves[0]?.from).toBe('n1');
    expect(moves.length).toBeGreaterThan(1);
  });

  it('names the move that makes room for another', () => {
    // The large pod of a can only go to b, which is full by requests until a pod has left it for c.
    const nodes = [
      aNode('a', { labels: { tier: 'x' }, allocatable: { cpu: 4000 } }),
      aNode('b', { labels: { tier: 'x' }, allocatable: { cpu: 4000 } }),
      aNode('c', { allocatable: { cpu: 4000 } }),
    ];
    const pods = [
      aPod('fixed', { nodeName: 'a', owner: undefined }),
      aPod('large', {
        nodeName: 'a',
        constraints: { requests: { cpu: 3000 }, nodeSelector: new Map([['tier', 'x']]) },
      }),
      aPod('small', { nodeName: 'b', constraints: { requests: { cpu: 3000 } } }),
    ];
    const uses = { fixed: 2000, large: 1800, small: 400 };
    const { moves } = plan(
      aSnapshot({ nodes, pods, uses }),
      someOptions({ strategy: refineLb({ overload: 1 }), thresholds: EAGER }),
    );
    expect(moves.map(({ pod, to }) => [pod.name, to])).toEqual([
      ['small', 'c'],
      ['large', 'b'],
    ]);
    expect(moves.map(({ after }) => after)).toEqual([[], [0]]);
    expect(moves.map(({ partner }) => partner)).toEqual([1, 0]);
    expect(moves[1]?.reason).toContain('worth it only with shop/small');
  });

  it('names the move that makes another worth it', () => {
    // n0 is as high as n1 until it has given a pod to n2: a pod that came before would only make it higher.
    const { moves } = plan(
      loaded([40, 30], [55, 13], [28]),
      someOptions({ strategy: refineLb({ refinements: 'None' }), thresholds: EAGER }),
    );
    expect(moves.map(({ pod, from, to, after }) => [pod.name, from, to, after])).toEqual([
      ['p0-1', 'n0', 'n2', []],
      ['p1-1', 'n1', 'n0', [0]],
    ]);
  });

  it('names nothing where a move is worth it whatever becomes of the others', () => {
    const { moves } = plan(
      loaded([30, 20, 20], [30, 20, 10], [5], [5]),
      someOptions({ strategy: refineLb({ overload: 1 }), thresholds: EAGER }),
    );
    expect(moves.length).toBeGreaterThan(1);
    expect(moves.flatMap(({ after }) => after)).toEqual([]);
  });

  it('keeps pods apart that refuse each other, move by move', () => {
    const nodes = ['a', 'b', 'c'].map((name) => aNode(name));
    const lonely = { podAntiAffinity: [anAffinityTerm({ app: 'db' }, { topologyKey: 'kubernetes.io/hostname' })] };
    const pods = [
      aPod('db-1', { nodeName: 'a', labels: { app: 'db' }, constraints: lonely }),
      aPod('db-2', { nodeName: 'b', labels: { app: 'db' }, constraints: lonely }),
      aPod('web-1', { nodeName: 'a' }),
      aPod('web-2', { nodeName: 'a' }),
    ];
    const uses = { 'db-1': 1600, 'db-2': 200, 'web-1': 900, 'web-2': 100 };
    const { moves } = plan(
      aSnapshot({ nodes, pods, uses }),
      someOptions({ strategy: greedyLb({ tolerance: 0 }), thresholds: EAGER }),
    );
    expect(moves.length).toBeGreaterThan(0);
    expect(moves.filter(({ pod, to }) => pod.name === 'db-1' && to === 'b')).toEqual([]);
  });
});
