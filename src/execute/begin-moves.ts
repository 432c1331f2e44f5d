import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { runConcurrently } from '../model/concurrent.ts';
import { parseInstant } from '../model/instant.ts';
import { isDisruption, kindOf } from '../model/move.ts';
import type { NodeInfo } from '../model/node.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { PolicyOptions } from '../plan/options.ts';
import type { EvictionAnswer } from '../ports.ts';
import { withinDisruptionBudgets } from './disruption-turns.ts';
import type { ExecutionPolicy, ExecutorPorts } from './executor-ports.ts';
import { freshPlacements } from './fresh-placements.ts';
import { entries, inFlightElsewhere, movesInFlight } from './journal.ts';
import { type CheckInput, cachedCheck, liveCheck } from './live-check.ts';
import { metricsVerdict } from './metrics-stop.ts';
import type { Elsewhere, JournalEntry, MoveEvent } from './move.ts';
import { type Limits, NOTHING_ELSEWHERE, type ReadyMoves, readyMoves } from './ready-moves.ts';
import { LOOKS_AT_A_TIME, noteStop, type Pending, type Recorder, record } from './recorder.ts';
import { type EvictionTerms, held, sendEvictions } from './send-evictions.ts';
import { abortStopped, recordAndSettle, settle } from './settle.ts';
import { answerStop, type StopReason } from './stop-rules.ts';
import { notify } from './tell-moves.ts';
import { allowedTogether, withoutIntents } from './together.ts';

/**
 * Begins what may begin. Metrics are looked at when a pod that runs may be evicted, and not every second. Rejects with ConflictError and
 * ApiError.
 */
export async function beginIfMeasured(
  recorder: Recorder,
  policy: ExecutionPolicy & { readonly options: PolicyOptions },
  nodes: readonly NodeInfo[],
): Promise<void> {
  const { plan, ports, signal } = recorder;
  const elsewhere = await elsewhereIfReady(plan, policy, ports, signal);
  const turns = readyMoves(entries(plan), elsewhere, policy, ports.clock.now());
  const beginning = { turns, inFlight: underWay(plan, elsewhere) };
  const harmless = turns.ready.filter(({ move }) => !isDisruption(move));
  if (turns.ready.length === harmless.length) {
    return beginMoves(recorder, beginning, policy);
  }
  const withoutDisruptions = { ...beginning, turns: { ...turns, ready: harmless } };
  const usage = policy.options.load.source === 'Measured' ? await ports.reader.nodeUsage(signal) : undefined;
  const verdict = metricsVerdict(plan, policy.options, nodes, usage, ports.clock.now());
  switch (verdict.kind) {
    case 'Fresh':
      return beginMoves(recorder, beginning, policy);
    case 'Unknown':
      return beginMoves(recorder, withoutDisruptions, policy);
    case 'Stale':
      await abortStopped(recorder, verdict.stop);
      return beginMoves(recorder, withoutDisruptions, policy);
    default:
      return verdict satisfies never;
  }
}

/** What other plans have in flight, as those are stored at this moment; nothing when no move could begin anyway. */
async function elsewhereIfReady(
  plan: RebalancePlan,
  limits: Limits,
  { plans, clock }: ExecutorPorts,
  signal: AbortSignal,
): Promise<Elsewhere> {
  const { ready } = readyMoves(entries(plan), NOTHING_ELSEWHERE, limits, clock.now());
  return ready.length === 0 ? NOTHING_ELSEWHERE : inFlightElsewhere(plan, await plans.list(signal));
}

function underWay(plan: RebalancePlan, { ofPolicy, ofOthers }: Elsewhere): readonly JournalEntry[] {
  return [...movesInFlight(plan), ...ofPolicy, ...ofOthers];
}

/** Whose turn it is, and what is under way beside them. */
interface Beginning {
  readonly turns: ReadyMoves;
  readonly inFlight: readonly JournalEntry[];
}

