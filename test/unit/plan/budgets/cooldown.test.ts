import { describe, expect, it } from 'vitest';
import type { PastMove } from '../../../../src/model/past-move.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import { cooldowns } from '../../../../src/plan/budgets/cooldown.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { refineLb, someOptions } from '../../../support/builders/options.ts';
import { aNode, aPastMove, aPod, aSnapshot, NOW } from '../../../support/builders.ts';

const MINUTE = 60;

/** A move from `from` to `to` that was over `minutes` ago, ten seconds after its eviction. */
function moved(name: string, from: string, to: string, minutes: number, fields: Partial<PastMove> = {}): PastMove {
  return aPastMove(name, { from, to, startedAt: epochSeconds(NOW - minutes * MINUTE - 10), ...fields });
}

/** The pod that replaced the one of `before` is moved on. */
function movedOn(before: PastMove, to: string, minutes: number): PastMove {
  const from = before.replacement?.node ?? '';
  const pod = { namespace: 'shop', name: 'again', uid: before.replacement?.uid ?? '' };
  return moved(`after-${before.pod.name}`, from, to, minutes, { pod });
}

function missed(name: string, minutes: number): PastMove {
  return moved(name, 'a', 'b', minutes, { phase: 'Missed', replacement: { uid: `new-${name}`, node: 'x' } });
}

function restOf(pastMoves: readonly PastMove[], base = 10 * MINUTE) {
  const found = cooldowns(aSnapshot({ pastMoves }), seconds(base));
  const minutes = (rest: ReturnType<typeof found.ofSource>): number => (rest?.numbers['remaining'] ?? 0) / MINUTE;
  return {
    leaving: (node: string, owner = 'uid-web') => minutes(found.ofSource(owner, node)),
    coming: (node: string, owner = 'uid-web') => minutes(found.ofTarget(owner, node)),
    why: (node: string) => found.ofSource('uid-web', node),
  };
}

describe('cooldown', () => {
  it('keeps pods on both nodes of a move, and away from the one that they left, for the rest of ten minutes', () => {
    const rest = restOf([moved('web-1', 'a', 'b', 4)]);
    expect([rest.leaving('a'), rest.leaving('b'), rest.coming('a')]).toEqual([10 - 4 - 1 / 6, 6, 10 - 4 - 1 / 6]);
  });

  it('lets pods follow to where others went, and says nothing of other nodes and controllers', () => {
    const rest = restOf([moved('web-1', 'a', 'b', 4)]);
    expect([rest.coming('b'), rest.leaving('c'), rest.coming('c'), rest.leaving('a', 'uid-api')]).toEqual([0, 0, 0, 0]);
  });

  it('is over after its time', () => {
    expect(restOf([moved('web-1', 'a', 'b', 10)]).leaving('b')).toBe(0);
  });

  it.each([
    { history: ['out'], minutes: 10 },
    { history: ['out', 'out', 'out'], minutes: 10 },
    { history: ['out', 'in'], minutes: 20 },
    { history: ['out', 'in', 'out'], minutes: 40 },
    { history: ['out', 'in', 'out', 'in', 'out', 'in', 'out', 'in', 'out', 'in'], minutes: 24 * 60 },
  ])('doubles with each change of direction, not with each move: $history', ({ history, minutes }) => {
    const moves = history.map((way, index) =>
      moved(
        `web-${index}`,
        way === 'out' ? 'a' : `x${index}`,
        way === 'out' ? `y${index}` : 'a',
        history.length - index - 1,
      ),
    );
    const last = moves.at(-1)?.from === 'a' ? 1 / 6 : 0;
    expect(restOf(moves).leaving('a')).toBeCloseTo(minutes - last, 6);
  });

  it('forgets what is more than a day old', () => {
    const old = ['out', 'in', 'out'].map((way, index) =>
      moved(`web-${index}`, way === 'out' ? 'a' : 'x', way === 'out' ? 'y' : 'a', 24 * 60 + 1),
    );
    expect(restOf([...old, moved('new', 'a', 'b', 1)]).leaving('a')).toBeCloseTo(10 - 1 - 1 / 6, 6);
  });

  it('holds a controller everywhere after two misses in a row, and longer after three', () => {
    expect(restOf([missed('web-1', 12), moved('web-2', 'a', 'b', 8), missed('web-3', 4)]).leaving('z')).toBe(0);
    expect(restOf([missed('web-1', 12), missed('web-2', 4)]).leaving('z')).toBe(6);
    expect(restOf([missed('web-1', 12), missed('web-2', 8), missed('web-3', 4)]).leaving('z')).toBe(16);
  });

  it('counts a move in flight as on its way to where it was planned', () => {
    const flight = moved('web-1', 'a', 'b', 0, { phase: 'InFlight', replacement: undefined, endedAt: undefined });
    expect(restOf([flight]).leaving('b')).toBeCloseTo(10 - 1 / 6, 6);
  });

  it('is off with 0s, and quarantine with it', () => {
    const first = moved('web-1', 'a', 'b', 4);
    const rest = restOf([first, movedOn(first, 'a', 1)], 0);
    expect([rest.leaving('a'), rest.leaving('b'), rest.coming('b')]).toEqual([0, 0, 0]);
  });

  it('takes what another clock dates in the future for now', () => {
    expect(restOf([moved('web-1', 'a', 'b', -5)]).leaving('b')).toBe(10);
  });
});

