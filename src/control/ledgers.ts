import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { entries } from '../execute/journal.ts';
import { NOT_EVICTED } from '../execute/transitions.ts';
import { kindOf } from '../model/move.ts';
import { oncePer } from '../model/once-per.ts';
import { type Seconds, seconds } from '../model/units.ts';
import { count } from '../plan/format.ts';
import {
  type Clock,
  ConflictError,
  type LedgerStore,
  type Log,
  type PlanStore,
  type ServiceRecords,
  type ServiceView,
  type StoredLedger,
} from '../ports.ts';
import { ledgerName } from '../report/ledger-resource.ts';
import {
  type Change,
  changeOf,
  isChanged,
  isSameSource,
  keyOf,
  type LedgerSource,
  ledgerSources,
  orphaned,
} from './ledger-changes.ts';
import type { KeptLevels, LedgerNews } from './ledger-health.ts';
import type { LoopSettings } from './loop-ports.ts';
import type { Pace } from './pace.ts';
import { createWaker, FAILED_WAIT, withBackOff } from './periodic.ts';

/** What ledgers are kept through. */
export interface LedgerPorts {
  readonly records: Omit<ServiceRecords, 'watch'>;
  readonly ledgers: LedgerStore;
  readonly plans: Pick<PlanStore, 'list'>;
  readonly clock: Clock;
  readonly log: Log;
  /** A look at the ledgers failed. */
  readonly runFailed: () => void;
  /** Hears of the state of the ledgers. */
  readonly ledgerNews: Pick<LedgerNews, 'looked' | 'failed'>;
  /** Ledgers of this class have counted so many more preemptions. */
  readonly preempted: (className: string, times: number) => void;
}

const IDLE_WAIT: Seconds = seconds(30);
/** How often the stored ledgers are listed again: a user may have deleted one. */
const LIST_INTERVAL: Seconds = seconds(300);
/** What the keeper remembers between two looks: nothing that is not stored. */
interface Memory {
  stored: Map<string, StoredLedger>;
  listedAt: Seconds | undefined;
  /** Where the next look begins to write, so that none is left behind. */
  next: number;
  /** What the last look found of each request that had nothing to write: it has nothing new while it is the very same. */
  settled: Map<string, LedgerSource>;
  /** Why ledgers could not be written when that was last tried, by key. */
  unwritten: Map<string, unknown>;
  /** Problems that were said already. */
  said: ReadonlySet<string>;
  /** As of the last look. */
  classes: ServiceView['classes'];
}

/**
 * Keeps the ledger of every workload that has a ServiceClass, while this replica leads: after each change, and every 30 s.
 * A ledger is written when something other than time has changed. Apart from the control loop, so that neither can stop the
 * other. Resolves when aborted. A failing look is logged and tried again.
 */
export async function keepLedgers(
  ports: LedgerPorts,
  { pace }: Pick<LoopSettings, 'pace'>,
  signal: AbortSignal,
): Promise<void> {
  const waker = createWaker();
  const memory: Memory = {
    stored: new Map(),
    listedAt: undefined,
    next: 0,
    settled: new Map(),
    unwritten: new Map(),
    said: new Set(),
    classes: new Map(),
  };
  ports.records.follow(waker.wake, signal);
  const failed = (err: unknown) => ports.log('ledgers failed', { err });
  await waker.wait(FAILED_WAIT, ports.clock, signal);
  while (!signal.aborted) {
    const wait = await withBackOff(() => tell(memory, ports, pace, signal), failed, ports, signal);
    await waker.wait(wait, ports.clock, signal);
    await createWaker().wait(pace.ledgers, ports.clock, signal);
  }
}

/** One look, of which the others hear. Rejects as `look` does. */
async function tell(memory: Memory, ports: LedgerPorts, pace: Pace, signal: AbortSignal): Promise<Seconds> {
  const { ledgerNews, clock } = ports;
  try {
    const wait = await look(memory, ports, pace, signal);
    ledgerNews.looked(clock.monotonic(), () => levelsOf(memory));
    return wait;
  } catch (error) {
    ledgerNews.failed(clock.monotonic(), error);
    throw error;
  }
}

function levelsOf({ stored, classes }: Memory): KeptLevels {
  const alive = [...stored.values()].flatMap(({ ledger }) => (ledger?.endedAt === undefined ? (ledger ?? []) : []));
  return {
    classes: new Map([...classes].map(([name, { terms }]) => [name, terms])),
    ledgers: new Map(alive.map((ledger) => [ledger.owner.uid, ledger])),
  };
}

/** One look at everything: resolves to the time until the next. Rejects with ApiError, or an AggregateError of them. */
async function look(memory: Memory, ports: LedgerPorts, pace: Pace, signal: AbortSignal): Promise<Seconds> {
  const view = ports.records.view();
  if (view === undefined) {
    return IDLE_WAIT;
  }
  memory.classes = view.classes;
  report(view, memory, ports);
  await listIfDue(memory, ports, signal);
  const changes = await changesNow(view, memory, ports, signal);
  const chosen = choose(changes, memory, pace.ledgerWrites);
  for (const change of chosen) {
    await writeApart(change, view, memory, ports, signal);
  }
  throwIfNoneCanBeWritten(memory);
  if (chosen.some((change) => memory.unwritten.has(keyOfChange(change)))) {
    ports.runFailed();
  }
  return changes.length > chosen.length ? seconds(0) : IDLE_WAIT;
}

