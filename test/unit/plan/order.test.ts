import { describe, expect, it } from 'vitest';
import { locatePods, sortedEntries, sortNodes, sortPods } from '../../../src/plan/order.ts';
import { aNode, aPod } from '../../support/builders.ts';

describe('the order of a plan', () => {
  it('is that of the names of nodes, and of their uids where two have one name', () => {
    const nodes = [aNode('b'), aNode('a', { uid: '2' }), aNode('a', { uid: '1' }), aNode('B')];
    expect(sortNodes(nodes).map(({ name, uid }) => [name, uid])).toEqual([
      ['B', 'uid-B'],
      ['a', '1'],
      ['a', '2'],
      ['b', 'uid-b'],
    ]);
  });

  it('is that of the namespaces of pods, then of their names and uids', () => {
    const pods = [
      aPod('a', { namespace: 'shop' }),
      aPod('b', { namespace: 'bank', uid: '2' }),
      aPod('b', { namespace: 'bank', uid: '1' }),
      aPod('a', { namespace: 'bank', uid: '3' }),
    ];
    expect(sortPods(pods).map(({ namespace, name, uid }) => `${namespace}/${name} ${uid}`)).toEqual([
      'bank/a 3',
      'bank/b 1',
      'bank/b 2',
      'shop/a uid-shop-a',
    ]);
  });

  it('leaves what is in order as it is', () => {
    const pods = [aPod('a'), aPod('a'), aPod('b')];
    expect(sortPods(pods)).toBe(pods);
    const nodes = [aNode('a'), aNode('b')];
    expect(sortNodes(nodes)).toBe(nodes);
    expect(sortNodes(nodes.toReversed())).toEqual(nodes);
  });

  it('is that of the keys of a map', () => {
    expect(
      sortedEntries(
        new Map([
          ['b', 1],
          ['a', 2],
        ]),
      ),
    ).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
  });

  it('places pods by their nodes, those without one that is known nowhere', () => {
    const pods = ['b', 'a', undefined, 'gone'].map((nodeName, place) => aPod(`p${place}`, { nodeName }));
    expect([...locatePods(pods, [aNode('a'), aNode('b')])]).toEqual([1, 0, -1, -1]);
  });
});
