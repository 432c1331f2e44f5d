import type { Mutex } from '../../model/mutex.ts';
import { replicaName } from '../../model/replica.ts';
import type { Shard } from './names.ts';

/** The time for which a replica leads a shard. */
export interface Term {
  /** `leaseTransitions` of the Lease of the shard, which intents carry; undefined without leader election. */
  readonly epoch: number | undefined;
  /** Aborted when the shard was lost: nothing may be changed for it any more. */
  readonly signal: AbortSignal;
}

/** Which part of the work this replica leads. */
export interface Leadership {
  /** This replica, for people; undefined without leader election. */
  readonly replica: string | undefined;
  /** Says which shards there are. */
  keep(shards: ReadonlySet<Shard>): void;
  /** Undefined while this replica does not lead the shard, or lets go of it. */
  of(shard: Shard): Term | undefined;
  /** Calls `changed` when this replica leads more or less than before. */
  onChange(changed: () => void): void;
  /** Before a shard goes to another replica, all that `ended` resolves for must be over: nothing new begins for it by then. */
  onHandOver(ended: (shard: Shard) => Promise<void>): void;
  /** What excludes the work of `own`, of which there is one in a process, and that of other replicas. */
  exclusive(own: Mutex): Mutex;
  /** Resolves when the intents that any replica has recorded until now are seen in the plans. Rejects with ApiError, and StaleCacheError. */
  caughtUp(signal: AbortSignal): Promise<void>;
}

/** One replica leads everything, until the signal with which its work was begun is aborted. */
export function leadingEverything(identity: string | undefined, epoch: number | undefined): Leadership {
  const term: Term = { epoch, signal: new AbortController().signal };
  return {
    replica: identity === undefined ? undefined : replicaName(identity),
    keep: () => undefined,
    of: () => term,
    onChange: () => undefined,
    onHandOver: () => undefined,
    exclusive: (own) => own,
    caughtUp: async () => undefined,
  };
}
