import { describe, expect, it } from 'vitest';
import { createTargets, type TargetLimits } from '../../../../src/plan/strategies/targets.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';
import { stateOf } from '../../../support/state.ts';
import { loaded } from './loaded.ts';
import { PERCENT } from './noted-terms.ts';

const ALL: TargetLimits = { below: Number.POSITIVE_INFINITY, upTo: Number.POSITIVE_INFINITY };

/** Which of the nodes 1 to n is the favourite of pod 0, which runs on node 0, by what is used and requested in percent. */
function favourite(
  others: readonly (readonly [used: number, requested: number])[],
  limits: Partial<TargetLimits> = {},
  best = 1,
): number {
  const pods = [[1, 1] as const, ...others].map(([, requested], node) =>
    aPod(`p${node}`, { nodeName: `n${node}`, constraints: { requests: { cpu: requested * 100 } } }),
  );
  const nodes = pods.map((_, node) => aNode(`n${node}`, { allocatable: { cpu: 10_000 } }));
  const uses = Object.fromEntries([[1], ...others].map(([used = 0], node) => [`p${node}`, used * 100]));
  const state = stateOf(aSnapshot({ nodes, pods, uses }));
  return createTargets(state).favourite(0, best, { ...ALL, ...limits });
}

describe('the favourite of targets that are as good as equal', () => {
  it('is the one that the scheduler would choose, up to a quarter of a point above the best', () => {
    expect(
      favourite([
        [10, 50],
        [10, 5],
      ]),
    ).toBe(2);
    expect(
      favourite([
        [10, 5],
        [10, 50],
      ]),
    ).toBe(1);
    expect(
      favourite([
        [10, 50],
        [10.25, 5],
      ]),
    ).toBe(2);
    expect(
      favourite([
        [10, 50],
        [10.26, 5],
      ]),
    ).toBe(1);
    expect(
      favourite([
        [10, 50],
        [10, 5],
        [10, 1],
      ]),
    ).toBe(3);
  });

  it('is within the limits of the move', () => {
    const nodes = [
      [10, 50],
      [10.1, 5],
    ] as const;
    expect(favourite(nodes, { below: 10.2 * PERCENT })).toBe(2);
    expect(favourite(nodes, { below: 10.1 * PERCENT })).toBe(1);
    expect(favourite(nodes, { upTo: 11.1 * PERCENT })).toBe(2);
    expect(favourite(nodes, { upTo: 11.05 * PERCENT })).toBe(1);
  });

  it('is no node that refuses the pod', () => {
    expect(
      favourite(
        [
          [10, 99.5],
          [10.1, 5],
        ],
        {},
        2,
      ),
    ).toBe(2);
    expect(
      favourite([
        [10, 50],
        [10.1, 99.5],
      ]),
    ).toBe(1);
  });
});

describe('the limits of a target', () => {
  /** Targets of a pod of one percent, the first of all, with the other nodes at 10 and 20 percent. */
  const targets = () => createTargets(stateOf(loaded([1], [10], [20])));

  it('are loads that it is below without the pod', () => {
    expect(targets().leastLoaded(0, { ...ALL, below: 10 * PERCENT })).toBe(-1);
    expect(targets().leastLoaded(0, { ...ALL, below: 10 * PERCENT + 1 })).toBe(1);
    expect(targets().bestFit(0, { ...ALL, below: 20 * PERCENT })).toBe(1);
    expect(targets().bestFit(0, { ...ALL, below: 20 * PERCENT + 1 })).toBe(2);
  });

  it('are loads that it does not pass with the pod', () => {
    expect(targets().leastLoaded(0, { ...ALL, upTo: 11 * PERCENT - 1 })).toBe(-1);
    expect(targets().leastLoaded(0, { ...ALL, upTo: 11 * PERCENT })).toBe(1);
    expect(targets().bestFit(0, { ...ALL, upTo: 21 * PERCENT - 1 })).toBe(1);
    expect(targets().bestFit(0, { ...ALL, upTo: 21 * PERCENT })).toBe(2);
    expect(targets().bestFit(0, { ...ALL, upTo: 11 * PERCENT - 1 })).toBe(-1);
  });
});
