import { type Seconds, seconds } from '../model/units.ts';
import {
  type Clock,
  ConflictError,
  type Fence,
  type LeaseRecord,
  type LeaseStore,
  NamespaceMissingError,
  type StoredLease,
} from '../ports.ts';
import { freeLease } from './free-lease.ts';
import { hedged } from './hedged.ts';
import { claim, expiryOf, isFree, jitteredRetry, type LeaseTimes, type Observation, observe } from './lease.ts';
import { createWaker } from './periodic.ts';

/** The lease was lost: another replica has it, or it was not renewed in time. Another replica may lead by now. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
}

/** What an elector reports while it runs. */
export type ElectionEvent =
  /** Another replica leads, seen for the first time. */
  | { readonly kind: 'Waiting'; readonly holder: string }
  /** This replica leads; `epoch` is the lease's count of transitions. */
  | { readonly kind: 'Leading'; readonly epoch: number }
  /** This replica led, and must not act any more. */
  | { readonly kind: 'Lost'; readonly error: LeadershipLostError }
  /** The lease was given up, so that the next one need not wait. */
  | { readonly kind: 'Released' }
  /** A request failed; it is tried again. */
  | { readonly kind: 'Failed'; readonly error: unknown };

interface ElectorOptions {
  /** Unique among all replicas that ever were. */
  readonly identity: string;
  readonly times: LeaseTimes;
  readonly store: LeaseStore;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly report: (event: ElectionEvent) => void;
  /** Whether nobody acts any more for the holder of a Lease that has not run out; never unless said otherwise. */
  readonly isAbandoned?: (record: LeaseRecord, signal: AbortSignal) => Promise<boolean>;
  /** Registers a function that is called when that may have changed. */
  readonly onAbandoned?: (changed: () => void) => void;
}

/** What a leader does until its signal is aborted. */
export type Work = (epoch: number, signal: AbortSignal) => Promise<void>;

/** The lease while it is ours. */
interface Held {
  readonly lease: StoredLease;
  /** Until when we may act, on our monotonic clock. */
  readonly until: Seconds;
}

/**
 * Takes part in one election by client-go's rules (tools/leaderelection), and leads at most once: a process that has lost the
 * lease ends. Three things are stricter than in client-go. The right to act ends `renewDeadline` after the last successful
 * renewal was *sent*. Another replica counts from when it sees that renewal, so it takes over later, even if one clock runs half
 * as fast again as the other. A leader that sees another name in the lease stops at once. A replica that has seen a leader waits
 * for it even if the Lease was deleted.
 *
 * A renewal is hedged, since a replica tells by its own renewals how long another one has not renewed (see `rememberWrites`).
 *
 * The elector is the fence of all requests that change the cluster: it is open only while this replica leads, judged by
 * the monotonic clock at that moment, not by timers, which are late in a process that was paused.
 */
export class Elector implements Fence {
  readonly #options: ElectorOptions;
  /** Aborted when a leader has lost the lease. */
  readonly #term = new AbortController();
  /** Ends the wait for the next attempt. */
  readonly #waker = createWaker();
  #seen: Observation | undefined;
  #held: Held | undefined;
  #contactedAt: Seconds | undefined;
  /** Whether the lease may bear our name. */
  #claimed = false;

  constructor(options: ElectorOptions) {
    this.#options = options;
    options.onAbandoned?.(this.#waker.wake);
  }

  /** Whether this replica may act now. */
  get leading(): boolean {
    return this.#held !== undefined && this.#options.clock.monotonic() < this.#held.until;
  }

  /** When the store last answered, on the monotonic clock; undefined before the first time. */
  get contactedAt(): Seconds | undefined {
    return this.#contactedAt;
  }

  /** Throws LeadershipLostError as soon as the time to renew is over, and then ends the work at once. */
  assertOpen(): void {
    if (!this.leading) {
      this.#term.signal.throwIfAborted();
      if (this.#held === undefined) {
        throw new Error('a replica that does not lead was about to change the cluster');
      }
      this.#expire();
      this.#term.signal.throwIfAborted();
    }
  }

  /**
   * Waits for the lease, then runs `work` and renews the lease until `work` has ended; gives the lease up afterwards.
   * `work` must end when its signal is aborted: because of `stop`, or because the lease was lost. Resolves after `stop`
   * or with `work`. Rejects with LeadershipLostError, with what `work` throws, or with NamespaceMissingError.
   */
  async run(work: Work, stop: AbortSignal): Promise<void> {
    const held = await this.#acquire(stop);
    try {
      if (held !== undefined) {
        await this.#lead(held, work, stop);
      }
    } finally {
      await this.#release();
    }
  }

  async #acquire(stop: AbortSignal): Promise<Held | undefined> {
    while (!stop.aborted) {
      const held = await this.#attempt(stop);
      if (held !== undefined && this.#options.clock.monotonic() < held.until) {
        return held;
      }
      await this.#waker.wait(this.#patience(), this.#options.clock, stop);
    }
    return undefined;
  }

