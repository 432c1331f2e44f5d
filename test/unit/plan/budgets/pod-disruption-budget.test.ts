import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../../src/model/pod.ts';
import type { PdbInfo } from '../../../../src/model/workload.ts';
import {
  disruptionsInWaves,
  pdbHold,
  pdbLookup,
  podDisruptionBudget,
} from '../../../../src/plan/budgets/pod-disruption-budget.ts';
import { aPdb, aPod, selecting } from '../../../support/builders.ts';

const WEB = { app: 'web' };
const onlyWeb = (fields: Partial<PdbInfo> = {}): PdbInfo => aPdb('web', { selector: selecting(WEB), ...fields });
const ready = aPod('ready', { labels: WEB });
const unready = aPod('unready', { labels: WEB, ready: false });

function found(pdbs: readonly PdbInfo[], ...pods: readonly PodInfo[]): string[][] {
  const lookup = pdbLookup(pdbs);
  return pods.map((pod) =>
    lookup(pod)
      .map(({ name }) => name)
      .sort(),
  );
}

describe('the PodDisruptionBudgets that select a pod', () => {
  it('are those of its namespace with a selector for its labels', () => {
    const pdbs = [
      aPdb('z'),
      onlyWeb(),
      aPdb('all'),
      aPdb('null', { selector: undefined }),
      aPdb('there', { namespace: 'bank' }),
    ];
    const others = [aPod('api', { labels: { app: 'api' } }), aPod('there', { namespace: 'bank', labels: WEB })];
    expect(found(pdbs, ready, ...others)).toEqual([['all', 'web', 'z'], ['all', 'z'], ['there']]);
    expect(found([], ready)).toEqual([[]]);
  });

  it('are those of each pod when pods of several namespaces have the same labels, in any order', () => {
    const [here, there] = [aPod('p'), aPod('p', { namespace: 'bank' })];
    expect(found([aPdb('all')], here, there, here, here, there)).toEqual([['all'], [], ['all'], ['all'], []]);
  });

  it('are those of each pod when pods of one namespace have several labels, in any order', () => {
    const other = aPod('api', { labels: { app: 'api' } });
    expect(found([onlyWeb()], ready, other, ready, unready)).toEqual([['web'], [], ['web'], ['web']]);
  });
});

describe('what holds a pod', () => {
  it('is nothing without a budget, or with one that allows something', () => {
    expect(pdbHold([], ready)).toBeUndefined();
    expect(pdbHold([onlyWeb({ disruptionsAllowed: 1 })], ready)).toBeUndefined();
  });

  it('is a budget that allows nothing, or a number that is none', () => {
    expect(pdbHold([onlyWeb({ disruptionsAllowed: 0 })], ready)).toEqual({
      code: 'PodDisruptionBudget',
      message: 'PodDisruptionBudget shop/web allows 0 disruptions',
      numbers: { disruptionsAllowed: 0, moved: 0 },
    });
    expect(pdbHold([onlyWeb({ disruptionsAllowed: Number.NaN })], ready)?.code).toBe('PodDisruptionBudget');
  });

  it('is not a budget that allows nothing but pods that are not Ready, when the pod is not', () => {
    const pdb = onlyWeb({ disruptionsAllowed: 0, allowsUnready: true });
    expect(pdbHold([pdb], unready)).toBeUndefined();
    expect(pdbHold([pdb], ready)?.code).toBe('PodDisruptionBudget');
    expect(pdbHold([{ ...pdb, allowsUnready: false }], unready)?.code).toBe('PodDisruptionBudget');
  });

  it('is more than one budget, whatever they allow, in a message of bounded length', () => {
    const many = ['c', 'a', 'b'].map((name) => aPdb(name, { disruptionsAllowed: 9, allowsUnready: true }));
    const message = '3 PodDisruptionBudgets select it (a, b, c): the eviction API refuses such pods';
    expect(pdbHold(many, unready)).toEqual({ code: 'PodDisruptionBudget', message, numbers: { pdbs: 3 } });
    const long = ['x', 'y'].map((letter) => aPdb(letter.repeat(253)));
    expect(pdbHold(long, ready)?.message).toHaveLength(500);
  });
});

