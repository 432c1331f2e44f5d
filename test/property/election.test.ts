import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Elector, LeadershipLostError } from '../../src/control/elector.ts';
import { leaseTimes } from '../../src/control/lease.ts';
import { seconds } from '../../src/model/units.ts';
import { type FakeLease, fakeLease, overNetwork } from '../support/fake-leases.ts';
import { befall, type Fate, fates, passageAt, TROUBLED } from '../support/fates.ts';
import { type VirtualProcess, type VirtualTime, virtualTime } from '../support/virtual-time.ts';

const TIMES = leaseTimes(seconds(15));
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
    store: overNetwork(lease, time, process, TIMES.requestDeadline, () => passageAt(fate, time.now())),
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
