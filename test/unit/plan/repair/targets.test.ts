import { describe, expect, it } from 'vitest';
import type { Budget } from '../../../../src/plan/budgets/budget.ts';
import type { Wish } from '../../../../src/plan/repair/rule.ts';
import { createTargetSearch } from '../../../../src/plan/repair/targets.ts';
import type { State } from '../../../../src/plan/state.ts';
import { aTaint, aToleration } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, type NodeFields } from '../../../support/builders.ts';
import { stateOf } from '../../../support/state.ts';

const FREE: Budget = { check: () => undefined, spend: () => undefined, refund: () => undefined };

/** A budget that refuses pods on these nodes. */
function closedTo(...nodes: readonly number[]): Budget {
  const refusal = { code: 'Cooldown' as const, message: 'rests', numbers: {} };
  return { ...FREE, check: (_, to) => (to !== undefined && nodes.includes(to) ? refusal : undefined) };
}

/** Pod 0 of one core on node 0; the others are at these percentages of ten cores. */
function among(...others: readonly (number | readonly [number, NodeFields])[]): State {
  const nodes = [0, ...others].map((each, place) =>
    aNode(`n${place}`, { allocatable: { cpu: 10_000 }, ...(typeof each === 'number' ? {} : each[1]) }),
  );
  // Where no pod tolerates a taint the node takes no part.
  const tolerations = [aToleration({ key: 'old' })];
  const loads = others.map((each) => (typeof each === 'number' ? each : each[0]));
  const pods = [
    aPod('a', { nodeName: 'n0', constraints: { requests: { cpu: 1000 } } }),
    ...loads.map((_, place) =>
      aPod(`b${place}`, { nodeName: `n${place + 1}`, constraints: { requests: { cpu: 1 }, tolerations } }),
    ),
  ];
  const uses = Object.fromEntries([['a', 1000], ...loads.map((load, place) => [`b${place}`, load * 100] as const)]);
  return stateOf(aSnapshot({ nodes, pods, uses }));
}

const best = (state: State, wish: Wish = {}, budgets: Budget = FREE, prefersFull = false) =>
  createTargetSearch(state, budgets, prefersFull)
    .best(0, wish)
    .map(({ node }) => node);

const SOFT: NodeFields = { taints: [aTaint('old', '', 'PreferNoSchedule')] };
const HARD: NodeFields = { taints: [aTaint('old')] };

describe('targets of a repair', () => {
  it('are the three least loaded nodes but its own, equals by place', () => {
    expect(best(among(50, 10, 30, 20))).toEqual([2, 4, 3]);
    expect(best(among(20, 20, 20, 20))).toEqual([1, 2, 3]);
    expect([best(among(50)), best(among())]).toEqual([[1], []]);
  });

  it('are the three fullest where full nodes are preferred', () => {
    expect(best(among(50, 10, 30, 20), {}, FREE, true)).toEqual([1, 3, 4]);
    expect(best(among(20, 20, 20), {}, FREE, true)).toEqual([1, 2, 3]);
  });

  it('are those of the best rank first, and none that are of no use', () => {
    const ranks = [0, 1, 2, Number.POSITIVE_INFINITY, 0, 1];
    const rankOf = (node: number) => ranks[node] ?? 0;
    expect(best(among(10, 5, 1, 50, 20), { rankOf })).toEqual([4, 1, 5]);
    expect(best(among(10, 5, 1, 50, 20), { rankOf }, FREE, true)).toEqual([4, 5, 1]);
    expect(best(among(10, 20, 30, 5, 40), { rankOf: (node) => (node === 5 ? -1 : 0), bestRank: -1 })).toEqual([
      5, 4, 1,
    ]);
  });

  it('are those without taints that only rank nodes before others, and none with one that refuses', () => {
    expect(best(among([10, SOFT], 50, [20, HARD], 60))).toEqual([2, 4, 1]);
    expect(best(among([10, SOFT], [5, SOFT], 50, 60, 70))).toEqual([3, 4, 5]);
  });

  it('are those with room, within budgets', () => {
    const tight: NodeFields = { allocatable: { cpu: 1000 } };
    expect(best(among([1, tight], 50, 20))).toEqual([3, 2]);
    expect(best(among(50, 10, 30, 20), {}, closedTo(2, 4))).toEqual([3, 1]);
  });

  it('go by where pods are by then', () => {
    const state = among(50, 10, 30);
    const search = createTargetSearch(state, FREE, false);
    expect(search.best(0, {}).map(({ node }) => node)).toEqual([2, 3, 1]);
    state.move(1, 2);
    expect(search.best(0, {}).map(({ node }) => node)).toEqual([1, 3, 2]);
  });
});

describe('why there is no target', () => {
  const why = (state: State, wish: Wish = {}, budgets: Budget = FREE) =>
    createTargetSearch(state, budgets, false).whyNone(0, wish);

  it('is what the only filter says that refuses the pod everywhere', () => {
    expect(why(among([10, HARD], [20, HARD]))).toEqual({
      code: 'TaintToleration',
      message: 'fits on none of 2 other nodes: n1 has the taint old:NoSchedule, which the pod does not tolerate',
      numbers: { nodes: 2 },
    });
    expect(why(among([10, HARD])).message).toContain('fits on none of 1 other node: n1 has');
  });

  it('is how many nodes each filter refuses, and how many would be no improvement, or rest', () => {
    const tight: NodeFields = { allocatable: { cpu: 1000 } };
    const state = among([10, HARD], [1, tight], 20, 30, [40, HARD]);
    const rankOf = (node: number) => (node === 4 ? Number.POSITIVE_INFINITY : 0);
    expect(why(state, { rankOf }, closedTo(3))).toEqual({
      code: 'NoFeasibleNode',
      message:
        'can be repaired on none of 5 other nodes: Cooldown on 1, NodeResourcesFit on 1, TaintToleration on 2, no improvement on 1',
      numbers: { nodes: 5 },
    });
  });

  it('is that there is no other node', () => {
    expect(why(among())).toEqual({
      code: 'NoFeasibleNode',
      message: 'can be repaired on none of 0 other nodes',
      numbers: { nodes: 0 },
    });
  });

  it('is found again once pods have moved, and where ranks matter', () => {
    const state = among([10, { allocatable: { cpu: 1000 } }]);
    const search = createTargetSearch(state, FREE, false);
    const rankOf = () => Number.POSITIVE_INFINITY;
    expect(search.whyNone(0, {}).message).toContain('n1 has 999m of 1000m cpu free');
    state.move(1, 0);
    expect(search.whyNone(0, { rankOf }).message).toContain('no improvement on 1');
  });

  it('is what holds by then for a pod that has not moved itself', () => {
    const state = among([10, { allocatable: { cpu: 1000 } }], [20, HARD]);
    const search = createTargetSearch(state, FREE, false);
    const message = () => search.whyNone(0, {}).message;
    expect(message()).toContain(': NodeResourcesFit on 1, TaintToleration on 1');
    state.move(1, 2);
    expect(message()).toContain(': TaintToleration on 1, no improvement on 1');
  });
});
