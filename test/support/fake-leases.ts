import { seconds } from '../../src/model/units.ts';
import { ConflictError, type LeaseRecord, type LeaseStore, type StoredLease } from '../../src/ports.ts';
import type { VirtualProcess, VirtualTime } from './virtual-time.ts';

/** One Lease in memory. */
export interface FakeLease {
  /** What is stored now. */
  stored: StoredLease | undefined;
  /** Every record that was ever written. */
  readonly history: readonly LeaseRecord[];
  /** Answers at once. */
  readonly store: LeaseStore;
}

/** No Lease yet. */
export function fakeLease(): FakeLease {
  const history: LeaseRecord[] = [];
  let version = 0;
  const write = (record: LeaseRecord): StoredLease => {
    version += 1;
    history.push(record);
    lease.stored = { record: structuredClone(record), metadata: { resourceVersion: String(version) } };
    return lease.stored;
  };
  const lease: FakeLease = {
    stored: undefined,
    history,
    store: {
      get: async () => lease.stored,
      async create(record) {
        if (lease.stored !== undefined) {
          throw new ConflictError('there is one');
        }
        return write(record);
      },
      async update({ metadata }, record) {
        if (lease.stored?.metadata['resourceVersion'] !== metadata['resourceVersion']) {
          throw new ConflictError('somebody else wrote');
        }
        return write(record);
      },
    },
  };
  return lease;
}

/** What becomes of one request: seconds on its way to the store and back, and whether it gets there, and the answer here. */
export interface Passage {
  readonly there: number;
  readonly back: number;
  readonly lost: 'never' | 'there' | 'back';
}

/** No time at all. */
export const AT_ONCE: Passage = { there: 0, back: 0, lost: 'never' };

/**
 * `store` as `process` sees it over a network: requests are carried out when they arrive, even if nobody waits for them
 * any more, or the process stands still. `passage` is asked for each; after `deadline` seconds of its clock a request fails.
 */
export function overNetwork(
  { store }: FakeLease,
  time: VirtualTime,
  process: VirtualProcess,
  deadline: number,
  passage: () => Passage,
): LeaseStore {
  const send = <Answer>(carryOut: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      const { there, back, lost } = passage();
      process.clock.sleep(seconds(deadline), signal).then(() => reject(new Error('no answer')), reject);
      if (lost !== 'there') {
        time.at(time.now() + there, () => {
          const outcome = carryOut();
          outcome.catch(() => undefined); // heard below, or by nobody
          if (lost !== 'back') {
            process.wake(time.now() + back, () => outcome.then(resolve, reject));
          }
        });
      }
    });
  return {
    get: (signal) => send(() => store.get(signal), signal),
    create: (record, signal) => send(() => store.create(record, signal), signal),
    update: (lease, record, signal) => send(() => store.update(lease, record, signal), signal),
  };
}
