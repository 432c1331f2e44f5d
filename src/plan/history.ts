import type { ClusterSnapshot } from '../model/snapshot.ts';
import { seconds } from '../model/units.ts';
import { cooldowns } from './budgets/cooldown.ts';
import type { BudgetHistory } from './budgets/index.ts';
import { lostService } from './budgets/overhead.ts';
import { serviceLevel } from './budgets/service-level.ts';
import type { PolicyOptions } from './options.ts';
import { promisesIn } from './promises.ts';
import { type OwnedPods, type StartupTimes, startupTimes } from './startup.ts';

/** What was moved before the snapshot, as far as a plan depends on it; worked out when first asked for. */
export function historyOf(
  snapshot: ClusterSnapshot,
  owned: OwnedPods,
  { protections, strategy }: PolicyOptions,
): BudgetHistory {
  const { pastMoves, takenAt } = snapshot;
  const startup = withLedgers(startupTimes(pastMoves, owned), snapshot);
  const balances = strategy.type !== 'QoSDriven' && snapshot.serviceLevels.ledgers.size > 0;
  return {
    startup,
    lost: (window) => lostService(pastMoves, startup, window, takenAt),
    cooldowns: cooldowns(snapshot, protections.cooldown),
    serviceLevel: () => (balances ? serviceLevel(promisesIn(snapshot, owned), takenAt) : undefined),
  };
}

/** What a ledger has measured counts for more than what past moves and running pods say: it has seen every start. */
function withLedgers(startup: StartupTimes, { serviceLevels, workloads }: ClusterSnapshot): StartupTimes {
  const { ledgers } = serviceLevels;
  if (ledgers.size === 0) {
    return startup;
  }
  return {
    of: (owner) => {
      const { hot, cold } = (ledgers.get(workloads.get(owner)?.owner?.uid ?? '') ?? ledgers.get(owner))?.startup ?? {};
      return hot === undefined || cold === undefined
        ? (hot ?? cold ?? startup.of(owner))
        : seconds(Math.max(hot, cold));
    },
  };
}
