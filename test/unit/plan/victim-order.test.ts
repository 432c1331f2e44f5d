import { describe, expect, it } from 'vitest';
import { epochSeconds } from '../../../src/model/units.ts';
import { plan } from '../../../src/plan/planner.ts';
import { compareVictims } from '../../../src/plan/victim-order.ts';
import { refineLb, someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSnapshot, NOW, type PodFields } from '../../support/builders.ts';

function order(left: PodFields, right: PodFields): number {
  return Math.sign(compareVictims(aPod('l', left), aPod('r', right)));
}

describe('who is taken first', () => {
  it.each<[string, PodFields, PodFields]>([
    ['the lower priority', { priority: 1, qosClass: 'Guaranteed' }, { priority: 2, qosClass: 'BestEffort' }],
    ['BestEffort before Burstable', { qosClass: 'BestEffort', deletionCost: 5 }, { qosClass: 'Burstable' }],
    ['Burstable before Guaranteed', { qosClass: 'Burstable' }, { qosClass: 'Guaranteed' }],
    ['the lower deletion cost', { deletionCost: -1, createdAt: epochSeconds(NOW - 900) }, { deletionCost: 0 }],
    ['the younger', { createdAt: epochSeconds(NOW - 400) }, { createdAt: epochSeconds(NOW - 900) }],
  ])('is %s', (_, first, second) => {
    expect(order(first, second)).toBe(-1);
    expect(order(second, first)).toBe(1);
  });

  it('is nobody among equals, nor where an age is not known', () => {
    expect(order({}, {})).toBe(0);
    expect(order({ createdAt: epochSeconds(Number.NaN) }, {})).toBe(0);
  });

  it.each<[string, PodFields]>([
    ['priority', { priority: -1 }],
    ['QoS class', { qosClass: 'BestEffort' }],
    ['deletion cost', { deletionCost: -10 }],
    ['age', { createdAt: epochSeconds(NOW - 900) }],
  ])('decides between moves of equal gain: by %s', (_, fields) => {
    const pods = ['p1', 'p2', 'p3'].map((name) => aPod(name, { nodeName: 'a', ...(name === 'p3' ? fields : {}) }));
    const snapshot = aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses: { p1: 600, p2: 600, p3: 600 } });
    const { moves } = plan(snapshot, someOptions({ strategy: refineLb({ overload: 1.5 }) }));
    expect(moves.map(({ pod }) => pod.name)).toEqual(['p3']);
  });
});
