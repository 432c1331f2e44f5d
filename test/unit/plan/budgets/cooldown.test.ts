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

  it('may last no longer than a second', () => {
    expect(restOf([moved('web-1', 'a', 'b', 0)], 1).why('b')?.numbers).toEqual({ remaining: 1, span: 1 });
  });

  it('goes by when moves were, in whatever order they are listed', () => {
    const history = [moved('web-1', 'a', 'x', 9), moved('web-2', 'y', 'a', 6), moved('web-3', 'z', 'a', 3)];
    for (const moves of [
      history,
      history.toReversed(),
      [history[1], history[0], history[2]].flatMap((move) => move ?? []),
    ]) {
      const rest = restOf(moves);
      expect([rest.leaving('a'), rest.coming('a')]).toEqual([20 - 3, 20 - 9 - 1 / 6]);
      expect(rest.why('a')?.message).toContain('came to a 180 s ago');
    }
  });

  it('takes what came in the second in which others left for what came after them', () => {
    const out = moved('web-1', 'a', 'x', 4);
    const arrival = moved('web-2', 'y', 'a', 5, { endedAt: out.startedAt });
    for (const moves of [
      [out, arrival],
      [arrival, out],
    ]) {
      expect(restOf(moves).why('a')?.message).toContain('came to a');
      expect(restOf(moves).leaving('a')).toBeCloseTo(20 - 4 - 1 / 6, 6);
    }
  });

  it('does not double for a pod that landed where it had been: it went in no direction', () => {
    const back = moved('web-1', 'a', 'b', 4, { phase: 'Missed', replacement: { uid: 'uid-back', node: 'a' } });
    expect(restOf([back]).coming('a')).toBeCloseTo(10 - 4 - 1 / 6, 6);
  });

  it('knows of no arrival of a pod that has no replacement, or one without a node that is no longer awaited', () => {
    for (const replacement of [undefined, { uid: 'uid-new', node: undefined }]) {
      const rest = restOf([moved('web-1', 'a', 'b', 4, { phase: 'Failed', replacement })]);
      expect([rest.leaving('a'), rest.leaving('b')]).toEqual([10 - 4 - 1 / 6, 0]);
    }
    const flight = moved('web-1', 'a', 'b', 4, { phase: 'InFlight', replacement: { uid: 'uid-new', node: 'c' } });
    expect([restOf([flight]).leaving('b'), restOf([flight]).leaving('c')]).toEqual([0, 6]);
  });

  it('is not about pods that made room or were removed: they were not moved', () => {
    const gone = moved('web-1', 'a', 'b', 4, { to: undefined, replacement: undefined });
    expect(restOf([gone]).leaving('a')).toBe(0);
  });

  it('counts misses by when they were, and from the one that landed as planned', () => {
    const history = [missed('web-1', 12), moved('web-2', 'c', 'd', 9), missed('web-3', 6), missed('web-4', 3)];
    expect(restOf(history).leaving('z')).toBe(7);
    expect(restOf(history.toReversed()).leaving('z')).toBe(7);
    const message = '2 replacements in a row landed elsewhere than planned, the last one on x 180 s ago';
    expect(restOf(history).why('z')?.message).toBe(`${message}: cooldown for another 420 s`);
  });

  it('does not count what is in flight as a miss, nor as a landing', () => {
    const flight = moved('web-9', 'c', 'd', 1, { phase: 'InFlight', replacement: undefined, endedAt: undefined });
    expect(restOf([missed('web-1', 6), flight]).leaving('z')).toBe(0);
    expect(restOf([missed('web-1', 6), flight, missed('web-2', 3)]).leaving('z')).toBe(7);
  });

  it('looks back a day and no longer, to when a move was over', () => {
    const day = (minutes: number) => restOf([moved('web-1', 'a', 'b', minutes)], 24 * 3600).leaving('b');
    expect([day(24 * 60 - 1), day(24 * 60)]).toEqual([1, 0]);
  });

  it('says for how long a fraction of a second lasts, and how long it is in all', () => {
    const rest = restOf([moved('web-1', 'a', 'b', 4.005)]);
    expect(rest.why('b')).toEqual({
      code: 'Cooldown',
      message: 'pods of its controller came to b 240 s ago: cooldown for another 360 s',
      numbers: { remaining: 360, span: 600 },
    });
    expect(rest.why('a')?.message).toBe('pods of its controller left a 250 s ago: cooldown for another 350 s');
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

  it('lasts as long as the newest return has it, in any order', () => {
    const older = moved('web-1', 'a', 'b', 90, { phase: 'Missed', replacement: { uid: 'uid-1', node: 'a' } });
    const newer = moved('web-2', 'c', 'd', 30, { phase: 'Missed', replacement: { uid: 'uid-2', node: 'c' } });
    for (const moves of [
      [older, newer],
      [newer, older],
    ]) {
      expect(restOf(moves).why('z')?.message).toContain('left c and landed straight back there 1800 s ago');
    }
  });

  it('comes before a cooldown, and holds also on the nodes of the move', () => {
    const first = moved('web-1', 'a', 'b', 4);
    const rest = restOf([first, movedOn(first, 'a', 1), missed('web-2', 2), missed('web-3', 1)]);
    expect([rest.why('a')?.code, rest.why('b')?.code, rest.why('z')?.code]).toEqual(Array(3).fill('Quarantine'));
  });

  it('holds while the pod is on its way back', () => {
    const first = moved('web-1', 'a', 'b', 40);
    const flight = {
      ...movedOn(first, 'a', 0),
      phase: 'InFlight' as const,
      replacement: undefined,
      endedAt: undefined,
    };
    expect(restOf([first, flight]).why('z')?.message).toContain('a -> b -> a');
  });

  it('ends the search where the history of a pod leads back to itself', () => {
    const pod = (uid: string) => ({ namespace: 'shop', name: 'again', uid });
    const loop = [
      moved('one', 'a', 'b', 40, { pod: pod('uid-1'), replacement: { uid: 'uid-2', node: 'b' } }),
      moved('two', 'x', 'c', 20, { pod: pod('uid-2'), replacement: { uid: 'uid-1', node: 'c' } }),
      moved('three', 'c', 'd', 10, { pod: pod('uid-1'), replacement: { uid: 'uid-3', node: 'd' } }),
    ];
    expect(restOf(loop).why('z')).toBeUndefined();
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
