import type { CachedPlans } from '../adapters/kubernetes/cached-plans.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { ShardKeeper } from '../control/shards/keeper.ts';
import type { Leadership, Term } from '../control/shards/leadership.ts';
import { REST } from '../control/shards/names.ts';
import { beginSharing, endSharing } from '../control/shards/sharing.ts';
import { whileLed } from '../control/shards/while-led.ts';
import type { Log } from '../ports.ts';
import type { Election } from './election.ts';

/** What a replica does that shares the work with others. */
export interface SharedWork {
  /** Runs the policies that this replica leads until aborted. */
  readonly policies: (leadership: Leadership, signal: AbortSignal) => Promise<void>;
  /** Does the rest until the signal of the term is aborted. */
  readonly rest: (leadership: Leadership, term: Term) => Promise<void>;
}

interface SharingPorts {
  readonly log: Log;
  /** The API server has answered, though this replica waits for a single leader. */
  readonly looked: () => void;
  readonly plans: Pick<CachedPlans, 'written' | 'caughtUp' | 'renew'>;
  /** Resolves when this replica can act at once. */
  readonly ready: Promise<void>;
}

/**
 * Shares the work with the other replicas (docs/design/replicas.md): joins as soon as this one can act, does `work`, and hands over
 * what it leads in the end. Resolves when stopped. Rejects with LeadershipLostError, after which the process must end, and as the work does.
 */
export async function shareWork(
  { elector, identity, times, base, single, own, leases, containers }: Election,
  work: SharedWork,
  { log, looked, plans, ready }: SharingPorts,
  stop: AbortSignal,
): Promise<void> {
  const failed = (err: unknown): void => log('lease request failed', { err });
  const waiting = (holder: string): void => log('another replica leads', { holder });
  const options = { store: single, times, clock: systemClock, looked, waiting, failed };
  const keeper = new ShardKeeper({
    base,
    identity,
    times,
    leases,
    containers,
    clock: systemClock,
    plans,
    report: (event) => {
      switch (event.kind) {
        case 'Led':
          if (event.before) {
            plans.renew();
          }
          break;
        case 'HandedOver':
          break;
        case 'Lost':
          log('shard lost', { err: event.error });
          break;
        case 'Failed':
          failed(event.error);
          break;
        default:
          event satisfies never;
      }
    },
  });
  const over = new AbortController();
  const watching = keeper.watch(over.signal);
  try {
    await ready;
    await elector.run(async (_, signal) => {
      log('member joined', { holder: identity });
      await beginSharing(options, signal);
      await Promise.all([
        keeper.run(signal),
        work.policies(keeper, signal),
        whileLed(REST, keeper, (term) => work.rest(keeper, term), systemClock, signal),
      ]);
    }, stop);
  } finally {
    over.abort();
    await watching;
  }
  await leave().catch(failed);

  async function leave(): Promise<void> {
    const { signal } = new AbortController();
    const found = await own.get(signal);
    if (found?.record.holder === '') {
      await own.remove(found, signal);
    }
    await endSharing(options, () => keeper.isLast());
  }
}
