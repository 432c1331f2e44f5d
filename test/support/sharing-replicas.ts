import { Elector } from '../../src/control/elector.ts';
import { type LeaseTimes, leaseTimes } from '../../src/control/lease.ts';
import type { SharedPlans } from '../../src/control/shards/decisions.ts';
import { type ShardEvent, ShardKeeper } from '../../src/control/shards/keeper.ts';
import { leaseOfReplica, type Shard } from '../../src/control/shards/names.ts';
import type { RememberedLeases } from '../../src/control/shards/own-writes.ts';
import { createMutex } from '../../src/model/mutex.ts';
import { seconds } from '../../src/model/units.ts';
import type { LeaseRecord } from '../../src/ports.ts';
import { type FakeLeases, type Passage, sharedOverNetwork } from './fake-leases.ts';
import type { VirtualProcess, VirtualTime } from './virtual-time.ts';

/** The default of the operator. */
export const TIMES: LeaseTimes = leaseTimes(seconds(15));
/** Name of the Lease of a single leader. */
export const BASE = 'evenkeel';

/** Plans that nobody writes. */
export const NO_PLANS: SharedPlans = {
  written: (before) => before,
  caughtUp: async () => undefined,
  renew: () => undefined,
};

/** No kubelet reports the end of a container. */
export const NONE_ENDED = { hasEnded: () => false, onChange: () => undefined };

/** How a replica is, and what it does. */
export interface ReplicaOptions {
  readonly identity: string;
  /** What there is to lead. */
  readonly shards: Iterable<Shard>;
  /** Says how each of its requests fares, and what its watch brings; `NEAR` unless given. */
  readonly passage?: () => Passage;
  /** The same for what the watch brings alone, which has been begun anew so often. */
  readonly watched?: (watch: number) => Passage;
  /** Sees each write before it is sent, and may hold it up, or throw; a Lease that is removed has no record. */
  readonly refuse?: (name: string, record: LeaseRecord | undefined) => void | Promise<void>;
  /** Speed of its monotonic clock. */
  readonly rate?: number;
  /** In [0, 1): what it draws to put off its attempts. */
  readonly jitter?: number;
  /** When it starts: now unless said otherwise. */
  readonly startsAt?: number;
  /** Seconds before that from which it watches the Leases; default 0. */
  readonly watchesFor?: number;
  /** Seconds that work on a shard goes on after nothing new may begin. */
  readonly work?: (shard: Shard) => number;
  /** Makes it decide again and again: how long each time, and the pause after it, in seconds. */
  readonly deciding?: { readonly span: number; readonly pause: number };
}

/** A replica that shares the work with others. */
export interface SharingReplica {
  readonly identity: string;
  readonly process: VirtualProcess;
  readonly keeper: ShardKeeper;
  /** Asks it to end. */
  readonly stop: AbortController;
  /** Shards that it leads now, sorted. */
  leads(): readonly Shard[];
  /** Whether it may change the cluster. */
  mayAct(): boolean;
  /** Shards for which work is under way. */
  readonly busy: ReadonlySet<Shard>;
  isDeciding(): boolean;
  decisions(): number;
  /** What its keeper has reported, with the instant. */
  readonly events: readonly { readonly at: number; readonly event: ShardEvent }[];
  /** What its run came to; undefined while it runs. */
  outcome(): unknown;
}

/** A hundredth of a second each way. */
export const NEAR: Passage = { there: 0.01, back: 0.01, lost: 'never' };

function refusing(leases: RememberedLeases, refuse: Required<ReplicaOptions>['refuse']): RememberedLeases {
  return {
    ...leases,
    of: (name, labels) => {
      const store = leases.of(name, labels);
      return {
        get: store.get,
        create: async (record, signal) => {
          await refuse(name, record);
          return await store.create(record, signal);
        },
        update: async (lease, record, signal) => {
          await refuse(name, record);
          return await store.update(lease, record, signal);
        },
        remove: async (lease, signal) => {
          await refuse(name, undefined);
          await store.remove(lease, signal);
        },
      };
    },
  };
}

/** Starts a replica: an elector for its own Lease, and a keeper, with work on each shard that it leads. */
export function startReplica(time: VirtualTime, group: FakeLeases, options: ReplicaOptions): SharingReplica {
  const {
    identity,
    passage = () => NEAR,
    rate = 1,
    jitter = 0.5,
    startsAt = time.now(),
    watchesFor = 0,
    work = () => 0,
  } = options;
  const shards = new Set(options.shards);
  const process = time.process(rate);
  const { clock } = process;
  const stop = new AbortController();
  const { watched = passage, refuse = () => undefined } = options;
  const network = sharedOverNetwork(group, time, process, TIMES.requestDeadline, passage, watched);
  const leases = refusing(network, refuse);
  const { name, labels } = leaseOfReplica(BASE, identity);
  const store = leases.of(name, labels);
  const elector = new Elector({
    identity,
    times: TIMES,
    store,
    clock,
    random: () => jitter,
    report: () => undefined,
  });
  const events: { at: number; event: ShardEvent }[] = [];
  const keeper = new ShardKeeper({
    base: BASE,
    identity,
    times: TIMES,
    leases,
    containers: NONE_ENDED,
    clock,
    plans: NO_PLANS,
    report: (event) => events.push({ at: time.now(), event }),
  });
  const busy = new Set<Shard>();
  let isDeciding = false;
  let decisions = 0;
  let outcome: unknown;
  keeper.keep(shards);
  keeper.onChange(() => {
    for (const shard of shards) {
      const term = keeper.of(shard);
      if (term !== undefined) {
        busy.add(shard);
        term.signal.addEventListener('abort', () => busy.delete(shard), { once: true });
      }
    }
  });
  keeper.onHandOver(async (shard) => {
    await clock.sleep(seconds(work(shard)), new AbortController().signal);
    busy.delete(shard);
  });
  const mutex = keeper.exclusive(createMutex());
  const decide = async (signal: AbortSignal): Promise<void> => {
    while (options.deciding !== undefined && !signal.aborted) {
      const { span, pause } = options.deciding;
      await mutex
        .runExclusive(async () => {
          isDeciding = true;
          decisions += 1;
          await clock.sleep(seconds(span), signal).finally(() => {
            isDeciding = false;
          });
        }, signal)
        .catch(() => undefined);
      await clock.sleep(seconds(pause), signal).catch(() => undefined);
    }
  };
  const over = new AbortController();
  const run = (): Promise<void> =>
    elector
      .run(async (_, signal) => {
        await Promise.all([keeper.run(signal), decide(signal)]);
      }, stop.signal)
      .finally(() => over.abort())
      .then(
        () => {
          outcome = 'ended';
        },
        (error: unknown) => {
          outcome = error;
        },
      );
  const at = (instant: number, begin: () => void): void => time.at(instant, () => process.wake(instant, begin));
  at(startsAt - watchesFor, () => void keeper.watch(over.signal));
  at(startsAt, () => void run());
  return {
    identity,
    process,
    keeper,
    stop,
    leads: () => [...shards].filter((shard) => keeper.of(shard) !== undefined).sort(),
    mayAct: () => elector.leading && !process.paused(),
    busy,
    isDeciding: () => isDeciding,
    decisions: () => decisions,
    events,
    outcome: () => outcome,
  };
}
