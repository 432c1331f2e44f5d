import { describe, expect, it } from 'vitest';
import { relocated } from '../../../../src/plan/repair/relocate.ts';
import { aSpread } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, type PodFields } from '../../../support/builders.ts';
import { clusterOf } from '../../../support/state.ts';

describe('nodes with pods where repairs put them', () => {
  const web: PodFields = {
    labels: { app: 'web' },
    constraints: { requests: { cpu: 500 }, spread: [aSpread({ app: 'web' })] },
  };
  const { sites } = clusterOf(
    aSnapshot({
      nodes: ['a', 'b', 'c'].map((name) => aNode(name, { labels: { zone: name } })),
      pods: [
        aPod('p0', { nodeName: 'a', ...web }),
        aPod('p1', { nodeName: 'a', ...web }),
        aPod('p2', { nodeName: 'b', ...web }),
        aPod('p3', { nodeName: undefined, ...web }),
      ],
    }),
  );
  const picture = ({ located, rooms, counts }: typeof sites) => ({
    located: [...located],
    cpu: rooms.map((room) => room.cpu),
    pods: [0, 1, 2].map((domain) => counts.inDomain(0, domain)),
  });
  const before = { located: [0, 0, 1, -1], cpu: [3000, 3500, 4000], pods: [2, 1, 0] };

  it('have room where pods have left, and less where they have come', () => {
    const relocations = [
      { pod: 0, from: 0, to: 1 },
      { pod: 2, from: 1, to: 2 },
    ];
    expect(picture(relocated(sites, relocations))).toEqual({
      located: [1, 0, 2, -1],
      cpu: [3500, 3500, 3500],
      pods: [1, 1, 1],
    });
    expect(picture(sites)).toEqual(before);
  });

  it('keep the seats of pods that have no node yet', () => {
    expect(picture(relocated(sites, [{ pod: 0, from: 0, to: 2 }], [{ pod: 3, to: 0 }]))).toEqual({
      located: [2, 0, 1, 0],
      cpu: [3000, 3500, 3500],
      pods: [2, 1, 1],
    });
    expect(picture(relocated(sites, [], [{ pod: 3, to: 2 }]))).toEqual({
      located: [0, 0, 1, 2],
      cpu: [3000, 3500, 3500],
      pods: [2, 1, 1],
    });
    expect(picture(sites)).toEqual(before);
  });
});
