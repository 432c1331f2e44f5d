import type { RebalancePolicy } from '../../api/v1alpha1/rebalance-policy.ts';
import { formatInstant } from '../../model/instant.ts';
import type { EpochSeconds } from '../../model/units.ts';
import { ConflictError, type PolicyStore, type StoredPolicy } from '../../ports.ts';

/** RebalancePolicies on the modelled cluster. */
export interface PolicyObjects {
  readonly store: PolicyStore;
  /** Tells whoever watches policies and plans that one has changed. */
  readonly changed: () => void;
}

/** Policies that are valid, as they were applied at `createdAt`, the first one first. */
export function createPolicyObjects(policies: readonly RebalancePolicy[], createdAt: EpochSeconds): PolicyObjects {
  const stored = new Map(policies.map((policy) => [policy.metadata.name, applied(policy, createdAt)]));
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) {
      watcher();
    }
  };
  const store: PolicyStore = {
    list: async () => [...stored.values()],
    async writeStatus({ metadata: { name } }, status) {
      const now = stored.get(name);
      if (now === undefined) {
        throw new ConflictError(`policy ${name} is gone`);
      }
      stored.set(name, { ...now, policy: { ...now.policy, status } });
      changed();
    },
    async watch(watcher, signal) {
      watchers.add(watcher);
      await aborted(signal);
      watchers.delete(watcher);
    },
  };
  return { store, changed };
}

/** Fields that the API server sets. */
function applied(policy: RebalancePolicy, createdAt: EpochSeconds): StoredPolicy {
  const { name } = policy.metadata;
  const metadata = {
    creationTimestamp: formatInstant(createdAt),
    ...policy.metadata,
    uid: `policy-${name}`,
    generation: 1,
  };
  return { policy: { ...policy, metadata }, invalid: [] };
}

/** Resolves when the signal is aborted, at once if it is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    }
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
