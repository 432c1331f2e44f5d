import { createHash } from 'node:crypto';
import type { StrategyName } from '../api/v1alpha1/rebalance-policy.ts';
import type { Labels } from '../model/selector.ts';
import { sortedEntries } from './order.ts';
import type { Move } from './plan.ts';

/**
 * SHA-256 in hex over a canonical text of strategy and moves: equal plans have equal hashes, whenever they were made.
 * Loads and gains count with six decimals, as they are written into a RebalancePlan.
 */
export function planHash(strategy: StrategyName, moves: readonly Move[]): string {
  const lines = moves.map(({ pod, owner, from, to, load, gain }) => {
    const pieces = [pod.namespace, pod.name, pod.uid, owner.kind, owner.name, owner.uid, from ?? null, to ?? null];
    return JSON.stringify([...pieces, load.toFixed(6), gain.toFixed(6)]);
  });
  return hexDigest([strategy, ...lines].join('\n'), 64);
}

/** 16 hexadecimal digits of SHA-256 over a pod's labels in the order of their keys: equal labels have equal hashes. */
export function labelsHash(labels: Labels): string {
  return hexDigest(JSON.stringify(sortedEntries(labels)), 16);
}

/** The first `length` hexadecimal digits of SHA-256 over `text`, 4 bits each; it has 64. */
export function hexDigest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

/** `length` characters of SHA-256 over `text` in base64url, 6 bits each. */
export function shortDigest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, length);
}
