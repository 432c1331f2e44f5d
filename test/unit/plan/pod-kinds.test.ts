import { describe, expect, it } from 'vitest';
import { sortIntoKinds } from '../../../src/plan/pod-kinds.ts';
import { aPod } from '../../support/builders.ts';

describe('sortIntoKinds', () => {
  const a = aPod('a');
  const b = aPod('b', { labels: { app: 'b' } });
  const of = ({ name: _, uid: __, ...template }: typeof a, name: string) => ({ ...template, name, uid: `uid-${name}` });

  it('sorts pods of two templates that come in turn into two kinds', () => {
    const { list, ofPod, firstOf } = sortIntoKinds([a, b, of(a, 'a2'), of(b, 'b2')]);
    expect(list.map(({ labels }) => labels)).toEqual([a.labels, b.labels]);
    expect([[...ofPod], [...firstOf]]).toEqual([
      [0, 1, 0, 1],
      [0, 1],
    ]);
  });

  it('tells pods apart that differ in their labels, their constraints or their priority alone', () => {
    const others = [
      { ...a, labels: b.labels },
      { ...a, constraints: b.constraints },
      { ...a, priority: 7 },
    ];
    const { list, ofPod } = sortIntoKinds([a, ...others, a]);
    expect([list.length, [...ofPod]]).toEqual([4, [0, 1, 2, 3, 0]]);
  });
});