  /** While another replica leads, reads the lease every retry period, when woken, and at the moment when it expires. */
  #patience(): Seconds {
    const { clock, times, random } = this.#options;
    const left = this.#seen === undefined ? 0 : expiryOf(this.#seen) - clock.monotonic();
    return left > 0 ? seconds(Math.min(times.retryPeriod, left)) : jitteredRetry(times, random);
  }

  async #attempt(stop: AbortSignal): Promise<Held | undefined> {
    try {
      return await this.#takeIfFree(stop);
    } catch (error) {
      if (error instanceof NamespaceMissingError) {
        throw error;
      }
      this.#reportFailure(error, stop);
      return undefined;
    }
  }

  async #takeIfFree(stop: AbortSignal): Promise<Held | undefined> {
    const { identity, clock, isAbandoned } = this.#options;
    const lease = await this.#read(stop);
    if (this.#seen !== undefined && !isFree(this.#seen, identity, clock.monotonic())) {
      if (isAbandoned === undefined || !(await isAbandoned(this.#seen.record, stop))) {
        return undefined;
      }
    }
    return await this.#write(lease, stop);
  }

  async #lead(held: Held, work: Work, stop: AbortSignal): Promise<void> {
    const { signal: lost } = this.#term;
    const epoch = held.lease.record.transitions;
    const ended = new AbortController();
    this.#held = held;
    this.#options.report({ kind: 'Leading', epoch });
    const keeping = this.#keep(AbortSignal.any([lost, ended.signal]));
    try {
      await work(epoch, AbortSignal.any([stop, lost]));
    } catch (error) {
      lost.throwIfAborted();
      throw error;
    } finally {
      ended.abort();
      await keeping;
    }
    lost.throwIfAborted();
  }

  /** Renews, and watches the deadline, until aborted. */
  async #keep(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all([this.#renewals(signal), this.#deadline(signal)]);
    } catch (error) {
      this.#lose('renewing the lease failed for good', { cause: error });
    }
  }

  async #renewals(signal: AbortSignal): Promise<void> {
    while (await this.#slept(this.#options.times.retryPeriod, signal)) {
      await this.#renew(signal);
    }
  }

  async #deadline(signal: AbortSignal): Promise<void> {
    while (this.#held !== undefined && this.leading) {
      const left = seconds(this.#held.until - this.#options.clock.monotonic());
      if (!(await this.#slept(left, signal))) {
        return;
      }
    }
    this.#expire();
  }

  async #renew(signal: AbortSignal): Promise<void> {
    if (!this.leading) {
      return this.#expire();
    }
    const { times, clock } = this.#options;
    try {
      const renewed = await hedged((at) => this.#renewed(at), times.hedgeAfter, clock, signal);
      if (!this.leading) {
        this.#expire();
      } else if (renewed !== undefined) {
        this.#held = renewed;
      }
    } catch (error) {
      this.#reportFailure(error, signal);
    }
  }

  /** client-go's fast path first: no other replica writes while this one leads. */
  async #renewed(signal: AbortSignal): Promise<Held | undefined> {
    const lease = this.#held?.lease;
    try {
      return await this.#write(lease, signal);
    } catch (error) {
      if (!(error instanceof ConflictError)) {
        throw error;
      }
    }
    const found = await this.#read(signal);
    if (found !== undefined && found.record.holder !== this.#options.identity) {
      this.#lose(`the lease is held by ${JSON.stringify(found.record.holder)}`);
      return undefined;
    }
    return await this.#write(found, signal);
  }

  async #read(signal: AbortSignal): Promise<StoredLease | undefined> {
    const lease = await this.#options.store.get(signal);
    this.#contactedAt = this.#options.clock.monotonic();
    if (lease !== undefined) {
      this.#see(lease);
    }
    return lease;
  }

  /** Replaces `target`, or makes a Lease that goes on counting where the one that was deleted ended. */
  async #write(target: StoredLease | undefined, signal: AbortSignal): Promise<Held> {
    const { store, clock, identity, times } = this.#options;
    const record = claim(target?.record ?? this.#seen?.record, identity, times, clock.now());
    const sentAt = clock.monotonic();
    this.#claimed = true;
    const lease =
      target === undefined ? await store.create(record, signal) : await store.update(target, record, signal);
    this.#contactedAt = clock.monotonic();
    this.#see(lease);
    return { lease, until: seconds(sentAt + times.renewDeadline) };
  }

  #see({ record }: StoredLease): void {
    const { identity, clock, report } = this.#options;
    const known = this.#seen?.record.holder;
    this.#seen = observe(this.#seen, record, clock.monotonic());
    if (record.holder !== known && record.holder !== identity && record.holder !== '') {
      report({ kind: 'Waiting', holder: record.holder });
    }
  }

  #expire(): void {
    this.#lose(`the lease could not be renewed within ${Math.round(this.#options.times.renewDeadline * 100) / 100} s`);
  }

  #lose(why: string, options?: ErrorOptions): void {
    if (this.#held !== undefined) {
      const error = new LeadershipLostError(why, options);
      this.#held = undefined;
      this.#term.abort(error);
      this.#options.report({ kind: 'Lost', error });
    }
  }

  /** After a clean stop only: a replica that has lost the lease does not know whose it is. */
  async #release(): Promise<void> {
    const { store, clock, identity, report } = this.#options;
    this.#held = undefined;
    if (!this.#claimed || this.#term.signal.aborted) {
      return;
    }
    try {
      if (await freeLease(store, clock, (holder) => holder === identity)) {
        report({ kind: 'Released' });
      }
    } catch (error) {
      report({ kind: 'Failed', error });
    }
  }

  #reportFailure(error: unknown, signal: AbortSignal): void {
    if (!signal.aborted && !(error instanceof ConflictError)) {
      this.#options.report({ kind: 'Failed', error });
    }
  }

  /** Whether the time has passed; false when aborted before. */
  async #slept(span: Seconds, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.clock.sleep(span, signal);
      return true;
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
      return false;
    }
  }
}
