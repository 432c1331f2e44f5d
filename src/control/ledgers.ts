import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { entries } from '../execute/journal.ts';
import { formatDecimal } from '../model/decimal.ts';
import { oncePer } from '../model/once-per.ts';
import { type Seconds, seconds } from '../model/units.ts';
import {
  type ClassedRequest,
  type Clock,
  ConflictError,
  type LedgerStore,
  type Log,
  type PlanStore,
  type ServiceRecords,
  type ServiceView,
  type StoredLedger,
} from '../ports.ts';
import { carryOn, endLedger } from '../qos/ledger.ts';
import type { Promised, RequestRecord } from '../qos/ledger-record.ts';
import type { KeptLedger } from '../qos/ledger-state.ts';
import { ledgerName } from '../report/ledger-resource.ts';
import type { KeptLevels, LedgerNews } from './ledger-health.ts';
import type { LoopSettings } from './loop-ports.ts';
import { createWaker, FAILED_WAIT, withBackOff } from './periodic.ts';

/** What ledgers are kept through. */
export interface LedgerPorts {
  readonly records: ServiceRecords;
  readonly ledgers: LedgerStore;
  readonly plans: Pick<PlanStore, 'list'>;
  readonly clock: Clock;
  readonly log: Log;
  /** A look at the ledgers failed. */
  readonly runFailed: () => void;
  /** Who else wants to know what ledgers say. */
  readonly ledgerNews: Pick<LedgerNews, 'looked' | 'failed'>;
  /** Ledgers of this class have counted so many more preemptions. */
  readonly preempted: (className: string, times: number) => void;
}

const IDLE_WAIT: Seconds = seconds(30);
/** Ledgers written in one look, and so in a second: half of what the client may change, so that evictions need not wait. */
const MOST_WRITES = 5;
/** How often the stored ledgers are listed anew: somebody may have deleted one. */
const LIST_INTERVAL: Seconds = seconds(300);
/** How long a ledger outlives its workload where its class has gone too; else as long as the class's window. */
const RETENTION: Seconds = seconds(24 * 3600);

/** What the keeper remembers between two looks: nothing that is not stored. */
interface Memory {
  stored: Map<string, StoredLedger>;
  listedAt: Seconds | undefined;
  /** Where the next look begins to write, so that none is left behind. */
  next: number;
  /** What the last look found of each request that had nothing to write: it has nothing new while it is the very same. */
  readonly settled: Map<string, Seen>;
  /** Problems that were said already. */
  said: ReadonlySet<string>;
  /** As of the last look. */
  classes: ServiceView['classes'];
}

/** What the next state of a ledger is made from, but for the time. */
interface Seen {
  readonly stored: StoredLedger | undefined;
  readonly record: RequestRecord;
  readonly promised: Promised | undefined;
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
  const bell = createWaker();
  const memory: Memory = {
    stored: new Map(),
    listedAt: undefined,
    next: 0,
    settled: new Map(),
    said: new Set(),
    classes: new Map(),
  };
  const watching = ports.records.run(bell.ring, signal);
  await bell.wait(FAILED_WAIT, ports.clock, signal);
  while (!signal.aborted) {
    const wait = await withBackOff(() => tell(memory, ports, signal), 'ledgers could not be kept', ports, signal);
    await bell.wait(wait, ports.clock, signal);
    await createWaker().wait(pace.ledgers, ports.clock, signal);
  }
  await watching;
}