async function beginMoves(
  recorder: Recorder,
  { turns: { ready, hopeless }, inFlight }: Beginning,
  policy: ExecutionPolicy & { readonly options: PolicyOptions },
): Promise<void> {
  const { plan, ports, signal, failures } = recorder;
  const checked = new Map<number, MoveEvent>(hopeless.map(({ entry, why }) => [entry.index, { kind: 'Skip', why }]));
  const plannedAt = parseInstant(plan.spec.takenAt);
  const snapshot = ready.length === 0 ? undefined : await freshPlacements(ports.reader, signal);
  // Caches that are behind refuse nothing: no move begins, and none spends a try.
  if (snapshot !== undefined) {
    const clear = withinDisruptionBudgets(ready, inFlight, snapshot);
    // Those that begin together are of different owners and for different nodes, so none has a say in the check of another.
    await runConcurrently(clear, LOOKS_AT_A_TIME, signal, async (entry) => {
      const input = { move: entry.move, plannedAt, options: policy.options, inFlight };
      const event = await held(entry, () => checkBefore(input, snapshot, ports, signal), failures);
      checked.set(entry.index, event);
    });
  }
  const [stop] = [...checked.values()].flatMap((event) =>
    event.kind === 'Answer' ? (answerStop(event.answer) ?? []) : [],
  );
  if (stop !== undefined) {
    return abortStopped(recorder, stop);
  }
  if (checked.size === 0) {
    return;
  }
  const begun = await ports.recording.runExclusive(() => storeIntents(recorder, checked, policy), signal);
  await settle(recorder, begun.pending);
  await evictAll(
    recorder,
    begun.pending.filter(({ effects }) => effects.includes('Evict')),
    { ...policy, inFlight: begun.inFlight, stopFor: (...moves) => stopUnsent(recorder, moves, policy) },
  );
}

/** What was recorded of moves that begin, and what was under way beside them. */
interface Begun extends Pick<Beginning, 'inFlight'> {
  readonly pending: readonly Pending[];
}

/**
 * Records the intents of the moves that are clear to begin, and what came of the others. Other policies may have begun moves since
 * these were chosen: those that limits no longer leave room for stay planned, and are chosen again in a later step.
 */
async function storeIntents(
  recorder: Recorder,
  checked: ReadonlyMap<number, MoveEvent>,
  policy: ExecutionPolicy,
): Promise<Begun> {
  const { plan, ports, signal } = recorder;
  const plans = await ports.plans.list(signal);
  const elsewhere = inFlightElsewhere(plan, plans);
  const { ready } = readyMoves(entries(plan), elsewhere, policy, ports.clock.now());
  const clear = ready.filter(({ index }) => checked.get(index)?.kind === 'Begin');
  const allowed = allowedTogether(clear, await policy.stop?.(plans, signal));
  const mayBegin = new Set(allowed.map(({ index }) => index));
  const events = [...checked].filter(([index, { kind }]) => kind !== 'Begin' || mayBegin.has(index));
  return { pending: await record(recorder, new Map(events)), inFlight: underWay(plan, elsewhere) };
}

/** Why the next eviction is not sent though its intent is stored: since then moves may have cost more service than was expected. */
async function stopUnsent(
  { plan, ports, signal }: Recorder,
  [next, unsent]: Parameters<EvictionTerms['stopFor']>,
  { stop }: ExecutionPolicy,
): Promise<StopReason | undefined> {
  const rule = await stop?.(withoutIntents(await ports.plans.list(signal), plan, unsent), signal);
  return rule?.([next.move]);
}

/** Whether a move may begin: the check of an eviction by the caches with its dry run on the server, since each is checked again. */
async function checkBefore(
  input: CheckInput,
  snapshot: ClusterSnapshot,
  ports: ExecutorPorts,
  signal: AbortSignal,
): Promise<MoveEvent> {
  const isAdmission = kindOf(input.move) === 'Admission';
  const checked = isAdmission
    ? await liveCheck(input, ports, signal)
    : await cachedCheck(input, snapshot, ports, signal);
  if (checked.kind !== 'Clear') {
    return checked;
  }
  const answer = isAdmission ? ACCEPTED : await ports.evictor.evict(input.move.pod, { dryRun: true }, signal);
  const at = checked.serverTime();
  const { siblings } = checked;
  return answer.kind === 'Accepted'
    ? { kind: 'Begin', serverTime: at, leaderEpoch: ports.leaderEpoch, siblings }
    : { kind: 'Answer', answer, at, siblings: undefined };
}

const ACCEPTED = { kind: 'Accepted' } as const satisfies EvictionAnswer;

async function evictAll(recorder: Recorder, begun: readonly Pending[], terms: EvictionTerms): Promise<void> {
  if (begun.length === 0) {
    return;
  }
  const { plan, ports, signal, failures } = recorder;
  const moves = begun.map(({ entry }) => entry);
  const started = (entry: JournalEntry) => notify(recorder, entry, 'MoveStarted');
  const { events, stop } = await sendEvictions(plan, moves, terms, ports, started, failures, signal);
  if (stop !== undefined) {
    noteStop(recorder, stop);
  }
  await recordAndSettle(recorder, events);
}
