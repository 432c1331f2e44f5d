import { compareText } from '../../model/compare-text.ts';
import { hexDigest } from '../../plan/hash.ts';
import type { Shard } from './names.ts';

/**
 * Replicas in the order in which they are to lead a shard: by a hash of both, the highest first (Thaler and Ravishankar, "Using
 * name-based mappings to increase hit rates", 1998). Shards spread evenly, and where a replica comes or goes only those change hands
 * that it takes or had.
 */
export function rendezvous(shard: Shard, replicas: Iterable<string>): readonly string[] {
  const weights = [...replicas].map((replica) => ({ replica, weight: hexDigest(`${shard} ${replica}`, 16) }));
  return weights
    .sort((left, right) => compareText(right.weight, left.weight) || compareText(left.replica, right.replica))
    .map(({ replica }) => replica);
}
