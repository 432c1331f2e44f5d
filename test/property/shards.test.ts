import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Elector, LeadershipLostError } from '../../src/control/elector.ts';
import { leaseTimes } from '../../src/control/lease.ts';
import type { SharedPlans } from '../../src/control/shards/decisions.ts';
import { ShardKeeper } from '../../src/control/shards/keeper.ts';
import { leaseOfReplica, REST } from '../../src/control/shards/names.ts';
import { rendezvous } from '../../src/control/shards/rendezvous.ts';
import { createMutex } from '../../src/model/mutex.ts';
import { seconds } from '../../src/model/units.ts';
import { type FakeLeases, fakeLeases, sharedOverNetwork } from '../support/fake-leases.ts';
import { befall, type Fate, fates, passageAt, TROUBLED } from '../support/fates.ts';
import { type VirtualProcess, type VirtualTime, virtualTime } from '../support/virtual-time.ts';

const TIMES = leaseTimes(seconds(15));
const SHARDS = [REST, ...'abcdef'];
/** Time for the last replica to be missed, and for shards to settle where they belong after that. */
const CALM = 120;
/** Seconds that work on a shard goes on after nothing new may begin, that a decision takes, and that pass until the next one. */
const WORK = 0.7;
const DECISION = 0.3;
const PAUSE = 2;

const NO_PLANS: SharedPlans = { written: (before) => before, caughtUp: async () => undefined, renew: () => undefined };

interface Replica {
  readonly identity: string;
  readonly process: VirtualProcess;
  readonly keeper: ShardKeeper;
  /** Whether it may change the cluster. */
  mayAct(): boolean;
  /** Shards for which work is under way. */
  readonly busy: ReadonlySet<string>;
  isDeciding(): boolean;
  decisions(): number;
  outcome(): unknown;
}

function start(time: VirtualTime, group: FakeLeases, identity: string, fate: Fate): Replica {
  const process = time.process(fate.rate);
  const { clock } = process;
  const stop = new AbortController();
  const deadline = TIMES.renewDeadline / 2;
  const leases = sharedOverNetwork(group, time, process, deadline, () => passageAt(fate, time.now()));
  const { name, labels } = leaseOfReplica('evenkeel', identity);
  const store = leases.of(name, labels);
  const report = (): void => undefined;
  const elector = new Elector({ identity, times: TIMES, store, clock, random: () => fate.jitter, report });
  const keeper = new ShardKeeper({ base: 'evenkeel', identity, times: TIMES, leases, clock, plans: NO_PLANS, report });
  const busy = new Set<string>();
  let isDeciding = false;
  let decisions = 0;
  let outcome: unknown;
  keeper.keep(new Set(SHARDS));
  keeper.onChange(() => {
    for (const shard of SHARDS.filter((each) => keeper.of(each) !== undefined)) {
      busy.add(shard);
      keeper.of(shard)?.signal.addEventListener('abort', () => busy.delete(shard), { once: true });
    }
  });
  keeper.onHandOver(async (shard) => {
    await clock.sleep(seconds(WORK), new AbortController().signal);
    busy.delete(shard);
  });
  const mutex = keeper.exclusive(createMutex());
  const decide = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await mutex
        .runExclusive(async () => {
          isDeciding = true;
          decisions += 1;
          await clock.sleep(seconds(DECISION), signal).finally(() => {
            isDeciding = false;
          });
        }, signal)
        .catch(() => undefined);
      await clock.sleep(seconds(PAUSE), signal).catch(() => undefined);
    }
  };
  const run = (): Promise<void> =>
    elector
      .run(async (_, signal) => {
        await Promise.all([keeper.run(signal), decide(signal)]);
      }, stop.signal)
      .then(
        () => {
          outcome = 'ended';
        },
        (error: unknown) => {
          outcome = error;
        },
      );
  time.at(fate.startsAt, () => process.wake(fate.startsAt, () => void run()));
  for (const trouble of fate.troubles) {
    befall(time, process, stop, trouble);
  }
  return {
    identity,
    process,
    keeper,
    mayAct: () => elector.leading && !process.paused(),
    busy,
    isDeciding: () => isDeciding,
    decisions: () => decisions,
    outcome: () => outcome,
  };
}

/** Plays the fates to their end; `check` sees the replicas after every event. */
async function play(
  given: readonly Fate[],
  check: (replicas: readonly Replica[], now: number) => void,
): Promise<readonly Replica[]> {
  const time = virtualTime();
  const group = fakeLeases();
  const replicas = given.map((each, index) => start(time, group, `replica-${index}`, each));
  await time.run(2 * TROUBLED + CALM, () => check(replicas, time.now()));
  return replicas;
}

function neverTwo(replicas: readonly Replica[]): void {
  const acting = replicas.filter((replica) => replica.mayAct());
  for (const shard of SHARDS) {
    const busy = acting.filter((replica) => replica.busy.has(shard)).map(({ identity }) => identity);
    if (busy.length > 1) {
      throw new Error(`${busy.join(' and ')} work for ${shard}`);
    }
  }
  if (acting.filter((replica) => replica.isDeciding()).length > 1) {
    throw new Error('two decide at the same time');
  }
}

const isLeft = (replica: Replica): boolean => replica.outcome() === undefined;

describe('replicas that share the work', () => {
  it('are never two to work for a shard, or to decide, and in the end each leads what falls to it', async () => {
    const seen = { changes: 0, decisions: 0, lost: 0 };
    await fc.assert(
      fc.asyncProperty(fates, async (history) => {
        const leaders = new Map<string, string>();
        const replicas = await play(history, (all) => {
          neverTwo(all);
          for (const { identity, busy } of all) {
            for (const shard of busy) {
              seen.changes += leaders.get(shard) === identity ? 0 : 1;
              leaders.set(shard, identity);
            }
          }
        });
        const left = replicas.filter(isLeft);
        for (const shard of SHARDS) {
          const leading = left.filter(({ keeper }) => keeper.of(shard) !== undefined).map(({ identity }) => identity);
          const [first] = rendezvous(
            shard,
            left.map(({ identity }) => identity),
          );
          expect(leading).toEqual(first === undefined ? [] : [first]);
        }
        seen.decisions += replicas.reduce((sum, replica) => sum + replica.decisions(), 0);
        seen.lost += replicas.filter((replica) => replica.outcome() instanceof LeadershipLostError).length;
      }),
      { numRuns: 100 },
    );
    // The histories are worth something only if shards change hands in them, and replicas are lost.
    expect(seen.changes).toBeGreaterThan(100 * SHARDS.length);
    expect(seen.decisions).toBeGreaterThan(7_000);
    expect(seen.lost).toBeGreaterThan(30);
  });
});
