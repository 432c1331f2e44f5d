import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Elector, LeadershipLostError } from '../../src/control/elector.ts';
import { leaseTimes } from '../../src/control/lease.ts';
import { seconds } from '../../src/model/units.ts';
import { type FakeLease, fakeLease, overNetwork, type Passage } from '../support/fake-leases.ts';
import { type VirtualProcess, type VirtualTime, virtualTime } from '../support/virtual-time.ts';

const TIMES = leaseTimes(seconds(15));
/** Disturbances begin before this instant; those that end have ended by twice of it. */
const TROUBLED = 60;

/** What befalls one replica. */
type Trouble =
  /** Stands still as by SIGSTOP. */
  | { readonly kind: 'pause'; readonly at: number; readonly span: number; readonly reversed: boolean }
  /** Requests, or only their answers, get lost. */
  | { readonly kind: 'cut'; readonly at: number; readonly span: number; readonly lost: 'there' | 'back' }
  /** Requests and answers take long; they overtake each other, and outlive the patience of whoever sent them. */
  | { readonly kind: 'slow'; readonly at: number; readonly span: number; readonly there: number; readonly back: number }
  | { readonly kind: 'stop'; readonly at: number };

/** Everything that chance decides about one replica. */
interface Fate {
  readonly startsAt: number;
  /** Speed of its monotonic clock; the fastest may be up to half as fast again as the slowest. */
  readonly rate: number;
  readonly jitter: number;
  readonly troubles: readonly Trouble[];
}

interface Replica {
  readonly elector: Elector;
  readonly process: VirtualProcess;
  /** Its work runs and was not told to stop. */
  working(): boolean;
  /** Epochs of its terms. */
  readonly epochs: readonly number[];
  outcome(): unknown;
}

function start(time: VirtualTime, lease: FakeLease, identity: string, fate: Fate): Replica {
  const process = time.process(fate.rate);
  const stop = new AbortController();
  const epochs: number[] = [];
  let signal: AbortSignal | undefined;
  let outcome: unknown;
  const elector = new Elector({
    identity,
    times: TIMES,
    store: overNetwork(lease, time, process, TIMES.renewDeadline / 2, () => passageAt(fate, time.now())),
    clock: process.clock,
    random: () => fate.jitter,
    report: () => undefined,
  });
  const work = (epoch: number, own: AbortSignal): Promise<void> => {
    epochs.push(epoch);
    signal = own;
    return new Promise((resolve) => own.addEventListener('abort', () => resolve(), { once: true }));
  };
  const run = () =>
    elector.run(work, stop.signal).then(
      () => {
        outcome = 'ended';
      },
      (error: unknown) => {
        outcome = error;
      },
    );
  time.at(fate.startsAt, () => process.wake(fate.startsAt, run));
  for (const trouble of fate.troubles) {
    befall(time, process, stop, trouble);
  }
  return {
    elector,
    process,
    working: () => signal !== undefined && !signal.aborted,
    epochs,
    outcome: () => outcome,
  };
}

function befall(time: VirtualTime, process: VirtualProcess, stop: AbortController, trouble: Trouble): void {
  if (trouble.kind === 'pause') {
    time.at(trouble.at, () => process.pause());
    time.at(trouble.at + trouble.span, () => process.resume(trouble.reversed));
  }
  if (trouble.kind === 'stop') {
    time.at(trouble.at, () => process.wake(trouble.at, () => stop.abort()));
  }
}

function passageAt({ troubles }: Fate, now: number): Passage {
  const passage = { there: 0.01, back: 0.01, lost: 'never' as Passage['lost'] };
  for (const trouble of troubles) {
    if ('span' in trouble && trouble.at <= now && now < trouble.at + trouble.span) {
      if (trouble.kind === 'slow') {
        passage.there += trouble.there;
        passage.back += trouble.back;
      } else if (trouble.kind === 'cut') {
        passage.lost = trouble.lost;
      }
    }
  }
  return passage;
}

/** Plays the fates to their end; `check` sees the replicas after every event, `rest` when time is about to move on. */
async function play(
  fates: readonly Fate[],
  check: (replicas: readonly Replica[]) => void,
  rest: (replicas: readonly Replica[]) => void,
): Promise<readonly Replica[]> {
  const time = virtualTime();
  const lease = fakeLease();
  const replicas = fates.map((fate, index) => start(time, lease, `replica-${index}`, fate));
  await time.run(
    2 * TROUBLED + 50,
    () => check(replicas),
    () => rest(replicas),
  );
  return replicas;
}

/** Evenly spread, unlike fc.double, most of whose numbers are next to nothing. */
const between = (min: number, max: number) =>
  fc.integer({ min: min * 1000, max: max * 1000 }).map((thousandths) => thousandths / 1000);
const instant = between(0, TROUBLED);
const span = fc.oneof(between(0, 30), between(0, TROUBLED));
const delay = fc.oneof(between(0, 6), between(0, 40));
const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  fc.record({ kind: fc.constant('pause' as const), at: instant, span, reversed: fc.boolean() }),
  fc.record({ kind: fc.constant('cut' as const), at: instant, span, lost: fc.constantFrom('there', 'back') }),
  fc.record({ kind: fc.constant('slow' as const), at: instant, span, there: delay, back: delay }),
);
const fate: fc.Arbitrary<Fate> = fc.record({
  startsAt: between(0, 30),
  rate: between(0.82, 1.22),
  jitter: between(0, 0.999),
  troubles: fc
    .tuple(
      fc.array(trouble, { maxLength: 4 }),
      fc.oneof(
        { weight: 4, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.tuple(fc.record({ kind: fc.constant('stop' as const), at: instant })) },
      ),
    )
    .map(([troubles, stop]) => [...troubles, ...stop]),
});
const fates = fc.array(fate, { minLength: 2, maxLength: 4 });

describe('an election', () => {
  it('never has two fences open at any instant, nor two at work who could know', async () => {
    let terms = 0;
    let losses = 0;
    await fc.assert(
      fc.asyncProperty(fates, async (history) => {
        const replicas = await play(
          history,
          (all) => {
            const open = all.filter(({ elector }) => elector.leading);
            if (open.length > 1) {
              throw new Error('two fences are open');
            }
          },
          (all) => {
            const working = all.filter((replica) => replica.working() && !replica.process.paused());
            if (working.length > 1 || working.some(({ elector }) => !elector.leading)) {
              throw new Error('somebody works who does not lead');
            }
          },
        );
        const epochs = replicas.flatMap((replica) => replica.epochs);
        expect(new Set(epochs).size).toBe(epochs.length);
        terms += epochs.length;
        losses += replicas.filter((replica) => replica.outcome() instanceof LeadershipLostError).length;
      }),
      { numRuns: 1_000 },
    );
    // The histories are worth something only if leadership changes hands in them, and is lost.
    expect(terms).toBeGreaterThan(1_500);
    expect(losses).toBeGreaterThan(500);
  });

  it('has a leader again within a lease and two periods of everything being well, if anybody is left', async () => {
    await fc.assert(
      fc.asyncProperty(fates, async (history) => {
        const replicas = await play(
          history,
          () => undefined,
          () => undefined,
        );
        const left = replicas.filter((replica) => replica.outcome() === undefined);
        expect(replicas.filter(({ elector }) => elector.leading)).toHaveLength(left.length === 0 ? 0 : 1);
      }),
      { numRuns: 300 },
    );
  });
});
