import { POLICY_LABEL, PURPOSE_LABEL } from '../../model/lease-labels.ts';
import type { Labels } from '../../model/selector.ts';
import { hexDigest } from '../../plan/hash.ts';
import type { StoredLease } from '../../ports.ts';

/** What one replica leads at a time: a policy, by its uid, or the rest. */
export type Shard = string;

/** Ledgers, gates, hints that no plan has, and the policies that let pods in at the gate: these need both of the first. */
export const REST: Shard = 'rest';

/** Names the replica that has let go of a Lease, and does not want it back. */
export const RELEASED_BY = 'evenkeel.dev/released-by';
/** Holder of the Lease that a single leader would have, for as long as replicas share its work. */
export const SHARED_HOLDER = 'evenkeel-shards';

/** A Lease that replicas share their work by. */
export interface LeaseName {
  readonly name: string;
  readonly labels: Labels;
}

/** Digits that tell replicas and policies apart; 40 bits. */
const DIGITS = 10;

/** The Lease that says whether a replica lives. `base` is the name of the Lease of a single leader. */
export function leaseOfReplica(base: string, identity: string): LeaseName {
  return { name: `${base}-replica-${hexDigest(identity, DIGITS)}`, labels: new Map([[PURPOSE_LABEL, 'replica']]) };
}

/** The Lease that says which replica leads a shard. */
export function leaseOfShard(base: string, shard: Shard): LeaseName {
  return shard === REST
    ? { name: `${base}-rest`, labels: new Map([[PURPOSE_LABEL, 'rest']]) }
    : {
        name: `${base}-policy-${hexDigest(shard, DIGITS)}`,
        labels: new Map([
          [PURPOSE_LABEL, 'policy'],
          [POLICY_LABEL, shard],
        ]),
      };
}

/** The Lease that is held while what limits of all policies depend on is decided and recorded. */
export function leaseOfDecisions(base: string): LeaseName {
  return { name: `${base}-decisions`, labels: new Map([[PURPOSE_LABEL, 'decisions']]) };
}

/** What a Lease is for. */
export function purposeOf(lease: StoredLease): string | undefined {
  return textIn(lease.metadata['labels'], PURPOSE_LABEL);
}

/** The replica that has let go of a Lease. */
export function releasedBy(lease: StoredLease): string | undefined {
  return textIn(lease.metadata['annotations'], RELEASED_BY);
}

/** The Lease with these annotations besides those that it has. */
export function annotated(lease: StoredLease, annotations: Readonly<Record<string, string>>): StoredLease {
  const own = lease.metadata['annotations'];
  return {
    ...lease,
    metadata: { ...lease.metadata, annotations: { ...(typeof own === 'object' ? own : {}), ...annotations } },
  };
}

/** The value of a label or an annotation. */
export function textIn(entries: unknown, key: string): string | undefined {
  const value: unknown = typeof entries === 'object' && entries !== null ? Reflect.get(entries, key) : undefined;
  return typeof value === 'string' ? value : undefined;
}
