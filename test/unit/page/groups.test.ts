import { describe, expect, it } from 'vitest';
import { firstGrouping, groupingsOf, groupLoads, groupNodes } from '../../../src/page/groups.ts';
import type { MapNode } from '../../../src/page/model.ts';
import type { NodeRow } from '../../../src/report/page/state.ts';

function aNode(name: string, fields: Partial<NodeRow> = {}): MapNode {
  return { name, row: { status: 'Ready', pods: 0, now: {}, ...fields }, shift: undefined };
}

const many = (fields: (index: number) => Partial<NodeRow>): readonly MapNode[] =>
  Array.from({ length: 60 }, (_, index) => aNode(`n-${index}`, fields(index)));

describe('groupings', () => {
  it.each([
    ['neither zones nor pools', {}, ['none']],
    ['one zone', { zone: 'a' }, ['none']],
    ['a zone that the other node lacks', { zone: 'a', pool: 'x' }, ['none', 'zone', 'pool']],
  ])('of nodes with %s', (_, fields, expected) => {
    const other = expected.length > 1 ? {} : fields;
    expect(groupingsOf([aNode('a', fields), aNode('b', other)])).toEqual(expected);
  });

  it('begin with zones, or else pools, where there are many nodes', () => {
    expect(firstGrouping(many((index) => ({ zone: `z${index % 2}`, pool: `p${index % 3}` })))).toBe('zone');
    expect(firstGrouping(many((index) => ({ zone: 'z', pool: `p${index % 3}` })))).toBe('pool');
    expect(firstGrouping(many(() => ({})))).toBe('none');
    expect(firstGrouping([aNode('a', { zone: 'a' }), aNode('b', { zone: 'b' })])).toBe('none');
  });
});

describe('groups', () => {
  it('are in the order of their names, numbers as people count, and last the nodes without one', () => {
    const nodes = ['pool-10', undefined, 'pool-9'].map((pool, index) =>
      aNode(`n-${index}`, pool === undefined ? {} : { pool }),
    );
    expect(groupNodes(nodes, 'pool').map(({ name }) => name)).toEqual(['pool-9', 'pool-10', undefined]);
  });

  it('have loads from the highest down, of what is known', () => {
    const nodes = [aNode('a', { now: { cpu: 0.2 } }), aNode('b'), aNode('c', { now: { cpu: 0.6 } })];
    expect(groupLoads(nodes, 'now', 'cpu')).toMatchObject({ loads: [0.6, 0.2], mean: 0.4, highest: 'c' });
    expect(groupLoads(nodes, 'now', 'memory')).toBeUndefined();
  });
});