/** One look, of which the others hear. Rejects as `look` does. */
async function tell(memory: Memory, ports: LedgerPorts, signal: AbortSignal): Promise<Seconds> {
  const { ledgerNews, clock } = ports;
  try {
    const wait = await look(memory, ports, signal);
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

/** A change of one ledger. */
interface Change {
  readonly stored: StoredLedger | undefined;
  /** `undefined`: it is not needed any more. */
  readonly ledger: KeptLedger | undefined;
  /** What it has counted. */
  readonly record: RequestRecord;
}

/** One look at everything: resolves to the time until the next. Rejects with ApiError, or an AggregateError of them. */
async function look(memory: Memory, ports: LedgerPorts, signal: AbortSignal): Promise<Seconds> {
  const view = ports.records.view();
  if (view === undefined) {
    return IDLE_WAIT;
  }
  memory.classes = view.classes;
  report(view, memory, ports);
  await listIfDue(memory, ports, signal);
  const preempted = await preemptedPods(view, ports, signal);
  const changes = changesOf(view, preempted, memory, ports);
  const chosen = choose(changes, memory);
  const failures: unknown[] = [];
  for (const change of chosen) {
    await write(change, view, memory, ports, signal).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) {
    const [cause] = failures;
    throw new AggregateError(failures, `${failures.length} ledgers could not be written`, { cause });
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
    log.warn({ namespace, ledger: name, problem }, 'ledger cannot be read: it begins anew');
  }
  memory.stored = new Map(listed.map((each) => [keyOf(each.namespace, each.name), each]));
  memory.listedAt = now;
}

/**
 * UIDs of pods that plans have evicted for others. Read after the pods: an eviction is in the journal before it is sent, so
 * that no pod can have gone for a reason that the plans do not show yet. Not read while no pod has gone.
 */
async function preemptedPods(
  { requests }: ServiceView,
  { plans }: LedgerPorts,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (!requests.some(({ record }) => record.pods.some(({ end }) => end !== undefined))) {
    return new Set();
  }
  return new Set((await plans.list(signal)).flatMap(preemptionsOf));
}

/** UIDs of the pods whose eviction for others was sent, or may have been. */
const preemptionsOf = oncePer((plan: RebalancePlan): readonly string[] =>
  entries(plan).flatMap(({ move, run }) => (move.to === undefined && !UNSENT.has(run.phase) ? run.podUID : [])),
);

const UNSENT: ReadonlySet<string> = new Set(['Planned', 'Skipped', 'Aborted']);

function changesOf(
  view: ServiceView,
  preempted: ReadonlySet<string>,
  memory: Memory,
  ports: LedgerPorts,
): readonly Change[] {
  const now = ports.clock.now();
  const seen = new Set<string>();
  const ofRequests = view.requests.flatMap((request): readonly Change[] => {
    const { record, className } = request;
    const key = keyOf(record.namespace, ledgerName(record.owner));
    seen.add(key);
    const current: Seen = { stored: memory.stored.get(key), record, promised: view.classes.get(className) };
    if (isSettled(memory.settled.get(key), current)) {
      return [];
    }
    const ledger = nextOf(request, current.stored?.ledger, view, preempted, now);
    if (ledger === current.stored?.ledger) {
      memory.settled.set(key, current);
    }
    return [{ stored: current.stored, record, ledger }];
  });
  for (const key of memory.settled.keys()) {
    if (!seen.has(key)) {
      memory.settled.delete(key);
    }
  }
  const others = [...memory.stored].filter(([key]) => !seen.has(key)).map(([, stored]) => orphaned(stored, view, now));
  return [...ofRequests, ...others].filter((change) => {
    const isChanged = change.ledger !== change.stored?.ledger || hasOldSlo(change, view);
    if (!isChanged) {
      ports.records.counted(change.record);
    }
    return isChanged;
  });
}

/** Nothing but time has gone on since. */
function isSettled(before: Seen | undefined, { stored, record, promised }: Seen): boolean {
  return before?.stored === stored && before?.record === record && before?.promised === promised;
}

function nextOf(
  { record, className }: ClassedRequest,
  kept: KeptLedger | undefined,
  { classes }: ServiceView,
  preempted: ReadonlySet<string>,
  now: ReturnType<Clock['now']>,
): KeptLedger | undefined {
  const promised = classes.get(className);
  if (promised !== undefined) {
    return carryOn(kept, promised, record, preempted, now);
  }
  return (
    kept &&
    endLedger(kept, undefined, record, `there is no ServiceClass ${className}: add it, or remove the label`, now)
  );
}

/** The ledger of a workload that is gone, or has no class any more. Kept for a while, it is taken up again if it comes back. */
function orphaned(stored: StoredLedger, view: ServiceView, now: ReturnType<Clock['now']>): Change {
  const { ledger } = stored;
  const promised = ledger && view.classes.get(ledger.className);
  if (ledger === undefined) {
    return { stored, ledger, record: view.recordOf(identityOf(stored)) };
  }
  const record = view.recordOf(ledger);
  const retention = promised?.terms.window ?? RETENTION;
  if (ledger.endedAt !== undefined && now - ledger.endedAt > retention) {
    return { stored, ledger: undefined, record };
  }
  const message =
    record.createdAt > 0
      ? 'the workload names no ServiceClass any more'
      : 'the workload is gone: its ledger is taken up again if it comes back in time';
  return { stored, record, ledger: endLedger(ledger, promised, record, message, now) };
}

function identityOf({ namespace, resource }: StoredLedger): Pick<KeptLedger, 'namespace' | 'owner'> {
  return { namespace, owner: resource.spec.owner };
}

function hasOldSlo({ stored, ledger }: Change, { classes }: ServiceView): boolean {
  const terms = ledger?.endedAt === undefined ? classes.get(ledger?.className ?? '')?.terms : undefined;
  return terms !== undefined && stored?.resource.status?.slo !== formatDecimal(terms.slo);
}

/** A few at a time, in turns. */
function choose(changes: readonly Change[], memory: Memory): readonly Change[] {
  if (changes.length <= MOST_WRITES) {
    memory.next = 0;
    return changes;
  }
  const start = memory.next % changes.length;
  memory.next = start + MOST_WRITES;
  return [...changes.slice(start), ...changes.slice(0, start)].slice(0, MOST_WRITES);
}

async function write(
  { stored, ledger, record }: Change,
  { classes }: ServiceView,
  memory: Memory,
  { ledgers, records, log, preempted }: LedgerPorts,
  signal: AbortSignal,
): Promise<void> {
  const terms = classes.get(ledger?.className ?? '')?.terms;
  const key =
    stored === undefined ? keyOf(record.namespace, ledgerName(record.owner)) : keyOf(stored.namespace, stored.name);
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
    log.info({ ledger: key, err: error }, 'ledger was changed by somebody else: read anew');
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
    log.warn({ problem }, 'ServiceClass is not what it should be');
  }
  memory.said = new Set(problems);
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
