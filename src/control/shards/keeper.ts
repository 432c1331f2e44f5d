import { runConcurrently } from '../../model/concurrent.ts';
import { POLICY_LABEL } from '../../model/lease-labels.ts';
import type { Mutex } from '../../model/mutex.ts';
import { replicaName } from '../../model/replica.ts';
import { type Seconds, seconds } from '../../model/units.ts';
import { type Clock, ConflictError, type LeaseStore, type ReplicaContainers, type StoredLease } from '../../ports.ts';
import { hedged } from '../hedged.ts';
import { claim, type LeaseTimes, released } from '../lease.ts';
import { createWaker } from '../periodic.ts';
import { Attempts } from './attempts.ts';
import { catchUp, createDecisions, RecordedPlans, type SharedPlans } from './decisions.ts';
import type { Leadership, Term } from './leadership.ts';
import { Members } from './members.ts';
import { annotated, leaseOfReplica, leaseOfShard, purposeOf, RELEASED_BY, REST, type Shard, textIn } from './names.ts';
import type { RememberedLeases } from './own-writes.ts';
import { Sight } from './sight.ts';

/** What a keeper reports while it runs. */
export type ShardEvent =
  /** This replica leads the shard; `before` is whether another one did, which may have written until then. */
  | { readonly kind: 'Led'; readonly shard: Shard; readonly epoch: number; readonly before: boolean }
  /** The shard was let go of, for another replica to lead it. */
  | { readonly kind: 'HandedOver'; readonly shard: Shard }
  /** Somebody else has written the Lease of the shard. */
  | { readonly kind: 'Lost'; readonly shard: Shard; readonly error: Error }
  /** A request failed; it is tried again. */
  | { readonly kind: 'Failed'; readonly error: unknown };

/** What a keeper works with. */
export interface KeeperOptions {
  /** Name of the Lease that a single leader would have; the others' names begin with it. */
  readonly base: string;
  /** Of this replica, as its own Lease names it. */
  readonly identity: string;
  readonly times: LeaseTimes;
  readonly leases: RememberedLeases;
  readonly containers: Pick<ReplicaContainers, 'hasEnded' | 'onChange'>;
  readonly clock: Clock;
  readonly report: (event: ShardEvent) => void;
  readonly plans: SharedPlans;
}

/** A shard that this replica leads. */
interface Held {
  lease: StoredLease;
  readonly lost: AbortController;
  /** Whether it is being let go of. */
  isLeaving: boolean;
  /** It is not let go of before, on the monotonic clock. */
  keptUntil: Seconds;
}

/** A shard that this replica may take. */
interface FreeShard {
  readonly shard: Shard;
  /** Its Lease as it was seen last, whose holder is nobody or dead; undefined for one that was never seen. */
  readonly last: StoredLease | undefined;
  /** Whether it falls to this replica: another one that it falls to gets it later. */
  readonly isInTurn: boolean;
}

/** Leases that are written at a time, of those that are taken together. */
const WRITES_AT_A_TIME = 4;
/** After so many lease durations without a change, the Lease of a replica that has ended is deleted. */
const FORGOTTEN_AFTER = 10;
/** A shard that another replica should have taken, and has not, is led for so many lease durations before that one may take it again. */
const KEPT_OUT_OF_TURN = 4;
/** The watch is behind when it has not shown a renewal of this replica for so many retry periods; one that is not shows each within little more than one. */
const BEHIND_AFTER = 2;

/**
 * Leads the shards that fall to this replica, as long as the Lease of the replica itself is held, which is another's business (see
 * `Elector`): the Lease of a shard names who leads it and need not be renewed, since it is valid for as long as the Lease of the replica
 * that it names. So:
 *
 * - A shard is free when nobody holds its Lease, or when the replica that does is dead: its Lease has been seen unchanged for its whole
 *   duration, up to a read at that moment, or its container has ended. The first in the order of rendezvous takes it; if it does not, the next one a duration later.
 * - A shard that falls to another replica is handed over once the replicas have been the same for a duration: nothing new is begun, what
 *   is under way ends, then the Lease is freed. A replica that ends does the same with all that it leads.
 * - A holder that sees another name in the Lease, or another Lease of its name, leads the shard no longer.
 */
