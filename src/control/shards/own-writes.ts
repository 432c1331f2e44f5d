import type { Seconds } from '../../model/units.ts';
import type { Clock, SharedLeases, StoredLease } from '../../ports.ts';
import { isOlder } from '../lease.ts';

/** Leases, and when this process has written some of them. */
export interface RememberedLeases extends SharedLeases {
  /**
   * A time by which the Lease had been written as it is, on the monotonic clock: this process knew then of a write of its own that
   * came after. undefined where there was none within `span`.
   */
  writtenBy(lease: StoredLease): Seconds | undefined;
}

/** A write of this process. */
interface OwnWrite {
  readonly written: StoredLease;
  /** When its answer had come. */
  readonly at: Seconds;
}

/**
 * Remembers for `span` what this process writes. All Leases are in one store, whose resourceVersions say which of two writes came
 * first, whatever their Leases (etcd: the revision is that of the whole store; KEP-5504). So a watch that is behind, or a late read,
 * does not make what it shows any younger than the next renewal of this replica, and no clock but its own is believed.
 */
export function rememberWrites(
  leases: SharedLeases,
  span: Seconds,
  { monotonic }: Pick<Clock, 'monotonic'>,
): RememberedLeases {
  let writes: readonly OwnWrite[] = [];
  const remembered = async (write: Promise<StoredLease>): Promise<StoredLease> => {
    const lease = await write;
    const at = monotonic();
    writes = [...writes.filter((each) => at - each.at <= span), { written: lease, at }];
    return lease;
  };
  return {
    ...leases,
    of: (name, labels) => {
      const store = leases.of(name, labels);
      return {
        ...store,
        create: (record, signal) => remembered(store.create(record, signal)),
        update: (last, record, signal) => remembered(store.update(last, record, signal)),
      };
    },
    writtenBy: (lease) => writes.find(({ written }) => isOlder(lease, written))?.at,
  };
}
