import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import type { PlanStore } from '../../ports.ts';
import { createCachedObjects } from './cached-objects.ts';
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
  const whole = cachedPlans(plans, report, digest);
  const changes = cachedJournals(journals, report);
  return {
    store: createJournalledPlans(whole.store, changes.store, report),
    run: async (signal) => {
      await Promise.all([whole.run(signal), changes.run(signal)]);
    },
    renew: () => {
      whole.renew();
      changes.renew();
    },
  };
}

function cachedPlans(
  { live, reflector }: Source<PlanStore>,
  report: (error: unknown) => void,
  digest: (plan: RebalancePlan) => void,
): CachedPlans {
  const cache = createCachedObjects(reflector, (body) => packPlan(asPlan({ body }), digest), report);
  return {
    ...cache,
    store: {
      ...live,
      list: cache.list,
      watch: cache.watch,
      create: (plan, signal) => cache.write(plan, () => live.create(plan, signal)),
      writeStatus: (plan, status, signal) => cache.write(plan, () => live.writeStatus(plan, status, signal)),
      approve: (name, signal) => cache.write({ metadata: { name } }, () => live.approve(name, signal)),
      remove: (name, signal) => cache.remove(name, () => live.remove(name, signal)),
    },
  };
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
  return { ...cache, store };
}
