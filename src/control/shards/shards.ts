import type { StrategyName } from '../../api/v1alpha1/rebalance-policy.ts';
import { STRATEGY_TRAITS } from '../../plan/strategies/traits.ts';
import type { StoredPolicy } from '../../ports.ts';
import { REST, type Shard } from './names.ts';

/** Shards by the uid of the policy. */
export type ShardsByPolicy = ReadonlyMap<string, Shard>;

/**
 * The shard of each policy, and of those that were deleted and have plans (`orphans`, with the strategy of these): one of its own,
 * but for a strategy that lets pods in at the gate, which is led with the gate queue and the ledgers that it needs.
 */
export function shardsByPolicy(
  policies: readonly StoredPolicy[],
  orphans: ReadonlyMap<string, StrategyName>,
): ShardsByPolicy {
  const alive = policies.map(
    ({ policy: { metadata, spec } }) => [metadata.uid ?? metadata.name, spec.strategy.type] as const,
  );
  return new Map([...orphans, ...alive].map(([uid, strategy]) => [uid, isWithRest(strategy) ? REST : uid]));
}

/** The shard of a policy, by its uid; what belongs to no policy is part of the rest. */
export function shardOf(uid: string | undefined, shards: ShardsByPolicy): Shard {
  return (uid === undefined ? undefined : shards.get(uid)) ?? REST;
}

/** A policy whose strategy is none, which its schema refuses, may stand on the cluster for all that. */
function isWithRest(strategy: StrategyName): boolean {
  return STRATEGY_TRAITS[strategy]?.admitsWaitingPods ?? false;
}
