import type { MovePhase, MoveStatus, RebalancePlan, RebalancePlanStatus } from '../api/v1alpha1/rebalance-plan.ts';
import { runConcurrently } from '../model/concurrent.ts';
import { formatInstant, parseInstant } from '../model/instant.ts';
import { isDisruption, kindOf, type MoveKind } from '../model/move.ts';
import type { Mutex } from '../model/mutex.ts';
import type { NodeInfo } from '../model/node.ts';
import type { PodRef } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { elapsed, type Seconds, seconds } from '../model/units.ts';
import type { PolicyOptions } from '../plan/options.ts';
import type {
  Clock,
  ClusterReader,
  EventRecord,
  EventSink,
  EvictionAnswer,
  Evictor,
  Gates,
  Journals,
  Log,
  Steering,
  StoredPolicy,
  Telemetry,
} from '../ports.ts';
import { describeMisses } from '../steer/explain-miss.ts';
import { advance } from './advance.ts';
import { movedApplications, partlyMoved } from './applications.ts';
import { openMoves } from './committed.ts';
import { withinDisruptionBudgets } from './disruption-turns.ts';
import { createFailures, type Failures } from './failures.ts';
import type { FirstLooks } from './first-looks.ts';
import { freshPlacements } from './fresh-placements.ts';
import { describeOutcome, entries, inFlightElsewhere, movesInFlight, withRuns } from './journal.ts';
import { type CheckInput, cachedCheck, liveCheck } from './live-check.ts';
import { metricsVerdict } from './metrics-stop.ts';
import type { Elsewhere, JournalEntry, MoveEffect, MoveEvent } from './move.ts';
import { logMove, planFields, podFields, reasonOf } from './move-log.ts';
import { observeMove } from './observe-move.ts';
import { gateWish, openGate } from './open-gate.ts';
import { placesHints } from './place-hints.ts';
import { type Limits, NOTHING_ELSEWHERE, type ReadyMoves, readyMoves } from './ready-moves.ts';
import { type EvictionTerms, held, sendEvictions } from './send-evictions.ts';
import { answerStop, type StopReason, stoppedMoves, stopReason } from './stop-rules.ts';
import { allowedTogether, nextDisruption, type StopRule, withoutIntents } from './together.ts';
import { isFinal } from './transitions.ts';

/** Moves that are looked at concurrently. */
const LOOKS_AT_A_TIME = 10;

/** What the executor acts through. */
export interface ExecutorPorts {
  readonly reader: ClusterReader;
  readonly evictor: Evictor;
  readonly steering: Steering;
  readonly gates: Gates;
  readonly plans: Journals;
  readonly events: EventSink;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Log;
  readonly firstLooks: FirstLooks;
  /** Held from a look at the plans of all policies until the intents decided by it are stored, so that limits of all of them hold. */
  readonly recording: Mutex;
  /** `leaseTransitions` of the Lease under which this process leads; undefined without leader election. */
  readonly leaderEpoch: number | undefined;
}

/** The policy, for stop rules and the live check. */
export interface ExecutionPolicy extends Limits {
  /** As it stands when this is called; undefined when it was deleted. */
  readonly current: (signal: AbortSignal) => Promise<StoredPolicy | undefined>;
  /** Undefined when there is no policy to resolve. */
  readonly options: PolicyOptions | undefined;
  /**
   * What budgets, and the service that moves have cost, let begin while the plans of all policies stand like this. `undefined` for
   * moves without a budget.
   */
  readonly stop: ((plans: readonly RebalancePlan[], signal: AbortSignal) => Promise<StopRule>) | undefined;
}

/**
 * Takes a plan in phase Executing one step further: looks at the moves in flight, then begins as many as the budget
 * allows. Every intent is stored before its eviction is sent, and each eviction is checked again right before it is sent. What
 * was seen and answered is noted, and stored with the next intents or a little later. Resolves to the plan as it stands then.
 * Rejects with ConflictError when another client changed the plan, with ApiError when the server fails, and, after all else
 * was done, with an AggregateError of what failed for single moves; each time the journal says where to go on.
 */
export async function step(
  plan: RebalancePlan,
  policy: ExecutionPolicy,
  ports: ExecutorPorts,
  signal: AbortSignal,
): Promise<RebalancePlan> {
  const recorder: Recorder = { plan, ports, signal, failures: createFailures(signal) };
  await followUp(recorder);
  const nodes = await ports.reader.nodes(signal);
  const stop =
    stopReason(recorder.plan, await policy.current(signal), nodes) ??
    (await policy.stop?.(await ports.plans.list(signal), signal))?.(nextDisruption(recorder.plan));
  if (stop !== undefined) {
    await abortStopped(recorder, stop);
  }
  if (policy.options !== undefined) {
    await beginIfMeasured(recorder, { ...policy, options: policy.options }, nodes);
  }
  await finishIfDone(recorder);
  recorder.failures.throwIfAny();
  return recorder.plan;
}

/**
 * Ends the moves of a plan for which nothing was done yet: a later run made another plan. What has begun stays, and the plan
 * is carried on to its end. Resolves to the plan as it stands then. Rejects as `step` does.
 */
