import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import { type Seconds, seconds } from '../../model/units.ts';
import { type PlanStore, StaleCacheError } from '../../ports.ts';
import { compactPlan } from './compact-plan.ts';
import { type Diff, describeDiff, type Entry } from './object-table.ts';
import { asPlan } from './plan-store.ts';
import type { Reflector } from './reflector.ts';
import { compareVersions } from './resource-version.ts';

/** Nothing is decided by plans that have been cut off for longer (execution.md, stale cache). */
const MAX_AGE: Seconds = seconds(60);
/** Longest wait for a list. */
const PATIENCE: Seconds = seconds(30);

/** A store of plans that are watched instead of listed. */
export interface CachedPlans {
  readonly store: PlanStore;
  /** Lists the plans, then keeps them current until aborted; then resolves. */
  run(signal: AbortSignal): Promise<void>;
  /** Lists them anew before anything more is read: this replica leads now, and its predecessor has written up to then. */
  renew(): void;
}

/** What a write through the store has left, until the watch has come as far. */
type OwnWrite =
  | { readonly kind: 'Stored'; readonly plan: RebalancePlan }
  | { readonly kind: 'Removed'; readonly uid: string | undefined };

/**
 * Plans from a watch, with what was written through the store itself on top, for as long as the watch has not brought it: so no
 * list is older than the last write. What others write is seen as soon as the watch tells; a write by such a list conflicts.
 * Changes, and reads of single plans, go to `live`. `report` hears of lists and watches that failed.
 */
export function createCachedPlans(
  live: PlanStore,
  reflector: Reflector,
  report: (error: unknown) => void,
): CachedPlans {
  const own = new Map<string, OwnWrite>();
  const watchers = new Set<() => void>();
  const cache = reflector.handle<RebalancePlan | undefined>({
    read: (body) => {
      try {
        return compactPlan(asPlan({ body }));
      } catch (error) {
        // What is no plan must not end the watch of all others.
        report(error);
        return undefined;
      }
    },
    changed: () => {
      for (const watcher of watchers) {
        watcher();
      }
    },
    failed: report,
    drifted: (diff: Diff) => report(new Error(`rebalanceplans had drifted: ${describeDiff(diff)}`)),
  });
  const stored = (plan: RebalancePlan): RebalancePlan => {
    own.set(plan.metadata.name, { kind: 'Stored', plan });
    return plan;
  };

  /** By name, in the order of the cache. */
  function current(): ReadonlyMap<string, RebalancePlan> {
    const plans = new Map<string, RebalancePlan>();
    const entries = new Map<string, Entry<unknown>>();
    for (const entry of cache.entries.values()) {
      if (entry.value !== undefined) {
        const { name } = entry.value.metadata;
        plans.set(name, entry.value);
        entries.set(name, entry);
      }
    }
    for (const [name, write] of own) {
      const entry = entries.get(name);
      if (hasArrived(write, entry, cache.position)) {
        own.delete(name);
      } else if (write.kind === 'Removed') {
        plans.delete(name);
      } else {
        plans.set(name, write.plan);
      }
    }
    return plans;
  }

  return {
    run: (signal) => cache.run(signal),
    renew: () => cache.renew(),
    store: {
      create: async (plan, signal) => stored(await live.create(plan, signal)),
      async list(signal) {
        await cache.synced(PATIENCE, signal);
        const { age, trouble, name } = cache;
        if (age === undefined || age > MAX_AGE) {
          const state = age === undefined ? 'are listed anew' : `have been cut off for ${Math.round(age)} s`;
          throw new StaleCacheError(`${name} ${state}${trouble === undefined ? '' : ` (${trouble})`}`);
        }
        return [...current().values()];
      },
      get: (name, signal) => live.get(name, signal),
      writeStatus: async (plan, status, signal) => stored(await live.writeStatus(plan, status, signal)),
      approve: async (name, signal) => stored(await live.approve(name, signal)),
      async remove(name, signal) {
        const uid = current().get(name)?.metadata.uid;
        await live.remove(name, signal);
        own.set(name, { kind: 'Removed', uid });
      },
      async watch(changed, signal) {
        watchers.add(changed);
        await new Promise<void>((resolve) => {
          if (signal.aborted) {
            resolve();
          }
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        watchers.delete(changed);
      },
    },
  };
}

/** Whether the cache has what was written, or something newer. */
function hasArrived(write: OwnWrite, entry: Entry<unknown> | undefined, position: string | undefined): boolean {
  if (write.kind === 'Removed') {
    return entry?.uid !== write.uid;
  }
  const { resourceVersion = '' } = write.plan.metadata;
  const reached = position === undefined ? undefined : compareVersions(position, resourceVersion);
  return entry?.resourceVersion === resourceVersion || (reached !== undefined && reached >= 0);
}
