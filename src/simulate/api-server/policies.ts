import type { RebalancePolicy } from '../../api/v1alpha1/rebalance-policy.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { formatProblem, validatePolicy } from '../../api/validate.ts';
import { aborted } from '../../control/periodic.ts';
import { formatInstant } from '../../model/instant.ts';
import type { EpochSeconds } from '../../model/units.ts';
import { ConflictError, type PolicyStore, type StoredPolicy } from '../../ports.ts';

/** RebalancePolicies on the modelled cluster. */
export interface PolicyObjects {
  readonly store: PolicyStore;
  /** By name. */
  readonly stored: ReadonlyMap<string, StoredPolicy>;
  /** Somebody creates a policy, or replaces its spec, which may be wrong: the generation counts up. */
  readonly apply: (name: string, spec: unknown) => void;
  /** Somebody sets an annotation, which leaves the generation as it is. Throws for a policy that there is not. */
  readonly annotate: (name: string, key: string, value: string) => void;
  readonly remove: (name: string) => void;
  /** Tells whoever watches policies and plans that one has changed. */
  readonly changed: () => void;
}

/**
 * Policies as they are applied now, the first one first. `admit` is called before a status is stored: it may throw, as
 * admission refuses.
 */
export function createPolicyObjects(
  now: () => EpochSeconds,
  policies: readonly Pick<RebalancePolicy, 'metadata' | 'spec'>[],
  admit: (status: NonNullable<RebalancePolicy['status']>) => void = () => undefined,
): PolicyObjects {
  const stored = new Map<string, StoredPolicy>();
  const watchers = new Set<() => void>();
  let removals = 0;
  const changed = (): void => {
    for (const watcher of watchers) {
      watcher();
    }
  };
  /** Fields that the API server sets. A policy that is made anew is another one. */
  const newMetadata = (given: RebalancePolicy['metadata']): RebalancePolicy['metadata'] => ({
    creationTimestamp: formatInstant(now()),
    ...given,
    uid: removals === 0 ? `uid-${given.name}` : `uid-${given.name}-${removals}`,
    generation: 0,
  });
  const put = (given: RebalancePolicy['metadata'], spec: unknown): void => {
    const known = stored.get(given.name)?.policy;
    const metadata = known?.metadata ?? newMetadata(given);
    const generation = (metadata.generation ?? 0) + 1;
    const object = { apiVersion: API_VERSION, kind: 'RebalancePolicy', metadata: { ...metadata, generation }, spec };
    const { value, problems } = validatePolicy(structuredClone(object));
    const policy = known?.status === undefined ? value : { ...value, status: known.status };
    stored.set(given.name, { policy, invalid: problems.map(formatProblem) });
    changed();
  };
  const store: PolicyStore = {
    list: async () => [...stored.values()],
    async writeStatus({ metadata: { name, uid } }, status) {
      const known = stored.get(name);
      if (known === undefined || known.policy.metadata.uid !== uid) {
        throw new ConflictError(`policy ${name} is gone`);
      }
      admit(status);
      stored.set(name, { ...known, policy: { ...known.policy, status } });
      changed();
    },
    async watch(watcher, signal) {
      watchers.add(watcher);
      await aborted(signal);
      watchers.delete(watcher);
    },
  };
  for (const { metadata, spec } of policies) {
    put(metadata, spec);
  }
  return {
    store,
    stored,
    apply: (name, spec) => put({ name }, spec),
    annotate: (name, key, value) => {
      const known = stored.get(name);
      if (known === undefined) {
        throw new RangeError(`there is no policy ${name}`);
      }
      const { metadata } = known.policy;
      const annotations = { ...metadata.annotations, [key]: value };
      stored.set(name, { ...known, policy: { ...known.policy, metadata: { ...metadata, annotations } } });
      changed();
    },
    remove: (name) => {
      removals += stored.delete(name) ? 1 : 0;
      changed();
    },
    changed,
  };
}
