import type { PodRef } from '../model/pod.ts';
import { entries, inFlightElsewhere, movesInFlight } from './journal.ts';
import type { Elsewhere, JournalEntry, MoveEvent } from './move.ts';
import { nameOf, planFields, podFields } from './move-log.ts';
import { gateWish, openGate } from './open-gate.ts';
import { placesHints } from './place-hints.ts';
import { NOTHING_ELSEWHERE } from './ready-moves.ts';
import { noteStop, type Pending, type Recorder, record } from './recorder.ts';
import { type StopReason, stoppedMoves } from './stop-rules.ts';
import { reportEnd } from './tell-moves.ts';
import { isFinal } from './transitions.ts';

/** Applies events to the journal, and performs what is due after that. Rejects as `record` does. */
export async function recordAndSettle(recorder: Recorder, events: ReadonlyMap<number, MoveEvent>): Promise<void> {
  await settle(recorder, await record(recorder, events));
}

/** Ends the moves of the plan that the rule stops, if there are any. Rejects as `record` does. */
export async function abortStopped(recorder: Recorder, stop: StopReason): Promise<void> {
  const stopped = stoppedMoves(entries(recorder.plan), stop.stops);
  if (stopped.length === 0) {
    return;
  }
  noteStop(recorder, stop);
  const event: MoveEvent = { kind: 'Abort', why: stop.message };
  await recordAndSettle(recorder, new Map(stopped.map(({ index }) => [index, event])));
}

/**
 * Performs what is due after a transition was stored: removes hints, opens gates, sends events. What fails for a move is kept with the
 * failures of the step.
 */
export async function settle(recorder: Recorder, pending: readonly Pending[]): Promise<void> {
  const { ports, signal, failures } = recorder;
  const opensGates = pending.some(({ effects }) => effects.includes('OpenGate'));
  const elsewhere = opensGates ? inFlightElsewhere(recorder.plan, await ports.plans.list(signal)) : NOTHING_ELSEWHERE;
  for (const { entry, effects, before } of pending) {
    const { namespace, uid } = entry.move.pod;
    for (const effect of effects) {
      await failures.attempt(nameOf(entry), async () => {
        switch (effect) {
          case 'RemoveHint':
            return placesHints(recorder.plan) && entry.move.to !== undefined
              ? ports.steering.remove(namespace, uid, signal)
              : undefined;
          case 'Release':
            return release(recorder, entry);
          case 'OpenGate':
            return admit(recorder, entry, elsewhere);
          case 'Evict':
            return; // evictions are sent together
          default:
            return effect satisfies never;
        }
      });
    }
    if (entry.run.phase !== before.phase && isFinal(entry.run.phase)) {
      await reportEnd(recorder, entry);
    }
  }
}

async function release({ plan, ports, signal }: Recorder, entry: JournalEntry): Promise<void> {
  const pod = replacementOf(entry);
  if ((await ports.gates.release(pod, signal)) === 'Done') {
    ports.telemetry.gate('Released');
    const { to } = entry.move;
    const result = `the scheduler found no room for it on ${to} or its alternatives`;
    ports.log('pod released', { ...planFields(plan), ...podFields(pod), to, result });
    const note = `removed before it ran: ${result} (plan ${plan.metadata.name})`;
    const event = { type: 'Warning', reason: 'TargetGivenUp', note, regarding: { kind: 'Pod', ...pod } } as const;
    await ports.events.send(event, signal);
  }
}

async function admit({ plan, ports, signal }: Recorder, entry: JournalEntry, elsewhere: Elsewhere): Promise<void> {
  const pod = replacementOf(entry);
  const wish = gateWish(plan, entry);
  const own = movesInFlight(plan).filter(({ index }) => index !== entry.index);
  const others = [...own, ...elsewhere.ofPolicy, ...elsewhere.ofOthers];
  const { action, obstacle } = await openGate(pod, wish, others, ports, signal);
  if (action !== undefined) {
    ports.telemetry.gate(action);
    const result = obstacle ?? 'it may be scheduled';
    ports.log('gate opened', { ...planFields(plan), ...podFields(pod), to: entry.move.to, action, result });
  }
  if (obstacle !== undefined) {
    const consequence = wish.kind === 'Admit' ? 'waits at the gate' : 'may run anywhere';
    const note = `${consequence}, since ${obstacle} (plan ${plan.metadata.name})`;
    await ports.events.send(
      { type: 'Warning', reason: 'TargetGivenUp', note, regarding: { kind: 'Pod', ...pod } },
      signal,
    );
  }
}

function replacementOf({ move, run }: JournalEntry): PodRef {
  return { namespace: move.pod.namespace, name: run.replacement?.name ?? '', uid: run.replacement?.uid ?? '' };
}