export class ShardKeeper implements Leadership {
  readonly replica: string;
  readonly #options: KeeperOptions;
  readonly #sight: Sight;
  readonly #recorded: RecordedPlans;
  readonly #waker = createWaker();
  readonly #members: Members;
  readonly #held = new Map<Shard, Held>();
  readonly #freeSince = new Map<Shard, Seconds>();
  readonly #attempts: Attempts;
  #sweeping: Promise<void> | undefined;
  readonly #leaving = new Map<Shard, Promise<void>>();
  #shards: ReadonlySet<Shard> = new Set([REST]);
  /** When the watch was last begun anew because it was behind, on the monotonic clock. */
  #watchedAnew: Seconds = seconds(0);
  readonly #listeners: (() => void)[] = [];
  readonly #ended: ((shard: Shard) => Promise<void>)[] = [];

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.replica = replicaName(options.identity);
    const { times, plans, containers, clock, report } = options;
    this.#recorded = new RecordedPlans(plans);
    this.#sight = new Sight({ ...options, duration: times.duration });
    this.#members = new Members(times.duration);
    this.#attempts = new Attempts({
      clock,
      rest: times.retryPeriod,
      failed: (error) => report({ kind: 'Failed', error }),
      ended: this.#waker.wake,
    });
    containers.onChange(this.#waker.wake);
  }

  keep(shards: ReadonlySet<Shard>): void {
    const known = this.#shards;
    if (shards.size !== known.size || [...shards].some((shard) => !known.has(shard))) {
      this.#shards = shards;
      this.#waker.wake();
    }
  }

  of(shard: Shard): Term | undefined {
    const held = this.#held.get(shard);
    return held === undefined || held.isLeaving
      ? undefined
      : { epoch: held.lease.record.transitions, signal: held.lost.signal };
  }

  onChange(changed: () => void): void {
    this.#listeners.push(changed);
  }

  onHandOver(ended: (shard: Shard) => Promise<void>): void {
    this.#ended.push(ended);
  }

  exclusive(own: Mutex): Mutex {
    return createDecisions(own, { ...this.#options, sight: this.#sight, recorded: this.#recorded });
  }

  async caughtUp(signal: AbortSignal): Promise<void> {
    await catchUp({ ...this.#options, recorded: this.#recorded }, signal);
  }

  /** Sees what becomes of the Leases until aborted. It may begin before this replica takes part: what it has seen until then counts. */
  watch(signal: AbortSignal): Promise<void> {
    const changed = (): void => {
      this.#sight.look();
      this.#waker.wake();
    };
    return this.#options.leases.watch(changed, signal);
  }

  /** Takes part until aborted, while the Leases are watched and that of this replica is held; then hands over all that it leads. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#waker.wait(this.#round(signal), this.#options.clock, signal);
    }
    await this.#attempts.idle();
    await Promise.all([...this.#held.keys()].map((shard) => this.#handOver(shard, true)));
  }

  /** Whether no replica is left, this one having given up its own Lease. Rejects with ApiError. */
  isLast(): Promise<boolean> {
    return this.#sight.isDeserted(new AbortController().signal);
  }

  /** Begins all that is due, and waits for none of it: one answer that does not come delays nothing else. Returns the time until the next round. */
  #round(signal: AbortSignal): Seconds {
    const now = this.#look();
    const { times } = this.#options;
    // The watch wakes it more often, by the renewals of this replica; when it does not, it may be behind.
    const due: number[] = [BEHIND_AFTER * times.retryPeriod, ...this.#untilDead(now)];
    const settles = this.#members.sameSince + times.duration - now;
    for (const [shard, held] of [...this.#held]) {
      if (!held.isLeaving && !this.#isMine(shard)) {
        const wait = Math.max(this.#shards.has(shard) ? settles : 0, held.keptUntil - now);
        if (wait <= 0) {
          void this.#handOver(shard, false);
        } else {
          due.push(wait);
        }
      }
    }
    this.#restore(now, signal);
    const wanted = [...this.#shards].filter((shard) => !this.#held.has(shard) && !this.#attempts.isBusy(shard));
    const waits = new Map(wanted.map((shard) => [shard, this.#untilDue(shard, now)]));
    due.push(...[...waits.values()].filter((wait) => wait > 0));
    const free = wanted.filter((shard) => (waits.get(shard) ?? 0) <= 0);
    this.#takeAll(
      free.map((shard) => this.#foundFree(shard, now)),
      signal,
    );
    this.#sweep(signal);
    return seconds(Math.min(...due));
  }

  /** Counts the replicas, and gives up what somebody else has written. Returns the time. */
  #look(): Seconds {
    const { clock, identity } = this.#options;
    const now = clock.monotonic();
    this.#watchAnewIfBehind(now);
    this.#members.count(new Set([...this.#sight.replicas().keys(), identity]), now);
    for (const [shard, held] of this.#held) {
      const seen = this.#sight.last(this.#nameOf(shard));
      if (seen !== undefined && !held.isLeaving && isAnothers(seen, held.lease, identity)) {
        this.#lose(shard, held, `its Lease is held by ${JSON.stringify(seen.record.holder)}`);
      }
    }
    return now;
  }

  /** A watch that is behind shows a replica that was killed as if it lived. It shows the renewals of this one late, too, which tells it. */
  #watchAnewIfBehind(now: Seconds): void {
    const { base, identity, leases, times, clock } = this.#options;
    const shown = leases.seen.get(leaseOfReplica(base, identity).name);
    const isBehind = shown !== undefined && clock.now() - shown.record.renewedAt > BEHIND_AFTER * times.retryPeriod;
    if (isBehind && now - this.#watchedAnew > times.duration) {
      this.#watchedAnew = now;
      leases.renew();
    }
  }

  /** Makes Leases anew that somebody has deleted: a replica that has not seen them would take the shards to be free. */
  #restore(now: Seconds, signal: AbortSignal): void {
    for (const [shard, held] of this.#held) {
      const mayBegin = !(held.isLeaving || this.#attempts.isBusy(shard)) && this.#attempts.restOf(shard, now) <= 0;
      if (mayBegin && this.#sight.isDeleted(this.#nameOf(shard))) {
        this.#attempts.begin([shard], () => this.#make(shard, held, signal), signal);
      }
    }
  }

  async #make(shard: Shard, held: Held, signal: AbortSignal): Promise<void> {
    const store = this.#storeOf(shard);
    const name = this.#nameOf(shard);
    try {
      held.lease = await store.create(held.lease.record, signal);
      this.#sight.note(name, held.lease);
    } catch (error) {
      ignoreConflict(error);
      this.#sight.note(name, await store.get(signal));
    }
  }

  #nameOf(shard: Shard): string {
    return leaseOfShard(this.#options.base, shard).name;
  }

  #storeOf(shard: Shard): LeaseStore {
    const { base, leases } = this.#options;
    const { name, labels } = leaseOfShard(base, shard);
    return leases.of(name, labels);
  }

  /** Whether a shard falls to this replica once the replicas have been the same for a while. */
  #isMine(shard: Shard): boolean {
    return this.#shards.has(shard) && this.#members.first(shard) === this.#options.identity;
  }

  /** How long each replica counts yet: when one is dead, what it was the first choice for falls to another one, also where it leads nothing. */
  #untilDead(now: Seconds): readonly number[] {
    return [...this.#sight.replicas().values()].map((until) => until - now);
  }

  /** How long this replica has to wait before it takes a shard: until it is free, for those that come before it, and after a failure. */
  #untilDue(shard: Shard, now: Seconds): number {
    const { identity, times } = this.#options;
    const lease = this.#sight.last(this.#nameOf(shard));
    if (lease !== undefined && lease.record.holder !== identity && this.#sight.isHeld(lease)) {
      this.#freeSince.delete(shard);
      return this.#sight.aliveUntil(lease.record.holder) - now;
    }
    const since = this.#freeSince.get(shard) ?? now;
    this.#freeSince.set(shard, since);
    const place = this.#members.heirs(shard, lease, now).indexOf(identity);
    const turn = place < 0 ? times.retryPeriod : since + place * times.duration - now;
    return Math.max(turn, this.#attempts.restOf(shard, now));
  }

  #foundFree(shard: Shard, now: Seconds): FreeShard {
    const last = this.#sight.last(this.#nameOf(shard));
    return { shard, last, isInTurn: this.#members.established(shard, now)[0] === this.#options.identity };
  }

  /** Takes shards once a read has shown that those who led them are dead. */
  #takeAll(free: readonly FreeShard[], signal: AbortSignal): void {
    const { identity } = this.#options;
    for (const [holder, led] of Map.groupBy(free, ({ last }) => last?.record.holder ?? '')) {
      const takeEach = async (): Promise<void> => {
        if (holder === identity || (await this.#twice((at) => this.#sight.isGone(holder, at), signal))) {
          await runConcurrently(led, WRITES_AT_A_TIME, signal, (found) =>
            this.#attempts.run([found.shard], () => this.#take(found, signal), signal),
          );
        }
      };
      this.#attempts.begin(
        led.map(({ shard }) => shard),
        takeEach,
        signal,
      );
    }
  }

  /** Writes this replica into the Lease of a shard if that is still as it was seen last. */
  async #take(found: FreeShard, signal: AbortSignal): Promise<void> {
    const { shard, last } = found;
    const { identity, times, clock } = this.#options;
    const store = this.#storeOf(shard);
    const name = this.#nameOf(shard);
    const record = claim(last?.record, identity, times, clock.now());
    const isThere = last !== undefined && !this.#sight.isDeleted(name);
    try {
      const write = (at: AbortSignal) => (isThere ? store.update(last, record, at) : store.create(record, at));
      this.#lead(found, await this.#twice(write, signal));
    } catch (error) {
      ignoreConflict(error);
      const now = await store.get(signal);
      if (now?.record.holder === identity && now.record.transitions === record.transitions) {
        // It is what was written, whose answer was lost.
        this.#lead(found, now);
      } else {
        this.#sight.note(name, now);
      }
    }
  }

  /** For requests that somebody waits for who has no leader. */
  #twice<Answer>(request: (signal: AbortSignal) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    const { times, clock } = this.#options;
    return hedged(request, times.hedgeAfter, clock, signal);
  }

  #lead({ shard, last, isInTurn }: FreeShard, lease: StoredLease): void {
    const { times, clock, report } = this.#options;
    this.#sight.note(this.#nameOf(shard), lease);
    this.#freeSince.delete(shard);
    const keptUntil = seconds(isInTurn ? 0 : clock.monotonic() + KEPT_OUT_OF_TURN * times.duration);
    this.#held.set(shard, { lease, lost: new AbortController(), isLeaving: false, keptUntil });
    report({ kind: 'Led', shard, epoch: lease.record.transitions, before: last !== undefined });
    this.#tell();
  }

  /** `isEnding` says whether this replica ends, and so takes nothing back. */
  #handOver(shard: Shard, isEnding: boolean): Promise<void> {
    const under = this.#leaving.get(shard) ?? this.#letGo(shard, isEnding);
    this.#leaving.set(shard, under);
    return under.finally(() => this.#leaving.delete(shard));
  }

  async #letGo(shard: Shard, isEnding: boolean): Promise<void> {
    const held = this.#held.get(shard);
    if (held === undefined) {
      return;
    }
    const { report, clock, times } = this.#options;
    held.isLeaving = true;
    this.#tell();
    await Promise.all(this.#ended.map((ended) => ended(shard)));
    try {
      await this.#free(shard, held);
      this.#held.delete(shard);
      report({ kind: 'HandedOver', shard });
    } catch (error) {
      report({ kind: 'Failed', error });
      if (!isEnding) {
        // Nobody else can take it before it is freed: it is led again, and handed over later.
        held.isLeaving = false;
        held.keptUntil = seconds(clock.monotonic() + times.retryPeriod);
        this.#tell();
      }
    }
    this.#waker.wake();
  }

  /** Frees the Lease, or deletes it where the shard is none any more. With a signal of its own: this is what comes after the end. */
  async #free(shard: Shard, held: Held): Promise<void> {
    const { identity, clock } = this.#options;
    const { signal } = new AbortController();
    const store = this.#storeOf(shard);
    const isNeeded = this.#shards.has(shard);
    const found = await store.get(signal);
    if (found !== undefined && isAnothers(found, held.lease, identity)) {
      return;
    }
    if (isNeeded) {
      const record = released(held.lease.record, clock.now());
      const freed = found && annotated(found, { [RELEASED_BY]: identity });
      // Others remember one that was deleted, and that it was held.
      const lease = await (freed === undefined ? store.create(record, signal) : store.update(freed, record, signal));
      this.#sight.note(this.#nameOf(shard), lease);
    } else {
      await (found && store.remove(found, signal));
      this.#sight.forget(this.#nameOf(shard));
    }
  }

  #lose(shard: Shard, held: Held, why: string): void {
    const error = new Error(`${shard === REST ? 'the rest' : `policy ${shard}`} is led by another replica: ${why}`);
    this.#held.delete(shard);
    held.lost.abort(error);
    this.#options.report({ kind: 'Lost', shard, error });
    this.#tell();
  }

  /** Whoever leads the rest clears away Leases that nobody needs; no more than one sweep at a time. */
  #sweep(signal: AbortSignal): void {
    if (this.of(REST) !== undefined) {
      this.#sweeping ??= this.#attempts
        .run([], () => this.#clearAway(signal), signal)
        .finally(() => {
          this.#sweeping = undefined;
        });
    }
  }

  /** Deletes Leases of replicas that ended long ago, and free ones of policies that are gone. */
  async #clearAway(signal: AbortSignal): Promise<void> {
    const { times, leases, identity } = this.#options;
    for (const { name, lease } of this.#sight.unchangedFor(seconds(FORGOTTEN_AFTER * times.duration))) {
      const { holder } = lease.record;
      const uid = textIn(lease.metadata['labels'], POLICY_LABEL);
      const isOver =
        purposeOf(lease) === 'replica'
          ? holder !== identity
          : uid !== undefined && !this.#shards.has(uid) && (await this.#sight.isGone(holder, signal));
      if (isOver) {
        await leases.of(name, new Map()).remove(lease, signal).catch(ignoreConflict);
      }
    }
  }

  #tell(): void {
    for (const changed of this.#listeners) {
      changed();
    }
  }
}

/** Whether `seen` shows that somebody else has written the Lease since it was `own`; it may also be older, or the same. */
function isAnothers(seen: StoredLease, own: StoredLease, identity: string): boolean {
  const isSame = seen.metadata['uid'] === own.metadata['uid'];
  return seen.record.holder !== identity && (!isSame || seen.record.transitions >= own.record.transitions);
}

/** Somebody else was faster. */
function ignoreConflict(error: unknown): void {
  if (!(error instanceof ConflictError)) {
    throw error;
  }
}
