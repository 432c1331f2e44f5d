import type { Mutex } from '../../model/mutex.ts';
import { type Seconds, seconds } from '../../model/units.ts';
import { type Clock, ConflictError, type LeaseStore, type SharedLeases, type StoredLease } from '../../ports.ts';
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
  readonly plans: SharedPlans;
  readonly report: (event: { readonly kind: 'Failed'; readonly error: unknown }) => void;
}

/** Says up to where the last replica that decided has written. */
const WRITTEN = 'evenkeel.dev/written';
/** Between two looks at a Lease that another replica holds: it does so for as long as a write takes. */
const FIRST_LOOK: Seconds = seconds(0.02);
const LONGEST_LOOK: Seconds = seconds(0.5);

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

/** Resolves when what the replicas have recorded until now is seen: before it is acted on, its versions stand in the Lease. */
export async function catchUp(
  { base, leases, plans }: Pick<DecisionOptions, 'base' | 'leases' | 'plans'>,
  signal: AbortSignal,
): Promise<void> {
  const { name, labels } = leaseOfDecisions(base);
  const lease = await leases.of(name, labels).get(signal);
  await (lease && catchUpWith(lease, plans, signal));
}

/** `undefined` versions: a person has changed them. */
async function catchUpWith(lease: StoredLease, plans: SharedPlans, signal: AbortSignal): Promise<void> {
  const versions = writtenIn(lease);
  if (versions === undefined) {
    plans.renew();
  } else {
    await plans.caughtUp(versions, signal);
  }
}

class DecisionLock {
  readonly #store: LeaseStore;
  readonly #name: string;
  readonly #options: DecisionOptions;
  #held: StoredLease | undefined;

  constructor(store: LeaseStore, name: string, options: DecisionOptions) {
    this.#store = store;
    this.#name = name;
    this.#options = options;
  }

  async acquire(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let found = this.#options.sight.last(this.#name);
    for (let wait = FIRST_LOOK; ; wait = seconds(Math.min(LONGEST_LOOK, 2 * wait))) {
      if (found === undefined || (await this.#isFree(found, signal))) {
        const taken = await this.#take(found, signal);
        if (taken !== undefined) {
          this.#held = taken;
          return await this.#catchUp(found, signal);
        }
      } else {
        await clock.sleep(wait, signal);
      }
      found = await this.#store.get(signal);
    }
  }

  async #isFree({ record }: StoredLease, signal: AbortSignal): Promise<boolean> {
    const { identity, sight } = this.#options;
    const isSomebodys = record.holder !== '' && record.holder !== identity;
    return !isSomebodys || (await sight.isGone(record.holder, signal));
  }

  /** `undefined`: another replica was faster. */
  async #take(found: StoredLease | undefined, signal: AbortSignal): Promise<StoredLease | undefined> {
    const { identity, times, clock } = this.#options;
    const record = claim(found?.record, identity, times, clock.now());
    try {
      return await (found === undefined
        ? this.#store.create(record, signal)
        : this.#store.update(found, record, signal));
    } catch (error) {
      if (error instanceof ConflictError) {
        return undefined;
      }
      void this.#freeLater(); // the answer may be lost, and not the request
      throw error;
    }
  }

  /** A replica that was killed has not said what it wrote. */
  async #catchUp(before: StoredLease | undefined, signal: AbortSignal): Promise<void> {
    const { identity, plans } = this.#options;
    if (before === undefined || before.record.holder === identity) {
      return;
    }
    if (before.record.holder !== '') {
      plans.renew();
      return;
    }
    try {
      await catchUpWith(before, plans, signal);
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  /** What cannot be freed now is freed later: others wait for it, and this replica has it meanwhile. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined && !(await this.#freed(held))) {
      void this.#freeLater();
    }
  }

  async #freeLater(): Promise<void> {
    const { clock, times, identity, report } = this.#options;
    const { signal } = new AbortController();
    for (let isLeft = true; isLeft && this.#held === undefined; ) {
      await clock.sleep(times.retryPeriod, signal);
      const found = await this.#store.get(signal).catch((error: unknown) => {
        report({ kind: 'Failed', error });
        return null;
      });
      const isOurs = found?.record.holder === identity && this.#held === undefined;
      isLeft = found === null || (isOurs && !(await this.#freed(found)));
    }
  }

  /** Whether nothing is left to do: a conflict shows that the Lease was written since, by whoever has it now. */
  async #freed(held: StoredLease): Promise<boolean> {
    const { clock, plans, report } = this.#options;
    const written = JSON.stringify(plans.written(writtenIn(held) ?? NOTHING));
    const { signal } = new AbortController();
    try {
      await this.#store.update(annotated(held, { [WRITTEN]: written }), released(held.record, clock.now()), signal);
      return true;
    } catch (error) {
      if (error instanceof ConflictError) {
        return true;
      }
      report({ kind: 'Failed', error });
      return false;
    }
  }
}

const NOTHING: PlanVersions = { plans: '', journals: '' };

/** `undefined` where a person has changed it. */
function writtenIn({ metadata }: StoredLease): PlanVersions | undefined {
  const text = textIn(metadata['annotations'], WRITTEN);
  if (text === undefined) {
    return NOTHING;
  }
  try {
    const found: unknown = JSON.parse(text);
    return { plans: textIn(found, 'plans') ?? '', journals: textIn(found, 'journals') ?? '' };
  } catch {
    return undefined;
  }
}
