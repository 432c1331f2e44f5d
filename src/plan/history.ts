import type { ClusterSnapshot } from '../model/snapshot.ts';
import { cooldowns } from './budgets/cooldown.ts';
import type { BudgetHistory } from './budgets/index.ts';
import { lostService } from './budgets/overhead.ts';
import type { PolicyOptions } from './options.ts';
import { type OwnedPods, startupTimes } from './startup.ts';

/** What was moved before the snapshot, as far as a plan depends on it; worked out when first asked for. */
export function historyOf(snapshot: ClusterSnapshot, owned: OwnedPods, { protections }: PolicyOptions): BudgetHistory {
  const { pastMoves, takenAt } = snapshot;
  const startup = startupTimes(pastMoves, owned);
  return {
    startup,
    lost: (window) => lostService(pastMoves, startup, window, takenAt),
    cooldowns: cooldowns(snapshot, protections.cooldown),
  };
}
