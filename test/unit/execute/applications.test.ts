import { describe, expect, it } from 'vitest';
import type { MovePhase } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { movedApplications, partlyMoved } from '../../../src/execute/applications.ts';
import { entries } from '../../../src/execute/journal.ts';
import { NOTHING_ELSEWHERE, readyMoves } from '../../../src/execute/ready-moves.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPodOf, aWorkload } from '../../support/builders.ts';
import { NOON } from '../../support/test-clock.ts';

/** A move of an application, and how far it is. */
type Grouped = readonly [application: string | undefined, phase: MovePhase];

/** The journal of moves of these applications, each of an owner of its own and to a node of its own. */
function journal(...moves: readonly Grouped[]) {
  const planned = moves.map(([application], index) => {
    const move = aMove(aPodOf(aWorkload(`owner-${index}`, { replicas: 3 }), `pod-${index}`, 'a'), `node-${index}`);
    return application === undefined ? move : { ...move, application };
  });
  const runs = moves.map(([, phase], index) => ({ podUID: planned[index]?.pod.uid ?? '', phase, attempt: 0 }));
  return entries(aPlan(aPolicy('even'), planned, { moves: runs }));
}

function turns(maxConcurrent: number, ...moves: readonly Grouped[]) {
  const limits = { maxConcurrent, maxInFlight: 100 };
  const { ready, hopeless } = readyMoves(journal(...moves), NOTHING_ELSEWHERE, limits, NOON);
  return { ready: ready.map(({ index }) => index), hopeless: hopeless.map(({ entry, why }) => [entry.index, why]) };
}

describe('the moves of an application', () => {
  it('begin in the order of the plan, among all others', () => {
    expect(turns(10, ['shop/a', 'Planned'], [undefined, 'Planned'], ['shop/b', 'Planned']).ready).toEqual([0, 1, 2]);
  });

  it.each<MovePhase>(['Intent', 'Evicting', 'AwaitingReplacement', 'Verifying', 'Landed', 'Missed', 'Failed'])(
    'come before those of others once one of them is %s',
    (phase) => {
      const found = turns(
        phase === 'Landed' || phase === 'Missed' || phase === 'Failed' ? 1 : 2,
        [undefined, 'Planned'],
        ['shop/a', 'Planned'],
        ['shop/b', phase],
        ['shop/b', 'Planned'],
      );
      expect(found).toEqual({ ready: [3], hopeless: [] });
    },
  );

  it.each<MovePhase>(['Skipped', 'Aborted'])('do not begin when the first of them was %s', (phase) => {
    const found = turns(10, ['shop/a', phase], ['shop/a', 'Planned'], ['shop/b', 'Planned'], [undefined, 'Planned']);
    expect(found).toEqual({
      ready: [2, 3],
      hopeless: [[1, `it goes with the other moves of application shop/a, and shop/pod-0 was ${phase}`]],
    });
  });

  it('go on when one of them is skipped after another has begun', () => {
    const found = turns(10, ['shop/a', 'Landed'], ['shop/a', 'Skipped'], ['shop/a', 'Planned']);
    expect(found).toEqual({ ready: [2], hopeless: [] });
  });
});

describe('how far applications are moved', () => {
  it.each<readonly [string, readonly MovePhase[], string, number]>([
    ['all have landed', ['Landed', 'Landed'], 'Complete', 2],
    ['one has landed', ['Landed', 'Aborted'], 'Partial', 1],
    ['one runs elsewhere', ['Landed', 'Missed'], 'Partial', 1],
    ['one has no replacement', ['Failed', 'Skipped'], 'Partial', 0],
    ['none was evicted', ['Skipped', 'Aborted'], 'Unmoved', 0],
  ])('says that %s', (_, phases, phase, landed) => {
    const moves = phases.map((each) => ['shop/a', each] as const);
    expect(movedApplications(journal(...moves, [undefined, 'Landed']))).toEqual([
      { namespace: 'shop', name: 'a', phase, landed, moves: phases.length },
    ]);
  });

  it('names those first that are not complete', () => {
    const found = movedApplications(journal(['shop/c', 'Landed'], ['shop/a', 'Skipped']));
    expect(found.map(({ name }) => name)).toEqual(['a', 'c']);
  });

  it('is put in a sentence that names three', () => {
    const moves = ['a', 'b', 'c', 'd'].flatMap((name) => [
      [`shop/${name}`, 'Landed'] as const,
      [`shop/${name}`, 'Skipped'] as const,
    ]);
    const part = (name: string) => `shop/${name} (1 of 2 moves landed)`;
    expect(partlyMoved(movedApplications(journal(...moves)))).toBe(
      `${part('a')}, ${part('b')}, ${part('c')} and 1 more`,
    );
    expect(partlyMoved(movedApplications(journal(['shop/a', 'Landed'])))).toBe('');
  });
});
