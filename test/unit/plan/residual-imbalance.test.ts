import { describe, expect, it } from 'vitest';
import { plan } from '../../../src/plan/planner.ts';
import { refineLb, someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';

describe('a plan that cannot reach balance', () => {
  const nodes = ['a', 'b', 'c'].map((name) => aNode(name));
  const options = someOptions({
    strategy: refineLb({ overload: 1 }),
    thresholds: { trigger: 0.1, minImprovement: 0, minReduction: 0 },
  });

  it('names the node that stays highest, and why its pods stay', () => {
    const pods = [
      aPod('data', { nodeName: 'a', localStorage: true }),
      aPod('web-1', { nodeName: 'a' }),
      aPod('web-2', { nodeName: 'b' }),
    ];
    const { outcome, moves } = plan(
      aSnapshot({ nodes, pods, uses: { data: 3000, 'web-1': 400, 'web-2': 400 } }),
      options,
    );
    expect(moves.map(({ pod, to }) => [pod.name, to])).toEqual([['web-1', 'c']]);
    expect(outcome).toEqual({
      kind: 'Moves',
      obstacle:
        'a remains at 75 %: LocalStorage blocks 1 of its 1 pod; its largest pod, shop/data (75 %), stays: ' +
        'keeps data in an emptyDir or hostPath volume, which a move would lose',
    });
  });

  it('says how much capacity is missing when even balance would be too much', () => {
    const pods = Array.from({ length: 9 }, (_, index) => aPod(`p${index}`, { nodeName: index < 8 ? 'a' : 'b' }));
    const uses = Object.fromEntries(pods.map(({ name }) => [name, 1700]));
    const { outcome } = plan(aSnapshot({ nodes, pods, uses }), {
      ...options,
      thresholds: { ...options.thresholds, trigger: 0 },
    });
    expect(outcome.kind === 'Moves' ? outcome.obstacle : outcome.message).toContain('under-provisioned by 3.3 cores');
  });
});
