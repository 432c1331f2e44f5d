import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeadershipLostError } from '../../src/control/elector.ts';
import { REST } from '../../src/control/shards/names.ts';
import { rendezvous } from '../../src/control/shards/rendezvous.ts';
import { type FakeLeases, fakeLeases } from '../support/fake-leases.ts';
import { befall, type Fate, fates, passageAt, TROUBLED } from '../support/fates.ts';
import { type SharingReplica, startReplica } from '../support/sharing-replicas.ts';
import { type VirtualTime, virtualTime } from '../support/virtual-time.ts';

const SHARDS = [REST, ...'abcdef'];
/** Time for the last replica to be missed, and for shards to settle where they belong after that. */
const CALM = 120;

function start(time: VirtualTime, group: FakeLeases, identity: string, fate: Fate): SharingReplica {
  const { rate, jitter, startsAt } = fate;
  const replica = startReplica(time, group, {
    identity,
    shards: SHARDS,
    passage: () => passageAt(fate, time.now()),
    rate,
    jitter,
    startsAt,
    work: () => 0.7,
    deciding: { span: 0.3, pause: 2 },
  });
  for (const trouble of fate.troubles) {
    befall(time, replica.process, replica.stop, trouble);
  }
  return replica;
}

/** Plays the fates to their end; `check` sees the replicas after every event. */
async function play(
  given: readonly Fate[],
  check: (replicas: readonly SharingReplica[], now: number) => void,
): Promise<readonly SharingReplica[]> {
  const time = virtualTime();
  const group = fakeLeases();
  const replicas = given.map((each, index) => start(time, group, `replica-${index}`, each));
  await time.run(2 * TROUBLED + CALM, () => check(replicas, time.now()));
  return replicas;
}

function neverTwo(replicas: readonly SharingReplica[]): void {
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

const isLeft = (replica: SharingReplica): boolean => replica.outcome() === undefined;

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
