import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import type { PlanStore } from '../../ports.ts';
import { createCachedObjects, newer } from './cached-objects.ts';
import { createJournalledPlans } from './journalled-plans.ts';
import { asMoveJournal, type MoveJournals } from './move-journals.ts';
import { packPlan } from './packed-plan.ts';
import { asPlan } from './plan-store.ts';
import type { Reflector } from './reflector.ts';

/** A store of plans that are watched instead of listed. */
export interface CachedPlans {
  readonly store: PlanStore;
  /** Lists the plans, then keeps them current until aborted; then resolves. */
  run(signal: AbortSignal): Promise<void>;
  /** Lists them anew before anything more is read: this replica leads now, and its predecessor has written up to then. */
  renew(): void;
  /** The newest of what this process has written, or of `before` where that is newer. */
  written(before: WrittenVersions): WrittenVersions;
  /** Resolves when all that was written up to these versions is seen. Rejects with StaleCacheError where that takes too long. */
  caughtUp(versions: WrittenVersions, signal: AbortSignal): Promise<void>;
}

/** resourceVersions of plans and their journals; empty where nothing was written. */
export interface WrittenVersions {
  readonly plans: string;
  readonly journals: string;
}

/** Plans, or their journals: the store that writes them, and the watch that reads them. */
interface Source<Store> {
  readonly live: Store;
  readonly reflector: Reflector;
}

/**
 * Plans from a watch, with what was written through the store itself on top, for as long as the watch has not brought it: so no
 * list is older than the last write. What others write is seen as soon as the watch tells; a write by such a list conflicts.
 * Changes, and reads of single plans, go to `live`. `report` hears of lists and watches that failed, `digest` of plans that have ended
 * (see `packPlan`).
 */
export function createCachedPlans(
  plans: Source<PlanStore>,
  journals: Source<MoveJournals>,
  report: (error: unknown) => void,
  digest: (plan: RebalancePlan) => void,
): CachedPlans {
  const { cache: whole, store: wholePlans } = cachedPlans(plans, report, digest);
  const { cache: changes, store: moveJournals } = cachedJournals(journals, report);
  return {
    store: createJournalledPlans(wholePlans, moveJournals, report),
    run: async (signal) => {
      await Promise.all([whole.run(signal), changes.run(signal)]);
    },
    renew: () => {
      whole.renew();
      changes.renew();
    },
    written: (before) => ({
      plans: newer(before.plans, whole.written),
      journals: newer(before.journals, changes.written),
    }),
    caughtUp: async (versions, signal) => {
      await Promise.all([whole.caughtUp(versions.plans, signal), changes.caughtUp(versions.journals, signal)]);
    },
  };
}

function cachedPlans(
  { live, reflector }: Source<PlanStore>,
  report: (error: unknown) => void,
  digest: (plan: RebalancePlan) => void,
) {
  const cache = createCachedObjects(reflector, (body) => packPlan(asPlan({ body }), digest), report);
  const store: PlanStore = {
    ...live,
    list: cache.list,
    watch: cache.watch,
    create: (plan, signal) => cache.write(plan, () => live.create(plan, signal)),
    writeStatus: (plan, status, signal) => cache.write(plan, () => live.writeStatus(plan, status, signal)),
    approve: (name, signal) => cache.write({ metadata: { name } }, () => live.approve(name, signal)),
    remove: (name, signal) => cache.remove(name, () => live.remove(name, signal)),
  };
  return { cache, store };
}

function cachedJournals({ live, reflector }: Source<MoveJournals>, report: (error: unknown) => void) {
  const cache = createCachedObjects(reflector, (body) => asMoveJournal({ body }), report);
  const store: MoveJournals = {
    ...live,
    list: cache.list,
    watch: cache.watch,
    create: (plan, signal) => cache.write({ metadata: { name: plan.metadata.name } }, () => live.create(plan, signal)),
    write: (journal, spec, signal) => cache.write(journal, () => live.write(journal, spec, signal)),
    remove: (journal, signal) => cache.remove(journal.metadata.name, () => live.remove(journal, signal)),
  };
  return { cache, store };
}