describe('the disruptions of a plan', () => {
  const pods = [ready, aPod('second', { labels: WEB }), unready, aPod('free', { labels: { app: 'api' } })];
  const budgetOf = (...pdbs: readonly PdbInfo[]) => podDisruptionBudget(pdbLookup(pdbs), pods);

  it('are at most as many as the budget allows, and say how many of them the plan uses', () => {
    const budget = budgetOf(onlyWeb({ disruptionsAllowed: 2 }));
    budget.spend(0);
    expect([0, 1, 3].map((pod) => budget.check(pod, 0))).toEqual([undefined, undefined, undefined]);
    budget.spend(1);
    expect(budget.check(0, 0)).toEqual({
      code: 'PodDisruptionBudget',
      message: 'PodDisruptionBudget shop/web allows 2 disruptions, 2 of which this plan uses',
      numbers: { disruptionsAllowed: 2, moved: 2 },
    });
    expect(budget.check(2, 0)?.numbers).toEqual({ disruptionsAllowed: 2, moved: 2 });
    expect(budget.check(3, 0)).toBeUndefined();
  });

  it('are given back by moves that are taken back', () => {
    const budget = budgetOf(onlyWeb({ disruptionsAllowed: 1 }));
    budget.spend(0);
    expect(budget.check(1, 0)?.code).toBe('PodDisruptionBudget');
    budget.refund(0);
    expect(budget.check(1, 0)).toBeUndefined();
    budget.spend(1);
    expect(budget.check(0, 0)?.code).toBe('PodDisruptionBudget');
  });

  it('are not spent by pods that no budget selects', () => {
    const budget = budgetOf(onlyWeb({ disruptionsAllowed: 1 }));
    budget.spend(3);
    expect(budget.check(0, 0)).toBeUndefined();
  });

  it('are not spent by a pod that is not Ready where that needs no permission, and it is let through when they are', () => {
    const budget = budgetOf(onlyWeb({ disruptionsAllowed: 1, allowsUnready: true }));
    budget.spend(2);
    expect(budget.check(0, 0)).toBeUndefined();
    budget.spend(0);
    expect([0, 1, 2].map((pod) => budget.check(pod, 0)?.code)).toEqual([
      'PodDisruptionBudget',
      'PodDisruptionBudget',
      undefined,
    ]);
    budget.refund(2);
    expect(budget.check(1, 0)?.code).toBe('PodDisruptionBudget');
  });

  it('are spent by a pod that is not Ready where that needs permission', () => {
    const budget = budgetOf(onlyWeb({ disruptionsAllowed: 1 }));
    budget.spend(2);
    expect(budget.check(0, 0)?.numbers).toEqual({ disruptionsAllowed: 1, moved: 1 });
    budget.refund(2);
    expect(budget.check(0, 0)).toBeUndefined();
  });

  it('are not limited in number in a plan of waves, but by a budget that allows nothing now', () => {
    const waves = disruptionsInWaves(pdbLookup([onlyWeb({ disruptionsAllowed: 1 })]), pods);
    waves.spend(0);
    waves.spend(1);
    expect(waves.check(0, 0)).toBeUndefined();
    const pdb = onlyWeb({ disruptionsAllowed: 0, allowsUnready: true });
    const closed = disruptionsInWaves(pdbLookup([pdb]), pods);
    expect([0, 2, 3].map((pod) => closed.check(pod, 0)?.code)).toEqual(['PodDisruptionBudget', undefined, undefined]);
    closed.refund(0);
    expect(closed.check(0, 0)?.code).toBe('PodDisruptionBudget');
  });
});
