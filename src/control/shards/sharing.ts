import { type Seconds, seconds } from '../../model/units.ts';
import { type Clock, ConflictError, type LeaseStore } from '../../ports.ts';
import { freeLease } from '../free-lease.ts';
import { claim, isFree, type LeaseTimes, type Observation, observe } from '../lease.ts';
import { SHARED_HOLDER } from './names.ts';

/** Nobody takes the Lease over while replicas share its work, since none of them renews it: the longest that the API allows. */
const FOREVER: Seconds = seconds(2 ** 31 - 1);

/** What replicas that share work tell a single leader by. */
export interface SharingOptions {
  /** The Lease of a single leader. */
  readonly store: LeaseStore;
  readonly times: LeaseTimes;
  readonly clock: Clock;
  /** The API server has answered. */
  readonly looked: () => void;
  /** Hears of a single leader that is waited for, once. */
  readonly waiting: (holder: string) => void;
  /** A request failed; it is tried again. */
  readonly failed: (error: unknown) => void;
}

/**
 * Resolves when no replica leads everything, and none can from then on, or when aborted. This replica has a Lease of its own by then
 * (`endSharing`).
 */
export async function beginSharing(options: SharingOptions, signal: AbortSignal): Promise<void> {
  const { times, clock, looked, waiting, failed } = options;
  let seen: Observation | undefined;
  while (!signal.aborted) {
    try {
      const before = seen;
      seen = await claimed(options, seen, signal);
      looked();
      if (seen === undefined) {
        return;
      }
      if (seen.record.holder !== before?.record.holder) {
        waiting(seen.record.holder);
      }
    } catch (error) {
      if (!(signal.aborted || error instanceof ConflictError)) {
        failed(error);
      }
    }
    await clock.sleep(times.retryPeriod, signal).catch((error: unknown) => {
      if (!signal.aborted) {
        throw error;
      }
    });
  }
}

/** Resolves to undefined when the Lease says that its work is shared, else to what it says. It is written in any case: see `endSharing`. */
async function claimed(
  { store, times, clock }: SharingOptions,
  before: Observation | undefined,
  signal: AbortSignal,
): Promise<Observation | undefined> {
  const lease = await store.get(signal);
  const seen = lease === undefined ? before : observe(before, lease.record, clock.monotonic());
  if (seen !== undefined && !isFree(seen, SHARED_HOLDER, clock.monotonic())) {
    return seen;
  }
  const record = { ...claim(seen?.record, SHARED_HOLDER, times, clock.now()), duration: FOREVER };
  await (lease === undefined ? store.create(record, signal) : store.update(lease, record, signal));
  return undefined;
}

/**
 * Frees the Lease of a single leader when the last replica has ended, which `isLast` finds out by a read at that moment. One that joins
 * meanwhile has its own Lease before it writes this one, so either it is seen or this write conflicts. Rejects with ApiError.
 */
export async function endSharing({ store, clock }: SharingOptions, isLast: () => Promise<boolean>): Promise<void> {
  await freeLease(store, clock, async (holder) => holder === SHARED_HOLDER && (await isLast()));
}
