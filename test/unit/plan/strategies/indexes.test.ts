import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { State } from '../../../../src/plan/state.ts';
import { createNodeHeap } from '../../../../src/plan/strategies/level.ts';
import { createLoadOrder } from '../../../../src/plan/strategies/load-order.ts';
import { createTargets } from '../../../../src/plan/strategies/targets.ts';
import { healthySnapshot, optionsArbitrary } from '../../../support/arbitraries.ts';
import { stateOf } from '../../../support/state.ts';

const RUNS = { numRuns: 300 };
const someMoves = fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 12 });

/** Carries out random moves of movable pods, calling `visit` before the first and after each. */
function wander(state: State, moves: readonly (readonly [number, number])[], visit: () => void): void {
  const movable = [...state.placement.keys()].filter((pod) => state.cluster.movable[pod] === 1);
  visit();
  for (const [first, second] of moves) {
    const pod = movable[first % Math.max(1, movable.length)];
    const node = second % state.cluster.nodes.length;
    if (pod !== undefined && state.nodeOf(pod) !== node) {
      state.move(pod, node);
      visit();
    }
  }
}

describe('the order of nodes by load', () => {
  it('is that of sorting them, after any moves', () => {
    fc.assert(
      fc.property(
        healthySnapshot(),
        optionsArbitrary,
        someMoves,
        fc.boolean(),
        (snapshot, options, moves, everyTime) => {
          const state = stateOf(snapshot, options);
          const nodes = [...state.cluster.nodes.keys()].filter((node) => node !== 1);
          const order = createLoadOrder(state, nodes);
          wander(state, moves, () => {
            if (everyTime) {
              order.sync();
            }
          });
          order.sync();
          const sorted = nodes.toSorted((left, right) => state.load(left) - state.load(right) || left - right);
          expect(Array.from({ length: order.size }, (_, position) => order.at(position))).toEqual(sorted);
          const bound = state.load(nodes[0] ?? 0);
          expect(order.firstFrom(bound)).toBe(sorted.findIndex((node) => state.load(node) >= bound));
          expect([order.at(-1), order.at(order.size), order.loadAt(order.size)]).toEqual([
            -1,
            -1,
            Number.POSITIVE_INFINITY,
          ]);
        },
      ),
      RUNS,
    );
  });
});

describe('the heap of nodes', () => {
  it('gives the highest first, although loads fall while nodes wait', () => {
    fc.assert(
      fc.property(healthySnapshot(), optionsArbitrary, (snapshot, options) => {
        const state = stateOf(snapshot, options);
        const heap = createNodeHeap(state, state.cluster.nodes.keys());
        for (const node of state.cluster.nodes.keys()) {
          const pod = state.movablePodsOn(node)[0];
          if (pod !== undefined && node % 2 === 0) {
            state.lift(pod);
          }
        }
        const popped = state.cluster.nodes.map(() => heap.pop());
        expect(popped).toEqual(
          [...state.cluster.nodes.keys()].sort((left, right) => state.load(right) - state.load(left) || left - right),
        );
        expect(heap.pop()).toBe(-1);
      }),
      RUNS,
    );
  });
});

describe('the targets of a pod', () => {
  it('are those that looking at every node would find, after any moves', () => {
    const limits = fc.record({
      below: fc.constantFrom(Number.POSITIVE_INFINITY, 3e8, 6e8),
      upTo: fc.constantFrom(Number.POSITIVE_INFINITY, 5e8, 8e8),
    });
    fc.assert(
      fc.property(
        healthySnapshot(),
        optionsArbitrary,
        someMoves,
        limits,
        (snapshot, options, moves, { below, upTo }) => {
          const state = stateOf(snapshot, options);
          const targets = createTargets(state);
          const movable = [...state.placement.keys()].filter((pod) => state.cluster.movable[pod] === 1);
          wander(state, moves, () => {
            for (const pod of movable) {
              const possible = [...state.cluster.nodes.keys()].filter(
                (node) =>
                  node !== state.nodeOf(pod) &&
                  state.load(node) < below &&
                  state.fits(pod, node) &&
                  state.loadWith(pod, node) <= upTo,
              );
              const loads = possible.map((node) => state.loadWith(pod, node));
              const least = targets.leastLoaded(pod, { below, upTo });
              const best = upTo === Number.POSITIVE_INFINITY ? -1 : targets.bestFit(pod, { below, upTo });
              expect(least < 0 ? undefined : state.loadWith(pod, least)).toBe(
                possible.length === 0 ? undefined : Math.min(...loads),
              );
              expect(least < 0 || possible.includes(least)).toBe(true);
              if (upTo !== Number.POSITIVE_INFINITY) {
                expect(best < 0 ? undefined : state.loadWith(pod, best)).toBe(
                  possible.length === 0 ? undefined : Math.max(...loads),
                );
              }
            }
          });
        },
      ),
      RUNS,
    );
  });
});
