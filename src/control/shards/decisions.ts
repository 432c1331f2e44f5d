import { isObject } from '../../model/json.ts';
import type { Mutex } from '../../model/mutex.ts';
import { type Seconds, seconds } from '../../model/units.ts';
import {
  type Clock,
  ConflictError,
  type LeaseStore,
  type SharedLeases,
  StaleCacheError,
  type StoredLease,
} from '../../ports.ts';
import { claim, type LeaseTimes, released } from '../lease.ts';
import { annotated, leaseOfDecisions, textIn } from './names.ts';
import type { Sight } from './sight.ts';

/** Up to where plans and their journals were written: resourceVersions; empty where nothing was. */
export interface PlanVersions {
  readonly plans: string;
  readonly journals: string;
}

/** The plans as this replica sees them, beside others that write some. */
export interface SharedPlans {
  /** The newest of what this replica has written, or of `before` where that is newer. */
  written(before: PlanVersions): PlanVersions;
  /** Resolves when all that was written up to these versions is seen. Rejects with StaleCacheError where it takes too long. */
  caughtUp(versions: PlanVersions, signal: AbortSignal): Promise<void>;
  /** All that was written up to now must be seen before anything more is read. */
  renew(): void;
}

/** What decisions are excluded with. */
export interface DecisionOptions {
  readonly base: string;
  readonly identity: string;
  readonly times: LeaseTimes;
  readonly leases: SharedLeases;
  readonly clock: Clock;
  readonly sight: Sight;
  readonly recorded: RecordedPlans;
  readonly report: (event: { readonly kind: 'Failed'; readonly error: unknown }) => void;
}

/** Says up to where the last replica that decided has written. */
const WRITTEN = 'evenkeel.dev/written';
/** Between two looks at a Lease that another replica holds: it does so for as long as a write takes. */
const FIRST_LOOK: Seconds = seconds(0.02);
const LONGEST_LOOK: Seconds = seconds(0.5);
/** Time for a replica that decides to say what it has written. */
const PATIENCE: Seconds = seconds(1);
const NOTHING: PlanVersions = { plans: '', journals: '' };

/** What the Lease says of the plans. */
interface Written extends PlanVersions {
  /**
   * `leaseTransitions` of when more than the versions say may have been written, by a replica that was killed while it held the Lease:
   * each replica lists the plans anew once for that.
   */
  readonly unknown: number;
}

/** What this replica has seen of what all have recorded. */
export class RecordedPlans {
  readonly #plans: SharedPlans;
  /** Plans were listed anew for this `unknown`. */
  #renewedFor = -1;

  constructor(plans: SharedPlans) {
    this.#plans = plans;
  }

  /** Resolves when what the Lease says was written is seen; to what is to be said in it from then on. */
  async caughtUp(lease: StoredLease, signal: AbortSignal): Promise<Written> {
    const { transitions } = lease.record;
    const written = writtenIn(lease) ?? { ...NOTHING, unknown: transitions };
    if (written.unknown > this.#renewedFor) {
      this.renew();
      this.#renewedFor = written.unknown;
    }
    try {
      await this.#plans.caughtUp(written, signal);
      return written;
    } catch (error) {
      if (!(error instanceof StaleCacheError)) {
        throw error;
      }
      // Versions that never come, since a person has written them, must not be waited for at every decision.
      this.renew();
      this.#renewedFor = transitions;
      return { ...NOTHING, unknown: transitions };
    }
  }

  /** All that was written up to now must be seen before anything more is read. */
  renew(): void {
    this.#plans.renew();
  }

  /** What is to be said when the Lease is freed. */
  withOwn(written: Written): Written {
    return { ...this.#plans.written(written), unknown: written.unknown };
  }
}

/**
 * One decision at a time over all replicas: whoever holds the Lease has seen what the one before it has written, and writes what
 * follows from that before it lets go. One that was killed while it held the Lease is waited for until its own Lease is over.
 */
export function createDecisions(own: Mutex, options: DecisionOptions): Mutex {
  const { name, labels } = leaseOfDecisions(options.base);
  const lock = new DecisionLock(options.leases.of(name, labels), name, options);
  return {
    runExclusive: (work, signal) =>
      own.runExclusive(async () => {
        await lock.acquire(signal);
        try {
          return await work();
        } finally {
          await lock.release();
        }
      }, signal),
  };
}

/**
 * Resolves when what the replicas have recorded until now is seen. A replica that holds the Lease, or could not free it, has not said yet
 * what it has recorded: where it does not in time, all plans are listed anew. Rejects with ApiError, and when aborted.
 */
export async function catchUp(
  { base, identity, leases, clock, recorded }: Omit<DecisionOptions, 'times' | 'sight' | 'report'>,
  signal: AbortSignal,
): Promise<void> {
  const { name, labels } = leaseOfDecisions(base);
  const store = leases.of(name, labels);
  const since = clock.monotonic();
  for (let wait = FIRST_LOOK; ; wait = seconds(Math.min(LONGEST_LOOK, 2 * wait))) {
    const lease = await store.get(signal);
    if (lease === undefined) {
      return;
    }
    if (lease.record.holder === '' || lease.record.holder === identity) {
      await recorded.caughtUp(lease, signal);
      return;
    }
    if (clock.monotonic() - since >= PATIENCE) {
      recorded.renew();
      return;
    }
    await clock.sleep(wait, signal);
  }
}

class DecisionLock {
  readonly #store: LeaseStore;
  readonly #name: string;
  readonly #options: DecisionOptions;
  #held: StoredLease | undefined;
  /** What the Lease is to say when it is freed. */
  #written: Written | undefined;
  /** Whether the Lease is being taken, or held: then it is freed by whoever does. */
  #isWanted = false;

