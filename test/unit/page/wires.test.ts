import { describe, expect, it } from 'vitest';
import { placesOnCircle, wiresOf } from '../../../src/page/wires.ts';

describe('the lines between domains', () => {
  it('are as wide as what passes, on one scale for both pictures', () => {
    const { names, wires, left } = wiresOf({
      'zone-b/zone-c': { before: 80, planned: 20 },
      'zone-a/zone-b': { before: 40, planned: 0 },
    });
    expect(names).toEqual(['zone-a', 'zone-b', 'zone-c']);
    expect(wires).toEqual([
      { from: 1, to: 2, before: 16, planned: 4 },
      { from: 0, to: 1, before: 8, planned: 0 },
    ]);
    expect(left).toBe(0);
  });

  it('are seen where little passes beside much', () => {
    const { wires } = wiresOf({ 'a/b': { before: 1e9, planned: 1 } });
    expect(wires[0]?.planned).toBe(1);
  });

  it('leave out domains that a picture has no room for, those with the least traffic', () => {
    const pairs = Array.from({ length: 20 }, (_, place) => [`hub/n${place}`, { before: 100 - place, planned: 0 }]);
    const { names, wires, left } = wiresOf(Object.fromEntries(pairs));
    expect([names.length, wires.length, left]).toEqual([12, 11, 9]);
    expect(names).not.toContain('n19');
  });

  it('are none where nothing passes', () => {
    expect(wiresOf({})).toEqual({ names: [], wires: [], left: 0 });
  });
});

it('places on a circle begin at its top', () => {
  expect(placesOnCircle(2)).toEqual([
    { x: 0, y: -78 },
    { x: 0, y: 78 },
  ]);
});
