import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startsOfBursts } from '../../bench/peers/bursts.ts';
import { dispensable, type Shift } from '../../bench/peers/dispensable.ts';
import { gainedNothing, type Replacement } from '../../bench/peers/judge.ts';
import type { PodTrack } from '../../bench/peers/observer.ts';

const track = (node: string, usage: number, fields: Partial<PodTrack> = {}): PodTrack => ({
  name: 'shop/pod',
  owner: 'owner',
  usage,
  seenAt: 0,
  node,
  boundAt: 0,
  ...fields,
});

/** A pod that was evicted at one instant, ended a second later, and came back on another node. */
function evicted(from: string, to: string, usage: number, at: number): Replacement {
  return {
    at,
    evicted: track(from, usage, { goneAt: at + 1000 }),
    replacement: track(to, usage, { seenAt: at, boundAt: at + 50 }),
  };
}

function judged(resting: readonly PodTrack[], done: readonly Replacement[], decidedAt: readonly number[]): number {
  const pods = [...resting, ...done.flatMap((each) => [each.evicted, each.replacement ?? []].flat())];
  return gainedNothing(done, pods, decidedAt);
}

describe('the judge of evictions for balance', () => {
  it.each([
    ['a pod that came to a lower node', 500, 199, 0],
    ['a pod that came to a node that is then as high', 500, 200, 1],
    ['a pod that came to a higher node', 500, 400, 1],
  ])('counts or leaves %s', (_, rest, there, wanted) => {
    const done = [evicted('a', 'b', 300, 1000)];
    expect(judged([track('a', rest - 300), track('b', there)], done, [900])).toBe(wanted);
  });

  it('counts a pod that came back to its node, and one that nothing came in the place of', () => {
    const lost: Replacement = { at: 5000, evicted: track('a', 100), replacement: undefined };
    expect(judged([track('b', 10)], [evicted('a', 'a', 300, 1000), lost], [900, 900])).toBe(2);
  });

  it('leaves two pods that change places and even out their nodes, one after the other', () => {
    // The larger pod makes b the higher node until the smaller one has left it.
    const done = [evicted('a', 'b', 552, 1000), evicted('b', 'a', 376, 6000)];
    expect(judged([track('a', 1135), track('b', 955)], done, [900, 900])).toBe(0);
  });

  it('counts both of two pods that change places for nothing', () => {
    const done = [evicted('a', 'b', 300, 1000), evicted('b', 'a', 300, 6000)];
    expect(judged([track('a', 700), track('b', 600)], done, [900, 900])).toBe(2);
  });

  it('counts an eviction that only a later decision put right', () => {
    const done = [evicted('a', 'b', 552, 1000), evicted('b', 'a', 376, 31_000)];
    expect(judged([track('a', 1135), track('b', 955)], done, [900, 30_900])).toBe(1);
  });

  it('counts three pods that change places in a ring for nothing', () => {
    const done = [evicted('a', 'b', 300, 1000), evicted('b', 'c', 300, 2000), evicted('c', 'a', 300, 3000)];
    expect(judged([track('a', 7), track('b', 8), track('c', 9)], done, [900, 900, 900])).toBe(3);
  });
});

const NODES = ['a', 'b', 'c', 'd'];
const aShift = fc.record({
  from: fc.constantFrom(...NODES),
  to: fc.constantFrom(...NODES),
  usage: fc.integer({ min: 0, max: 6 }),
});

/** Sum of squares without some of the evictions. */
function unevenness(shifts: readonly Shift[], used: ReadonlyMap<string, number>): number {
  return NODES.reduce((sum, node) => {
    const back = shifts.reduce((all, { from, to, usage }) => {
      return all + (from === node ? usage : 0) - (to === node ? usage : 0);
    }, 0);
    return sum + ((used.get(node) ?? 0) + back) ** 2;
  }, 0);
}

function subsets<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const [first, ...rest] = items;
  return first === undefined ? [[]] : subsets(rest).flatMap((some) => [some, [first, ...some]]);
}

describe('what could have been left out', () => {
  const cases = fc.tuple(
    fc.array(aShift, { maxLength: 6 }),
    fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 4, maxLength: 4 }),
  );
  const usedOnceLanded = (shifts: readonly Shift[], loads: readonly number[]): ReadonlyMap<string, number> =>
    new Map(
      NODES.map((node, place) => {
        const came = shifts.reduce((sum, { to, usage }) => sum + (to === node ? usage : 0), 0);
        return [node, (loads[place] ?? 0) + came];
      }),
    );

  it('is no more than the most that brute force leaves out', () => {
    fc.assert(
      fc.property(cases, ([shifts, loads]) => {
        const used = usedOnceLanded(shifts, loads);
        const now = unevenness([], used);
        const sizes = subsets(shifts).flatMap((some) => (unevenness(some, used) <= now ? [some.length] : []));
        expect(dispensable(shifts, used)).toBeLessThanOrEqual(Math.max(...sizes));
      }),
      { numRuns: 2000 },
    );
  });

  it('is something wherever brute force finds up to three to leave out', () => {
    fc.assert(
      fc.property(cases, ([shifts, loads]) => {
        const used = usedOnceLanded(shifts, loads);
        const now = unevenness([], used);
        const isPossible = subsets(shifts).some(
          (some) => some.length > 0 && some.length <= 3 && unevenness(some, used) <= now,
        );
        expect(dispensable(shifts, used) > 0).toBe(isPossible);
      }),
      { numRuns: 2000 },
    );
  });

  it('of one eviction is the one that brings no node below the other', () => {
    fc.assert(
      fc.property(aShift, fc.nat(20), fc.nat(20), ({ usage }, rest, there) => {
        const used = new Map([
          ['a', rest],
          ['b', there + usage],
        ]);
        const wanted = usage === 0 || there + usage >= rest + usage ? 1 : 0;
        expect(dispensable([{ from: 'a', to: 'b', usage }], used)).toBe(wanted);
      }),
    );
  });
});

describe('the rounds of evictions', () => {
  it('begin after a pause', () => {
    expect(startsOfBursts([0, 100, 14_000, 30_000, 30_001, 60_000], 15_000)).toEqual([0, 0, 0, 30_000, 30_000, 60_000]);
    expect(startsOfBursts([], 15_000)).toEqual([]);
  });
});
