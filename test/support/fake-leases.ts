import { type RememberedLeases, rememberWrites } from '../../src/control/shards/own-writes.ts';
import type { Labels } from '../../src/model/selector.ts';
import { seconds } from '../../src/model/units.ts';
import {
  ConflictError,
  type LeaseRecord,
  type LeaseStore,
  type SharedLeases,
  type StoredLease,
} from '../../src/ports.ts';
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

/** Counts writes from 1: one count for all Leases of a store. */
function createVersions(): () => number {
  let version = 0;
  return () => {
    version += 1;
    return version;
  };
}

/** No Lease yet; `created` are the labels and the like that it gets, `changed` is called after every write. */
export function fakeLease(
  created: Readonly<Record<string, unknown>> = {},
  changed: () => void = () => undefined,
  nextVersion = createVersions(),
): FakeLease {
  const history: LeaseRecord[] = [];
  const write = (record: LeaseRecord, metadata: StoredLease['metadata']): StoredLease => {
    history.push(record);
    const resourceVersion = String(nextVersion());
    lease.stored = { record: structuredClone(record), metadata: { ...metadata, resourceVersion } };
    changed();
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
        return write(record, { ...created, uid: `uid-${history.length}` });
      },
      async update({ metadata }, record) {
        if (lease.stored?.metadata['resourceVersion'] !== metadata['resourceVersion']) {
          throw new ConflictError('somebody else wrote');
        }
        return write(record, metadata);
      },
      async remove({ metadata }) {
        if (lease.stored !== undefined && lease.stored.metadata['resourceVersion'] !== metadata['resourceVersion']) {
          throw new ConflictError('somebody else wrote');
        }
        lease.stored = undefined;
        changed();
      },
    },
  };
  return lease;
}

/** Leases by name, in memory. */
export interface FakeLeases {
  of(name: string, labels: Labels): FakeLease;
  /** Those that are there. */
  stored(): ReadonlyMap<string, StoredLease>;
  /** Calls `changed` after every write. */
  onChange(changed: () => void): void;
}

/** No Leases yet. */
export function fakeLeases(): FakeLeases {
  const leases = new Map<string, FakeLease>();
  const listeners: (() => void)[] = [];
  const nextVersion = createVersions();
  const tell = (): void => {
    for (const listener of listeners) {
      listener();
    }
  };
  return {
    of(name, labels) {
      const lease = leases.get(name) ?? fakeLease({ name, labels: Object.fromEntries(labels) }, tell, nextVersion);
      leases.set(name, lease);
      return lease;
    },
    stored: () => new Map([...leases].flatMap(([name, { stored }]) => (stored === undefined ? [] : [[name, stored]]))),
    onChange: (changed) => void listeners.push(changed),
  };
}

/** Time until a watch that was cut off is begun anew. */
const REWATCH = 2;
/** How long a process remembers its writes: longer than any lease of the tests. */
const REMEMBERED = seconds(60);

/**
 * The same as `process` sees them over a network, with a watch, whose `watched` is what `passage` is to requests; see `overNetwork`. It is
 * asked with the number of times that the watch was begun anew before.
 */
export function sharedOverNetwork(
  leases: FakeLeases,
  time: VirtualTime,
  process: VirtualProcess,
  deadline: number,
  passage: () => Passage,
  watched: (watch: number) => Passage = passage,
): RememberedLeases {
  const seen = new Map<string, StoredLease>();
  let hear = (): void => undefined;
  /** Which watch it is; what an earlier one brings is not heard. */
  let watch = 0;
  const show = (now: ReadonlyMap<string, StoredLease>, back: number, of: number): void => {
    process.wake(time.now() + back, () => {
      if (of === watch) {
        seen.clear();
        for (const [name, lease] of now) {
          seen.set(name, lease);
        }
        hear();
      }
    });
  };
  const bring = (): void => {
    const { back, lost } = watched(watch);
    if (lost !== 'never') {
      time.at(time.now() + REWATCH, bring);
      return;
    }
    show(leases.stored(), back, watch);
  };
  leases.onChange(bring);
  const shared: SharedLeases = {
    of: (name, labels) => overNetwork(leases.of(name, labels), time, process, deadline, passage),
    seen,
    list: async () => [...leases.stored().values()],
    async watch(changed, signal) {
      hear = changed;
      bring();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      hear = () => undefined;
    },
    renew() {
      watch += 1;
      show(leases.stored(), passage().back, watch);
    },
  };
  return rememberWrites(shared, REMEMBERED, process.clock);
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
    remove: (lease, signal) => send(() => store.remove(lease, signal), signal),
  };
}
