import { describe, expect, it } from 'vitest';
import type { LoadModel } from '../../../src/plan/load.ts';
import { emptyLedger } from '../../../src/plan/load-ledger.ts';

/** Floors of 10, 20 and 30 in the first dimension, and of 300, 200 and 100 in the second; pods that add these in both. */
const FLOORS = [
  [10, 20, 30],
  [300, 200, 100],
];
const ADDED = [
  [500, 1, 7],
  [40, 60, 2],
];

/** Every pod adds twice as much to the last of three nodes. */
function modelOf(dimensions: number): LoadModel {
  return {
    dimensions,
    ofPod: (pod, node, dimension) => (ADDED[dimension]?.[pod] ?? 0) * (node === 2 ? 2 : 1),
    ofFloor: (node, dimension) => FLOORS[dimension]?.[node] ?? 0,
    sizeClass: () => '',
    boundsOver: () => ({ least: () => 0, most: () => 0 }),
    mean: 0,
    weights: new Float64Array(3),
  };
}

const ledgerOf = (dimensions: number) => emptyLedger(modelOf(dimensions), 3, 3);
const loadsOf = ({ load }: ReturnType<typeof ledgerOf>) => [0, 1, 2].map(load);

describe('a ledger of loads', () => {
  it('begins with the floors, of which the largest counts where there is more than one', () => {
    expect([loadsOf(ledgerOf(1)), loadsOf(ledgerOf(2))]).toEqual([
      [10, 20, 30],
      [300, 200, 100],
    ]);
  });

  it('adds up the pods of each node, in each dimension', () => {
    const ledger = ledgerOf(2);
    ledger.add(0, 0);
    ledger.add(1, 1);
    ledger.add(2, 2);
    // 510 and 340; 21 and 260; 44 and 104.
    expect(loadsOf(ledger)).toEqual([510, 260, 104]);
    ledger.add(2, 1);
    expect(loadsOf(ledger)).toEqual([510, 260, 224]);
  });

  it('says what a node would bear with a pod more or less, and changes nothing by that', () => {
    for (const [dimensions, added, loads] of [
      [1, [510, 21, 44], [510, 20, 30]],
      [2, [510, 260, 104], [510, 200, 100]],
    ] as const) {
      const ledger = ledgerOf(dimensions);
      expect([0, 1, 2].map((at) => ledger.with(at, at))).toEqual(added);
      ledger.add(0, 0);
      expect(ledger.without(0, 0)).toBe(dimensions === 1 ? 10 : 300);
      expect(loadsOf(ledger)).toEqual(loads);
      ledger.add(1, 1);
      expect(ledger.without(1, 1)).toBe(dimensions === 1 ? 20 : 200);
    }
  });

  it('is as before when pods leave that came, wherever they have been', () => {
    for (const dimensions of [1, 2]) {
      const ledger = ledgerOf(dimensions);
      ledger.add(0, 0);
      ledger.add(0, 1);
      ledger.remove(0, 0);
      ledger.add(2, 0);
      ledger.remove(2, 0);
      ledger.remove(0, 1);
      expect(loadsOf(ledger)).toEqual(loadsOf(ledgerOf(dimensions)));
    }
  });

  it('has copies that change on their own', () => {
    const ledger = ledgerOf(2);
    ledger.add(1, 0);
    const copy = ledger.fork();
    copy.remove(1, 0);
    copy.add(2, 2);
    expect([loadsOf(ledger), loadsOf(copy)]).toEqual([
      [300, 520, 100],
      [300, 200, 104],
    ]);
    expect(ledger.without(1, 0)).toBe(200);
  });
});
