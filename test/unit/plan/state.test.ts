import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { initialState, type State } from '../../../src/plan/state.ts';
import { healthySnapshot, optionsArbitrary } from '../../support/arbitraries.ts';
import { clusterOf, stateOf } from '../../support/state.ts';
import { loaded } from './strategies/loaded.ts';

const PERCENT = 1e7;

function picture(state: State): unknown {
  const nodes = state.cluster.nodes.map((_, node) => [state.load(node), [...state.movablePodsOn(node)].sort()]);
  const fits = state.cluster.pods.map((_, pod) =>
    state.cluster.nodes.map((__, node) => state.cluster.movable[pod] === 1 && state.fits(pod, node)),
  );
  return { nodes, fits, objective: state.objective(), placement: [...state.placement] };
}

function entriesOf({ changes }: State): readonly (readonly number[])[] {
  return Array.from({ length: changes.count() }, (_, entry) => [
    changes.node(entry),
    changes.before(entry),
    changes.after(entry),
  ]);
}

describe('the state of a plan', () => {
  it('is what it was after a pod went and came back', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, fc.nat(), fc.nat(), (snapshot, options, first, second) => {
        const state = stateOf(snapshot, options);
        const before = picture(state);
        const movable = [...state.placement.keys()].filter((pod) => state.cluster.movable[pod] === 1);
        const pod = movable[first % Math.max(1, movable.length)];
        const home = pod === undefined ? -1 : state.nodeOf(pod);
        if (pod !== undefined) {
          state.move(pod, second % state.cluster.nodes.length);
          state.move(pod, home);
        }
        expect(picture(state)).toEqual(before);
      }),
      { numRuns: 300 },
    );
  });

  it('predicts what a move does', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, fc.nat(), fc.nat(), (snapshot, options, first, second) => {
        const state = stateOf(snapshot, options);
        const movable = [...state.placement.keys()].filter((pod) => state.cluster.movable[pod] === 1);
        const pod = movable[first % Math.max(1, movable.length)];
        const to = second % state.cluster.nodes.length;
        if (pod === undefined || state.nodeOf(pod) === to) {
          return;
        }
        const from = state.nodeOf(pod);
        const higher = Math.max(state.load(from), state.load(to));
        const predicted = { from: state.loadWithout(pod), to: state.loadWith(pod, to), gain: state.gain(pod, to) };
        const objective = state.objective() + state.objectiveChange(pod, to);
        state.move(pod, to);
        expect({
          from: state.load(from),
          to: state.load(to),
          gain: higher - Math.max(state.load(from), state.load(to)),
        }).toEqual(predicted);
        expect(state.objective()).toBeCloseTo(objective, 12);
      }),
      { numRuns: 300 },
    );
  });

  it('is not changed through a fork, nor the fork through it', () => {
    const state = stateOf(loaded([30, 20], [10]));
    const before = picture(state);
    const fork = state.fork();
    fork.move(0, 1);
    expect(picture(state)).toEqual(before);
    expect(fork.load(1)).toBe(40 * PERCENT);
    state.move(1, 1);
    expect(fork.load(1)).toBe(40 * PERCENT);
  });

  it('lists the movable pods of a node: those that are still there, then those that came, in that order', () => {
    const state = stateOf(loaded([30, 20, 10], [5, 4], []));
    const on = (node: number) => [...state.movablePodsOn(node)];
    expect([on(0), on(1), on(2)]).toEqual([[0, 1, 2], [3, 4], []]);
    state.move(4, 0);
    state.move(1, 2);
    state.move(3, 0);
    expect([on(0), on(1), on(2)]).toEqual([[0, 2, 4, 3], [], [1]]);
    state.move(4, 2);
    state.lift(3);
    expect([on(0), on(1), on(2)]).toEqual([[0, 2], [], [1, 4]]);
  });

  it('lists a pod once that came back, to its home or to another node', () => {
    const state = stateOf(loaded([30, 20], [5], []));
    const on = (node: number) => [...state.movablePodsOn(node)];
    for (const node of [1, 2, 1, 0]) {
      state.move(0, node);
    }
    expect([on(0), on(1), on(2)]).toEqual([[0, 1], [2], []]);
    state.move(0, 1);
    expect([on(0), on(1), on(2)]).toEqual([[1], [2, 0], []]);
  });

  it('lists the pods that came in a fork as well, and not those that come to one of the two later', () => {
    const state = stateOf(loaded([30, 20], [10], []));
    state.move(0, 2);
    const fork = state.fork();
    fork.move(1, 2);
    state.move(2, 2);
    expect([...fork.movablePodsOn(2)]).toEqual([0, 1]);
    expect([...state.movablePodsOn(2)]).toEqual([0, 2]);
  });

  it('tells which nodes have changed, so that indexes can follow', () => {
    const state = stateOf(loaded([30, 20], [10], [5]));
    state.move(0, 2);
    expect(entriesOf(state)).toEqual([
      [0, 50 * PERCENT, 20 * PERCENT],
      [2, 5 * PERCENT, 35 * PERCENT],
    ]);
    state.lift(1);
    expect(entriesOf(state).at(-1)).toEqual([0, 20 * PERCENT, 0]);
    expect([state.nodeOf(1), state.load(0)]).toEqual([-1, 0]);
  });

  it('refuses to judge a pod that is not movable: that is a bug of the caller', () => {
    const cluster = clusterOf(loaded([0, 20], [10]));
    expect(() => initialState(cluster).refusal(0, 1)).toThrow(RangeError);
  });
});
