import { describe, expect, it } from 'vitest';
import type { Taint } from '../../../../src/model/node.ts';
import type { TaintRepair } from '../../../../src/plan/options.ts';
import { isMeant, preferenceFor, untolerated } from '../../../../src/plan/repair/conformity.ts';
import { aTaint, aToleration } from '../../../support/builders/scheduling.ts';
import { aNode } from '../../../support/builders.ts';

const ALL: TaintRepair = { soft: false, includedTaints: undefined, excludedTaints: new Set() };

describe('the taints that a policy is about', () => {
  const meant = (taint: Taint, repair: Partial<TaintRepair> = {}) => isMeant(taint, { ...ALL, ...repair });
  const soft = aTaint('old', '', 'PreferNoSchedule');

  it('are those that refuse pods, and those that only rank nodes where it says so', () => {
    expect([meant(aTaint('old')), meant(soft), meant(soft, { soft: true })]).toEqual([true, false, true]);
    const noExecute = aTaint('old', '', 'NoExecute');
    expect([meant(noExecute), meant(noExecute, { soft: true })]).toEqual([false, false]);
  });

  it('are all but that of a cordoned node, unless it is named', () => {
    const cordoned = aTaint('node.kubernetes.io/unschedulable');
    const includedTaints = new Set([cordoned.key]);
    expect([meant(cordoned), meant(cordoned, { includedTaints })]).toEqual([false, true]);
  });

  it('are those named by key, or by key and value', () => {
    const includedTaints = new Set(['old', 'pool=gpu']);
    const taints = [aTaint('old'), aTaint('old', 'x'), aTaint('pool', 'gpu'), aTaint('pool', 'cpu'), aTaint('pool')];
    expect(taints.map((taint) => meant(taint, { includedTaints }))).toEqual([true, true, true, false, false]);
  });

  it('are none of those that are excluded, even where they are named', () => {
    const excludedTaints = new Set(['old', 'pool=gpu']);
    expect(meant(aTaint('old', 'x'), { excludedTaints })).toBe(false);
    expect(meant(aTaint('old'), { excludedTaints, includedTaints: new Set(['old']) })).toBe(false);
    expect([
      meant(aTaint('pool', 'gpu'), { excludedTaints }),
      meant(aTaint('pool', 'cpu'), { excludedTaints }),
    ]).toEqual([false, true]);
  });

  it('stand out where the pod tolerates none of them, in the order of the node', () => {
    const taints = [aTaint('a'), aTaint('b'), aTaint('c', '', 'PreferNoSchedule'), aTaint('d')];
    const tolerations = [aToleration({ key: 'b' }), aToleration({ key: 'x' })];
    const keys = (repair: TaintRepair, node = { taints }) =>
      untolerated({ tolerations }, node, repair).map(({ key }) => key);
    expect(keys(ALL)).toEqual(['a', 'd']);
    expect(keys({ ...ALL, soft: true })).toEqual(['a', 'c', 'd']);
    expect(keys(ALL, { taints: [] })).toEqual([]);
  });
});

describe('how much a pod prefers a node', () => {
  it('is the sum of the weights of the terms that the node matches', () => {
    const term = (zone: string) => ({
      expressions: [{ key: 'zone', operator: 'In' as const, values: [zone] }],
      fields: [],
    });
    const preferredNodeAffinity = [
      { weight: 10, term: term('x') },
      { weight: 5, term: term('y') },
      { weight: 20, term: term('x') },
    ];
    const preference = (zone: string) => preferenceFor({ preferredNodeAffinity }, aNode('a', { labels: { zone } }));
    expect(['x', 'y', 'z'].map(preference)).toEqual([30, 5, 0]);
    expect(preferenceFor({ preferredNodeAffinity: [] }, aNode('a'))).toBe(0);
  });
});
