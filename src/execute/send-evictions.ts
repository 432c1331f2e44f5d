import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { parseInstant } from '../model/instant.ts';
import type { PolicyOptions } from '../plan/options.ts';
import type { Clock, ClusterReader, Evictor, Steering, StoredPolicy } from '../ports.ts';
import { type Failures, messageOf } from './failures.ts';
import { type Checked, liveCheck } from './live-check.ts';
import type { JournalEntry, MoveEvent } from './move.ts';
import { nameOf } from './move-log.ts';
import { placeHints } from './place-hints.ts';
import { answerStop, isStopped, type StopReason, stopReason } from './stop-rules.ts';

/** What evictions are sent through. */
export interface EvictionPorts {
  readonly reader: ClusterReader;
  readonly evictor: Evictor;
  readonly steering: Steering;
  readonly clock: Clock;
}

/** What decides whether an eviction is still wanted. */
export interface EvictionTerms {
  readonly options: PolicyOptions;
  /** The policy as it stands when this is called; `undefined` when it was deleted. */
  readonly current: (signal: AbortSignal) => Promise<StoredPolicy | undefined>;
  /** The other moves that are under way, of all plans. */
  readonly inFlight: readonly JournalEntry[];
  /** Why a move may not begin any more, of those whose intents are stored and not sent; resolves to `undefined` when it may. */
  readonly stopFor: (next: JournalEntry, unsent: readonly JournalEntry[]) => Promise<StopReason | undefined>;
}

/** What came of the evictions of a batch. */
export interface Sent {
  /** By index of the move. */
  readonly events: ReadonlyMap<number, MoveEvent>;
  /** Why the rest was not sent. */
  readonly stop: StopReason | undefined;
}

/**
 * Sends the evictions of moves whose intents are stored, one after the other. A batch takes seconds, so each is checked at its
 * own moment: the stop rules, the budgets, the scope, what protects the pod, and the room on its target. A move that cannot be checked, or whose
 * hint could not be placed, is not sent. `started` is called before each eviction. Rejects when aborted.
 */
export async function sendEvictions(
  plan: RebalancePlan,
  moves: readonly JournalEntry[],
  { options, current, inFlight, stopFor }: EvictionTerms,
  ports: EvictionPorts,
  started: (entry: JournalEntry) => Promise<void>,
  failures: Failures,
  signal: AbortSignal,
): Promise<Sent> {
  const { reader, evictor, clock } = ports;
  const events = new Map<number, MoveEvent>();
  const plannedAt = parseInstant(plan.spec.takenAt);
  const underWay = [...inFlight];
  let stop: StopReason | undefined;

  const placing = placeHints(plan, moves, inFlight, ports, signal);
  const unplaced = await placing.catch((error: unknown) => {
    signal.throwIfAborted();
    return new Map(moves.map(({ index }) => [index, error]));
  });

  const check = async (entry: JournalEntry): Promise<Checked | Extract<MoveEvent, { readonly kind: 'Abort' }>> => {
    const { move, index } = entry;
    if (unplaced.has(index)) {
      throw unplaced.get(index);
    }
    const unsent = moves.filter((other) => !underWay.includes(other));
    if (stop === undefined) {
      const overspent = await stopFor(entry, unsent);
      // Last: a look at the nodes fails when the caches are behind.
      stop = stopReason(plan, await current(signal), await reader.nodes(signal)) ?? overspent;
    }
    return stop !== undefined && isStopped(move, stop.stops)
      ? { kind: 'Abort', why: stop.message }
      : liveCheck({ move, plannedAt, options, inFlight: underWay }, { reader, clock }, signal);
  };

  for (const entry of moves) {
    const checked = await held(entry, () => check(entry), failures);
    if (checked.kind === 'Clear') {
      await started(entry);
      const answer = await evictor.evict(entry.move.pod, { dryRun: false }, signal);
      stop ??= answerStop(answer);
      events.set(entry.index, { kind: 'Answer', answer, at: checked.serverTime(), siblings: checked.siblings });
      underWay.push(entry);
    } else {
      events.set(entry.index, checked);
    }
  }
  return { events, stop };
}

/** What fails for one move is held against that move alone: it goes back, and is tried again. Rejects when aborted. */
export async function held<Value>(
  entry: JournalEntry,
  work: () => Promise<Value>,
  failures: Failures,
): Promise<Value | Extract<MoveEvent, { readonly kind: 'Hold' }>> {
  try {
    return await work();
  } catch (error) {
    failures.add(nameOf(entry), error);
    return { kind: 'Hold', why: `the move could not begin: ${messageOf(error)}` };
  }
}
