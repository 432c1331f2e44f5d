import { describe, expect, it } from 'vitest';
import type { NodeInfo } from '../../../src/model/node.ts';
import { nodesToScore } from '../../../src/plan/hit-ratio.ts';
import { plan } from '../../../src/plan/planner.ts';
import { someOptions } from '../../support/builders/options.ts';
import { aTaint } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';

/** Three pods on node `hot` of one core each in use, so that one or more leave it for `others`. */
function planTo(...others: readonly NodeInfo[]) {
  const pods = ['x', 'y', 'z'].map((name) => aPod(name, { nodeName: 'hot', owner: name }));
  return plan(
    aSnapshot({ nodes: [aNode('hot'), ...others], pods, uses: { x: 1000, y: 1000, z: 1000 } }),
    someOptions(),
  );
}

describe('expectedHitRatio', () => {
  it('is 1 when the scheduler likes the planned nodes best of all', () => {
    const { moves, expectedHitRatio } = planTo(aNode('cold'));
    expect(moves.map(({ to }) => to)).toEqual(['cold']);
    expect(expectedHitRatio).toBe(1);
  });

  it('is shared between nodes that the scheduler likes equally', () => {
    const { moves, expectedHitRatio } = planTo(aNode('a'), aNode('b'));
    expect(moves).toHaveLength(2);
    // The first may go to a or b alike, the second finds b emptier than a.
    expect(expectedHitRatio).toBe(0.75);
  });

  it('is 0 when the scheduler likes another node better', () => {
    const disliked = aNode('cold', { taints: [aTaint('x', '', 'PreferNoSchedule')] });
    expect(planTo(disliked).expectedHitRatio).toBe(0);
  });

  it('counts that the scheduler scores only a part of a large cluster', () => {
    const cold = Array.from({ length: 199 }, (_, index) => aNode(`cold-${index}`, { unschedulable: index > 0 }));
    const alike = Array.from({ length: 199 }, (_, index) => aNode(`cold-${index}`));
    expect(planTo(...cold).expectedHitRatio).toBe(1);
    // Of the 199 or 200 that are feasible it scores 100, and all are alike but the one that the pod came from.
    expect(planTo(...alike).expectedHitRatio).toBeCloseTo(1 / 199, 3);
  });

  it('reckons with nodes that take no part in the plan', () => {
    const large = aNode('large', { labels: { outside: '' }, allocatable: { cpu: 64_000, memory: 2 ** 40 } });
    const nodes = [aNode('hot'), aNode('cold'), large];
    const pods = ['x', 'y', 'z'].map((name) => aPod(name, { nodeName: 'hot', owner: name }));
    const snapshot = aSnapshot({ nodes, pods, uses: { x: 1000, y: 1000, z: 1000 } });
    const nodeSelector = { requirements: [{ key: 'outside', operator: 'DoesNotExist' as const, values: [] }] };
    const found = plan(snapshot, someOptions({ scope: { nodeSelector } }));
    expect(found.moves.map(({ to }) => to)).toEqual(['cold']);
    expect(found.expectedHitRatio).toBe(0);
  });

  it('is not known without moves', () => {
    expect(plan(aSnapshot({ nodes: [aNode('a')] }), someOptions()).expectedHitRatio).toBeUndefined();
  });
});

describe('nodesToScore', () => {
  it.each([
    [1, 1],
    [99, 99],
    [100, 100],
    [150, 100],
    [1000, 420],
    [5000, 500],
    [10_000, 500],
  ])('of %i nodes is %i, as in numFeasibleNodesToFind', (nodes, scored) => {
    expect(nodesToScore(nodes)).toBe(scored);
  });
});

describe('the choice between targets that are as good as equal', () => {
  it('is the one that the scheduler prefers', () => {
    const disliked = aNode('a', { taints: [aTaint('x', '', 'PreferNoSchedule')] });
    expect(planTo(disliked, aNode('b')).moves[0]?.to).toBe('b');
  });

  it('is the first without a preference', () => {
    expect(planTo(aNode('a'), aNode('b')).moves[0]?.to).toBe('a');
  });
});
