import type { ClusterSnapshot } from '../model/snapshot.ts';
import { count } from '../plan/format.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import { scopeTest } from '../plan/scope.ts';
import type { StoredPolicy } from '../ports.ts';
import { scheduleProblems } from './schedule.ts';

/** Pods that a policy must leave to older ones. */
export interface ForeignPods {
  readonly uids: ReadonlySet<string>;
  /** Names the owners and counts the pods; undefined when there are none. */
  readonly message: string | undefined;
}

/**
 * Pods in the scope of `policy` that an older, valid and unsuspended policy owns (execution.md, one owner of
 * a pod). Equal ages are told apart by name.
 */
export function foreignPods(
  policy: StoredPolicy,
  all: readonly StoredPolicy[],
  snapshot: ClusterSnapshot,
  excludedNamespaces: ReadonlySet<string>,
): ForeignPods {
  const inScopeOf = ({ policy: { spec } }: StoredPolicy) =>
    scopeTest(resolveOptions(spec, excludedNamespaces).scope, snapshot);
  const mine = inScopeOf(policy);
  const counts = new Map<string, number>();
  const uids = new Set<string>();
  for (const other of olderPolicies(policy, all)) {
    const theirs = inScopeOf(other);
    const contested = [...snapshot.pods, ...(snapshot.failedPods ?? [])].filter(
      (pod) => !uids.has(pod.uid) && mine(pod) && theirs(pod),
    );
    for (const { uid } of contested) {
      uids.add(uid);
    }
    counts.set(other.policy.metadata.name, contested.length);
  }
  return { uids, message: describe(counts) };
}

function describe(counts: ReadonlyMap<string, number>): string | undefined {
  const owners = [...counts]
    .filter(([, pods]) => pods > 0)
    .map(([name, pods]) => `${count(pods, 'pod')} of policy ${name}`);
  return owners.length === 0
    ? undefined
    : `older policies own some of the pods in scope, and this policy leaves them alone: ${owners.join(', ')}. Narrow spec.scope of one of the policies`;
}

function olderPolicies(policy: StoredPolicy, all: readonly StoredPolicy[]): readonly StoredPolicy[] {
  return all.filter(
    (other) =>
      other.policy.metadata.name !== policy.policy.metadata.name &&
      other.invalid.length === 0 &&
      scheduleProblems(other.policy.spec).length === 0 &&
      !other.policy.spec.suspend &&
      compareAge(other, policy) < 0,
  );
}

function compareAge(a: StoredPolicy, b: StoredPolicy): number {
  const [left, right] = [a.policy.metadata, b.policy.metadata];
  return (
    (left.creationTimestamp ?? '').localeCompare(right.creationTimestamp ?? '') || left.name.localeCompare(right.name)
  );
}
