import { type Clock, ConflictError, type LeaseStore } from '../ports.ts';
import { released } from './lease.ts';

/** So many people or tools may write to a Lease, one after another, while it is freed. */
const ATTEMPTS = 5;

/**
 * Frees the Lease where `isOurs` says so of its holder, and resolves with whether it did. After a conflict it is read again: whoever has
 * written may have annotated it only. Rejects with ApiError, and with ConflictError when every attempt met with one.
 */
export async function freeLease(
  store: LeaseStore,
  clock: Clock,
  isOurs: (holder: string) => boolean | Promise<boolean>,
): Promise<boolean> {
  const { signal } = new AbortController();
  for (let attempt = 1; ; attempt += 1) {
    const lease = await store.get(signal);
    if (lease === undefined || !(await isOurs(lease.record.holder))) {
      return false;
    }
    try {
      await store.update(lease, released(lease.record, clock.now()), signal);
      return true;
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt === ATTEMPTS) {
        throw error;
      }
    }
  }
}
