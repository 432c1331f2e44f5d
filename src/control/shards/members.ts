import { type Seconds, seconds } from '../../model/units.ts';
import type { StoredLease } from '../../ports.ts';
import { releasedBy, type Shard } from './names.ts';
import { rendezvous } from './rendezvous.ts';

/** The replicas that take part, as one of them has seen them come and go, and which of them a shard falls to. Times are on its monotonic clock. */
export class Members {
  readonly #duration: Seconds;
  /** When each of them was seen first. */
  readonly #joined = new Map<string, Seconds>();
  #sameSince: Seconds = seconds(0);

  /** `duration` is that of a Lease. */
  constructor(duration: Seconds) {
    this.#duration = duration;
  }

  /** Since when they are the same. */
  get sameSince(): Seconds {
    return this.#sameSince;
  }

  /** These take part now. */
  count(replicas: ReadonlySet<string>, now: Seconds): void {
    const gone = [...this.#joined.keys()].filter((replica) => !replicas.has(replica));
    const come = [...replicas].filter((replica) => !this.#joined.has(replica));
    for (const replica of gone) {
      this.#joined.delete(replica);
    }
    for (const replica of come) {
      this.#joined.set(replica, now);
    }
    if (gone.length + come.length > 0) {
      this.#sameSince = now;
    }
  }

  /** The one that a shard falls to once they have been the same for a while; undefined where nobody takes part. */
  first(shard: Shard): string | undefined {
    return rendezvous(shard, this.#joined.keys())[0];
  }

  /**
   * Those that may take a free shard, whose Lease was last seen like this, the first choice first. The one that has let go of it is none
   * of them. Where its leader was killed, only established ones are: others cannot tell yet that it was.
   */
  heirs(shard: Shard, lease: StoredLease | undefined, now: Seconds): readonly string[] {
    if (lease !== undefined && lease.record.holder !== '') {
      return this.established(shard, now);
    }
    const others = [...this.#joined.keys()].filter((replica) => lease === undefined || replica !== releasedBy(lease));
    return rendezvous(shard, others.length === 0 ? this.#joined.keys() : others);
  }

  /** Those that have not joined just now, the first choice for the shard first; all, where all have. */
  established(shard: Shard, now: Seconds): readonly string[] {
    const old = [...this.#joined].filter(([, since]) => now - since >= this.#duration).map(([replica]) => replica);
    return rendezvous(shard, old.length === 0 ? this.#joined.keys() : old);
  }
}
