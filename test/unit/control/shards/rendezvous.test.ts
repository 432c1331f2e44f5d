import { describe, expect, it } from 'vitest';
import { rendezvous } from '../../../../src/control/shards/rendezvous.ts';

const REPLICAS = ['a', 'b', 'c', 'd', 'e'].map((letter) => `evenkeel-7d9f5c6b8-${letter}x2zq_${letter.repeat(8)}`);
const COUNTS = [10, 100, 1_000];

function shards(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `5f0c7d2e-0000-4000-8000-${String(index).padStart(12, '0')}`);
}

/** Who leads each of `count` shards. */
function leaders(count: number, replicas: readonly string[]): ReadonlyMap<string, string | undefined> {
  return new Map(shards(count).map((shard) => [shard, rendezvous(shard, replicas)[0]]));
}

/** Standard deviation of the number of shards of one of n replicas, each of which has an equal chance. */
function deviation(count: number, replicas: number): number {
  return Math.sqrt((count / replicas) * (1 - 1 / replicas));
}

const cases = COUNTS.flatMap((count) => REPLICAS.map((_, index) => [count, index + 1] as const));

describe('the order of rendezvous', () => {
  it.each(cases)('spreads %i shards over %i replicas', (count, size) => {
    const replicas = REPLICAS.slice(0, size);
    const led = Map.groupBy(leaders(count, replicas), ([, leader]) => leader);
    const share = count / size;
    for (const replica of replicas) {
      const own = led.get(replica)?.length ?? 0;
      expect(Math.abs(own - share)).toBeLessThanOrEqual(3 * deviation(count, size));
    }
  });

  it.each(cases)('names each of them once for each of %i shards, all %i, however they are listed', (count, size) => {
    const replicas = REPLICAS.slice(0, size);
    for (const shard of shards(count)) {
      const order = rendezvous(shard, replicas);
      expect(order.toSorted()).toEqual(replicas);
      expect(rendezvous(shard, new Set(replicas.toReversed()))).toEqual(order);
    }
  });

  it.each(cases.filter(([, size]) => size > 1))(
    'gives of %i shards only those to others that a replica of %i led which leaves, each to the next in its order',
    (count, size) => {
      const replicas = REPLICAS.slice(0, size);
      const before = leaders(count, replicas);
      for (const gone of replicas) {
        const left = replicas.filter((each) => each !== gone);
        for (const [shard, leader] of leaders(count, left)) {
          const expected = before.get(shard) === gone ? rendezvous(shard, replicas)[1] : before.get(shard);
          expect(leader).toBe(expected);
        }
      }
    },
  );

  it.each(cases.filter(([, size]) => size > 1))(
    'gives about its share of %i shards to a replica that comes as one of %i, and moves no others',
    (count, size) => {
      const replicas = REPLICAS.slice(0, size);
      for (const newcomer of replicas) {
        const before = leaders(
          count,
          replicas.filter((each) => each !== newcomer),
        );
        const after = leaders(count, replicas);
        const moved = [...after].filter(([shard, leader]) => leader !== before.get(shard));
        expect(moved.filter(([, leader]) => leader !== newcomer)).toEqual([]);
        expect(Math.abs(moved.length - count / size)).toBeLessThanOrEqual(3 * deviation(count, size));
      }
    },
  );

  it('of nobody is empty', () => {
    expect(rendezvous('a', [])).toEqual([]);
  });
});