describe('quarantine', () => {
  it('holds a controller everywhere for a day once a pod came back, through its replacements, to where it had been', () => {
    const first = moved('web-1', 'a', 'b', 40);
    const back = movedOn(first, 'a', 20);
    expect(restOf([first, back]).why('z')).toEqual({
      code: 'Quarantine',
      message: 'a pod of its controller was moved a -> b -> a 1200 s ago: quarantine for another 85200 s',
      numbers: { remaining: 85_200, span: 86_400 },
    });
  });

  it('sees a way round over other nodes', () => {
    const first = moved('web-1', 'a', 'b', 60);
    const second = movedOn(first, 'c', 40);
    expect(restOf([first, second]).why('z')).toBeUndefined();
    expect(restOf([first, second, movedOn(second, 'a', 20)]).why('z')?.message).toContain('a -> b -> c -> a');
  });

  it('counts a replacement that lands straight back on the node that its pod left', () => {
    const back = moved('web-1', 'a', 'b', 20, { phase: 'Missed', replacement: { uid: 'uid-back', node: 'a' } });
    expect(restOf([back]).why('z')).toEqual({
      code: 'Quarantine',
      message:
        'a pod of its controller left a and landed straight back there 1200 s ago: quarantine for another 85200 s',
      numbers: { remaining: 85_200, span: 86_400 },
    });
  });

  it('does not take another pod of the controller for the one that came back', () => {
    expect(restOf([moved('web-1', 'a', 'b', 40), moved('web-2', 'b', 'a', 20)]).why('z')).toBeUndefined();
  });
});

describe('a plan after others', () => {
  const pods = Array.from({ length: 6 }, (_, index) => aPod(`web-${index}`, { nodeName: 'a' }));
  const uses = Object.fromEntries(pods.map(({ name }) => [name, 400]));
  const planAfter = (pastMoves: readonly PastMove[], nodes: readonly string[] = ['a', 'b', 'c']) =>
    plan(
      aSnapshot({ nodes: nodes.map((name) => aNode(name)), pods, uses, pastMoves }),
      someOptions({ strategy: refineLb({ overload: 1 }) }),
    );

  it('moves nothing from a node that pods of the controller have just come to, and says for how long', () => {
    const { moves, rejections } = planAfter([moved('old', 'c', 'a', 3)]);
    expect(moves).toEqual([]);
    expect(rejections.reasons[0]).toMatchObject({
      code: 'Cooldown',
      message: 'pods of its controller came to a 180 s ago: cooldown for another 420 s',
      numbers: { remaining: 420 },
    });
  });

  it('moves nothing to a node that pods of the controller have just left', () => {
    expect(planAfter([]).moves.map(({ to }) => to)).toContain('b');
    const { moves, outcome, rejections } = planAfter([moved('old', 'b', 'x', 3)], ['a', 'b']);
    expect(moves).toEqual([]);
    expect(rejections.reasons.some(({ code }) => code === 'Cooldown')).toBe(true);
    expect(outcome).toMatchObject({ kind: 'BudgetExhausted' });
  });

  it('moves as ever once it is over', () => {
    expect(planAfter([moved('old', 'c', 'a', 11)]).hash).toBe(planAfter([]).hash);
  });
});