async function listIfDue(memory: Memory, { ledgers, clock, log }: LedgerPorts, signal: AbortSignal): Promise<void> {
  const now = clock.monotonic();
  if (memory.listedAt !== undefined && now - memory.listedAt < LIST_INTERVAL) {
    return;
  }
  const listed = await ledgers.list(signal);
  for (const { namespace, name, problem } of listed.filter((each) => each.problem !== undefined)) {
    log('ledger not readable', { ledger: keyOf(namespace, name), problem });
  }
  memory.stored = new Map(listed.map((each) => [keyOf(each.namespace, each.name), each]));
  memory.listedAt = now;
}

/** What there is to write. A ledger that has counted everything is skipped until there is something new. */
async function changesNow(
  view: ServiceView,
  memory: Memory,
  ports: LedgerPorts,
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const sources = ledgerSources(view, memory.stored);
  const open = [...sources].filter(([key, source]) => !isSameSource(memory.settled.get(key), source));
  const preempted = await preemptedPods(open, ports, signal);
  const now = ports.clock.now();
  const changes = open.map(([key, source]) => ({ key, source, change: changeOf(source, preempted, now) }));
  memory.settled = new Map([...memory.settled].filter(([key]) => sources.has(key)));
  memory.unwritten = new Map([...memory.unwritten].filter(([key]) => sources.has(key) || memory.stored.has(key)));
  for (const { key, source, change } of changes.filter((each) => !isChanged(each.change, view))) {
    memory.settled.set(key, source);
    ports.records.counted(change.record);
  }
  const orphans = [...memory.stored].filter(([key]) => !sources.has(key));
  const all = [...changes.map(({ change }) => change), ...orphans.map(([, stored]) => orphaned(stored, view, now))];
  return all.filter((change) => isChanged(change, view));
}

/**
 * UIDs of pods that plans have evicted for others. Read after the pods: an eviction is in the journal before it is sent, so
 * that no pod can have gone for a reason that the plans do not show yet. Not read while no pod has gone.
 */
async function preemptedPods(
  open: readonly (readonly [key: string, source: LedgerSource])[],
  { plans }: LedgerPorts,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (!open.some(([, { request }]) => request.record.pods.some(({ end }) => end !== undefined))) {
    return new Set();
  }
  return new Set((await plans.list(signal)).flatMap(preemptionsOf));
}

/** UIDs of the pods whose eviction for others was sent, or may have been. */
export const preemptionsOf = oncePer((plan: RebalancePlan): readonly string[] =>
  entries(plan).flatMap(({ move, run }) =>
    kindOf(move) === 'Preemption' && !NOT_EVICTED.has(run.phase) ? run.podUID : [],
  ),
);

/** A few at a time, in turns. */
function choose(changes: readonly Change[], memory: Memory, most: number): readonly Change[] {
  if (changes.length <= most) {
    memory.next = 0;
    return changes;
  }
  const start = memory.next % changes.length;
  memory.next = start + most;
  return [...changes.slice(start), ...changes.slice(0, start)].slice(0, most);
}

/** One ledger that cannot be written, such as one in a namespace that is being deleted, stops none of the others. */
async function writeApart(
  change: Change,
  view: ServiceView,
  memory: Memory,
  ports: LedgerPorts,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOfChange(change);
  try {
    await write(change, view, memory, ports, signal);
    memory.unwritten.delete(key);
  } catch (error) {
    signal.throwIfAborted();
    memory.unwritten.set(key, error);
    ports.log('ledger not written', { ledger: key, err: error });
  }
}

/** Where no ledger that is known can be written, it is not about single ones. */
function throwIfNoneCanBeWritten({ unwritten, stored }: Memory): void {
  const failures = [...unwritten.values()];
  if (failures.length > 0 && [...stored.keys()].every((key) => unwritten.has(key))) {
    const [cause] = failures;
    throw new AggregateError(failures, `${count(failures.length, 'ledger')} could not be written`, { cause });
  }
}

function keyOfChange({ stored, record }: Change): string {
  return stored === undefined
    ? keyOf(record.namespace, ledgerName(record.owner))
    : keyOf(stored.namespace, stored.name);
}

async function write(
  { stored, ledger, record }: Change,
  { classes }: ServiceView,
  memory: Memory,
  { ledgers, records, log, preempted }: LedgerPorts,
  signal: AbortSignal,
): Promise<void> {
  const terms = classes.get(ledger?.className ?? '')?.terms;
  const key = keyOfChange({ stored, ledger, record });
  try {
    if (ledger === undefined) {
      await (stored === undefined ? undefined : ledgers.remove(stored, signal));
      memory.stored.delete(key);
    } else if (stored !== undefined) {
      memory.stored.set(key, await ledgers.write(stored, ledger, terms, signal));
    } else if (terms !== undefined) {
      memory.stored.set(key, await ledgers.create(ledger, terms, signal));
    }
    records.counted(record);
    const more = (ledger?.preemptions ?? 0) - (stored?.ledger?.preemptions ?? 0);
    if (ledger !== undefined && more > 0) {
      preempted(ledger.className, more);
    }
  } catch (error) {
    if (!(error instanceof ConflictError)) {
      throw error;
    }
    log('write conflict', { policy: undefined, ledger: key, problem: error.message });
    const [namespace = '', name = ''] = key.split('/');
    const fresh = await ledgers.get({ namespace, name }, signal);
    if (fresh === undefined) {
      memory.stored.delete(key);
    } else {
      memory.stored.set(key, fresh);
    }
  }
}

function report({ problems }: ServiceView, memory: Memory, { log }: LedgerPorts): void {
  for (const problem of problems.filter((each) => !memory.said.has(each))) {
    log('ServiceClass not valid', { problem });
  }
  memory.said = new Set(problems);
}
