import { describe, expect, it } from 'vitest';
import type { MovePhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { entries } from '../../../src/execute/journal.ts';
import { turnsOf } from '../../../src/execute/turn.ts';
import { NOON } from '../../support/fake-clock.ts';
import { aMove, aPlan, aPod, aPolicy, aWorkload } from '../../support/fake-objects.ts';

type PlannedMove = RebalancePlan['spec']['moves'][number];

function move(name: string, to: string, after?: readonly number[]): PlannedMove {
  const planned = aMove(aPod(aWorkload(`owner-of-${name}`), name, 'a'), to);
  return after === undefined ? planned : { ...planned, after: [...after] };
}

/** Moves with the phases that they are in. */
function turns(moves: readonly (readonly [PlannedMove, MovePhase])[], maxConcurrent = 10) {
  const plan = aPlan(
    aPolicy('even'),
    moves.map(([planned]) => planned),
    { moves: moves.map(([{ pod }, phase]) => ({ podUID: pod.uid, phase, attempt: 0 })) },
  );
  const { ready, hopeless } = turnsOf(entries(plan), maxConcurrent, NOON);
  return { ready: ready.map(({ index }) => index), hopeless: hopeless.map(({ entry, why }) => [entry.index, why]) };
}

describe('turnsOf', () => {
  it('begins as many moves as maxConcurrent leaves, in the order of the plan', () => {
    const moves = ['p', 'q', 'r'].map((name, index) => [move(name, `n${index}`), 'Planned'] as const);
    expect(turns(moves, 2).ready).toEqual([0, 1]);
    expect(turns([[move('o', 'n9'), 'Verifying'], ...moves], 2).ready).toEqual([1]);
  });

  it('lets a move wait for those that it needs', () => {
    const needing = [move('q', 'c', [0]), 'Planned'] as const;
    expect(turns([[move('p', 'b'), 'Planned'], needing]).ready).toEqual([0]);
    expect(turns([[move('p', 'b'), 'Verifying'], needing]).ready).toEqual([]);
    expect(turns([[move('p', 'b'), 'Landed'], needing]).ready).toEqual([1]);
    expect(turns([[move('p', 'b'), 'Missed'], needing]).ready).toEqual([1]);
  });

  it.each<MovePhase>(['Skipped', 'Failed', 'Aborted'])('gives up a move whose need was %s', (phase) => {
    const found = turns([
      [move('p', 'b'), phase],
      [move('q', 'c', [0]), 'Planned'],
    ]);
    expect(found).toEqual({ ready: [], hopeless: [[1, `it needs shop/p to move first, which was ${phase}`]] });
  });

  it('sends one pod at a time to a node, so that the next live check sees what the first one takes', () => {
    const two = [
      [move('p', 'b'), 'Planned'],
      [move('q', 'b'), 'Planned'],
    ] as const;
    expect(turns(two).ready).toEqual([0]);
  });
});
