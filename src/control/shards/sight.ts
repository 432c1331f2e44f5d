import { type Seconds, seconds } from '../../model/units.ts';
import type { Clock, ReplicaContainers, StoredLease } from '../../ports.ts';
import { expiryOf, isOlder, type Observation, observe } from '../lease.ts';
import { leaseOfReplica, purposeOf } from './names.ts';
import type { RememberedLeases } from './own-writes.ts';

/** A Lease, and since when it stands like this. */
interface Seen {
  readonly lease: StoredLease;
  readonly observation: Observation;
}

/** What Leases are seen through. */
export interface SightOptions {
  /** Name of the Lease that a single leader would have; the others' names begin with it. */
  readonly base: string;
  /** How long a replica counts whose Lease nobody has seen. */
  readonly duration: Seconds;
  readonly leases: RememberedLeases;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly containers: Pick<ReplicaContainers, 'hasEnded'>;
}

/**
 * What this replica has seen of the Leases, each with the time since when it is unchanged: since it was seen like this, or since this
 * replica had written a newer one (see `rememberWrites`). A Lease that was deleted stays in mind as it was: whoever it named may not
 * know of that.
 */
export class Sight {
  readonly #options: SightOptions;
  readonly #known = new Map<string, Seen>();
  /** Replicas without a Lease, with the time when that was noticed. */
  readonly #absent = new Map<string, Seconds>();
  /** Names of the Leases that were there at the last look. */
  #present: ReadonlySet<string> = new Set();
  /** Names of those that had been there before. */
  readonly #deleted = new Set<string>();

  constructor(options: SightOptions) {
    this.#options = options;
  }

  /** Takes in what the watch has brought, or what is there at this moment. */
  look(leases: ReadonlyMap<string, StoredLease> = this.#options.leases.seen): void {
    for (const name of this.#present) {
      this.#deleted.add(name);
    }
    this.#present = new Set(leases.keys());
    for (const [name, lease] of leases) {
      this.note(name, lease);
    }
  }

  /** Takes in what a request has brought, unless something newer is known; `undefined`: the Lease is not there. */
  note(name: string, lease: StoredLease | undefined): void {
    const known = this.#known.get(name);
    if (lease === undefined) {
      if (known !== undefined) {
        this.#deleted.add(name);
      }
      return;
    }
    this.#deleted.delete(name);
    if (known === undefined || !isOlder(lease, known.lease)) {
      const { leases, clock } = this.#options;
      const since = leases.writtenBy(lease) ?? clock.monotonic();
      this.#known.set(name, { lease, observation: observe(known?.observation, lease.record, since) });
    }
  }

  /** Forgets a Lease that is not needed any more. */
  forget(name: string): void {
    this.#known.delete(name);
    this.#deleted.delete(name);
  }

  /** Whether the Lease was there, and is there no more. */
  isDeleted(name: string): boolean {
    return this.#deleted.has(name);
  }

  /** The Lease as it was seen last. */
  last(name: string): StoredLease | undefined {
    return this.#known.get(name)?.lease;
  }

  /** Until when the replica may act as far as this one can tell, on the monotonic clock; 0 where it has let go, or its container has ended. */
  aliveUntil(identity: string): Seconds {
    const { name } = leaseOfReplica(this.#options.base, identity);
    const known = this.#known.get(name)?.observation;
    if (known === undefined) {
      const since = this.#absent.get(identity) ?? this.#options.clock.monotonic();
      this.#absent.set(identity, since);
      return seconds(since + this.#options.duration);
    }
    this.#absent.delete(identity);
    return this.#countsUntil(known);
  }

  #countsUntil(own: Observation): Seconds {
    const { record } = own;
    return record.holder === '' || this.#options.containers.hasEnded(record) ? seconds(0) : expiryOf(own);
  }

  /**
   * Whether a replica may not act any more, up to a read at this moment: what the watch has brought may be behind. Nobody (an empty name)
   * is always gone. Rejects with ApiError.
   */
  async isGone(replica: string, signal: AbortSignal): Promise<boolean> {
    if (replica === '') {
      return true;
    }
    const { base, leases, clock } = this.#options;
    const { name, labels } = leaseOfReplica(base, replica);
    this.note(name, await leases.of(name, labels).get(signal));
    return this.aliveUntil(replica) <= clock.monotonic();
  }

  /**
   * Whether no replica takes part, by a read at this moment. One that joins has its own Lease before it writes that of a single leader, so
   * whoever has read the latter before, and writes it now, conflicts with it. Rejects with ApiError.
   */
  async isDeserted(signal: AbortSignal): Promise<boolean> {
    const found = await this.#options.leases.list(signal);
    this.look(new Map(found.map((lease) => [String(lease.metadata['name']), lease])));
    return this.replicas().size === 0;
  }

  /** Whether the holder of the Lease may act. A Lease that nobody holds has none that does. */
  isHeld({ record }: StoredLease): boolean {
    return record.holder !== '' && this.aliveUntil(record.holder) > this.#options.clock.monotonic();
  }

  /** Identities of the replicas that take part, with the time until when each counts. */
  replicas(): ReadonlyMap<string, Seconds> {
    const now = this.#options.clock.monotonic();
    const alive = new Map<string, Seconds>();
    for (const name of this.#present) {
      const known = this.#known.get(name);
      if (known !== undefined && purposeOf(known.lease) === 'replica' && known.observation.record.holder !== '') {
        const until = this.#countsUntil(known.observation);
        if (until > now) {
          alive.set(known.observation.record.holder, until);
        }
      }
    }
    return alive;
  }

  /** Leases that are there and that nobody has changed for so long. */
  unchangedFor(span: Seconds): readonly { readonly name: string; readonly lease: StoredLease }[] {
    const now = this.#options.clock.monotonic();
    return [...this.#present].flatMap((name) => {
      const known = this.#known.get(name);
      return known !== undefined && now - known.observation.since >= span ? [{ name, lease: known.lease }] : [];
    });
  }
}