export async function giveWay(
  plan: RebalancePlan,
  why: string,
  ports: ExecutorPorts,
  signal: AbortSignal,
): Promise<RebalancePlan> {
  const recorder: Recorder = { plan, ports, signal, failures: createFailures(signal) };
  const event: MoveEvent = { kind: 'Abort', why };
  const events = new Map(openMoves(plan).pending.map(({ index }) => [index, event]));
  await settle(recorder, await record(recorder, events));
  await finishIfDone(recorder);
  recorder.failures.throwIfAny();
  return recorder.plan;
}

/** Begins what may begin. Metrics are looked at when a pod that runs may be evicted, and not every second. */
async function beginIfMeasured(
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

/** One step of a plan. */
interface Recorder {
  /** With its journal, as it is noted. */
  plan: RebalancePlan;
  readonly ports: ExecutorPorts;
  readonly signal: AbortSignal;
  readonly failures: Failures;
}

/** Applies events to the journal, which is stored at once where something depends on it that a crash must not undo. */
async function record(recorder: Recorder, events: ReadonlyMap<number, MoveEvent>): Promise<readonly Pending[]> {
  const { plans, clock } = recorder.ports;
  const now = clock.now();
  const pending: Pending[] = [];
  const changed = new Map<number, MoveStatus>();
  for (const entry of entries(recorder.plan)) {
    const event = events.get(entry.index);
    if (event === undefined) {
      continue;
    }
    const { run, effects } = advance(entry.run, event, entry.move, now);
    if (run !== entry.run) {
      changed.set(entry.index, run);
    }
    if (run.phase !== 'Evicting') {
      recorder.ports.firstLooks.forget(run.podUID);
    }
    pending.push({ entry: { ...entry, run }, effects, before: entry.run });
  }
  if (changed.size > 0) {
    const write = pending.some(isStoredFirst) ? plans.writeStatus : plans.noteStatus;
    recorder.plan = await write(recorder.plan, withRuns(recorder.plan, changed), recorder.signal);
  }
  for (const { entry, before } of pending) {
    logMove(recorder.ports.log, recorder.plan, entry, before);
  }
  return pending;
}

/** Intents, the end of a plan that was stopped, and why a pod is taken away that looking at the cluster would not tell again. */
function isStoredFirst({ entry: { run }, before, effects }: Pending): boolean {
  const isDecided = run.phase === 'Intent' || run.phase === 'Aborted';
  return (isDecided && run.phase !== before.phase) || effects.includes('Release');
}

interface Pending {
  readonly entry: JournalEntry;
  readonly effects: readonly MoveEffect[];
  /** The journal before the event. */
  readonly before: MoveStatus;
}

async function abortStopped(recorder: Recorder, stop: StopReason): Promise<void> {
  const stopped = stoppedMoves(entries(recorder.plan), stop.stops);
  if (stopped.length === 0) {
    return;
  }
  noteStop(recorder, stop);
  const event: MoveEvent = { kind: 'Abort', why: stop.message };
  await settle(recorder, await record(recorder, new Map(stopped.map(({ index }) => [index, event]))));
}

/** Stored with what is recorded next. */
function noteStop(recorder: Recorder, { reason, message }: StopReason): void {
  if (recorder.plan.status?.stopped !== reason) {
    recorder.ports.log('plan stopped', { ...planFields(recorder.plan), stopped: reason, result: message });
  }
  recorder.plan = { ...recorder.plan, status: { ...recorder.plan.status, stopped: reason, message } };
}

/**
 * Looks at all moves in flight, and notes what came of them: a plan has hundreds of moves, and each write has all. So it is
 * written with the intents that follow, or alone when none have followed for a while.
 */
async function followUp(recorder: Recorder): Promise<void> {
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
  await settle(recorder, await record(recorder, observed));
  recorder.plan = await ports.plans.writeDue(recorder.plan, signal);
}

/** How long the eviction of a move has been looked at by now. */
function lookAgain({ run: { phase, podUID, sentAt } }: JournalEntry, { firstLooks }: ExecutorPorts): Seconds {
  return phase === 'Evicting' && sentAt !== undefined ? firstLooks.since(podUID, sentAt) : seconds(0);
}

/** For messages about failures. */
function nameOf({ move: { pod } }: JournalEntry): string {
  return `move of ${pod.namespace}/${pod.name}`;
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
  await settle(recorder, await record(recorder, events));
}

/** Performs what is due after a transition was stored: removes hints, opens gates, sends events. */
async function settle(recorder: Recorder, pending: readonly Pending[]): Promise<void> {
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

function replacementOf({ move, run }: JournalEntry): PodRef {
  return { namespace: move.pod.namespace, name: run.replacement?.name ?? '', uid: run.replacement?.uid ?? '' };
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

const END_EVENTS: Partial<Record<MovePhase, EventRecord['reason']>> = {
  Landed: 'MoveLanded',
  Missed: 'MoveMissed',
  Failed: 'MoveFailed',
  Skipped: 'MoveSkipped',
};

async function reportEnd(recorder: Recorder, entry: JournalEntry): Promise<void> {
  const { plan, ports } = recorder;
  const { run } = entry;
  const started = run.startedAt === undefined ? undefined : parseInstant(run.startedAt);
  const duration = started === undefined ? undefined : elapsed(started, ports.clock.now());
  const { strategy } = plan.spec;
  const unavailable = run.unavailableSeconds === undefined ? undefined : seconds(run.unavailableSeconds);
  ports.telemetry.moveEnded({
    strategy,
    result: run.phase,
    reason: reasonOf(entry.move),
    duration,
    unavailable,
  });
  if (run.phase === 'Landed' || run.phase === 'Missed') {
    ports.telemetry.steered({ mode: plan.status?.steering ?? 'None', landed: run.phase === 'Landed' });
  }
  const reason = END_EVENTS[run.phase];
  if (reason !== undefined) {
    await notify(recorder, entry, reason);
  }
}

async function notify(
  { plan, ports, signal }: Recorder,
  entry: JournalEntry,
  reason: EventRecord['reason'],
): Promise<void> {
  const { move, run } = entry;
  const by = `(plan ${plan.metadata.name})`;
  const note =
    reason === 'MoveStarted'
      ? `evicted from ${move.from} ${purpose(move)} ${by}: ${move.reason}`
      : `${describeMove(move)} ${by}: ${describeOutcome(run)}`;
  const type = reason === 'MoveStarted' || reason === 'MoveLanded' ? 'Normal' : 'Warning';
  await ports.events.send({ type, reason, note, regarding: { kind: 'Pod', ...move.pod } }, signal);
}

/** `3 of 4 replacements landed as planned`, and what became of preemptions and removals. */
function resultOf(all: readonly JournalEntry[]): string {
  const isOf = (kind: MoveKind) => (entry: JournalEntry) => kindOf(entry.move) === kind;
  const [preemptions, removals] = [all.filter(isOf('Preemption')), all.filter(isOf('Removal'))];
  const count = (entries: readonly JournalEntry[], phase: MovePhase): number =>
    entries.filter(({ run }) => run.phase === phase).length;
  const placed = all.length - preemptions.length - removals.length;
  const misses = describeMisses(all.map(({ run }) => run));
  const landing = `${count(all, 'Landed')} of ${placed} replacements landed as planned${misses === '' ? '' : ` (missed: ${misses})`}`;
  const left = `${count(preemptions, 'Vacated')} of ${preemptions.length} preempted pods left`;
  const removed = `${count(removals, 'Vacated')} of ${removals.length} failed pods removed`;
  return [
    ...(placed === 0 && removals.length > 0 ? [] : [landing]),
    ...(preemptions.length === 0 ? [] : [left]),
    ...(removals.length === 0 ? [] : [removed]),
  ].join(', ');
}

function purpose(move: JournalEntry['move']): string {
  switch (kindOf(move)) {
    case 'Preemption':
      return 'so that another pod gets its room';
    case 'Removal':
      return 'since it has failed';
    default:
      return `so that its replacement runs on ${move.to}`;
  }
}

function describeMove(move: JournalEntry['move']): string {
  const kind = kindOf(move);
  switch (kind) {
    case 'Transfer':
      return `move from ${move.from} to ${move.to}`;
    case 'Failover':
      return `move from ${move.from}, which has failed, to ${move.to}`;
    case 'Preemption':
      return `preemption on ${move.from}`;
    case 'Admission':
      return `admission to ${move.to}`;
    case 'Removal':
      return `removal from ${move.from}`;
    default:
      return kind satisfies never;
  }
}

async function finishIfDone(recorder: Recorder): Promise<void> {
  const { plan, ports, signal } = recorder;
  const all = entries(plan);
  if (all.some(({ run }) => !isFinal(run.phase))) {
    return;
  }
  const isStopped = plan.status?.stopped !== undefined;
  const aborted = all.find(({ run }) => run.phase === 'Aborted')?.run;
  const applications = movedApplications(all);
  const result = (isStopped && aborted !== undefined ? plan.status?.message : aborted?.outcome) ?? resultOf(all);
  const inPart = partlyMoved(applications);
  const message = inPart === '' ? result : `${result}; moved in part: ${inPart}`;
  const finishedAt = formatInstant(ports.clock.now());
  // Moves that ended before they began, and no rule has stopped the plan: they gave way to a later one.
  const phase = aborted === undefined ? 'Completed' : isStopped ? 'Aborted' : 'Superseded';
  const grouped = applications.length === 0 ? {} : { applications: [...applications] };
  const status: RebalancePlanStatus = { ...plan.status, phase, message, finishedAt, ...grouped };
  recorder.plan = await ports.plans.writeStatus(plan, status, signal);
  ports.log('plan finished', { ...planFields(plan), phase, result: message });
  if (phase === 'Aborted') {
    const { name, uid } = plan.spec.policy;
    const note = `plan ${plan.metadata.name} was stopped: ${message}`;
    const regarding = { kind: 'RebalancePolicy', name, uid } as const;
    await ports.events.send({ type: 'Warning', reason: 'PlanAborted', note, regarding }, signal);
  }
}
