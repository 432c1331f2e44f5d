import { describe, expect, it } from 'vitest';
import type { MovePhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { entries } from '../../../src/execute/journal.ts';
import type { Elsewhere } from '../../../src/execute/move.ts';
import { NOTHING_ELSEWHERE, readyMoves } from '../../../src/execute/ready-moves.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPodOf, aWorkload } from '../../support/builders.ts';
import { NOON } from '../../support/test-clock.ts';

type PlannedMove = RebalancePlan['spec']['moves'][number];

function move(name: string, to: string, after?: readonly number[]): PlannedMove {
  const planned = aMove(aPodOf(aWorkload(`owner-of-${name}`, { replicas: 3 }), name, 'a'), to);
  return after === undefined ? planned : { ...planned, after: [...after] };
}

/** Moves with the phases that they are in. */
function turns(moves: readonly (readonly [PlannedMove, MovePhase])[], maxConcurrent = 10) {
  const plan = aPlan(
    aPolicy('even'),
    moves.map(([planned]) => planned),
    { moves: moves.map(([{ pod }, phase]) => ({ podUID: pod.uid, phase, attempt: 0 })) },
  );
  const { ready, hopeless } = readyMoves(entries(plan), NOTHING_ELSEWHERE, { maxConcurrent, maxInFlight: 100 }, NOON);
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

  it('counts what other plans have in flight: their owners and targets, and those of the same policy against its limit', () => {
    const busy = entries(
      aPlan(aPolicy('gone'), [move('p', 'b')], { moves: [{ podUID: 'uid-p', phase: 'Verifying', attempt: 0 }] }),
    );
    const [p, q, r] = [move('p', 'c'), move('q', 'b'), move('r', 'd')];
    const journal = entries(aPlan(aPolicy('even'), [p, q, r]));
    const ready = (elsewhere: Elsewhere, limit: number) =>
      readyMoves(journal, elsewhere, { maxConcurrent: limit, maxInFlight: 100 }, NOON).ready.map(({ index }) => index);
    expect(ready(NOTHING_ELSEWHERE, 1)).toEqual([0]);
    expect(ready({ ofPolicy: [], ofOthers: busy }, 1)).toEqual([2]);
    expect(ready({ ofPolicy: busy, ofOthers: [] }, 1)).toEqual([]);
    expect(ready({ ofPolicy: busy, ofOthers: [] }, 2)).toEqual([2]);
  });

  it('keeps all policies together within the limit of the operator', () => {
    const phase = (names: readonly string[]) => ({
      moves: names.map((name) => ({ podUID: `uid-${name}`, phase: 'Verifying' as const, attempt: 0 })),
    });
    const busy = entries(aPlan(aPolicy('other'), [move('x', 'x'), move('y', 'y')], phase(['x', 'y'])));
    const journal = entries(aPlan(aPolicy('even'), [move('p', 'b'), move('q', 'c'), move('r', 'd')]));
    const begun = (maxInFlight: number) =>
      readyMoves(journal, { ofPolicy: [], ofOthers: busy }, { maxConcurrent: 2, maxInFlight }, NOON).ready.length;
    expect([1, 2, 3, 4, 5].map(begun)).toEqual([0, 0, 1, 2, 2]);
  });

  it('neither counts admissions in flight against a limit nor keeps them by one', () => {
    const admission = (name: string, to: string) => {
      const { from: _, ...rest } = move(name, to);
      return rest;
    };
    const moves = [admission('a', 'n1'), admission('b', 'n2'), move('p', 'n3'), admission('c', 'n4')];
    const runs = (['Intent', 'Intent', 'Planned', 'Planned'] as const).map((phase, index) => ({
      podUID: moves[index]?.pod.uid ?? '',
      phase,
      attempt: 0,
    }));
    const othersRuns = ['x', 'y'].map((name) => ({ podUID: `uid-${name}`, phase: 'Intent' as const, attempt: 0 }));
    const journal = entries(aPlan(aPolicy('qos'), moves, { moves: runs }));
    const begun = (maxConcurrent: number, maxInFlight = 100) =>
      readyMoves(journal, NOTHING_ELSEWHERE, { maxConcurrent, maxInFlight }, NOON).ready.map(({ index }) => index);
    expect(begun(1)).toEqual([2, 3]);
    expect(begun(0)).toEqual([3]);
    expect(begun(1, 1)).toEqual([2, 3]);
    const elsewhere = entries(
      aPlan(aPolicy('other'), [admission('x', 'x'), admission('y', 'y')], { moves: othersRuns }),
    );
    const planned = entries(aPlan(aPolicy('even'), [move('p', 'b')]));
    const beside = (others: Elsewhere) =>
      readyMoves(planned, others, { maxConcurrent: 1, maxInFlight: 1 }, NOON).ready.length;
    expect(beside({ ofPolicy: [], ofOthers: elsewhere })).toBe(1);
    expect(beside({ ofPolicy: elsewhere, ofOthers: [] })).toBe(1);
  });

  it('lets a pod in to a node once the last one is bound there, and moves none there before that one is Ready', () => {
    const { from: _, ...first } = move('a', 'n1');
    const { from: __, ...second } = move('b', 'n1');
    const begun = (bound: boolean, next: PlannedMove) => {
      const replacement = { name: 'a', uid: 'uid-a', ...(bound ? { node: 'n1' } : {}) };
      const run = { podUID: 'uid-a', phase: 'Verifying', attempt: 0, replacement } as const;
      const plan = aPlan(aPolicy('qos'), [first, next], {
        moves: [run, { podUID: next.pod.uid, phase: 'Planned', attempt: 0 }],
      });
      return readyMoves(entries(plan), NOTHING_ELSEWHERE, { maxConcurrent: 2, maxInFlight: 100 }, NOON).ready.length;
    };
    expect([begun(false, second), begun(true, second)]).toEqual([0, 1]);
    expect([begun(false, move('c', 'n1')), begun(true, move('c', 'n1'))]).toEqual([0, 0]);
  });

  it('waits out a rest, but none that no clock of ours can have given', () => {
    const rested = (span: number) => {
      const notBefore = formatInstant(epochSeconds(NOON + span));
      const run = { podUID: 'uid-p', phase: 'Planned', attempt: 1, notBefore } as const;
      return readyMoves(
        entries(aPlan(aPolicy('even'), [move('p', 'b')], { moves: [run] })),
        NOTHING_ELSEWHERE,
        { maxConcurrent: 1, maxInFlight: 100 },
        NOON,
      ).ready;
    };
    expect(rested(600)).toEqual([]);
    expect(rested(1)).toEqual([]);
    expect(rested(0)).toHaveLength(1);
    expect(rested(601)).toHaveLength(1);
    // Written before our clock was set back by an hour.
    expect(rested(3_610)).toHaveLength(1);
  });

  it('begins one move of an owner at a time', () => {
    const owner = aWorkload('web', { replicas: 3 });
    const [p, q] = [aMove(aPodOf(owner, 'p', 'a'), 'b'), aMove(aPodOf(owner, 'q', 'a'), 'c')];
    const two = [
      [p, 'Planned'],
      [q, 'Planned'],
    ] as const;
    expect(turns(two).ready).toEqual([0]);
  });
});
