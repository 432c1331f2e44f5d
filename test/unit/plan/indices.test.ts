import { describe, expect, it } from 'vitest';
import {
  amountAt,
  at,
  atOrNone,
  type IndexTable,
  itemAt,
  type NodeIndex,
  numberAt,
  type PodIndex,
} from '../../../src/plan/indices.ts';

const home: IndexTable<PodIndex, NodeIndex> = Int32Array.of(4, -1);

describe('a table by index', () => {
  it('gives what it has, -1 for none among it', () => {
    const node: NodeIndex = at(home, 0);
    expect([node, at(home, 1), atOrNone(home, 0), atOrNone(home, -1)]).toEqual([4, -1, 4, -1]);
    expect([amountAt(Float64Array.of(0.5), 0), numberAt([7], 0), itemAt(['a'], 0)]).toEqual([0.5, 7, 'a']);
  });

  it.each([
    ['past its end', () => at(home, 2)],
    ['by the index that stands for none', () => at(home, -1)],
    ['past its end, although it may be none', () => atOrNone(home, 2)],
    ['of amounts past its end', () => amountAt(new Float64Array(1), 1)],
    ['of numbers by no index', () => numberAt([1], -1)],
    ['of items past its end', () => itemAt(['a'], 1)],
  ])('throws when it is read %s', (_, read) => {
    expect(read).toThrow(RangeError);
  });

  it('does not compile when it is read by an index of another kind', () => {
    const [pod, node]: [PodIndex, NodeIndex] = [0, 1];
    const table = Int32Array.of(1, 0);
    const nodeOf: IndexTable<PodIndex, NodeIndex> = table;
    // @ts-expect-error a node is no pod
    expect(at(nodeOf, node)).toBe(0);
    // @ts-expect-error what comes out is a node
    const other: PodIndex = at(nodeOf, pod);
    expect(other).toBe(1);
  });
});
