import { describe, expect, it } from 'vitest';
import type { NodeInfo } from '../../../src/model/node.ts';
import { massFailure } from '../../../src/plan/mass-failure.ts';
import { aNode } from '../../support/builders.ts';

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';

/** So many nodes with these labels, the first of which are not Ready. */
function nodes(name: string, number: number, down: number, labels: Readonly<Record<string, string>> = {}) {
  return Array.from({ length: number }, (_, place) => aNode(`${name}-${place}`, { labels, ready: place >= down }));
}

function verdict(all: readonly NodeInfo[], failed: NodeInfo | undefined = all[0]) {
  return failed && massFailure(all, failed);
}

describe('a mass failure', () => {
  it('is none where few nodes of a cluster have failed', () => {
    expect(verdict(nodes('a', 20, 10))).toBeUndefined();
  });

  it('is one where 55 % of all nodes have failed, or all of them', () => {
    expect(verdict(nodes('a', 20, 11))).toEqual({
      notReady: 11,
      nodes: 20,
      message: '11 of 20 nodes not Ready: from 55 % on they may only be cut off',
    });
    expect(verdict(nodes('a', 1, 1))?.message).toMatch(/^1 of 1 node not Ready/);
  });

  it('is one of a zone where most of its nodes have failed, but not all, and more than two', () => {
    const rest = nodes('z', 40, 0, { [ZONE]: 'z' });
    const inZone = (number: number, down: number) => verdict([...nodes('a', number, down, { [ZONE]: 'a' }), ...rest]);
    expect(inZone(5, 3)).toEqual({
      notReady: 3,
      nodes: 5,
      message: '3 of 5 nodes of its zone not Ready: from 55 % on they may only be cut off',
    });
    expect(inZone(3, 3)).toBeUndefined();
    expect(inZone(3, 2)).toBeUndefined();
    expect(inZone(20, 10)).toBeUndefined();
    expect(inZone(20, 11)).toBeDefined();
  });

  it('looks at the zone of the node in its region, and at the nodes without labels as one zone', () => {
    const broken = nodes('a', 5, 3, { [ZONE]: '1', [REGION]: 'a' });
    const other = nodes('b', 40, 0, { [ZONE]: '1', [REGION]: 'b' });
    expect(verdict([...broken, ...other])?.nodes).toBe(5);
    expect(verdict([...broken, ...other], aNode('c', { labels: { [ZONE]: '1' }, ready: false }))).toBeUndefined();
    expect(verdict([...nodes('a', 5, 3), ...other])?.nodes).toBe(5);
    expect(verdict([...nodes('a', 5, 0), ...broken, ...other])).toBeUndefined();
  });
});
