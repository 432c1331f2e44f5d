import { runConcurrently } from '../model/concurrent.ts';
import { type Seconds, seconds } from '../model/units.ts';
import type { ExecutorPorts } from './executor-ports.ts';
import { entries, movesInFlight } from './journal.ts';
import type { JournalEntry, MoveEvent } from './move.ts';
import { nameOf } from './move-log.ts';
import { observeMove } from './observe-move.ts';
import { placesHints } from './place-hints.ts';
import { LOOKS_AT_A_TIME, type Recorder } from './recorder.ts';
import { recordAndSettle } from './settle.ts';

/**
 * Looks at all moves in flight, and notes what came of them: a plan has hundreds of moves, and each write has all. So it is
 * written with the intents that follow, or alone when none have followed for a while.
 */
export async function followUp(recorder: Recorder): Promise<void> {
  const { plan, ports, signal, failures } = recorder;
  const claims = new Map(
    entries(plan).flatMap(({ index, run }) => (run.replacement === undefined ? [] : [[index, run.replacement.uid]])),
  );
  const observed = new Map<number, MoveEvent>();
  const observe = async (entry: JournalEntry): Promise<void> => {
    const claimed = new Set([...claims].filter(([index]) => index !== entry.index).map(([, uid]) => uid));
    // As of the beginning: a look may take longer than an effect that is late, and has read the pod first.
    const withoutEffect = lookAgain(entry, ports);
    const observation = await failures.attempt(nameOf(entry), () =>
      observeMove(entry, claimed, placesHints(plan), ports.reader, signal),
    );
    if (observation !== undefined) {
      observed.set(entry.index, { kind: 'Observed', ...observation, withoutEffect });
      if (observation.replacement !== undefined) {
        claims.set(entry.index, observation.replacement.uid);
      }
    }
  };
  // Pods of one owner are claimed in turn; what other owners have made is no candidate.
  const byOwner = [...Map.groupBy(movesInFlight(plan), ({ move }) => move.owner.uid).values()];
  await runConcurrently(byOwner, LOOKS_AT_A_TIME, signal, async (moves) => {
    for (const entry of moves) {
      await observe(entry);
    }
  });
  await recordAndSettle(recorder, observed);
  recorder.plan = await ports.plans.writeDue(recorder.plan, signal);
}

/** How long the eviction of a move has been looked at by now. */
function lookAgain({ run: { phase, podUID, sentAt } }: JournalEntry, { firstLooks }: ExecutorPorts): Seconds {
  return phase === 'Evicting' && sentAt !== undefined ? firstLooks.since(podUID, sentAt) : seconds(0);
}