  constructor(store: LeaseStore, name: string, options: DecisionOptions) {
    this.#store = store;
    this.#name = name;
    this.#options = options;
  }

  async acquire(signal: AbortSignal): Promise<void> {
    this.#isWanted = true;
    try {
      this.#held = await this.#taken(signal);
      this.#written = await this.#options.recorded.caughtUp(this.#held, signal);
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  async #taken(signal: AbortSignal): Promise<StoredLease> {
    const { clock, sight, times } = this.#options;
    let found = sight.last(this.#name);
    let missingSince: Seconds | undefined;
    for (let wait = FIRST_LOOK; ; wait = seconds(Math.min(LONGEST_LOOK, 2 * wait))) {
      const isMissed = missingSince !== undefined && clock.monotonic() - missingSince >= times.duration;
      // Whoever held a Lease that somebody has deleted may not know of that.
      const last = found ?? (isMissed ? undefined : sight.last(this.#name));
      if (last === undefined || (await this.#isFree(last, signal))) {
        const taken = await this.#take(found, signal);
        if (taken !== undefined) {
          return taken;
        }
      } else {
        await clock.sleep(wait, signal);
      }
      found = await this.#store.get(signal);
      missingSince = found === undefined ? (missingSince ?? clock.monotonic()) : undefined;
    }
  }

  async #isFree({ record }: StoredLease, signal: AbortSignal): Promise<boolean> {
    const { identity, sight } = this.#options;
    const isSomebodys = record.holder !== '' && record.holder !== identity;
    return !isSomebodys || (await sight.isGone(record.holder, signal));
  }

  /** `undefined`: another replica was faster. */
  async #take(found: StoredLease | undefined, signal: AbortSignal): Promise<StoredLease | undefined> {
    const { identity, times, clock, sight } = this.#options;
    const record = claim((found ?? sight.last(this.#name))?.record, identity, times, clock.now());
    try {
      return await (found === undefined
        ? this.#store.create(record, signal)
        : this.#store.update(this.#markedIfKilled(found, record.transitions), record, signal));
    } catch (error) {
      if (error instanceof ConflictError) {
        return undefined;
      }
      void this.#freeLater(); // the answer may be lost, and not the request
      throw error;
    }
  }

  /** A replica that was killed has not said what it wrote. That this is so must not be lost with the answer. */
  #markedIfKilled(found: StoredLease, unknown: number): StoredLease {
    const { holder } = found.record;
    const isOver = holder === '' || holder === this.#options.identity;
    return isOver
      ? found
      : annotated(found, { [WRITTEN]: JSON.stringify({ ...(writtenIn(found) ?? NOTHING), unknown }) });
  }

  /** What cannot be freed now is freed later: others wait for it, and this replica has it meanwhile. */
  async release(): Promise<void> {
    const [held, written] = [this.#held, this.#written];
    this.#held = undefined;
    this.#written = undefined;
    this.#isWanted = false;
    if (held !== undefined && !(await this.#freed(held, written))) {
      void this.#freeLater();
    }
  }

  async #freeLater(): Promise<void> {
    const { clock, times, identity, report } = this.#options;
    const { signal } = new AbortController();
    for (let isLeft = true; isLeft; ) {
      await clock.sleep(times.retryPeriod, signal);
      const found = await this.#store.get(signal).catch((error: unknown) => {
        report({ kind: 'Failed', error });
        return null;
      });
      isLeft =
        found === null ||
        (found?.record.holder === identity && (this.#isWanted || !(await this.#freed(found, undefined))));
    }
  }

  /** Whether the Lease is free. A conflict shows that it was written since, but not by whom: it may be a person who annotates it. */
  async #freed(held: StoredLease, written = writtenIn(held)): Promise<boolean> {
    const { clock, recorded, report } = this.#options;
    const { transitions } = held.record;
    const text = JSON.stringify(recorded.withOwn(written ?? { ...NOTHING, unknown: transitions }));
    const { signal } = new AbortController();
    try {
      await this.#store.update(annotated(held, { [WRITTEN]: text }), released(held.record, clock.now()), signal);
      return true;
    } catch (error) {
      if (!(error instanceof ConflictError)) {
        report({ kind: 'Failed', error });
      }
      return false;
    }
  }
}

/** `undefined` where nothing is said, or a person has changed it. */
function writtenIn({ metadata, record }: StoredLease): Written | undefined {
  try {
    const found: unknown = JSON.parse(textIn(metadata['annotations'], WRITTEN) ?? '');
    const [plans, journals] = [textIn(found, 'plans'), textIn(found, 'journals')];
    const unknown: unknown = isObject(found) ? found['unknown'] : undefined;
    return plans === undefined ||
      journals === undefined ||
      !(typeof unknown === 'number' && unknown <= record.transitions)
      ? undefined
      : { plans, journals, unknown };
  } catch {
    return undefined;
  }
}
