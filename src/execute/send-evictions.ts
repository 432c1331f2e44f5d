import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { parseInstant } from '../model/instant.ts';
import type { PolicyOptions } from '../plan/options.ts';
import type { Clock, ClusterReader, Evictor, StoredPolicy } from '../ports.ts';
import { liveCheck } from './live-check.ts';
import type { JournalEntry, MoveEvent } from './move.ts';
import { policyStop, type StopReason } from './stop-rules.ts';

/** What evictions are sent through. */
export interface EvictionPorts {
  readonly reader: ClusterReader;
  readonly evictor: Evictor;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** What decides whether an eviction is still wanted. */
export interface EvictionTerms {
  readonly options: PolicyOptions;
  /** The policy as it stands when this is called; `undefined` when it was deleted. */
  readonly current: (signal: AbortSignal) => Promise<StoredPolicy | undefined>;
  /** The other moves that are under way, of all plans. */
  readonly inFlight: readonly JournalEntry[];
}

/** What came of the evictions of a batch. */
export interface Sent {
  /** By index of the move. */
  readonly events: ReadonlyMap<number, MoveEvent>;
  /** Why those that were not sent are not wanted any more. */
  readonly stop: StopReason | undefined;
}

/**
 * Sends the evictions of moves whose intents are stored, one after the other. A batch takes seconds, so each is checked at its
 * own moment: the policy, its scope, what protects the pod, and the room on its target. `started` is called before each eviction.
 * Rejects as the reader does, and when aborted.
 */
export async function sendEvictions(
  plan: RebalancePlan,
  moves: readonly JournalEntry[],
  { options, current, inFlight }: EvictionTerms,
  { reader, evictor, clock }: EvictionPorts,
  started: (entry: JournalEntry) => Promise<void>,
  signal: AbortSignal,
): Promise<Sent> {
  const events = new Map<number, MoveEvent>();
  const plannedAt = parseInstant(plan.spec.takenAt);
  const underWay = [...inFlight];
  let stop: StopReason | undefined;
  for (const entry of moves) {
    stop ??= policyStop(plan, await current(signal));
    if (stop !== undefined) {
      events.set(entry.index, { kind: 'Abort', why: stop.message });
      continue;
    }
    const input = { move: entry.move, plannedAt, options, inFlight: underWay };
    const checked = await liveCheck(input, { reader, clock }, signal);
    if (checked.kind === 'Clear') {
      await started(entry);
      const answer = await evictor.evict(entry.move.pod, { dryRun: false }, signal);
      events.set(entry.index, { kind: 'Answer', answer, at: checked.serverTime() });
      underWay.push(entry);
    } else {
      events.set(entry.index, checked);
    }
  }
  return { events, stop };
}
